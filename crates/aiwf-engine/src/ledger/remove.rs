//! Removes sessions that have ended, and what the user's state remembers of them.
//!
//! Whether a session has ended is read from its journal, never from a snapshot. The directory gets a temporary name
//! first, so a removal that is cut short leaves no half of a session; whoever creates the next one clears the rest.

use std::time::Duration;

use aiwf_store::LedgerStore as _;

use super::index::all_of;
use super::{Candidates, Scope, SessionEntry, SessionLedger, resolve};
use crate::session::session_error::SessionError;
use crate::{Engine, clock, trust};

/// Which sessions to remove.
#[derive(Clone, Debug, Default)]
pub struct RemovalFilter {
    /// Ids, parts of ids or names as a user typed them; without one, every session that has ended.
    pub typed: Vec<String>,
    /// Only those in which nothing happened for this long.
    pub older_than: Option<Duration>,
}

impl Engine {
    /// The sessions that a filter selects, all of them ended; oldest first. Naming an open one is an error.
    pub fn sessions_to_remove(&self, filter: &RemovalFilter) -> Result<Vec<SessionEntry>, SessionError> {
        let settings = self.settings();
        let mut entries: Vec<SessionEntry> = Vec::new();
        if filter.typed.is_empty() {
            let ended = all_of(settings, Scope::Any)?.into_iter().filter(|entry| !entry.is_open());
            // A snapshot is good enough to leave a session alone, and not to remove one.
            let checked = ended.map(|entry| SessionEntry::of_journal(settings, &entry.ledger(settings)));
            entries.extend(checked.filter(|entry| !entry.is_open()));
        }
        for typed in &filter.typed {
            let ledger = resolve(settings, Some(typed), Scope::Any, Candidates::All)?;
            let entry = ended_entry(self, &ledger)?;
            if !entries.iter().any(|other| other.directory == entry.directory) {
                entries.push(entry);
            }
        }
        if let Some(older_than) = filter.older_than {
            let Some(limit) = clock::before_now(older_than) else { return Ok(Vec::new()) };
            entries.retain(|entry| entry.updated_at < limit);
        }
        Ok(entries)
    }

    /// Removes a session that has ended and forgets what the user's state remembers of it.
    ///
    /// Whether it has ended is asked again, under its lock.
    pub fn remove_session(&self, entry: &SessionEntry) -> Result<(), SessionError> {
        let ledger = entry.ledger(self.settings());
        // Nobody creates or removes anything here meanwhile, and nobody works on the session.
        let _place = ledger.store().lock()?;
        let _lock = ledger.lock()?;
        ended_entry(self, &ledger)?;
        let first_sha256 = trust::first_sha256(&ledger);
        ledger.remove()?;
        if let Some(first_sha256) = first_sha256 {
            trust::forget(self.settings(), ledger.kind(), &ledger.id, &first_sha256);
        }
        Ok(())
    }
}

/// A session as its journal says; one that has not ended, or cannot be read, is refused.
fn ended_entry(engine: &Engine, ledger: &SessionLedger) -> Result<SessionEntry, SessionError> {
    let entry = SessionEntry::of_journal(engine.settings(), ledger);
    if entry.is_open() {
        return Err(SessionError::NotEnded {
            id: ledger.label().to_owned(),
            kind: ledger.kind(),
            status: entry.status,
        });
    }
    Ok(entry)
}
