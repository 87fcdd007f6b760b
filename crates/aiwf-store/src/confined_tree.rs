//! Copies directory trees: files with their permissions and times, links, directories.
//!
//! In: an opened directory and a name in it. No link is followed, so a tree that changes while it is copied may give a
//! wrong copy, but never one from elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, chmodat, fchmod, fstat, futimens,
    mkdirat, openat, readlinkat, statat, symlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use sha2::{Digest as _, Sha256};

use crate::atomic::{StoreError, remove_any};
use crate::confined::{ConfinedDir, ConfinedError, EntryKind, checked};
use crate::objects::hex;

/// Files up to this size are read at once; for larger ones the system shares the bytes of the copy if it can.
const MAX_AT_ONCE: u64 = 256 * 1024;

/// The metadata of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryStat {
    pub kind: EntryKind,
    pub n_bytes: u64,
    /// Modification time in seconds and nanoseconds; any process can set it.
    pub modified_at: (i64, i64),
    /// Time of the last status change; only the system sets it.
    pub changed_at: (i64, i64),
    pub inode: u64,
    /// Whether its owner can execute it.
    pub is_executable: bool,
}

impl EntryStat {
    #[allow(clippy::useless_conversion, reason = "the types of these numbers differ between systems")]
    fn of(stat: &Stat) -> Self {
        Self {
            kind: EntryKind::of(FileType::from_raw_mode(stat.st_mode)),
            n_bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified_at: (i64::from(stat.st_mtime), i64::try_from(stat.st_mtime_nsec).unwrap_or_default()),
            changed_at: (i64::from(stat.st_ctime), i64::try_from(stat.st_ctime_nsec).unwrap_or_default()),
            inode: u64::from(stat.st_ino),
            is_executable: u32::from(stat.st_mode) & 0o100 != 0,
        }
    }
}

/// Whether to hash the bytes of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hashing {
    Sha256,
    Nothing,
}

impl ConfinedDir {
    /// The metadata of an entry; `None` if it is missing.
    pub fn look(&self, name: &str) -> Result<Option<EntryStat>, ConfinedError> {
        match statat(self.handle(), checked(name)?.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(EntryStat::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The names in this directory, sorted, including names that are not UTF-8.
    pub fn names(&self) -> Result<Vec<(OsString, EntryKind)>, ConfinedError> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.handle())? {
            let entry = entry?;
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                continue;
            }
            let mut kind = entry.file_type();
            // Some file systems do not report the type together with the name.
            if kind == FileType::Unknown {
                match statat(self.handle(), entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => kind = FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(errno.into()),
                }
            }
            names.push((OsString::from_vec(bytes.to_vec()), EntryKind::of(kind)));
        }
        names.sort();
        Ok(names)
    }

    pub fn link_target(&self, name: &str) -> Result<OsString, ConfinedError> {
        let target = readlinkat(self.handle(), checked(name)?.as_c_str(), Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Creates a link; fails if the name is taken.
    pub fn create_link(&self, name: &str, target: &OsStr) -> Result<(), ConfinedError> {
        Ok(symlinkat(target, self.handle(), checked(name)?.as_c_str())?)
    }

    /// Creates a directory with access only for its owner; fails if the name is taken.
    pub fn create_private(&self, name: &str) -> Result<Self, ConfinedError> {
        mkdirat(self.handle(), checked(name)?.as_c_str(), Mode::from_raw_mode(0o700))?;
        self.directory(name)
    }

    /// Writes a new file, durable against the end of this process but not against a power failure.
    pub fn write_new(&self, name: &str, content: &[u8], is_executable: bool) -> Result<(), ConfinedError> {
        let mode = if is_executable { 0o777 } else { 0o666 };
        Ok(self.create_file(name, mode)?.write_all(content)?)
    }

    /// Copies a regular file into another directory, where the name must be free.
    ///
    /// The copy keeps the times of the file, so that build results stay up to date, and its permissions, plus write
    /// access for the owner. With [`Hashing::Sha256`] it returns the hash of the copy's bytes.
    pub fn copy_file(
        &self,
        name: &str,
        to: &Self,
        hashing: Hashing,
    ) -> Result<(EntryStat, Option<String>), ConfinedError> {
        let mut from = self.file(name)?;
        let stat = fstat(&from)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        let mut copy = File::from(openat(to.handle(), checked(name)?.as_c_str(), flags, mode)?);
        let mut sha256 = None;
        if hashing == Hashing::Nothing && shares_blocks(&from, &copy) {
            // The disk did it.
        } else if EntryStat::of(&stat).n_bytes <= MAX_AT_ONCE {
            let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or_default());
            // If the file grows meanwhile, only its first part is copied.
            io::Read::by_ref(&mut from).take(MAX_AT_ONCE).read_to_end(&mut bytes)?;
            copy.write_all(&bytes)?;
            if hashing == Hashing::Sha256 {
                sha256 = Some(hex(&Sha256::digest(&bytes)));
            }
        } else {
            io::copy(&mut from, &mut copy)?;
            if hashing == Hashing::Sha256 {
                copy.rewind()?;
                sha256 = Some(crate::objects::sha256_of(copy.try_clone()?)?);
            }
        }
        set_permissions_and_times(&copy, &stat)?;
        Ok((EntryStat::of(&fstat(&copy)?), sha256))
    }
}

/// Makes a copy that shares its blocks with the original until one of them changes, where the disk can.
#[cfg(target_os = "linux")]
fn shares_blocks(from: &File, copy: &File) -> bool {
    rustix::fs::ioctl_ficlone(copy, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn shares_blocks(_: &File, _: &File) -> bool {
    false
}

fn set_permissions_and_times(copy: &File, stat: &Stat) -> Result<(), ConfinedError> {
    fchmod(copy, Mode::from_raw_mode((stat.st_mode & 0o777) | 0o600))?;
    #[allow(clippy::useless_conversion, reason = "the types of these numbers differ between systems")]
    let times = Timestamps {
        last_access: Timespec {
            tv_sec: stat.st_atime.into(),
            tv_nsec: stat.st_atime_nsec.try_into().unwrap_or_default(),
        },
        last_modification: Timespec {
            tv_sec: stat.st_mtime.into(),
            tv_nsec: stat.st_mtime_nsec.try_into().unwrap_or_default(),
        },
    };
    Ok(futimens(copy, &times)?)
}

/// Removes a directory with its contents, including directories without write permission; missing is not an error.
pub fn remove_tree(path: &Path) -> Result<(), StoreError> {
    let removed = remove_any(path).or_else(|error| {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return Err(error);
        }
        make_writable(CWD, path)?;
        remove_any(path)
    });
    removed.map_err(|source| StoreError { path: path.to_owned(), source })
}

/// Makes a directory and its subdirectories writable for their owner, so that they can be removed.
fn make_writable(above: impl AsFd, name: impl Arg + Copy) -> io::Result<()> {
    let stat = statat(&above, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Ok(());
    }
    chmodat(&above, name, Mode::from_raw_mode((stat.st_mode & 0o777) | 0o700), AtFlags::empty())?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(&above, name, flags, Mode::empty())?;
    for entry in Dir::read_from(&directory)? {
        let entry = entry?;
        let is_other = matches!(entry.file_type(), FileType::RegularFile | FileType::Symlink);
        if !is_other && !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            make_writable(&directory, entry.file_name())?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "confined_tree_tests.rs"]
mod tests;
