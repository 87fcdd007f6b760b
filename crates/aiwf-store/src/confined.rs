//! A directory that nothing leaves.
//!
//! Every name is opened from the handle of the directory above it and links are never followed, so there is no
//! moment between a check and its use in which somebody could swap a directory for a link. Names are single
//! components: whoever calls has split the path. Only regular files are opened; a pipe or a device is refused.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, fstat, fsync, mkdirat, open, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::atomic::Durability;

/// Why a name in a confined directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfinedError {
    /// There is nothing of that name.
    #[error("there is no such file or directory")]
    Missing,
    /// It is a link, or lies behind one.
    #[error("it is a link, or lies behind one")]
    Link,
    /// A directory is needed and it is something else.
    #[error("it is not a directory")]
    NotADirectory,
    /// A file is needed and it is a directory.
    #[error("it is a directory")]
    IsADirectory,
    /// It is a pipe, a socket or a device.
    #[error("it is not a regular file")]
    Special,
    /// It is no name of one file: empty, `.`, `..`, or with a slash or a NUL.
    #[error("it is not a name")]
    NotAName,
    /// The system says no.
    #[error("the system refused")]
    System(#[source] io::Error),
}

impl From<Errno> for ConfinedError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::Missing,
            Errno::LOOP | Errno::MLINK => Self::Link,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::ISDIR => Self::IsADirectory,
            errno => Self::System(errno.into()),
        }
    }
}

impl From<io::Error> for ConfinedError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link, wherever it leads.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl EntryKind {
    fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Self::Special,
        }
    }
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name; one that is not UTF-8 is left out of listings.
    pub name: String,
    /// What it stands for.
    pub kind: EntryKind,
}

/// A directory by its handle: it stays the same one whatever happens to its name.
#[derive(Debug)]
pub struct ConfinedDir {
    handle: OwnedFd,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl ConfinedDir {
    /// Opens a directory of the engine's choice; links on the way to it are the engine's business.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { handle: open(path, flags, Mode::empty())? })
    }

    /// Another handle of the same directory.
    pub fn same(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.try_clone()? })
    }

    /// Opens a directory in this one.
    pub fn directory(&self, name: &str) -> Result<Self, ConfinedError> {
        match openat(&self.handle, checked(name)?.as_c_str(), DIRECTORY, Mode::empty()) {
            Ok(handle) => Ok(Self { handle }),
            // Systems differ in what they say of a link where a directory is asked for.
            Err(Errno::NOTDIR) if self.kind(name)? == Some(EntryKind::Link) => Err(ConfinedError::Link),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a regular file in this directory.
    pub fn file(&self, name: &str) -> Result<File, ConfinedError> {
        // Without NONBLOCK a pipe would hold us until somebody writes to it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let handle = match openat(&self.handle, checked(name)?.as_c_str(), flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NXIO) => return Err(ConfinedError::Special),
            Err(errno) => return Err(errno.into()),
        };
        match EntryKind::of(FileType::from_raw_mode(fstat(&handle)?.st_mode)) {
            EntryKind::File => Ok(File::from(handle)),
            EntryKind::Directory => Err(ConfinedError::IsADirectory),
            EntryKind::Link => Err(ConfinedError::Link),
            EntryKind::Special => Err(ConfinedError::Special),
        }
    }

    /// What a name stands for; nothing when there is no such name.
    pub(crate) fn kind(&self, name: &str) -> Result<Option<EntryKind>, ConfinedError> {
        match statat(&self.handle, checked(name)?.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(EntryKind::of(FileType::from_raw_mode(stat.st_mode)))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The names in this directory, sorted.
    pub fn entries(&self) -> Result<Vec<Entry>, ConfinedError> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            let mut kind = EntryKind::of(entry.file_type());
            // Not every file system tells the type with the name.
            if entry.file_type() == FileType::Unknown {
                let Some(found) = self.kind(name)? else { continue };
                kind = found;
            }
            entries.push(Entry { name: name.to_owned(), kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Opens a directory in this one and creates it when it is not there.
    pub fn create_directory(&self, name: &str) -> Result<Self, ConfinedError> {
        match mkdirat(&self.handle, checked(name)?.as_c_str(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.directory(name),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes a file in this directory: all of it, or nothing. One that is there is replaced and keeps its rights.
    pub fn write(&self, name: &str, content: &[u8], durability: Durability) -> Result<(), ConfinedError> {
        let target = checked(name)?;
        let rights = match statat(&self.handle, target.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => match EntryKind::of(FileType::from_raw_mode(stat.st_mode)) {
                EntryKind::File => Some(Mode::from_raw_mode(stat.st_mode & 0o777)),
                EntryKind::Directory => return Err(ConfinedError::IsADirectory),
                EntryKind::Link => return Err(ConfinedError::Link),
                EntryKind::Special => return Err(ConfinedError::Special),
            },
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        let (temporary, mut file) = self.temporary()?;
        let written = (|| {
            if let Some(rights) = rights {
                rustix::fs::fchmod(&file, rights)?;
            }
            file.write_all(content)?;
            if durability == Durability::PowerLoss {
                file.sync_all()?;
            }
            renameat(&self.handle, temporary.as_c_str(), &self.handle, target.as_c_str())?;
            Ok::<(), ConfinedError>(())
        })();
        if written.is_err() {
            let _ = unlinkat(&self.handle, temporary.as_c_str(), AtFlags::empty());
        } else if durability == Durability::PowerLoss {
            // The name is only safe once the directory is; some file systems cannot do this and say so.
            let _ = fsync(&self.handle);
        }
        written
    }

    /// Removes a file; a link is removed, not followed. Nothing there is fine too.
    pub fn remove_file(&self, name: &str) -> Result<(), ConfinedError> {
        match unlinkat(&self.handle, checked(name)?.as_c_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn temporary(&self) -> Result<(CString, File), ConfinedError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = checked(&format!(".tmp-aiwf-{}-{n}", std::process::id()))?;
            match openat(&self.handle, name.as_c_str(), flags, Mode::from_raw_mode(0o666)) {
                Ok(handle) => return Ok((name, File::from(handle))),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// The name as the system takes it, if it is one.
fn checked(name: &str) -> Result<CString, ConfinedError> {
    if matches!(name, "" | "." | "..") || name.contains('/') {
        return Err(ConfinedError::NotAName);
    }
    CString::new(name).or(Err(ConfinedError::NotAName))
}

#[cfg(test)]
#[path = "confined_tests.rs"]
mod tests;
