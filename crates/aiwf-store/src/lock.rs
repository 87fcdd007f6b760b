//! One writer for each session, across processes.

#![expect(clippy::disallowed_methods, reason = "this crate is where files are written")]

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the lock is tried for before it counts as taken, and how long between.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(4);

/// Held while a session is being changed; let go when dropped, or when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why the lock could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("another aiwf is working on this session")]
    Taken,
    /// The lock file cannot be used.
    #[error("could not lock `{}`", path.display())]
    Unusable {
        /// The lock file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl LockError {
    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Taken => "wait until it is done, then run this again; nothing was changed".to_owned(),
            Self::Unusable { path, .. } => format!("check the rights of `{}`", path.display()),
        }
    }
}

impl Lock {
    /// Takes the lock, after whoever has it.
    pub fn wait(path: &Path) -> Result<Self, LockError> {
        let unusable = |source| LockError::Unusable { path: path.to_owned(), source };
        let file = File::options().create(true).truncate(false).write(true).open(path).map_err(unusable)?;
        file.lock().map_err(unusable)?;
        Ok(Self { _file: file })
    }

    /// Takes the lock, or says at once that somebody has it.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let unusable = |source| LockError::Unusable { path: path.to_owned(), source };
        let file = File::options().create(true).truncate(false).write(true).open(path).map_err(unusable)?;
        let mut n_tries = 1;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                // Who only asks whether it is taken has it for a moment, see `is_taken`.
                Err(TryLockError::WouldBlock) if n_tries < TRIES => {
                    n_tries += 1;
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(LockError::Taken),
                Err(TryLockError::Error(source)) => return Err(unusable(source)),
            }
        }
    }

    /// Whether somebody has it now; nothing is waited for and nothing is made.
    pub fn is_taken(path: &Path) -> bool {
        let Ok(file) = File::open(path) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_is_refused_until_the_first_lets_go() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let first = Lock::take(&path).unwrap();
        assert!(matches!(Lock::take(&path), Err(LockError::Taken)));
        assert!(Lock::is_taken(&path));
        drop(first);
        assert!(!Lock::is_taken(&path) && !Lock::is_taken(&directory.path().join("none")));
        Lock::take(&path).unwrap();
    }
}
