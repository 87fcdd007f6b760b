//! A small JSON file in the user's own directory, changed by one process at a time.
//!
//! In: a path and a change. Out: the value, or why it cannot be used. Reads are bounded. A file that cannot be read
//! never counts as empty: the next write would lose its content.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::atomic::{Durability, StoreError, create_dir, write_atomic};
use crate::lock::{Lock, LockError};

const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Why a user file cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum UserFileError {
    /// The file cannot be read; it does not count as empty.
    #[error("could not read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl UserFileError {
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, .. } => {
                format!("fix or remove `{}`; without it aiwf asks again", path.display())
            }
            Self::Store(error) => error.hint(),
            Self::Lock(error) => error.hint(),
        }
    }
}

/// Reads a file; a missing one yields the default value.
pub fn read_user_file<T: DeserializeOwned + Default>(path: &Path) -> Result<T, UserFileError> {
    let unreadable = |source| UserFileError::Unreadable { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 16 MiB")));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.to_string())))
}

/// Changes a file under its lock; writes nothing if nothing changes.
pub fn update_user_file<T, R>(path: &Path, change: impl FnOnce(&mut T) -> R) -> Result<R, UserFileError>
where
    T: DeserializeOwned + Serialize + Default + Clone + PartialEq,
{
    if let Some(directory) = path.parent() {
        create_dir(directory)?;
    }
    let _lock = Lock::wait(&path.with_extension("lock"))?;
    let mut value: T = read_user_file(path)?;
    let before = value.clone();
    let changed = change(&mut value);
    if value != before {
        write_atomic(path, Durability::PowerLoss, |out| {
            serde_json::to_writer_pretty(&mut *out, &value)?;
            out.write_all(b"\n")
        })?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_when_nothing_changes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state/names.json");
        update_user_file(&path, |_: &mut Vec<String>| ()).unwrap();
        assert!(!path.exists());
        update_user_file(&path, |names: &mut Vec<String>| names.push("one".to_owned())).unwrap();
        assert_eq!(read_user_file::<Vec<String>>(&path).unwrap(), ["one"]);
    }

    #[test]
    fn a_broken_or_endless_file_is_an_error_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("names.json");
        write_atomic(&path, Durability::Process, |out| out.write_all(b"{")).unwrap();
        assert!(matches!(read_user_file::<Vec<String>>(&path), Err(UserFileError::Unreadable { .. })));
        assert!(update_user_file(&path, Vec::<String>::clear).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
        let endless = read_user_file::<Vec<String>>(Path::new("/dev/zero")).unwrap_err();
        let UserFileError::Unreadable { source, .. } = endless else { panic!("{endless}") };
        assert_eq!(source.kind(), io::ErrorKind::FileTooLarge);
    }
}
