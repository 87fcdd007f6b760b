//! Copies directory trees: what a name stands for, links, files with their rights and times.
//!
//! In: an opened directory and a name in it. Nothing is followed on the way, so a tree that somebody changes while it is
//! copied is copied wrongly at worst, and never from elsewhere.

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

/// Files up to this size are read at once; of larger ones the system makes a copy that shares their bytes if it can.
const MAX_AT_ONCE: u64 = 256 * 1024;

/// What a name stands for, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// What it is.
    pub kind: EntryKind,
    /// How many bytes it has.
    pub n_bytes: u64,
    /// When its bytes were changed, in seconds and nanoseconds; anybody can set it.
    pub modified_at: (i64, i64),
    /// When anything about it was changed; only the system sets it.
    pub changed_at: (i64, i64),
    /// Its number in the file system.
    pub inode: u64,
    /// Whether its owner can execute it.
    pub is_executable: bool,
}

impl Look {
    #[allow(clippy::useless_conversion, reason = "systems have types of their own for these numbers")]
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

/// Whether the bytes of a copy are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hashing {
    /// They are.
    Sha256,
    /// They are not.
    Nothing,
}

impl ConfinedDir {
    /// What a name stands for; nothing when there is no such name.
    pub fn look(&self, name: &str) -> Result<Option<Look>, ConfinedError> {
        match statat(self.handle(), checked(name)?.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Look::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The names in this directory, sorted, those that are not UTF-8 among them.
    pub fn names(&self) -> Result<Vec<(OsString, EntryKind)>, ConfinedError> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.handle())? {
            let entry = entry?;
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                continue;
            }
            let mut kind = entry.file_type();
            // Not every file system tells the type with the name.
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

    /// Where a link leads.
    pub fn link_target(&self, name: &str) -> Result<OsString, ConfinedError> {
        let target = readlinkat(self.handle(), checked(name)?.as_c_str(), Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Makes a link where nothing is.
    pub fn create_link(&self, name: &str, target: &OsStr) -> Result<(), ConfinedError> {
        Ok(symlinkat(target, self.handle(), checked(name)?.as_c_str())?)
    }

    /// Creates a directory that only its owner can look into, where nothing is.
    pub fn create_private(&self, name: &str) -> Result<Self, ConfinedError> {
        mkdirat(self.handle(), checked(name)?.as_c_str(), Mode::from_raw_mode(0o700))?;
        self.directory(name)
    }

    /// Writes a file that is not there yet; it survives the end of this process, not a loss of power.
    pub fn write_new(&self, name: &str, content: &[u8], is_executable: bool) -> Result<(), ConfinedError> {
        let mode = if is_executable { 0o777 } else { 0o666 };
        Ok(self.create_file(name, mode)?.write_all(content)?)
    }

    /// Copies a regular file into another directory, where the name must be free.
    ///
    /// The copy has the times of the file, so that what was built from it stays up to date, and its rights, so far as its
    /// owner may write to it. With [`Hashing::Sha256`] the hash is that of the copy's bytes.
    pub fn copy_file(
        &self,
        name: &str,
        to: &Self,
        hashing: Hashing,
    ) -> Result<(Look, Option<String>), ConfinedError> {
        let mut from = self.file(name)?;
        let stat = fstat(&from)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        let mut copy = File::from(openat(to.handle(), checked(name)?.as_c_str(), flags, mode)?);
        let mut sha256 = None;
        if Look::of(&stat).n_bytes <= MAX_AT_ONCE {
            let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or_default());
            // A file that grows meanwhile is copied as far as it was.
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
        set_rights_and_times(&copy, &stat)?;
        Ok((Look::of(&fstat(&copy)?), sha256))
    }
}

fn set_rights_and_times(copy: &File, stat: &Stat) -> Result<(), ConfinedError> {
    fchmod(copy, Mode::from_raw_mode((stat.st_mode & 0o777) | 0o600))?;
    #[allow(clippy::useless_conversion, reason = "systems have types of their own for these numbers")]
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

/// Removes a directory with everything in it, also directories that their owner may not write to; nothing is fine too.
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

/// Lets the owner of a directory, and of those in it, remove what is there.
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
