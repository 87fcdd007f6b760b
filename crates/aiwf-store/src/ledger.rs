//! The ledger of a session: its journal, the bytes it keeps, its lock, and where new ones come from.
//!
//! Two traits with the disk as their implementation: [`Ledger`] is one session, [`LedgerStore`] the place where sessions
//! are created, found and removed. Neither knows what an event means. Everything waits for its answer: an implementation
//! that speaks to a network does its waiting inside.

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

/// The journal's name in a session.
pub(crate) const JOURNAL: &str = "journal.jsonl";
/// How the name of a directory begins that is not a session yet, or not any more.
const TEMPORARY: &str = ".tmp-";

/// The ledger of one session.
///
/// What must hold wherever a ledger lives; tried with a session as a keyed object of a durable-execution server:
///
/// - The commit point is [`Ledger::append_journal`], and nothing else: it adds whole lines behind a length that the
///   caller has seen, or changes nothing. A worker killed before it has done nothing, so the step runs again.
/// - Keeping bytes is separate and comes first. It can happen twice with the same result, because bytes are named by
///   their hash; bytes that no line names are waste, never damage.
/// - The time and every other fresh value is part of the line, decided by the caller: a step that runs again must write
///   the same line, so an implementation adds nothing to it.
/// - The lock alone is not enough: two requests of one key ran one after the other there, and the second one still acted
///   on what it saw before the first. The expected length is what refuses it.
/// - Creating is the first append to an empty ledger, refused when there is one ([`LedgerStore::publish`] on disk).
/// - Looking takes no lock, may see the state before a step that is under way, and needs a worker that is alive; so lists
///   are made from snapshots, which are derived and may be late.
/// - Working files are copies for people and programs. What counts is what the journal names by hash.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// The working files: prompts, replies and code as people and programs see them.
    fn files(&self) -> &Arc<LedgerDir>;

    /// Takes the right to change the session, or says at once that somebody has it.
    fn lock(&self) -> Result<Lock, LockError>;

    /// Whether somebody has that right now; nothing is waited for and nothing is made.
    fn is_locked(&self) -> bool;

    /// Where the journal is, for messages.
    fn journal_path(&self) -> PathBuf;

    /// The bytes of the journal; none when there is none yet.
    fn read_journal(&self, limit: u64) -> Result<Vec<u8>, ConfinedError>;

    /// The first line of the journal, which says what the session is; empty when there is no whole line.
    fn read_first_line(&self) -> Result<Vec<u8>, ConfinedError>;

    /// How long the journal is; nothing when there is none yet.
    fn n_journal_bytes(&self) -> Result<Option<u64>, ConfinedError>;

    /// Adds whole lines behind the first `seen` bytes, durably: when this returns, they have happened.
    ///
    /// Refused when the journal is not exactly that long. When it fails, the journal is as it was.
    fn append_journal(&self, seen: u64, lines: &[u8]) -> io::Result<()>;

    /// Cuts off a line that was never finished, behind the first `whole` bytes; a copy of it is kept.
    fn cut_torn_line(&self, whole: u64, torn: &[u8], copy: &str) -> Result<(), StoreError>;

    /// Keeps several texts by their hash, durably; the hashes are in the order given.
    fn keep_all(&self, all: &[&[u8]]) -> Result<Vec<String>, StoreError>;

    /// The bytes with that hash; damaged ones are not given out.
    fn kept(&self, sha256: &str) -> io::Result<Option<Vec<u8>>>;

    /// The names of kept bytes that are not their hash.
    fn damaged(&self) -> Result<Vec<String>, ConfinedError>;

    /// What was derived from the journal and stored under a name; nothing when there is none that can be used.
    fn read_snapshot(&self, name: &str) -> Option<Vec<u8>>;

    /// Stores what was derived from the journal; it can be made again at any time.
    fn write_snapshot(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;
}

/// A place where sessions are created, found and removed.
pub trait LedgerStore: fmt::Debug + Send + Sync {
    /// Waits for the right to create or remove sessions here, and clears what a killed process left half done.
    fn lock(&self) -> Result<Lock, LockError>;

    /// Opens a session.
    fn open(&self, id: &str) -> Result<Arc<dyn Ledger>, ConfinedError>;

    /// Begins a session that nobody sees before it is published. The caller holds the lock.
    fn begin(&self, id: &str) -> Result<Arc<dyn Ledger>, ConfinedError>;

    /// Makes a session that was begun visible under its id: from here on it exists.
    fn publish(&self, id: &str) -> Result<(), StoreError>;

    /// Removes a session that was begun and not published.
    fn discard(&self, id: &str) -> Result<(), StoreError>;

    /// Removes a session: at once it is not there any more, whatever happens to the rest of the removal.
    fn remove(&self, id: &str) -> Result<(), StoreError>;
}

/// A session as a directory.
#[derive(Debug)]
pub struct DiskLedger {
    files: Arc<LedgerDir>,
    objects: Objects,
    journal: String,
}

impl DiskLedger {
    /// The session in a directory.
    pub fn of(files: LedgerDir) -> Self {
        Self::with_journal(files, JOURNAL)
    }

    /// The same, with a journal of another name.
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
        // Somebody who does not hold the lock may have written; then our chain would not follow.
        if file.metadata()?.len() != seen {
            return Err(io::Error::other("the journal was changed while it was being used"));
        }
        if let Err(error) = file.write_all(lines).and_then(|()| file.sync_data()) {
            // Half a line would be torn; a whole one that was not synced may not be there after a crash.
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

/// A directory of a project where sessions are.
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

    /// The path of the place.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.place)
    }

    /// Opens the place and creates it when it is not there.
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
        // Whatever is unfinished while we hold the lock was left by a process that died.
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
        // A name that is taken would be replaced only if it is empty; what has it was to be removed anyway.
        place.remove(&name)?;
        place.rename(id, &name)?;
        place.remove(&name)
    }
}

/// Whether a path names something that a crash may have left half done.
pub fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY))
}

fn temporary(id: &str) -> String {
    format!("{TEMPORARY}{id}")
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
