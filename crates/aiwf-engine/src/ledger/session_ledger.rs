//! The ledger of one session with what the engine needs to name its files.

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

/// A session's ledger and the files in it.
#[derive(Clone, Debug)]
pub(crate) struct SessionLedger {
    pub(crate) id: String,
    /// For messages and for programs that are started; the engine reads and writes by the handle.
    pub(crate) path: PathBuf,
    place: Place,
    store: DiskLedgerStore,
    /// Its handle, once it was opened; every file of the engine in it is opened from there.
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

    /// The session while it is being created, under a name that nobody looks at.
    pub(super) fn creating(settings: &Settings, id: &str, first: FirstEvent) -> Result<Self, SessionError> {
        let this = Self { first: OnceLock::from(Some(first)), ..Self::at(settings, Place::Sessions, id) };
        let ledger = this.store.begin(id).map_err(|error| this.unusable("", error))?;
        Ok(Self { path: ledger.files().path().to_owned(), ledger: OnceLock::from(ledger), ..this })
    }

    /// The same session once it is published.
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

    /// What the first event of its journal says; nothing when it cannot be read.
    pub(crate) fn first_event(&self) -> Option<&FirstEvent> {
        let read = || FirstEvent::parse(&self.ledger().ok()?.read_first_line().ok()?);
        self.first.get_or_init(read).as_ref()
    }

    pub(crate) fn kind(&self) -> LedgerKind {
        self.first_event().map_or(self.place.usual_kind(), |first| first.kind)
    }

    /// What its user calls it.
    pub(crate) fn name(&self) -> Option<&str> {
        self.first_event()?.name.as_deref()
    }

    /// What to call it on a command line: its name, else its id.
    pub(crate) fn label(&self) -> &str {
        self.name().unwrap_or(&self.id)
    }

    /// Whether its journal is that of a session with another id.
    pub(crate) fn has_other_id(&self) -> bool {
        self.first_event().is_some_and(|first| first.id != self.id)
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn lock(&self) -> Result<Lock, SessionError> {
        Ok(self.ledger()?.lock()?)
    }

    /// Takes the lock; whoever has it is told apart from what else can go wrong.
    pub(crate) fn try_lock(&self) -> Result<Option<Lock>, SessionError> {
        match self.ledger()?.lock() {
            Ok(lock) => Ok(Some(lock)),
            Err(LockError::Taken) => Ok(None),
            Err(error @ LockError::Unusable { .. }) => Err(error.into()),
        }
    }

    /// Whether somebody works on it now.
    pub(crate) fn is_locked(&self) -> bool {
        self.ledger().is_ok_and(|ledger| ledger.is_locked())
    }

    /// The working files by their directory's handle.
    pub(crate) fn files(&self) -> Result<Arc<LedgerDir>, SessionError> {
        Ok(Arc::clone(self.ledger()?.files()))
    }

    /// The path of a file, for messages and for programs that are started; the engine reads and writes by the handle.
    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        self.path.join(relative)
    }

    /// The bytes of a file; nothing when it is not there.
    pub(crate) fn read(&self, relative: &str) -> Result<Option<Vec<u8>>, SessionError> {
        self.files()?.read(relative).map_err(|error| self.unusable(relative, error))
    }

    /// The text of a file; nothing when it is not there.
    pub(crate) fn read_text(&self, relative: &str) -> Result<Option<String>, SessionError> {
        let bytes = self.read(relative)?;
        Ok(bytes.map(|bytes| crate::prompt::read::into_text(bytes, &self.file(relative))).transpose()?)
    }

    /// SHA-256 of a file; nothing when there is none that can be used.
    pub(crate) fn sha256(&self, relative: &str) -> Option<String> {
        self.files().ok()?.sha256(relative).ok().flatten()
    }

    /// Whether there is a file that can be used.
    pub(crate) fn is_file(&self, relative: &str) -> bool {
        self.files().is_ok_and(|files| files.is_file(relative))
    }

    /// Keeps bytes by their hash.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<String, SessionError> {
        Ok(self.ledger()?.keep_all(&[bytes])?.pop().unwrap_or_default())
    }

    /// Keeps several, and makes their names safe together.
    pub(crate) fn keep_all<'b>(&self, all: impl IntoIterator<Item = &'b [u8]>) -> Result<(), SessionError> {
        self.ledger()?.keep_all(&all.into_iter().collect::<Vec<_>>())?;
        Ok(())
    }

    /// The kept bytes with that hash; nothing when there are none that can be used.
    pub(crate) fn kept(&self, sha256: &str) -> Option<Vec<u8>> {
        self.ledger().ok()?.kept(sha256).ok().flatten()
    }

    /// Where large results are kept, for whoever is told their path.
    pub(crate) fn kept_dir(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// The snapshot of a name, when it can be read.
    pub(crate) fn read_snapshot<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&self.ledger().ok()?.read_snapshot(name)?).ok()
    }

    pub(crate) fn write_snapshot(&self, name: &str, snapshot: &impl Serialize) -> Result<(), SessionError> {
        let mut text = serde_json::to_vec_pretty(snapshot).unwrap_or_default();
        text.push(b'\n');
        Ok(self.ledger()?.write_snapshot(name, &text)?)
    }

    /// How long the journal is now.
    pub(crate) fn n_journal_bytes(&self) -> Option<u64> {
        self.ledger().ok()?.n_journal_bytes().ok().flatten()
    }

    /// Reads the journal and checks its chain, and each line by `fault`; `id_of` is the id that an event gives the
    /// session, which must be this one.
    pub(crate) fn read_journal<E: Serialize + DeserializeOwned>(
        &self,
        id_of: impl Fn(&E) -> Option<&str>,
        mut fault: impl FnMut(&E) -> Option<String>,
    ) -> Result<Journal<E>, SessionError> {
        let journal = Journal::open(self.ledger()?)?;
        journal.check(|line: &Line<E>| match (id_of(&line.event), line.seq) {
            (Some(_), 2..) => Some("it begins a session that has begun already".to_owned()),
            (Some(id), _) if id != self.id => Some(other_name(id, &self.id)),
            (None, 1) => Some("it does not begin a session".to_owned()),
            (Some(_) | None, _) => fault(&line.event),
        })?;
        Ok(journal)
    }

    /// Removes what never began; whatever is left is of no consequence.
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

    /// A path of the session as an agent uses it that works in the project's root.
    pub(crate) fn shown(&self, relative: &str) -> String {
        format!("{}/{}/{relative}", self.place.as_str(), self.id)
    }
}

/// Why a journal is not the one of its directory.
pub(crate) fn other_name(journal: &str, directory: &str) -> String {
    format!("it is the journal of `{journal}`, and its directory is called `{directory}`")
}
