//! Journals that were read while something looks at sessions: a page that asks ten questions reads each journal once, and
//! its answers are of one moment.
//!
//! Only for reading, and only on the thread that looks: what is appended meanwhile is not seen.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use aiwf_session::Event;
use aiwf_store::Journal;

use crate::Engine;

/// More than one view looks at.
const MAX_KEPT: usize = 4;

/// What was read, by its path.
type Read = Vec<(PathBuf, Journal<Event>)>;

thread_local! {
    static READ: RefCell<Option<Read>> = const { RefCell::new(None) };
}

/// Forgets what was read, also after a panic.
struct Moment;

impl Drop for Moment {
    fn drop(&mut self) {
        READ.with_borrow_mut(|read| *read = None);
    }
}

impl Engine {
    /// Reads each journal at most once while `look` runs. It must only read.
    pub fn at_one_moment<T>(&self, look: impl FnOnce(&Self) -> T) -> T {
        READ.with_borrow_mut(|read| *read = Some(Vec::new()));
        let moment = Moment;
        let seen = look(self);
        drop(moment);
        seen
    }
}

/// The journal at a path, if it was read in this moment.
pub(crate) fn recall(path: &Path) -> Option<Journal<Event>> {
    READ.with_borrow(|read| {
        let found = read.as_ref()?.iter().find(|(known, _)| known == path);
        found.map(|(_, journal)| journal.clone())
    })
}

/// Keeps a journal until the moment is over.
pub(crate) fn keep(path: &Path, journal: &Journal<Event>) {
    READ.with_borrow_mut(|read| {
        if let Some(read) = read
            && read.len() < MAX_KEPT
        {
            read.push((path.to_owned(), journal.clone()));
        }
    });
}
