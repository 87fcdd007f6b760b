//! A session that is being created: under a name that nobody looks at until it is published, then all of it at once.

use aiwf_config::Settings;
use aiwf_store::{LedgerStore as _, Lock, sha256_hex};

use super::index::all_of;
use super::place::create_sessions;
use super::{FirstEvent, Place, Scope, SessionLedger};
use crate::clock;
use crate::session::session_error::SessionError;
use crate::trust::{self, LedgerKind};

/// A session that is being created; when it is dropped before it is published, nothing is left of it.
#[derive(Debug)]
pub(crate) struct NewLedger {
    ledger: SessionLedger,
    is_published: bool,
    /// One at a time: ids and names are free until the session is published.
    _lock: Lock,
}

impl NewLedger {
    /// Begins a session; its id sorts by time behind the prefix. A name that an open session has is refused.
    pub(crate) fn begin(
        settings: &Settings,
        kind: LedgerKind,
        prefix: &str,
        name: Option<&str>,
    ) -> Result<Self, SessionError> {
        create_sessions(settings)?;
        let lock = Place::Sessions.store(settings).lock()?;
        if let Some(name) = name {
            refuse_taken(settings, name)?;
        }
        let id = new_id(settings, prefix)?;
        let first = FirstEvent { id: id.clone(), name: name.map(str::to_owned), kind, at: clock::now() };
        let ledger = SessionLedger::creating(settings, &id, first)?;
        Ok(Self { ledger, is_published: false, _lock: lock })
    }

    /// The session so far.
    pub(crate) fn ledger(&self) -> &SessionLedger {
        &self.ledger
    }

    /// From here on there is a session; before, there was nothing.
    pub(crate) fn publish(mut self) -> Result<SessionLedger, SessionError> {
        self.ledger.store().publish(&self.ledger.id)?;
        self.is_published = true;
        Ok(self.ledger.published())
    }
}

impl Drop for NewLedger {
    fn drop(&mut self) {
        if !self.is_published {
            // What is left is removed by the next one that begins.
            drop(self.ledger.store().discard(&self.ledger.id));
        }
    }
}

/// Refuses a name that an open session has; one of a session that ended is free.
fn refuse_taken(settings: &Settings, name: &str) -> Result<(), SessionError> {
    // What came with a checkout, or cannot be read, keeps no name from the user.
    let is_taken = |entry: &super::SessionEntry| {
        entry.is_open()
            && entry.has_name(name)
            && entry.error.is_none()
            && !trust::is_foreign(settings, &entry.ledger(settings))
    };
    if all_of(settings, Scope::Any)?.iter().any(is_taken) {
        return Err(SessionError::ChangeExists { name: name.to_owned() });
    }
    Ok(())
}

/// A new id: behind its prefix it sorts by time, and of two that begin in the same second the later one sorts later.
///
/// Called by the one who holds the lock.
fn new_id(settings: &Settings, prefix: &str) -> Result<String, SessionError> {
    let stamp = clock::stamp();
    let number = |id: &String| {
        // Whatever its prefix: sessions, runs and conversations begin in one order.
        let (_, number) = id.split_once(&stamp)?;
        u32::from_str_radix(number.strip_prefix('-')?, 16).ok()
    };
    let mut taken = Place::Sessions.ids(settings)?;
    taken.extend(Place::Runs.ids(settings)?);
    // Two machines that share a project by copying it begin at different numbers; there is room above them.
    let first = || {
        let salt = format!("{}{}", std::process::id(), clock::now());
        let digits = sha256_hex(salt.as_bytes());
        digits.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default() / 2
    };
    let first = taken.iter().filter_map(number).max().map_or_else(first, |taken| taken.saturating_add(1));
    let stamp = format!("{prefix}{stamp}");
    let root = Place::Sessions.store(settings).path();
    Ok((first..=u32::MAX)
        .map(|number| format!("{stamp}-{number:04x}"))
        .find(|id| !root.join(id).exists())
        .unwrap_or_else(|| stamp.clone()))
}
