//! Where sessions live, what they are called, and how one is found by a part of its name.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aiwf_config::Settings;
use aiwf_session::{Event, State};
use aiwf_store::{ConfinedError, Journal, LedgerDir, Line, Objects, sha256_hex};

use super::snapshot::summary;
use crate::clock;
use crate::error::EngineError;
use crate::every_core::map_on_every_core;
use crate::session_error::SessionError;
use crate::trust::LedgerKind;

/// Names a session or a change.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// A session: its id, a unique beginning of it, or `latest`; without a name, the only open one.
    Session(Option<&'a str>),
    /// A change.
    Change(&'a str),
}

impl<'a> From<Option<&'a str>> for Which<'a> {
    fn from(given: Option<&'a str>) -> Self {
        Self::Session(given)
    }
}

impl<'a> From<Option<&'a String>> for Which<'a> {
    fn from(given: Option<&'a String>) -> Self {
        Self::Session(given.map(String::as_str))
    }
}

/// A session's directory and the files in it.
#[derive(Clone, Debug)]
pub(crate) struct SessionDirectory {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    project_root: PathBuf,
    place: Place,
    /// Its handle, once it was opened; every file of the engine in it is opened from there.
    ledger: OnceLock<Arc<LedgerDir>>,
}

impl SessionDirectory {
    pub(crate) fn new(settings: &Settings, id: &str) -> Self {
        Self::of(settings, id, Place::Sessions)
    }

    pub(crate) fn of_change(settings: &Settings, name: &str) -> Self {
        Self::of(settings, name, Place::Changes)
    }

    fn of(settings: &Settings, id: &str, place: Place) -> Self {
        let root = &settings.project_root;
        Self {
            id: id.to_owned(),
            path: root.join(place.path()).join(id),
            project_root: root.clone(),
            place,
            ledger: OnceLock::new(),
        }
    }

    /// The same session while it is being created, under a name that nobody looks at.
    pub(crate) fn unfinished(&self) -> Self {
        Self {
            path: self.path.with_file_name(format!(".tmp-{}", self.id)),
            ledger: OnceLock::new(),
            ..self.clone()
        }
    }

    /// The directory by its handle.
    pub(crate) fn ledger(&self) -> Result<Arc<LedgerDir>, SessionError> {
        if let Some(ledger) = self.ledger.get() {
            return Ok(Arc::clone(ledger));
        }
        let opened = LedgerDir::open(&self.project_root, self.place.path(), &self.name());
        let ledger = Arc::new(opened.map_err(|error| self.unusable("", error))?);
        Ok(Arc::clone(self.ledger.get_or_init(|| ledger)))
    }

    pub(crate) fn ledger_kind(&self) -> LedgerKind {
        match self.place {
            Place::Sessions => LedgerKind::Session,
            Place::Changes => LedgerKind::Change,
        }
    }

    /// What the directory is called: the id, unless the session is being created.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Makes the directory.
    pub(crate) fn create_in(&self, place: &LedgerDir) -> Result<(), SessionError> {
        place.create(&self.name()).map(drop).map_err(|error| self.unusable("", error))
    }

    pub(crate) fn objects(&self) -> Result<Objects, SessionError> {
        Ok(Objects::of(self.ledger()?))
    }

    /// The path of a file, for messages and for programs that are started; the engine reads and writes by the handle.
    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        self.path.join(relative)
    }

    /// The bytes of a file; nothing when it is not there.
    pub(crate) fn read(&self, relative: &str) -> Result<Option<Vec<u8>>, SessionError> {
        self.ledger()?.read(relative).map_err(|error| self.unusable(relative, error))
    }

    /// The text of a file; nothing when it is not there.
    pub(crate) fn read_text(&self, relative: &str) -> Result<Option<String>, SessionError> {
        let bytes = self.read(relative)?;
        Ok(bytes.map(|bytes| crate::read::into_text(bytes, &self.file(relative))).transpose()?)
    }

    /// SHA-256 of a file; nothing when there is none that can be used.
    pub(crate) fn sha256(&self, relative: &str) -> Option<String> {
        self.ledger().ok()?.sha256(relative).ok().flatten()
    }

    /// Whether there is a file that can be used.
    pub(crate) fn is_file(&self, relative: &str) -> bool {
        self.ledger().is_ok_and(|ledger| ledger.is_file(relative))
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
        let place = self.place.path().display();
        if relative.is_empty() {
            format!("{place}/{}/", self.id)
        } else {
            format!("{place}/{}/{relative}", self.id)
        }
    }

    /// Whether the journal in the directory is that of a session with another name.
    fn is_of_another(&self) -> bool {
        let journal = self.ledger().ok().and_then(|ledger| Journal::<Event>::open(&ledger).ok());
        let first = journal.as_ref().and_then(|journal| journal.lines().first());
        matches!(first.map(|line| &line.event), Some(Event::SessionCreated { setup }) if setup.session_id != self.id)
    }

    /// The journal, checked: its chain, and that every line says what aiwf would have written for this very session.
    pub(crate) fn journal(&self) -> Result<Journal<Event>, SessionError> {
        let journal = Journal::open(&self.ledger()?)?;
        let mut state = State::default();
        journal.check(|line: &Line<Event>| {
            let fault = if let Event::SessionCreated { setup } = &line.event
                && setup.session_id != self.id
            {
                Some(other_name(&setup.session_id, &self.id))
            } else {
                state.fault(&line.event).map(|fault| fault.to_string())
            };
            state = std::mem::take(&mut state).evolve(&line.event);
            fault
        })?;
        Ok(journal)
    }
}

/// Where sessions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `.aiwf/sessions`.
    Sessions,
    /// `.aiwf/changes`, where 0.1.0 put changes.
    Changes,
}

impl Place {
    /// Relative to the project.
    fn path(self) -> &'static Path {
        Path::new(match self {
            Self::Sessions => ".aiwf/sessions",
            Self::Changes => ".aiwf/changes",
        })
    }
}

/// Why a journal is not the one of its directory.
pub(crate) fn other_name(journal: &str, directory: &str) -> String {
    format!("it is the journal of `{journal}`, and its directory is called `{directory}`")
}

/// Opens the place where sessions or changes are, and creates it when it is not there.
pub(crate) fn create_place(settings: &Settings, place: Place) -> Result<LedgerDir, SessionError> {
    let place = place.path();
    LedgerDir::create_place(&settings.project_root, place).map_err(|error| SessionError::UnsafeFile {
        path: place.display().to_string(),
        problem: error.to_string(),
    })
}

pub(crate) fn sessions_root(settings: &Settings) -> PathBuf {
    settings.project_root.join(Place::Sessions.path())
}

pub(crate) fn changes_root(settings: &Settings) -> PathBuf {
    settings.project_root.join(Place::Changes.path())
}

/// A new name in a directory: behind its prefix it sorts by time, and of two that begin in the same second the later one
/// sorts later.
///
/// Called by the one who holds the lock of the directory.
pub(crate) fn new_id(root: &Path, prefix: &str) -> String {
    let stamp = clock::stamp();
    let number = |id: &String| {
        // Whatever its prefix: runs and conversations begin in one order.
        let (_, number) = id.split_once(&stamp)?;
        u32::from_str_radix(number.strip_prefix('-')?, 16).ok()
    };
    let taken = names_in(root.to_owned()).unwrap_or_default().iter().filter_map(number).max();
    // Two machines that share a project by copying it begin at different numbers; there is room above them.
    let first = || {
        let salt = format!("{}{}", std::process::id(), clock::now());
        let digits = sha256_hex(salt.as_bytes());
        digits.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default() / 2
    };
    let first = taken.map_or_else(first, |taken| taken.saturating_add(1));
    let stamp = format!("{prefix}{stamp}");
    (first..=u32::MAX)
        .map(|number| format!("{stamp}-{number:04x}"))
        .find(|id| !root.join(id).exists())
        .unwrap_or_else(|| stamp.clone())
}

/// The names of all sessions, sorted by time.
pub(crate) fn all_ids(settings: &Settings) -> Result<Vec<String>, SessionError> {
    names_in(sessions_root(settings))
}

/// The names of all changes, sorted.
pub(crate) fn all_changes(settings: &Settings) -> Result<Vec<String>, SessionError> {
    names_in(changes_root(settings))
}

/// The names in a directory of what has a journal, sorted.
pub(crate) fn names_in(root: PathBuf) -> Result<Vec<String>, SessionError> {
    let entries = match std::fs::read_dir(&root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(EngineError::Unreadable { path: root, source }.into()),
    };
    let names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let are_ours = map_on_every_core(&names, |name| is_one_in(&root, name));
    let mut ids: Vec<String> =
        names.into_iter().zip(are_ours).filter_map(|(name, is_ours)| is_ours.then_some(name)).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// What the one that began last can be called.
const LATEST: &str = "latest";

/// Whether a directory holds a session, change or run of that very name; no other one is looked at.
pub(crate) fn is_one_in(root: &Path, name: &str) -> bool {
    let path = root.join(name);
    name != LATEST
        && path.file_name().is_some_and(|last| last == name)
        && !is_temporary(&path)
        && path.join("journal.jsonl").is_file()
}

/// The session to go on with: the one that is named, else the only one that is open.
pub(crate) fn find<'a>(
    settings: &Settings,
    which: impl Into<Which<'a>>,
) -> Result<SessionDirectory, SessionError> {
    find_among(settings, which.into(), Candidates::Open)
}

/// The session to look at: the one that is named, else the only one that is open, else the only one there is.
pub(crate) fn find_any<'a>(
    settings: &Settings,
    which: impl Into<Which<'a>>,
) -> Result<SessionDirectory, SessionError> {
    find_among(settings, which.into(), Candidates::All)
}

/// The session to apply: the one that is named, else the only complete one, else as for looking.
pub(crate) fn find_complete<'a>(
    settings: &Settings,
    which: impl Into<Which<'a>>,
) -> Result<SessionDirectory, SessionError> {
    find_among(settings, which.into(), Candidates::Complete)
}

/// Which sessions qualify when none is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Candidates {
    Open,
    All,
    Complete,
}

/// The session that a name, a unique beginning of one, or `latest` means; without a name, the only candidate.
fn find_among(
    settings: &Settings,
    which: Which<'_>,
    candidates: Candidates,
) -> Result<SessionDirectory, SessionError> {
    let given = match which {
        Which::Session(given) => given,
        Which::Change(name) => return find_change(settings, name),
    };
    let one = |id: &str| Ok(SessionDirectory::new(settings, id));
    if let Some(given) = given
        && is_one_in(&sessions_root(settings), given)
    {
        return one(given);
    }
    let ids = all_ids(settings)?;
    if let Some(given) = given {
        let is_impostor = |id: &str| SessionDirectory::new(settings, id).is_of_another();
        return match meant_by(given, &ids, is_impostor) {
            Meant::One(id) => one(id),
            Meant::Nothing => Err(SessionError::NoSession { given: given.to_owned() }),
            Meant::Several(matching) => {
                Err(SessionError::AmbiguousSession { given: given.to_owned(), matching })
            }
        };
    }
    let statuses =
        map_on_every_core(&ids, |id| summary(settings, &SessionDirectory::new(settings, id)).status);
    let with = |is_wanted: fn(&str) -> bool| -> Vec<&String> {
        let wanted = ids.iter().zip(&statuses).filter(|(_, status)| is_wanted(status));
        wanted.map(|(id, _)| id).collect()
    };
    if candidates == Candidates::Complete
        && let [only] = with(|status| status == "complete").as_slice()
    {
        return one(only);
    }
    let open = with(|status| !matches!(status, "complete" | "cancelled"));
    match (open.as_slice(), ids.as_slice()) {
        ([only], _) => one(only),
        ([], [only]) if candidates != Candidates::Open => one(only),
        ([], [_, _, ..]) if candidates != Candidates::Open => {
            Err(SessionError::SeveralEndedSessions { ended: ids })
        }
        ([], _) => Err(SessionError::NoOpenSession),
        (several, _) => {
            Err(SessionError::SeveralOpenSessions { open: several.iter().map(|id| (*id).clone()).collect() })
        }
    }
}

/// What a unique beginning of a name, or `latest`, means among ids that are sorted by time.
pub(crate) enum Meant<'a> {
    One(&'a String),
    Nothing,
    Several(Vec<String>),
}

/// Looks a name up.
///
/// `is_impostor` says whether what is in a directory has another name: then it is not the latest of anything.
pub(crate) fn meant_by<'a>(given: &str, ids: &'a [String], is_impostor: impl Fn(&str) -> bool) -> Meant<'a> {
    if given == LATEST {
        return ids.iter().rev().find(|id| !is_impostor(id)).map_or(Meant::Nothing, Meant::One);
    }
    let matching: Vec<&String> = ids.iter().filter(|id| !given.is_empty() && id.starts_with(given)).collect();
    match matching.as_slice() {
        [only] => Meant::One(only),
        [] => Meant::Nothing,
        several => Meant::Several(several.iter().map(|id| (*id).clone()).collect()),
    }
}

fn find_change(settings: &Settings, name: &str) -> Result<SessionDirectory, SessionError> {
    if is_one_in(&changes_root(settings), name) {
        return Ok(SessionDirectory::of_change(settings, name));
    }
    Err(SessionError::NoChange { given: name.to_owned(), known: all_changes(settings)? })
}

/// Whether a path names a file of the engine that a crash may have left half done.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp-"))
}
