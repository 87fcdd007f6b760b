//! Where sessions live, what they are called, and how one is found by a part of its name.

use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_session::{Event, Flow};
use aiwf_store::{Journal, Objects, sha256_hex};

use super::snapshot::summary;
use crate::clock;
use crate::error::EngineError;
use crate::every_core::map_on_every_core;
use crate::session_error::SessionError;

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
    flow: Flow,
}

impl SessionDirectory {
    pub(crate) fn new(settings: &Settings, id: &str) -> Self {
        Self { id: id.to_owned(), path: sessions_root(settings).join(id), flow: Flow::Session }
    }

    pub(crate) fn of_change(settings: &Settings, name: &str) -> Self {
        Self { id: name.to_owned(), path: changes_root(settings).join(name), flow: Flow::Change }
    }

    /// The same session while it is being created, under a name that nobody looks at.
    pub(crate) fn unfinished(&self) -> Self {
        let name = format!(".tmp-{}", self.id);
        Self { id: self.id.clone(), path: self.path.with_file_name(name), flow: self.flow }
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    pub(crate) fn lock_path(&self) -> PathBuf {
        self.path.join(".lock")
    }

    pub(crate) fn snapshot_path(&self) -> PathBuf {
        self.path.join("session.json")
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects::in_directory(self.path.join("objects"))
    }

    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        self.path.join(relative)
    }

    /// A path of the session as an agent uses it that works in the project's root.
    pub(crate) fn shown(&self, relative: &str) -> String {
        let root = match self.flow {
            Flow::Session => "sessions",
            Flow::Change => "changes",
        };
        format!(".aiwf/{root}/{}/{relative}", self.id)
    }

    pub(crate) fn journal(&self) -> Result<Journal<Event>, SessionError> {
        Ok(Journal::open(&self.journal_path())?)
    }
}

pub(crate) fn sessions_root(settings: &Settings) -> PathBuf {
    settings.project_dir().join("sessions")
}

pub(crate) fn changes_root(settings: &Settings) -> PathBuf {
    settings.project_dir().join("changes")
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

/// The session that a name, a unique beginning of one, or `latest` means; without a name, the only open one.
pub(crate) fn find<'a>(
    settings: &Settings,
    which: impl Into<Which<'a>>,
) -> Result<SessionDirectory, SessionError> {
    let given = match which.into() {
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
        return match meant_by(given, &ids) {
            Meant::One(id) => one(id),
            Meant::Nothing => Err(SessionError::NoSession { given: given.to_owned() }),
            Meant::Several(matching) => {
                Err(SessionError::AmbiguousSession { given: given.to_owned(), matching })
            }
        };
    }
    let are_open = map_on_every_core(&ids, |id| is_open(settings, id));
    let open: Vec<&String> =
        ids.iter().zip(are_open).filter_map(|(id, is_open)| is_open.then_some(id)).collect();
    match open.as_slice() {
        [only] => one(only),
        [] => Err(SessionError::NoOpenSession),
        several => {
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
pub(crate) fn meant_by<'a>(given: &str, ids: &'a [String]) -> Meant<'a> {
    if given == LATEST {
        return ids.last().map_or(Meant::Nothing, Meant::One);
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

fn is_open(settings: &Settings, id: &str) -> bool {
    let summary = summary(&SessionDirectory::new(settings, id));
    !matches!(summary.status.as_str(), "complete" | "cancelled")
}

/// Removes what a process that was killed left half done, right below a directory that nobody else writes to now.
pub(crate) fn remove_temporary(root: &Path) {
    let Ok(entries) = std::fs::read_dir(root) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| is_temporary(path)) {
        drop(aiwf_store::remove(&path));
    }
}

/// Whether a path names a file of the engine that a crash may have left half done.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp-"))
}
