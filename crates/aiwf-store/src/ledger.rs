//! The ledger of a session: its journal, stored bytes and lock.
//!
//! Two traits, implemented on disk: [`Ledger`] is one session; [`LedgerStore`] creates, finds and removes sessions.
//! Neither knows what an event means. Calls are synchronous: an implementation that uses a network waits inside the
//! call.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

use crate::atomic::{Durability, StoreError};
use crate::confined::ConfinedError;
use crate::journal::MAX_LINE_BYTES;
use crate::ledger_dir::LedgerDir;
use crate::lock::{Lock, LockError};
use crate::objects::Objects;

pub(crate) const JOURNAL: &str = "journal.jsonl";
/// Prefix of a directory that is not yet, or no longer, a session.
const TEMPORARY: &str = ".tmp-";

/// The ledger of one session.
///
/// What every implementation must guarantee; tested with sessions as keyed objects of a durable-execution server:
///
/// - The only commit point is [`Ledger::append_journal`]: it appends complete lines at a length that the caller has
///   seen, or changes nothing. A worker killed before it has done nothing, so the step runs again.
/// - Storing bytes is separate and comes first. It is idempotent, because bytes are named by their hash; bytes that
///   no line names waste space but do no harm.
/// - The caller puts the time and every other fresh value into the line: a step that runs again must write the same
///   line, so an implementation adds nothing to it.
/// - The lock alone is not enough: two requests for one key ran one after the other there, and the second still acted
///   on the state before the first. The expected length refuses the second.
/// - Creating is the first append to an empty ledger, refused if it is not empty ([`LedgerStore::publish`] on disk).
/// - Reading takes no lock, may see the state before a step in progress, and needs a live worker; so lists are made
///   from snapshots, which are derived and may be stale.
/// - Working files are copies for people and programs. The hashes in the journal are authoritative.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// The working files: prompts, replies and code.
    fn files(&self) -> &Arc<LedgerDir>;

    /// Takes the lock of the session; fails at once if it is taken.
    fn lock(&self) -> Result<Lock, LockError>;

    /// Whether the lock is taken; does not wait and creates nothing.
    fn is_locked(&self) -> bool;

    /// Location of the journal, for messages.
    fn journal_path(&self) -> PathBuf;

    /// The bytes of the journal; empty if it does not exist yet.
    fn read_journal(&self, limit: u64) -> Result<Vec<u8>, ConfinedError>;

    /// The first line of the journal, which identifies the session; empty if it is incomplete.
    fn read_first_line(&self) -> Result<Vec<u8>, ConfinedError>;

    /// The size of the journal; `None` if it does not exist yet.
    fn n_journal_bytes(&self) -> Result<Option<u64>, ConfinedError>;

    /// Appends complete lines after the first `seen` bytes, durably; once this returns, they have happened.
    ///
    /// Refused unless the journal has exactly that length. If it fails, the journal is unchanged.
    fn append_journal(&self, seen: u64, lines: &[u8]) -> io::Result<()>;

    /// Cuts off an incomplete line after the first `whole` bytes, and keeps a copy of it.
    fn cut_torn_line(&self, whole: u64, torn: &[u8], copy: &str) -> Result<(), StoreError>;

    /// Stores several texts by hash, durably; returns the hashes in the given order.
    fn keep_all(&self, all: &[&[u8]]) -> Result<Vec<String>, StoreError>;

    /// The stored bytes with this hash; `None` if they are missing or damaged.
    fn kept(&self, sha256: &str) -> io::Result<Option<Vec<u8>>>;

    /// The names of stored objects that do not match their hash.
    fn damaged(&self) -> Result<Vec<String>, ConfinedError>;

    /// A snapshot derived from the journal; `None` if there is no usable one.
    fn read_snapshot(&self, name: &str) -> Option<Vec<u8>>;

    /// Stores a snapshot derived from the journal; it can be regenerated at any time.
    fn write_snapshot(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;
}

/// Creates, finds and removes sessions.
pub trait LedgerStore: fmt::Debug + Send + Sync {
    /// Waits for the lock of the store, and removes what killed processes left unfinished.
    fn lock(&self) -> Result<Lock, LockError>;

    fn open(&self, id: &str) -> Result<Arc<dyn Ledger>, ConfinedError>;

    /// Creates a session that is invisible until it is published. The caller holds the lock.
    fn begin(&self, id: &str) -> Result<Arc<dyn Ledger>, ConfinedError>;

    /// Makes a new session visible under its id; from now on it exists.
    fn publish(&self, id: &str) -> Result<(), StoreError>;

    /// Removes a session that was not published.
    fn discard(&self, id: &str) -> Result<(), StoreError>;

    /// Removes a session; it disappears at once, even if the rest of the removal fails.
    fn remove(&self, id: &str) -> Result<(), StoreError>;
}

/// A session stored in a directory.
#[derive(Debug)]
pub struct DiskLedger {
    files: Arc<LedgerDir>,
    objects: Objects,
    journal: String,
}

impl DiskLedger {
    pub fn of(files: LedgerDir) -> Self {
        Self::with_journal(files, JOURNAL)
    }

    /// Like [`Self::of`], with another name for the journal.
    pub(crate) fn with_journal(files: LedgerDir, journal: &str) -> Self {
        let files = Arc::new(files);
        Self { objects: Objects::of(Arc::clone(&files)), files, journal: journal.to_owned() }
    }
}

impl Ledger for DiskLedger {
    fn files(&self) -> &Arc<LedgerDir> {
        &self.files
    }

    fn lock(&self) -> Result<Lock, LockError> {
        Lock::take(&self.files)
    }

    fn is_locked(&self) -> bool {
        Lock::is_taken(&self.files)
    }

    fn journal_path(&self) -> PathBuf {
        self.files.path().join(&self.journal)
    }

    fn read_journal(&self, limit: u64) -> Result<Vec<u8>, ConfinedError> {
        Ok(self.files.read_up_to(&self.journal, limit)?.unwrap_or_default())
    }

    fn read_first_line(&self) -> Result<Vec<u8>, ConfinedError> {
        let file = match self.files.handle().own_file(&self.journal) {
            Ok(file) => file,
            Err(ConfinedError::Missing) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut line = Vec::new();
        BufReader::new(file).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
        Ok(if line.ends_with(b"\n") { line } else { Vec::new() })
    }

    fn n_journal_bytes(&self) -> Result<Option<u64>, ConfinedError> {
        self.files.n_bytes(&self.journal)
    }

    fn append_journal(&self, seen: u64, lines: &[u8]) -> io::Result<()> {
        let mut file = self.files.handle().own_file_to_write(&self.journal, OFlags::APPEND)?;
        // A process that does not hold the lock may have written; our lines would break the chain.
        if file.metadata()?.len() != seen {
            return Err(io::Error::other("another process changed the journal"));
        }
        if let Err(error) = file.write_all(lines).and_then(|()| file.sync_data()) {
            // Half a line would be torn, and a complete line that was not synced may be lost in a crash.
            drop(file.set_len(seen));
            return Err(error);
        }
        if seen == 0 {
            self.files.handle().sync();
        }
        Ok(())
    }

    fn cut_torn_line(&self, whole: u64, torn: &[u8], copy: &str) -> Result<(), StoreError> {
        self.files.write(copy, torn, Durability::PowerLoss)?;
        let opened = self.files.handle().own_file_to_write(&self.journal, OFlags::empty());
        let cut = opened
            .map_err(io::Error::from)
            .and_then(|file| file.set_len(whole).and_then(|()| file.sync_all()));
        cut.map_err(|source| StoreError { path: self.journal_path(), source })
    }

    fn keep_all(&self, all: &[&[u8]]) -> Result<Vec<String>, StoreError> {
        self.objects.keep_all(all.iter().copied())
    }

    fn kept(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        self.objects.get(sha256)
    }

    fn damaged(&self) -> Result<Vec<String>, ConfinedError> {
        self.objects.damaged()
    }

    fn read_snapshot(&self, name: &str) -> Option<Vec<u8>> {
        self.files.read(name).ok().flatten()
    }

    fn write_snapshot(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.files.write(name, bytes, Durability::Process)
    }
}

/// A directory of a project that contains sessions.
#[derive(Clone, Debug)]
pub struct DiskLedgerStore {
    root: PathBuf,
    place: PathBuf,
}

impl DiskLedgerStore {
    /// The sessions in `place`, which may be a link that stays in the project.
    pub fn at(root: impl Into<PathBuf>, place: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), place: place.into() }
    }

    pub fn path(&self) -> PathBuf {
        self.root.join(&self.place)
    }

    /// Opens the directory and creates it if it is missing.
    pub fn create(&self) -> Result<LedgerDir, ConfinedError> {
        LedgerDir::create_place(&self.root, &self.place)
    }

    fn place(&self) -> Result<LedgerDir, StoreError> {
        self.create().map_err(|error| StoreError { path: self.path(), source: error.into() })
    }

    fn ledger(&self, name: &str) -> Result<Arc<dyn Ledger>, ConfinedError> {
        Ok(Arc::new(DiskLedger::of(LedgerDir::open(&self.root, &self.place, name)?)))
    }
}

impl LedgerStore for DiskLedgerStore {
    fn lock(&self) -> Result<Lock, LockError> {
        let unusable = |error: ConfinedError| LockError::Unusable { path: self.path(), source: error.into() };
        let place = self.create().map_err(unusable)?;
        let lock = Lock::wait_in(&place)?;
        // Anything unfinished while we hold the lock was left by a process that died.
        place.remove_leftovers();
        Ok(lock)
    }

    fn open(&self, id: &str) -> Result<Arc<dyn Ledger>, ConfinedError> {
        self.ledger(id)
    }

    fn begin(&self, id: &str) -> Result<Arc<dyn Ledger>, ConfinedError> {
        let name = temporary(id);
        self.create()?.create(&name)?;
        self.ledger(&name)
    }

    fn publish(&self, id: &str) -> Result<(), StoreError> {
        self.place()?.rename(&temporary(id), id)
    }

    fn discard(&self, id: &str) -> Result<(), StoreError> {
        self.place()?.remove(&temporary(id))
    }

    fn remove(&self, id: &str) -> Result<(), StoreError> {
        let place = self.place()?;
        let name = temporary(id);
        // The rename below replaces the target only if it is empty; whatever is there was due to be removed.
        place.remove(&name)?;
        place.rename(id, &name)?;
        place.remove(&name)
    }
}

/// Whether a path has a temporary name, which a crash may have left behind.
pub fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY))
}

fn temporary(id: &str) -> String {
    format!("{TEMPORARY}{id}")
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
