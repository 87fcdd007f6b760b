//! The directory of a session or run: every file of the engine in it is opened here.
//!
//! In: paths relative to the directory. Out: bytes, bounded, or the reason why a file is not used. Each part of a path
//! is opened from the handle of its parent and no link is followed, so the contents of a checked-out session cannot
//! escape it. Pipes, devices and files with other hard links are refused; nothing blocks.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::atomic::{Durability, StoreError};
use crate::confined::{ConfinedDir, ConfinedError, EntryKind, read_limited};
use crate::objects::sha256_of;

/// Size limit for a file of a session or run, except the journal.
pub const MAX_LEDGER_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A directory of the engine, identified by its handle.
#[derive(Debug)]
pub struct LedgerDir {
    handle: ConfinedDir,
    path: PathBuf,
    /// Permissions of files that are streamed into, before the umask.
    stream_mode: u32,
}

const USUAL_MODE: u32 = 0o666;
const PRIVATE_MODE: u32 = 0o600;

impl LedgerDir {
    /// Opens a directory by path; links in the path are followed.
    pub fn at(path: &Path) -> Result<Self, ConfinedError> {
        Ok(Self::of(ConfinedDir::open(path)?, path.to_owned()))
    }

    /// Opens a temporary directory by path; files streamed into it are private to the user.
    pub fn at_private(path: &Path) -> Result<Self, ConfinedError> {
        Ok(Self { stream_mode: PRIVATE_MODE, ..Self::at(path)? })
    }

    fn of(handle: ConfinedDir, path: PathBuf) -> Self {
        Self { handle, path, stream_mode: USUAL_MODE }
    }

    /// Opens a directory of a project: `place` may be a link that stays in the project, `name` may be empty.
    pub fn open(root: &Path, place: &Path, name: &str) -> Result<Self, ConfinedError> {
        let handle = ConfinedDir::open_below(root, place)?.directory(name)?;
        Ok(Self::of(handle, root.join(place).join(name)))
    }

    /// Opens a directory for sessions or runs in a project, and creates it if it is missing.
    pub fn create_place(root: &Path, place: &Path) -> Result<Self, ConfinedError> {
        Ok(Self::of(ConfinedDir::create_below(root, place)?, root.join(place)))
    }

    /// Opens a subdirectory and creates it if it is missing.
    pub fn create(&self, name: &str) -> Result<Self, ConfinedError> {
        Ok(Self::of(self.handle.create_directory(name)?, self.path.join(name)))
    }

    /// Its path, for messages and child processes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The handle, for opening names in the directory.
    pub fn handle(&self) -> &ConfinedDir {
        &self.handle
    }

    /// The bytes of a file; `None` if it is missing.
    pub fn read(&self, relative: &str) -> Result<Option<Vec<u8>>, ConfinedError> {
        self.read_up_to(relative, MAX_LEDGER_FILE_BYTES)
    }

    pub(crate) fn read_up_to(&self, relative: &str, limit: u64) -> Result<Option<Vec<u8>>, ConfinedError> {
        self.with_file(relative, |directory, name| read_limited(directory.own_file(name)?, limit))
    }

    /// SHA-256 of a file; `None` if it is missing.
    pub fn sha256(&self, relative: &str) -> Result<Option<String>, ConfinedError> {
        self.with_file(relative, |directory, name| Ok(sha256_of(directory.own_file(name)?)?))
    }

    /// The size of a file; `None` if it is missing.
    pub fn n_bytes(&self, relative: &str) -> Result<Option<u64>, ConfinedError> {
        self.with_file(relative, |directory, name| Ok(directory.own_file(name)?.metadata()?.len()))
    }

    /// Whether the path is a usable file.
    pub fn is_file(&self, relative: &str) -> bool {
        matches!(self.n_bytes(relative), Ok(Some(_)))
    }

    /// Whether the name exists, even as a broken link.
    pub fn exists(&self, relative: &str) -> bool {
        !matches!(self.with_file(relative, ConfinedDir::kind), Ok(None | Some(None)))
    }

    /// Refuses a path that is a link or leads through one; a missing path is fine.
    pub fn refuse_links(&self, relative: &str) -> Result<(), ConfinedError> {
        let kind = self.with_file(relative, ConfinedDir::kind)?.flatten();
        match kind {
            Some(EntryKind::Link) => Err(ConfinedError::Link),
            // A pipe is never opened by its name, so it cannot block; a file written under this name replaces it.
            Some(EntryKind::File | EntryKind::Directory | EntryKind::Special) | None => Ok(()),
        }
    }

    /// Opens a nested directory.
    pub fn directory(&self, relative: &str) -> Result<ConfinedDir, ConfinedError> {
        relative.split('/').try_fold(self.handle.try_clone()?, |directory, part| directory.directory(part))
    }

    /// Opens a nested directory and creates its missing parts.
    pub fn create_directories(&self, relative: &str) -> Result<ConfinedDir, ConfinedError> {
        relative.split('/').try_fold(self.handle.try_clone()?, |directory, part| {
            match directory.directory(part) {
                Err(ConfinedError::Missing) => {
                    let made = directory.create_directory(part)?;
                    directory.sync();
                    Ok(made)
                }
                opened => opened,
            }
        })
    }

    /// Writes a file atomically and creates missing directories.
    pub fn write(&self, relative: &str, bytes: &[u8], durability: Durability) -> Result<(), StoreError> {
        let written = self.to_write(relative).and_then(|(directory, name)| {
            // The existing file may be large, but it must be ours.
            match directory.own_file(name) {
                Ok(_) | Err(ConfinedError::Missing) => directory.write(name, bytes, durability),
                Err(error) => Err(error),
            }
        });
        written.map_err(|error| self.failed(relative, error))
    }

    /// Creates a file to stream into; an existing one, or a link, is an error. Creates missing directories.
    pub fn create_file(&self, relative: &str) -> Result<File, ConfinedError> {
        let (directory, name) = self.to_write(relative)?;
        directory.create_file(name, self.stream_mode)
    }

    /// Appends bytes to a file that can be regenerated.
    pub fn append(&self, relative: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let appended = self.to_write(relative).and_then(|(directory, name)| {
            Ok(directory.own_file_to_write(name, OFlags::APPEND)?.write_all(bytes)?)
        });
        appended.map_err(|error| self.failed(relative, error))
    }

    /// Removes a file, or a directory with its contents; missing is not an error.
    pub fn remove(&self, relative: &str) -> Result<(), StoreError> {
        let removed = self.with_file(relative, ConfinedDir::remove);
        removed.map(|_| ()).map_err(|error| self.failed(relative, error))
    }

    /// Renames a file or directory to its final name, durably; an existing file is replaced.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let renamed = self.to_write(from).and_then(|(source, name)| {
            let (target, new_name) = self.to_write(to)?;
            source.rename(name, &target, new_name)?;
            target.sync();
            Ok(())
        });
        renamed.map_err(|error| self.failed(to, error))
    }

    /// Removes what a killed process left unfinished, directly in this directory.
    pub fn remove_leftovers(&self) {
        remove_leftovers(&self.handle);
    }

    /// The same in a nested directory.
    pub fn remove_leftovers_in(&self, relative: &str) {
        if let Ok(directory) = self.directory(relative) {
            remove_leftovers(&directory);
        }
    }

    /// The same, and in its direct subdirectories; the caller holds the lock of the session or run.
    pub fn remove_leftovers_below(&self) {
        self.remove_leftovers();
        for entry in self.handle.entries().unwrap_or_default() {
            if entry.kind == EntryKind::Directory
                && let Ok(directory) = self.handle.directory(&entry.name)
            {
                remove_leftovers(&directory);
            }
        }
    }

    fn with_file<T>(
        &self,
        relative: &str,
        act: impl FnOnce(&ConfinedDir, &str) -> Result<T, ConfinedError>,
    ) -> Result<Option<T>, ConfinedError> {
        let (above, name) = split(relative);
        let opened = match above {
            Some(above) => self.directory(above).and_then(|directory| act(&directory, name)),
            None => act(&self.handle, name),
        };
        match opened {
            Ok(value) => Ok(Some(value)),
            Err(ConfinedError::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn to_write<'n>(&self, relative: &'n str) -> Result<(ConfinedDir, &'n str), ConfinedError> {
        let (above, name) = split(relative);
        let directory = match above {
            Some(above) => self.create_directories(above)?,
            None => self.handle.try_clone()?,
        };
        Ok((directory, name))
    }

    fn failed(&self, relative: &str, error: ConfinedError) -> StoreError {
        StoreError { path: self.path.join(relative), source: error.into() }
    }
}

fn remove_leftovers(directory: &ConfinedDir) {
    for entry in directory.entries().unwrap_or_default() {
        if entry.name.starts_with(".tmp-") {
            // Files that cannot be removed do no harm; the next command tries again.
            drop(directory.remove(&entry.name));
        }
    }
}

fn split(relative: &str) -> (Option<&str>, &str) {
    match relative.rsplit_once('/') {
        Some((above, name)) => (Some(above), name),
        None => (None, relative),
    }
}

#[cfg(test)]
#[path = "ledger_dir_tests.rs"]
mod tests;
