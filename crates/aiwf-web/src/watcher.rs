//! Notices changes in the project: one watcher for all streams.
//!
//! The system reports changes of directories that pages look at. Where it cannot, they are polled.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use notify::{Config, EventHandler, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::broadcast;

/// The directories with sessions of every kind, below `.aiwf/`.
const PLACES: [&str; 3] = ["sessions", "changes", "runs"];
/// Directories that are watched at once; the oldest is let go.
const MAX_WATCHED: usize = 512;
const POLL_EVERY: Duration = Duration::from_millis(500);
/// More than streams fall behind; one that does looks at everything again.
const MAX_PENDING: usize = 256;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The session; empty for the directories above.
    pub(crate) id: String,
    /// Whether only words arrived, which no journal has yet.
    pub(crate) is_words: bool,
}

/// Tells streams which session changed.
pub(crate) struct ChangeWatcher {
    root: PathBuf,
    changes: broadcast::Sender<Change>,
    watching: Mutex<Option<Watching>>,
}

struct Watching {
    watcher: Box<dyn Watcher + Send>,
    watched: VecDeque<PathBuf>,
}

impl std::fmt::Debug for ChangeWatcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ChangeWatcher").field("root", &self.root).finish_non_exhaustive()
    }
}

impl ChangeWatcher {
    pub(crate) fn new(root: PathBuf) -> Self {
        let root = root.canonicalize().unwrap_or(root);
        Self { root, changes: broadcast::Sender::new(MAX_PENDING), watching: Mutex::new(None) }
    }

    /// Tells whoever listens that a session changed.
    pub(crate) fn notify(&self, id: &str) {
        // Nobody listens when no page is open.
        drop(self.changes.send(Change { id: id.to_owned(), is_words: false }));
    }

    /// Tells that words of a session arrived.
    pub(crate) fn notify_words(&self, id: &str) {
        drop(self.changes.send(Change { id: id.to_owned(), is_words: true }));
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Watches the directories of all sessions, as far as they are there.
    pub(crate) fn follow_project(&self) {
        let own = self.root.join(".aiwf");
        self.follow(&self.root);
        for directory in std::iter::once(own.clone()).chain(PLACES.map(|place| own.join(place))) {
            self.follow(&directory);
        }
    }

    /// Watches the directory of a session, relative to the project: its journal is there.
    pub(crate) fn follow_journal(&self, directory: &str) {
        self.follow(&self.root.join(directory));
    }

    /// Watches the directory of a session, relative to the project, with its rounds.
    pub(crate) fn follow_session(&self, directory: &str) {
        let directory = self.root.join(directory);
        self.follow(&directory);
        let Ok(entries) = std::fs::read_dir(&directory) else { return };
        let mut rounds: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .filter(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("iteration-"))
            })
            .collect();
        // Only the newest round changes.
        rounds.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
        if let Some(newest) = rounds.last() {
            self.follow(newest);
        }
    }

    fn follow(&self, directory: &Path) {
        let mut watching = self.watching.lock().unwrap_or_else(PoisonError::into_inner);
        let Watching { watcher, watched } = watching.get_or_insert_with(|| self.start());
        if watched.iter().any(|path| path == directory) {
            return;
        }
        // A directory that is not there yet is followed later: its parent changes when it is made.
        if watcher.watch(directory, RecursiveMode::NonRecursive).is_ok() {
            watched.push_back(directory.to_owned());
        }
        if watched.len() > MAX_WATCHED
            && let Some(oldest) = watched.pop_front()
        {
            drop(watcher.unwatch(&oldest));
        }
    }

    fn start(&self) -> Watching {
        let handler = || JournalEvents { root: self.root.clone(), changes: self.changes.clone() };
        let watcher: Box<dyn Watcher + Send> = match RecommendedWatcher::new(handler(), Config::default()) {
            Ok(watcher) => Box::new(watcher),
            Err(_) => match PollWatcher::new(handler(), Config::default().with_poll_interval(POLL_EVERY)) {
                Ok(watcher) => Box::new(watcher),
                Err(_) => Box::new(notify::NullWatcher),
            },
        };
        Watching { watcher, watched: VecDeque::new() }
    }
}

struct JournalEvents {
    root: PathBuf,
    changes: broadcast::Sender<Change>,
}

impl EventHandler for JournalEvents {
    fn handle_event(&mut self, event: notify::Result<notify::Event>) {
        let Ok(event) = event else { return };
        // Reading a journal is no change of it.
        if event.kind.is_access() {
            return;
        }
        let mut last = None;
        for path in &event.paths {
            let Some(id) = session_of(&self.root, path) else { continue };
            let is_words = path.file_name().is_some_and(|name| name.to_string_lossy().contains(".partial-"));
            let change = Change { id: id.to_owned(), is_words };
            if last.as_ref() != Some(&change) {
                drop(self.changes.send(change.clone()));
            }
            last = Some(change);
        }
    }
}

/// The session that a path belongs to; empty for the directories above.
fn session_of<'p>(root: &Path, path: &'p Path) -> Option<&'p str> {
    let mut parts = path.strip_prefix(root).ok()?.components().map(Component::as_os_str);
    if parts.next()? != OsStr::new(".aiwf") {
        return None;
    }
    match parts.next().and_then(OsStr::to_str) {
        None => Some(""),
        Some(place) if PLACES.contains(&place) => Some(parts.next().and_then(OsStr::to_str).unwrap_or("")),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_its_session() {
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(session_of(Path::new("/p"), Path::new(path)), expected, "{path}");
        };
        check("/p/.aiwf/sessions/one/journal.jsonl", Some("one"));
        check("/p/.aiwf/runs/two/a/b", Some("two"));
        check("/p/.aiwf/sessions", Some(""));
        check("/p/.aiwf", Some(""));
        check("/p/.aiwf/config.toml", None);
        check("/p/src/main.rs", None);
        check("/other/.aiwf/sessions/one", None);
    }
}
