//! One writer per session, across processes.

#![expect(clippy::disallowed_methods, reason = "this crate is where files are written")]

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::confined::{is_unsafe, remove_hint};
use crate::ledger_dir::LedgerDir;

/// Number of attempts before the lock counts as taken, and the pause between them.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(4);

/// Held while a session is being changed; released when dropped or when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another aiwf process is working on this session")]
    Taken,
    #[error("could not lock `{}`", path.display())]
    Unusable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl LockError {
    pub fn hint(&self) -> String {
        match self {
            Self::Taken => "wait until it is done, then try again; nothing was changed".to_owned(),
            Self::Unusable { path, source } if is_unsafe(source) => remove_hint(path),
            Self::Unusable { path, .. } => format!("check the permissions of `{}`", path.display()),
        }
    }
}

/// The lock file of a session, of a run, and of the directories that contain them.
const LOCK: &str = ".lock";

impl Lock {
    /// Waits for the lock of a file outside of projects.
    pub fn wait(path: &Path) -> Result<Self, LockError> {
        let unusable = |source| LockError::Unusable { path: path.to_owned(), source };
        let file = File::options().create(true).truncate(false).write(true).open(path).map_err(unusable)?;
        file.lock().map_err(unusable)?;
        Ok(Self { _file: file })
    }

    /// Waits for the lock of a directory of sessions or runs.
    pub fn wait_in(ledger: &LedgerDir) -> Result<Self, LockError> {
        let file = open(ledger)?;
        file.lock().map_err(|source| unusable(ledger, source))?;
        Ok(Self { _file: file })
    }

    /// Takes the lock of a session or run; fails at once if it is taken.
    pub fn take(ledger: &LedgerDir) -> Result<Self, LockError> {
        let file = open(ledger)?;
        let mut n_tries = 1;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                // `is_taken` holds the lock for a moment, so a short retry is needed.
                Err(TryLockError::WouldBlock) if n_tries < TRIES => {
                    n_tries += 1;
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(LockError::Taken),
                Err(TryLockError::Error(source)) => return Err(unusable(ledger, source)),
            }
        }
    }

    /// Whether another process holds the lock; does not wait and creates nothing.
    pub fn is_taken(ledger: &LedgerDir) -> bool {
        let Ok(file) = ledger.handle().own_file(LOCK) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

fn open(ledger: &LedgerDir) -> Result<File, LockError> {
    let opened = ledger.handle().own_file_to_write(LOCK, OFlags::empty());
    opened.map_err(|error| unusable(ledger, error.into()))
}

fn unusable(ledger: &LedgerDir, source: io::Error) -> LockError {
    LockError::Unusable { path: ledger.path().join(LOCK), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_is_refused_until_the_first_lets_go() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = LedgerDir::at(directory.path()).unwrap();
        assert!(!Lock::is_taken(&ledger));
        let first = Lock::take(&ledger).unwrap();
        assert!(matches!(Lock::take(&ledger), Err(LockError::Taken)));
        assert!(Lock::is_taken(&ledger));
        drop(first);
        assert!(!Lock::is_taken(&ledger));
        Lock::take(&ledger).unwrap();
    }
}
