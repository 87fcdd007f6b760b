//! Removes sessions that have ended or cannot be read, and what the user's state records about them.
//!
//! Whether a session has ended is read from its journal, never from a snapshot. The directory gets a temporary name
//! first, so an interrupted removal leaves no half of a session; creating the next session clears the rest.

use std::time::Duration;

use aiwf_store::LedgerStore as _;

use super::index::all_of;
use super::{Candidates, Scope, SessionEntry, SessionLedger, SessionStatus, resolve};
use crate::session::session_error::SessionError;
use crate::{Engine, clock, trust};

/// Which sessions to remove.
#[derive(Clone, Debug, Default)]
pub struct RemovalFilter {
    /// Ids, parts of ids or names as a user typed them. Without one, every session that has ended when `older_than` is
    /// set, else the only one of the user's own that has ended.
    pub typed: Vec<String>,
    /// Only sessions without an event for this long.
    pub older_than: Option<Duration>,
}

impl Engine {
    /// The sessions that a filter selects, oldest first.
    ///
    /// All of them have ended, except that a session named by the user may be unreadable. Naming an open one is an error.
    pub fn sessions_to_remove(&self, filter: &RemovalFilter) -> Result<Vec<SessionEntry>, SessionError> {
        let settings = self.settings();
        let mut entries: Vec<SessionEntry> = Vec::new();
        if filter.typed.is_empty() {
            let ended = all_of(settings, Scope::Any)?.into_iter().filter(|entry| !entry.is_open());
            // A snapshot is good enough to leave a session alone, and not to remove one.
            let checked = ended.map(|entry| SessionEntry::of_journal(settings, &entry.ledger(settings)));
            entries.extend(checked.filter(|entry| !entry.is_open()));
            if filter.older_than.is_none() {
                entries.retain(|entry| !trust::is_foreign(settings, &entry.ledger(settings)));
            }
            if filter.older_than.is_none() && entries.len() > 1 {
                let ended = entries.iter().map(SessionEntry::line).collect();
                return Err(SessionError::SeveralEndedSessions { ended });
            }
        }
        for typed in &filter.typed {
            let ledger = resolve(settings, Some(typed), Scope::Any, Candidates::All)?;
            let entry = removable_entry(self, &ledger)?;
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

    /// Removes a session and what the user's state records about it.
    ///
    /// Checks again under the lock that it has ended or cannot be read.
    pub fn remove_session(&self, entry: &SessionEntry) -> Result<(), SessionError> {
        let ledger = entry.ledger(self.settings());
        // Both locks: no other process creates or removes sessions meanwhile, or works on this one.
        let _place = ledger.store().lock()?;
        let _lock = ledger.lock()?;
        removable_entry(self, &ledger)?;
        let first_sha256 = trust::first_sha256(&ledger);
        // First what is outside of the ledger: killed in between, the next removal still finds the session.
        self.remove_work_area(&ledger.id)?;
        ledger.remove()?;
        if let Some(first_sha256) = first_sha256 {
            trust::forget(self.settings(), ledger.kind(), &ledger.id, &first_sha256);
        }
        Ok(())
    }
}

/// The entry of a session as its journal says; refuses one that is readable and has not ended.
fn removable_entry(engine: &Engine, ledger: &SessionLedger) -> Result<SessionEntry, SessionError> {
    let entry = SessionEntry::of_journal(engine.settings(), ledger);
    if entry.is_open() && entry.status != SessionStatus::Unreadable {
        return Err(SessionError::NotEnded {
            id: ledger.label().to_owned(),
            kind: ledger.kind(),
            status: entry.status,
        });
    }
    Ok(entry)
}
