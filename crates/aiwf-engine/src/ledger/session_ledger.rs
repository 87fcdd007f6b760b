//! The ledger of one session, with the paths of its files.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use aiwf_config::Settings;
use aiwf_store::{
    ConfinedError, DiskLedgerStore, Journal, Ledger, LedgerDir, LedgerStore as _, Line, Lock, LockError,
    StoreError,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FirstEvent, Place};
use crate::error::EngineError;
use crate::session::session_error::SessionError;
use crate::trust::LedgerKind;

#[derive(Clone, Debug)]
pub(crate) struct SessionLedger {
    pub(crate) id: String,
    /// For messages and for child processes; the engine itself uses the handle.
    pub(crate) path: PathBuf,
    place: Place,
    store: DiskLedgerStore,
    /// Every file of the engine in the session is opened through this handle.
    ledger: OnceLock<Arc<dyn Ledger>>,
    first: OnceLock<Option<FirstEvent>>,
}

impl SessionLedger {
    pub(crate) fn at(settings: &Settings, place: Place, id: &str) -> Self {
        let store = place.store(settings);
        Self {
            id: id.to_owned(),
            path: store.path().join(id),
            place,
            store,
            ledger: OnceLock::new(),
            first: OnceLock::new(),
        }
    }

    /// A session being created, under a temporary name.
    pub(super) fn creating(settings: &Settings, id: &str, first: FirstEvent) -> Result<Self, SessionError> {
        let this = Self { first: OnceLock::from(Some(first)), ..Self::at(settings, Place::Sessions, id) };
        let ledger = this.store.begin(id).map_err(|error| this.unusable("", error))?;
        Ok(Self { path: ledger.files().path().to_owned(), ledger: OnceLock::from(ledger), ..this })
    }

    /// The same session after it was published.
    pub(super) fn published(&self) -> Self {
        Self { path: self.store.path().join(&self.id), ledger: OnceLock::new(), ..self.clone() }
    }

    pub(super) fn store(&self) -> &DiskLedgerStore {
        &self.store
    }

    pub(crate) fn ledger(&self) -> Result<&Arc<dyn Ledger>, SessionError> {
        if let Some(ledger) = self.ledger.get() {
            return Ok(ledger);
        }
        let ledger = self.store.open(&self.id).map_err(|error| self.unusable("", error))?;
        Ok(self.ledger.get_or_init(|| ledger))
    }

    /// `None` if the journal cannot be read.
    pub(crate) fn first_event(&self) -> Option<&FirstEvent> {
        let read = || FirstEvent::parse(&self.ledger().ok()?.read_first_line().ok()?);
        self.first.get_or_init(read).as_ref()
    }

    pub(crate) fn kind(&self) -> LedgerKind {
        self.first_event().map_or(self.place.usual_kind(), |first| first.kind)
    }

    /// The name that the user gave it.
    pub(crate) fn name(&self) -> Option<&str> {
        self.first_event()?.name.as_deref()
    }

    /// What to call it on a command line: its name, else its id.
    pub(crate) fn label(&self) -> &str {
        self.name().unwrap_or(&self.id)
    }

    /// Whether it is a copy: its journal belongs to a session with another id.
    pub(crate) fn has_other_id(&self) -> bool {
        self.first_event().is_some_and(|first| first.id != self.id)
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn lock(&self) -> Result<Lock, SessionError> {
        Ok(self.ledger()?.lock()?)
    }

    /// Takes the lock; `None` if another process has it.
    pub(crate) fn try_lock(&self) -> Result<Option<Lock>, SessionError> {
        match self.ledger()?.lock() {
            Ok(lock) => Ok(Some(lock)),
            Err(LockError::Taken) => Ok(None),
            Err(error @ LockError::Unusable { .. }) => Err(error.into()),
        }
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.ledger().is_ok_and(|ledger| ledger.is_locked())
    }

    /// The files, through their directory's handle.
    pub(crate) fn files(&self) -> Result<Arc<LedgerDir>, SessionError> {
        Ok(Arc::clone(self.ledger()?.files()))
    }

    /// The path of a file, for messages and for child processes; the engine itself uses the handle.
    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        self.path.join(relative)
    }

    /// `None` if it does not exist.
    pub(crate) fn read(&self, relative: &str) -> Result<Option<Vec<u8>>, SessionError> {
        self.files()?.read(relative).map_err(|error| self.unusable(relative, error))
    }

    /// `None` if it does not exist.
    pub(crate) fn read_text(&self, relative: &str) -> Result<Option<String>, SessionError> {
        let bytes = self.read(relative)?;
        Ok(bytes.map(|bytes| crate::prompt::read::into_text(bytes, &self.file(relative))).transpose()?)
    }

    /// SHA-256 of a file; `None` if it is missing or unusable.
    pub(crate) fn sha256(&self, relative: &str) -> Option<String> {
        self.files().ok()?.sha256(relative).ok().flatten()
    }

    pub(crate) fn is_file(&self, relative: &str) -> bool {
        self.files().is_ok_and(|files| files.is_file(relative))
    }

    /// Stores bytes by their hash.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<String, SessionError> {
        Ok(self.ledger()?.keep_all(&[bytes])?.pop().unwrap_or_default())
    }

    /// Stores several byte strings with one sync of the directory.
    pub(crate) fn keep_all<'b>(&self, all: impl IntoIterator<Item = &'b [u8]>) -> Result<(), SessionError> {
        self.ledger()?.keep_all(&all.into_iter().collect::<Vec<_>>())?;
        Ok(())
    }

    /// The stored bytes with this hash; `None` if they are missing or unusable.
    pub(crate) fn kept(&self, sha256: &str) -> Option<Vec<u8>> {
        self.ledger().ok()?.kept(sha256).ok().flatten()
    }

    /// The directory of stored bytes, for paths in messages.
    pub(crate) fn kept_dir(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// The snapshot with this name; `None` if it cannot be read.
    pub(crate) fn read_snapshot<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&self.ledger().ok()?.read_snapshot(name)?).ok()
    }

    pub(crate) fn write_snapshot(&self, name: &str, snapshot: &impl Serialize) -> Result<(), SessionError> {
        let mut text = serde_json::to_vec_pretty(snapshot).unwrap_or_default();
        text.push(b'\n');
        Ok(self.ledger()?.write_snapshot(name, &text)?)
    }

    /// The current length of the journal.
    pub(crate) fn n_journal_bytes(&self) -> Option<u64> {
        self.ledger().ok()?.n_journal_bytes().ok().flatten()
    }

    /// Reads the journal; checks its hash chain and each line with `fault`. `id_of` returns the session id of an event,
    /// which must be this session's.
    pub(crate) fn read_journal<E: Serialize + DeserializeOwned + Send>(
        &self,
        id_of: impl Fn(&E) -> Option<&str>,
        mut fault: impl FnMut(&E) -> Option<String>,
    ) -> Result<Journal<E>, SessionError> {
        let journal = Journal::open(self.ledger()?)?;
        journal.check(|line: &Line<E>| match (id_of(&line.event), line.seq) {
            (Some(_), 2..) => Some("it starts a session that has already started".to_owned()),
            (Some(id), _) if id != self.id => Some(other_name(id, &self.id)),
            (None, 1) => Some("it does not start a session".to_owned()),
            (Some(_) | None, _) => fault(&line.event),
        })?;
        Ok(journal)
    }

    /// Removes a session whose creation failed; leftovers do no harm.
    pub(crate) fn remove(&self) -> Result<(), StoreError> {
        self.store.remove(&self.id)
    }

    /// Why a file is not used.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else is in the place of a file is not used")]
    pub(crate) fn unusable(&self, relative: &str, error: ConfinedError) -> SessionError {
        match error {
            ConfinedError::System(source) => {
                EngineError::Unreadable { path: self.file(relative), source }.into()
            }
            ConfinedError::Missing => SessionError::Missing { path: self.shown(relative) },
            error => SessionError::UnsafeFile { path: self.shown(relative), problem: error.to_string() },
        }
    }

    /// A path of the session for an agent that works in the project's root.
    pub(crate) fn shown(&self, relative: &str) -> String {
        format!("{}/{}/{relative}", self.place.as_str(), self.id)
    }
}

/// The error for a journal that does not belong to its directory.
pub(crate) fn other_name(journal: &str, directory: &str) -> String {
    format!("it is the journal of `{journal}`, but its directory is `{directory}`")
}
