//! Approved bytes, kept by their hash.

use std::fs;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::atomic::{StoreError, create_dir, sync_names, write_unsettled};

/// SHA-256 of bytes, in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a file's bytes, read piece by piece; a link, a pipe or a device is not read.
pub fn sha256_file(path: &Path) -> io::Result<String> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut reader = io::BufReader::with_capacity(64 * 1024, fs::File::open(path)?);
    let mut hasher = Sha256::new();
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(bytes);
        let n_read = bytes.len();
        reader.consume(n_read);
    }
}

/// Bytes in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    halves.filter_map(|half| char::from_digit(half.into(), 16)).collect()
}

/// A directory of bytes by their hash.
#[derive(Clone, Debug)]
pub struct Objects {
    directory: PathBuf,
}

impl Objects {
    /// The objects in a directory; it is created when the first one is kept.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    fn path(&self, sha256: &str) -> PathBuf {
        self.directory.join(sha256)
    }

    /// Keeps bytes; the same bytes are kept once.
    pub fn keep(&self, bytes: &[u8]) -> Result<String, StoreError> {
        Ok(self.keep_all([bytes])?.pop().unwrap_or_default())
    }

    /// Keeps several, and makes their names safe together; the hashes are in the order given.
    pub fn keep_all<'b>(&self, all: impl IntoIterator<Item = &'b [u8]>) -> Result<Vec<String>, StoreError> {
        let mut is_new = false;
        let mut hashes = Vec::new();
        for bytes in all {
            let sha256 = sha256_hex(bytes);
            let path = self.path(&sha256);
            if !path.is_file() {
                create_dir(&self.directory)?;
                write_unsettled(&path, bytes)?;
                is_new = true;
            }
            hashes.push(sha256);
        }
        if is_new {
            sync_names(&self.directory);
        }
        Ok(hashes)
    }

    /// The bytes with that hash; damaged ones are not given out.
    pub fn get(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        // A hash from a journal is not a path until it looks like one of ours.
        if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        match fs::read(self.path(sha256)) {
            Ok(bytes) => Ok((sha256_hex(&bytes) == sha256).then_some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where they are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic::{Durability, write_atomic};

    #[test]
    fn several_are_kept_at_once_and_each_only_once() {
        let directory = tempfile::tempdir().unwrap();
        let objects = Objects::in_directory(directory.path().join("objects"));
        let plan = objects.keep(b"plan").unwrap();
        let hashes = objects.keep_all([b"code".as_slice(), b"plan", b"code"]).unwrap();
        assert_eq!(hashes, [sha256_hex(b"code"), plan, sha256_hex(b"code")]);
        assert_eq!(objects.get(&hashes[0]).unwrap(), Some(b"code".to_vec()));
        assert_eq!(fs::read_dir(objects.directory()).unwrap().count(), 2);
        assert!(objects.keep_all([]).unwrap().is_empty());
    }

    #[test]
    fn bytes_come_back_by_their_hash_and_damaged_ones_do_not() {
        let directory = tempfile::tempdir().unwrap();
        let objects = Objects::in_directory(directory.path().join("objects"));
        let sha256 = objects.keep(b"plan").unwrap();
        assert_eq!(objects.keep(b"plan").unwrap(), sha256);
        assert_eq!(objects.get(&sha256).unwrap(), Some(b"plan".to_vec()));
        write_atomic(&objects.path(&sha256), Durability::Process, |out| out.write_all(b"other")).unwrap();
        assert_eq!(objects.get(&sha256).unwrap(), None);
        assert_eq!(objects.get("../../etc/passwd").unwrap(), None);
    }
}
