//! A small JSON file in the user's directory, changed by one process at a time.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use aiwf_store::{Durability, Lock, create_dir, write_atomic};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ToolsError;

/// The largest file that is taken for one of ours.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// What the file says; the default when there is none.
pub(crate) fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T, ToolsError> {
    let unreadable = |source| ToolsError::Unreadable { path: path.to_owned(), source };
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
    // A file that cannot be read must not count as an empty one: that would forget what was refused.
    serde_json::from_slice(&bytes)
        .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.to_string())))
}

/// Changes what the file says, after whoever is changing it; nothing is written when nothing changes.
pub(crate) fn update<T, R>(path: &Path, change: impl FnOnce(&mut T) -> R) -> Result<R, ToolsError>
where
    T: DeserializeOwned + Serialize + Default + Clone + PartialEq,
{
    if let Some(directory) = path.parent() {
        create_dir(directory)?;
    }
    let _lock = Lock::wait(&path.with_extension("lock"))?;
    let mut value: T = read(path)?;
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
