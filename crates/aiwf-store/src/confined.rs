//! A directory that no path can escape.
//!
//! Every name is opened relative to the handle of its parent directory, and links are never followed, so nobody can
//! swap a directory for a link between a check and its use. Names are single components: the caller has split the path.
//! Only regular files are opened; pipes and devices are refused.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, fchmod, fstat, fsync, linkat, mkdirat, open,
    openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::atomic::Durability;
use crate::objects::sha256_of;

/// Why a name in a confined directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfinedError {
    #[error("there is no such file or directory")]
    Missing,
    /// It is a link, or its path leads through one.
    #[error("it is a link, or reached through one")]
    Link,
    /// A directory was expected.
    #[error("it is not a directory")]
    NotADirectory,
    /// A file was expected.
    #[error("it is a directory")]
    IsADirectory,
    /// It is a pipe, a socket or a device.
    #[error("it is not a regular file")]
    Special,
    /// The file has other names elsewhere.
    #[error("it has {n_links} hard links, so it is also a file somewhere else")]
    HardLinks { n_links: u64 },
    /// It exceeds the size limit of its kind.
    #[error("it is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    /// It is outside the directory that must contain it.
    #[error("it is outside the project")]
    Outside,
    /// It changed since it was last read.
    #[error("another program changed it in the meantime")]
    Changed,
    /// It is not a single name: empty, `.`, `..`, or with a slash or a NUL.
    #[error("it is not a valid file name")]
    NotAName,
    #[error("the operating system refused")]
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

impl From<ConfinedError> for io::Error {
    fn from(error: ConfinedError) -> Self {
        let kind = match error {
            ConfinedError::System(error) => return error,
            ConfinedError::Missing => io::ErrorKind::NotFound,
            ConfinedError::NotADirectory => io::ErrorKind::NotADirectory,
            ConfinedError::IsADirectory => io::ErrorKind::IsADirectory,
            ConfinedError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            ConfinedError::Link
            | ConfinedError::Special
            | ConfinedError::HardLinks { .. }
            | ConfinedError::Outside
            | ConfinedError::Changed
            | ConfinedError::NotAName => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    File,
    Directory,
    /// A link, wherever it points.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl EntryKind {
    pub(crate) fn of(kind: FileType) -> Self {
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name; names that are not UTF-8 are not listed.
    pub name: String,
    pub kind: EntryKind,
}

/// A directory identified by its handle: it stays the same directory even if it is renamed.
#[derive(Debug)]
pub struct ConfinedDir {
    handle: OwnedFd,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl ConfinedDir {
    /// Opens a directory the engine chose; links in its path are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { handle: open(path, flags, Mode::empty())? })
    }

    /// Opens a directory of a project; links are followed as long as they stay in the project.
    ///
    /// The real path is opened part by part without following links, so what was checked is what is opened.
    pub fn open_below(root: &Path, below: &Path) -> Result<Self, ConfinedError> {
        let real_root = root.canonicalize().map_err(missing_or_system)?;
        let real = root.join(below).canonicalize().map_err(missing_or_system)?;
        let below = real.strip_prefix(&real_root).or(Err(ConfinedError::Outside))?;
        let mut directory = Self::open(&real_root)?;
        for part in below {
            directory = directory.directory(part.to_str().ok_or(ConfinedError::NotAName)?)?;
        }
        Ok(directory)
    }

    /// Like [`Self::open_below`], and creates missing directories.
    pub fn create_below(root: &Path, below: &Path) -> Result<Self, ConfinedError> {
        let opened = Self::open_below(root, below);
        let (Err(ConfinedError::Missing), Some(name)) = (&opened, below.file_name()) else { return opened };
        let above = Self::create_below(root, below.parent().unwrap_or(Path::new("")))?;
        let made = above.create_directory(name.to_str().ok_or(ConfinedError::NotAName)?)?;
        above.sync();
        Ok(made)
    }

    pub(crate) fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    /// Duplicates the handle.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.try_clone()? })
    }

    /// Opens a subdirectory.
    pub fn directory(&self, name: &str) -> Result<Self, ConfinedError> {
        match openat(&self.handle, checked(name)?.as_c_str(), DIRECTORY, Mode::empty()) {
            Ok(handle) => Ok(Self { handle }),
            // Systems report different errors for a link where a directory is expected.
            Err(Errno::NOTDIR) if self.kind(name)? == Some(EntryKind::Link) => Err(ConfinedError::Link),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a regular file in this directory.
    pub fn file(&self, name: &str) -> Result<File, ConfinedError> {
        // Without NONBLOCK, opening a pipe blocks until there is a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let handle = match openat(&self.handle, checked(name)?.as_c_str(), flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NXIO) => return Err(ConfinedError::Special),
            Err(errno) => return Err(errno.into()),
        };
        refuse_other_kinds(&fstat(&handle)?)?;
        Ok(File::from(handle))
    }

    /// Opens a regular file of the engine; one with other hard links is refused.
    pub(crate) fn own_file(&self, name: &str) -> Result<File, ConfinedError> {
        let file = self.file(name)?;
        refuse_hard_links(&fstat(&file)?)?;
        Ok(file)
    }

    /// Opens a file of the engine for writing and creates it if it is missing.
    pub(crate) fn own_file_to_write(&self, name: &str, how: OFlags) -> Result<File, ConfinedError> {
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | how;
        let mode = Mode::from_raw_mode(0o666);
        let handle = match openat(&self.handle, checked(name)?.as_c_str(), flags, mode) {
            Ok(handle) => handle,
            Err(Errno::NXIO) => return Err(ConfinedError::Special),
            Err(errno) => return Err(errno.into()),
        };
        let stat = fstat(&handle)?;
        refuse_other_kinds(&stat)?;
        refuse_hard_links(&stat)?;
        Ok(File::from(handle))
    }

    /// The bytes of a file, up to a limit; `None` if it is missing.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, ConfinedError> {
        match self.file(name) {
            Ok(file) => read_limited(file, limit).map(Some),
            Err(ConfinedError::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The type of an entry; `None` if it is missing.
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
            // Some file systems do not report the type together with the name.
            if entry.file_type() == FileType::Unknown {
                let Some(found) = self.kind(name)? else { continue };
                kind = found;
            }
            entries.push(Entry { name: name.to_owned(), kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Opens a subdirectory and creates it if it is missing.
    pub fn create_directory(&self, name: &str) -> Result<Self, ConfinedError> {
        match mkdirat(&self.handle, checked(name)?.as_c_str(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.directory(name),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes a file atomically. An existing file is replaced; the new one keeps its permissions.
    pub fn write(&self, name: &str, content: &[u8], durability: Durability) -> Result<(), ConfinedError> {
        self.replace(name, content, durability, |_| Ok(()))?;
        if durability == Durability::PowerLoss {
            self.sync();
        }
        Ok(())
    }

    /// Writes a file whose name is durable only after [`Self::sync`]: for many files in one directory.
    pub(crate) fn write_unsynced(&self, name: &str, content: &[u8]) -> Result<(), ConfinedError> {
        self.replace(name, content, Durability::PowerLoss, |_| Ok(()))
    }

    /// Replaces a file whose content has the hash `before`, or creates it if `before` is `None`; otherwise changes
    /// nothing.
    ///
    /// The existing file is checked after the new content is on disk, right before the rename. If none is expected, the
    /// file is created only if the name is free, in one step.
    pub fn write_if_unchanged(
        &self,
        name: &str,
        before: Option<&str>,
        content: &[u8],
    ) -> Result<(), ConfinedError> {
        let expected = |found: Option<String>| {
            if found.as_deref() == before { Ok(()) } else { Err(ConfinedError::Changed) }
        };
        if before.is_none() {
            self.create(name, content)?;
        } else {
            self.replace(name, content, Durability::PowerLoss, |directory| {
                expected(directory.sha256(name)?)
            })?;
        }
        self.sync();
        Ok(())
    }

    /// Removes a file whose content has the hash `before`; a missing file is fine, any other is left alone.
    pub fn remove_if_unchanged(&self, name: &str, before: Option<&str>) -> Result<(), ConfinedError> {
        match self.sha256(name)? {
            None => Ok(()),
            found if found.as_deref() == before => {
                self.remove_file(name)?;
                self.sync();
                Ok(())
            }
            Some(_) => Err(ConfinedError::Changed),
        }
    }

    /// Makes a file executable for everyone who can read it, or for nobody.
    pub fn set_executable(&self, name: &str, is_executable: bool) -> Result<(), ConfinedError> {
        let file = self.file(name)?;
        let mode = file.metadata()?.permissions().mode() & 0o777;
        let mode = if is_executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 };
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        Ok(())
    }

    /// SHA-256 of a file; `None` when it is not there.
    pub fn sha256(&self, name: &str) -> Result<Option<String>, ConfinedError> {
        match self.file(name) {
            Ok(file) => Ok(Some(sha256_of(file)?)),
            Err(ConfinedError::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a file; fails if the name is taken.
    fn create(&self, name: &str, content: &[u8]) -> Result<(), ConfinedError> {
        let target = checked(name)?;
        let (temporary, mut file) = self.temporary()?;
        let created = (|| {
            file.write_all(content)?;
            file.sync_all()?;
            let (from, to) = (temporary.as_c_str(), target.as_c_str());
            match renameat_with(&self.handle, from, &self.handle, to, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(()),
                Err(Errno::EXIST) => Err(ConfinedError::Changed),
                // Not every file system supports this; a hard link to a name that is taken fails on all of them.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    match linkat(&self.handle, from, &self.handle, to, AtFlags::empty()) {
                        Ok(()) => Ok(unlinkat(&self.handle, from, AtFlags::empty())?),
                        Err(Errno::EXIST) => Err(ConfinedError::Changed),
                        Err(errno) => Err(errno.into()),
                    }
                }
                Err(errno) => Err(errno.into()),
            }
        })();
        if created.is_err() {
            let _ = unlinkat(&self.handle, temporary.as_c_str(), AtFlags::empty());
        }
        created
    }

    /// Makes the names in this directory durable; some file systems do not support this.
    pub(crate) fn sync(&self) {
        let _ = fsync(&self.handle);
    }

    fn replace(
        &self,
        name: &str,
        content: &[u8],
        durability: Durability,
        check: impl FnOnce(&Self) -> Result<(), ConfinedError>,
    ) -> Result<(), ConfinedError> {
        let target = checked(name)?;
        let rights = match statat(&self.handle, target.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                refuse_other_kinds(&stat)?;
                Some(Mode::from_raw_mode(stat.st_mode & 0o777))
            }
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        let (temporary, mut file) = self.temporary()?;
        let written = (|| {
            if let Some(rights) = rights {
                fchmod(&file, rights)?;
            }
            file.write_all(content)?;
            if durability == Durability::PowerLoss {
                file.sync_all()?;
            }
            check(self)?;
            renameat(&self.handle, temporary.as_c_str(), &self.handle, target.as_c_str())?;
            Ok::<(), ConfinedError>(())
        })();
        if written.is_err() {
            let _ = unlinkat(&self.handle, temporary.as_c_str(), AtFlags::empty());
        }
        written
    }

    /// Creates a file to stream into; an existing one is an error.
    pub(crate) fn create_file(&self, name: &str, mode: u32) -> Result<File, ConfinedError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(&self.handle, checked(name)?.as_c_str(), flags, Mode::from_raw_mode(mode))?;
        Ok(File::from(handle))
    }

    /// Renames an entry, possibly into another directory; an existing entry is replaced.
    pub fn rename(&self, name: &str, to: &Self, new_name: &str) -> Result<(), ConfinedError> {
        let (name, new_name) = (checked(name)?, checked(new_name)?);
        Ok(renameat(&self.handle, name.as_c_str(), &to.handle, new_name.as_c_str())?)
    }

    /// Removes a file, or a directory with its contents; links are removed, not followed.
    pub fn remove(&self, name: &str) -> Result<(), ConfinedError> {
        if self.kind(name)? != Some(EntryKind::Directory) {
            return self.remove_file(name);
        }
        let directory = self.directory(name)?;
        for entry in Dir::read_from(&directory.handle)? {
            let entry = entry?;
            match entry.file_name().to_str() {
                Ok("." | "..") => {}
                Ok(name) => directory.remove(name)?,
                // The engine never uses such a name; only files are removed under it.
                Err(_) => unlinkat(&directory.handle, entry.file_name(), AtFlags::empty())?,
            }
        }
        drop(directory);
        Ok(unlinkat(&self.handle, checked(name)?.as_c_str(), AtFlags::REMOVEDIR)?)
    }

    /// Removes a file; a link is removed, not followed. Missing is not an error.
    pub fn remove_file(&self, name: &str) -> Result<(), ConfinedError> {
        match unlinkat(&self.handle, checked(name)?.as_c_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn temporary(&self) -> Result<(CString, File), ConfinedError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".tmp-aiwf-{}-{n}", std::process::id());
            match self.create_file(&name, 0o666) {
                Ok(file) => return Ok((checked(&name)?, file)),
                Err(ConfinedError::System(error)) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Opens a regular file by path, following links; a pipe or device is refused instead of blocking.
pub fn open_regular(path: &Path) -> Result<File, ConfinedError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let handle = match open(path, flags, Mode::empty()) {
        Ok(handle) => handle,
        Err(Errno::NXIO) => return Err(ConfinedError::Special),
        Err(errno) => return Err(errno.into()),
    };
    refuse_other_kinds(&fstat(&handle)?)?;
    Ok(File::from(handle))
}

/// The bytes of a regular file, up to a limit; links are followed.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, ConfinedError> {
    read_limited(open_regular(path)?, limit)
}

pub(crate) fn read_limited(file: File, limit: u64) -> Result<Vec<u8>, ConfinedError> {
    let n_bytes = file.metadata()?.len();
    if n_bytes > limit {
        return Err(ConfinedError::TooLarge { limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or_default());
    // A file can report a length of zero and never end.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ConfinedError::TooLarge { limit }) } else { Ok(bytes) }
}

fn refuse_other_kinds(stat: &Stat) -> Result<(), ConfinedError> {
    match EntryKind::of(FileType::from_raw_mode(stat.st_mode)) {
        EntryKind::File => Ok(()),
        EntryKind::Directory => Err(ConfinedError::IsADirectory),
        EntryKind::Link => Err(ConfinedError::Link),
        EntryKind::Special => Err(ConfinedError::Special),
    }
}

fn refuse_hard_links(stat: &Stat) -> Result<(), ConfinedError> {
    #[allow(clippy::useless_conversion, reason = "the type of the link count differs between systems")]
    let n_links = u64::from(stat.st_nlink);
    if n_links > 1 { Err(ConfinedError::HardLinks { n_links }) } else { Ok(()) }
}

/// Whether the entry is something other than the engine's own file: a link, a pipe or a hard link.
pub(crate) fn is_unsafe(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(source) if source.is::<ConfinedError>())
}

/// Suggests what to do about a foreign entry in place of one of our files.
pub(crate) fn remove_hint(path: &Path) -> String {
    format!(
        "aiwf did not create `{}` in this form; remove it if you do not know where it came from",
        path.display()
    )
}

fn missing_or_system(error: io::Error) -> ConfinedError {
    if error.kind() == io::ErrorKind::NotFound {
        ConfinedError::Missing
    } else {
        ConfinedError::System(error)
    }
}

pub(crate) fn checked(name: &str) -> Result<CString, ConfinedError> {
    if matches!(name, "" | "." | "..") || name.contains('/') {
        return Err(ConfinedError::NotAName);
    }
    CString::new(name).or(Err(ConfinedError::NotAName))
}

#[cfg(test)]
#[path = "confined_tests.rs"]
mod tests;
