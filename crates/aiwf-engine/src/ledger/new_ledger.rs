//! Creates a session under a temporary name, and publishes it completely or not at all.

use aiwf_config::Settings;
use aiwf_store::{LedgerStore as _, Lock, sha256_hex};

use super::index::all_of;
use super::place::create_sessions;
use super::{FirstEvent, Place, Scope, SessionLedger};
use crate::clock;
use crate::session::session_error::SessionError;
use crate::trust::{self, LedgerKind};

/// A session being created. If it is dropped before it is published, nothing is left.
#[derive(Debug)]
pub(crate) struct NewLedger {
    ledger: SessionLedger,
    is_published: bool,
    /// Held until the session is published, so that ids and names stay unique.
    _lock: Lock,
}

impl NewLedger {
    /// Starts creating a session; the part of its id after the prefix sorts by time. The name of an open session is
    /// refused.
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

    pub(crate) fn ledger(&self) -> &SessionLedger {
        &self.ledger
    }

    /// Makes the session visible.
    pub(crate) fn publish(mut self) -> Result<SessionLedger, SessionError> {
        self.ledger.store().publish(&self.ledger.id)?;
        self.is_published = true;
        Ok(self.ledger.published())
    }
}

impl Drop for NewLedger {
    fn drop(&mut self) {
        if !self.is_published {
            // Anything left is removed when the next session is created.
            drop(self.ledger.store().discard(&self.ledger.id));
        }
    }
}

/// Refuses the name of an open session; a session that has ended does not reserve its name.
pub(crate) fn refuse_taken(settings: &Settings, name: &str) -> Result<(), SessionError> {
    // Foreign and unreadable sessions do not reserve names.
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

/// A new id. Without its prefix it sorts by time, also within one second.
///
/// The caller holds the lock.
fn new_id(settings: &Settings, prefix: &str) -> Result<String, SessionError> {
    let stamp = clock::stamp();
    let number = |id: &String| {
        // Without the prefix: sessions, runs and conversations share one order.
        let (_, number) = id.split_once(&stamp)?;
        u32::from_str_radix(number.strip_prefix('-')?, 16).ok()
    };
    let mut taken = Place::Sessions.ids(settings)?;
    taken.extend(Place::Runs.ids(settings)?);
    // Two machines with copies of a project start at different numbers, with room above them.
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
