//! Stored bytes, named by their hash.

use std::fs;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::atomic::{StoreError, create_dir};
use crate::confined::ConfinedError;
use crate::ledger_dir::LedgerDir;

/// SHA-256 of bytes, in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a file, read in chunks; links, pipes and devices are refused.
pub fn sha256_file(path: &Path) -> io::Result<String> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    sha256_of(crate::confined::open_regular(path)?)
}

/// SHA-256 of the rest of a file.
pub(crate) fn sha256_of(file: fs::File) -> io::Result<String> {
    let mut reader = io::BufReader::with_capacity(64 * 1024, file);
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
    let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
    let mut digits = Vec::with_capacity(bytes.len() * 2);
    for byte in bytes {
        digits.extend_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
    }
    // Invariant: hexadecimal digits are ASCII.
    String::from_utf8(digits).unwrap_or_default()
}

/// The bytes that a session or run stores by hash, in `objects/`.
#[derive(Clone, Debug)]
pub struct Objects {
    ledger: Arc<LedgerDir>,
    name: String,
}

/// The directory, relative to the session or run.
const DIRECTORY: &str = "objects";

impl Objects {
    /// The objects of a session or run; the directory is created with the first one.
    pub fn of(ledger: Arc<LedgerDir>) -> Self {
        Self { ledger, name: DIRECTORY.to_owned() }
    }

    /// Objects in a directory the engine chose; its parent is created.
    pub fn in_directory(directory: &Path) -> Result<Self, StoreError> {
        let above = directory.parent().unwrap_or(Path::new("."));
        create_dir(above)?;
        let failed = |source| StoreError { path: directory.to_owned(), source };
        let ledger = LedgerDir::at(above).map_err(|error| failed(error.into()))?;
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { ledger: Arc::new(ledger), name })
    }

    fn path(&self, sha256: &str) -> String {
        format!("{}/{sha256}", self.name)
    }

    /// Stores bytes; equal bytes are stored once.
    pub fn keep(&self, bytes: &[u8]) -> Result<String, StoreError> {
        Ok(self.keep_all([bytes])?.pop().unwrap_or_default())
    }

    /// Stores several at once and syncs the directory once; returns the hashes in the given order.
    pub fn keep_all<'b>(&self, all: impl IntoIterator<Item = &'b [u8]>) -> Result<Vec<String>, StoreError> {
        let failed = |source| StoreError { path: self.directory(), source };
        let mut hashes = Vec::new();
        let mut opened = None;
        for bytes in all {
            let sha256 = sha256_hex(bytes);
            if !matches!(self.get(&sha256), Ok(Some(_))) {
                let directory = match opened.take() {
                    Some(directory) => directory,
                    None => {
                        self.ledger.create_directories(&self.name).map_err(|error| failed(error.into()))?
                    }
                };
                directory.write_unsynced(&sha256, bytes).map_err(|error| failed(error.into()))?;
                opened = Some(directory);
            }
            hashes.push(sha256);
        }
        if let Some(directory) = opened {
            directory.sync();
        }
        Ok(hashes)
    }

    /// The bytes with this hash; `None` if they are missing or damaged.
    pub fn get(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        // A hash from a journal is untrusted: check its form before using it as a path.
        if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let bytes = self.ledger.read(&self.path(sha256))?;
        Ok(bytes.filter(|bytes| sha256_hex(bytes) == sha256))
    }

    /// The names of objects whose content does not match their hash.
    pub fn damaged(&self) -> Result<Vec<String>, ConfinedError> {
        let entries = match self.ledger.directory(&self.name) {
            Ok(directory) => directory.entries()?,
            Err(ConfinedError::Missing) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let names = entries.into_iter().map(|entry| entry.name).filter(|name| !name.starts_with(".tmp-"));
        Ok(names
            .filter(|name| self.ledger.sha256(&self.path(name)).ok().flatten().as_ref() != Some(name))
            .collect())
    }

    pub fn directory(&self) -> PathBuf {
        self.ledger.path().join(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic::Durability;

    #[test]
    fn several_are_stored_at_once_and_equal_ones_once() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Arc::new(LedgerDir::at(directory.path()).unwrap());
        let objects = Objects::of(Arc::clone(&ledger));
        let plan = objects.keep(b"plan").unwrap();
        let hashes = objects.keep_all([b"code".as_slice(), b"plan", b"code"]).unwrap();
        assert_eq!(hashes, [sha256_hex(b"code"), plan, sha256_hex(b"code")]);
        assert_eq!(objects.get(&hashes[0]).unwrap(), Some(b"code".to_vec()));
        assert_eq!(fs::read_dir(objects.directory()).unwrap().count(), 2);
        assert!(objects.keep_all([]).unwrap().is_empty());
    }

    #[test]
    fn bytes_are_found_by_hash_unless_they_are_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Arc::new(LedgerDir::at(directory.path()).unwrap());
        let objects = Objects::of(Arc::clone(&ledger));
        let sha256 = objects.keep(b"plan").unwrap();
        assert_eq!(objects.keep(b"plan").unwrap(), sha256);
        assert_eq!(objects.get(&sha256).unwrap(), Some(b"plan".to_vec()));
        ledger.write(&objects.path(&sha256), b"other", Durability::Process).unwrap();
        assert_eq!(objects.get(&sha256).unwrap(), None);
        assert_eq!(objects.damaged().unwrap(), [sha256.as_str()]);
        assert_eq!(objects.keep(b"plan").unwrap(), sha256);
        assert_eq!(objects.damaged().unwrap(), Vec::<String>::new());
        assert_eq!(objects.get("../../etc/passwd").unwrap(), None);
    }
}
