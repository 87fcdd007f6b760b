//! All-or-nothing writes.

#![expect(clippy::disallowed_methods, reason = "this crate is where files are written")]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why a file could not be written; the target is unchanged.
#[derive(Debug, thiserror::Error)]
#[error("could not write `{}`", path.display())]
pub struct StoreError {
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

impl StoreError {
    pub fn hint(&self) -> String {
        let path = self.path.display();
        #[expect(clippy::wildcard_enum_match_arm, reason = "the system has more errors than we have advice")]
        match self.source.kind() {
            io::ErrorKind::NotFound => match self.path.parent().filter(|parent| *parent != Path::new("")) {
                Some(directory) => format!("create the directory `{}` first", directory.display()),
                None => format!("check the spelling of `{path}`"),
            },
            io::ErrorKind::PermissionDenied => {
                format!("choose a location you can write to, or fix the permissions of `{path}`")
            }
            io::ErrorKind::IsADirectory => format!("name a file: `{path}` is a directory"),
            io::ErrorKind::StorageFull => "free some disk space, then try again".to_owned(),
            _ => format!("check that `{path}` is writable, then try again"),
        }
    }
}

/// What a write has to survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The end of this process: for output that can be regenerated.
    Process,
    /// A power failure: for everything else.
    PowerLoss,
}

/// Writes a file through `write`, atomically.
///
/// A link to a file is followed and stays a link. A device or pipe cannot be replaced, so it is written to directly.
/// Missing directories are not created, so that a typo does not create any.
pub fn write_atomic(
    path: &Path,
    durability: Durability,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), StoreError> {
    replace(path, durability, write)
        .map(|directory| {
            if durability == Durability::PowerLoss {
                sync_names(&directory);
            }
        })
        .map_err(|source| StoreError { path: path.to_owned(), source })
}

/// Syncs a directory, so that the names in it survive a power failure. Some file systems do not support this.
pub(crate) fn sync_names(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        drop(directory.sync_all());
    }
}

/// Removes a file or directory of the engine; a link is removed, not followed. Missing is not an error.
pub fn remove(path: &Path) -> Result<(), StoreError> {
    remove_any(path).map_err(|source| StoreError { path: path.to_owned(), source })
}

pub(crate) fn remove_any(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Appends bytes to a file that can be regenerated; a link is refused.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let appended = || {
        if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        File::options().create(true).append(true).open(path)?.write_all(bytes)
    };
    appended().map_err(|source| StoreError { path: path.to_owned(), source })
}

/// Creates a directory and its parents durably; an existing one is not an error.
pub fn create_dir(path: &Path) -> Result<(), StoreError> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.is_dir();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(path).map_err(|source| StoreError { path: path.to_owned(), source })?;
    for made in missing {
        match made.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_names(parent),
            _ => sync_names(Path::new(".")),
        }
    }
    Ok(())
}

/// Writes a file and returns its directory, which the caller still has to sync.
fn replace(
    path: &Path,
    durability: Durability,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let existing = match fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(metadata) = &existing {
        let kind = metadata.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if kind.is_char_device() || kind.is_block_device() || kind.is_fifo() || kind.is_socket() {
            let mut out = BufWriter::new(File::options().write(true).open(path)?);
            write(&mut out)?;
            out.flush()?;
            return Ok(path.parent().unwrap_or(Path::new("")).to_owned());
        }
    }
    let target = if existing.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let mode = existing.as_ref().map_or(0o666, |metadata| metadata.permissions().mode());
    let temporary = tempfile::Builder::new()
        .prefix(".tmp-aiwf-")
        .permissions(fs::Permissions::from_mode(mode & 0o777))
        .tempfile_in(&directory)?;
    let mut out = BufWriter::with_capacity(256 * 1024, temporary);
    write(&mut out)?;
    let temporary = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if durability == Durability::PowerLoss {
        temporary.as_file().sync_all()?;
    }
    temporary.persist(&target).map_err(|error| error.error)?;
    Ok(directory)
}

#[cfg(test)]
#[path = "atomic_tests.rs"]
mod tests;
