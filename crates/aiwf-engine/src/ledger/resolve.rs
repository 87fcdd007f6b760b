//! Resolves what a user typed to a session of any kind.
//!
//! In: nothing, `latest`, an id, a unique prefix or suffix of one, or a name. Out: one session, or an error with the
//! candidates and their titles. An exact id takes precedence over a name, and a name over a part of an id.

use aiwf_config::Settings;

use super::index::{SessionEntry, SessionStatus, all_of, by_time};
use super::place::LATEST;
use super::{Place, SessionLedger};
use crate::Engine;
use crate::session::session_error::SessionError;
use crate::trust::{self, LedgerKind};

/// A session as the user typed it.
#[derive(Clone, Copy, Debug)]
pub enum SessionRef<'a> {
    /// A session or a change; `None` for the only open one.
    Session(Option<&'a str>),
    Change(&'a str),
}

impl<'a> From<Option<&'a str>> for SessionRef<'a> {
    fn from(typed: Option<&'a str>) -> Self {
        Self::Session(typed)
    }
}

impl<'a> From<Option<&'a String>> for SessionRef<'a> {
    fn from(typed: Option<&'a String>) -> Self {
        Self::Session(typed.map(String::as_str))
    }
}

impl<'a> SessionRef<'a> {
    pub(crate) fn typed(self) -> Option<&'a str> {
        match self {
            Self::Session(typed) => typed,
            Self::Change(name) => Some(name),
        }
    }

    pub(crate) fn scope(self) -> Scope {
        match self {
            Self::Session(_) => Scope::Sessions,
            Self::Change(_) => Scope::Changes,
        }
    }
}

/// The kinds of sessions that a command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Any,
    /// Those with phases and gates: profile sessions and changes.
    Sessions,
    Changes,
    Runs,
}

impl Scope {
    pub(crate) fn accepts(self, kind: LedgerKind) -> bool {
        match self {
            Self::Any => true,
            Self::Sessions => kind != LedgerKind::Run,
            Self::Changes => kind == LedgerKind::Change,
            Self::Runs => kind == LedgerKind::Run,
        }
    }
}

/// The sessions that qualify if none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// To continue: the only open one.
    Open,
    /// To read: the only open one, else the only one.
    All,
    /// To apply: the only complete one, else as for [`Self::All`].
    Complete,
    /// To undo: the only applied one, else as for [`Self::All`].
    Applied,
}

/// The result of resolving a word.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Resolution<'a, T> {
    One(&'a T),
    Nothing,
    Several(Vec<&'a T>),
}

/// What the resolver needs to know about a session.
pub(crate) trait Resolvable {
    fn id(&self) -> &str;
    fn has_id(&self, id: &str) -> bool;
    fn has_name(&self, name: &str) -> bool;
    fn is_open(&self) -> bool;
}

impl Resolvable for SessionEntry {
    fn id(&self) -> &str {
        &self.id
    }

    fn has_id(&self, id: &str) -> bool {
        Self::has_id(self, id)
    }

    fn has_name(&self, name: &str) -> bool {
        Self::has_name(self, name)
    }

    fn is_open(&self) -> bool {
        Self::is_open(self)
    }
}

/// Resolves a word among sessions that are sorted by time, oldest first.
///
/// A name means the open session with this name, else the newest one that had it.
pub(crate) fn resolve_id<'a, T: Resolvable>(typed: &str, sessions: &'a [T]) -> Resolution<'a, T> {
    let matching = |is_wanted: &dyn Fn(&T) -> bool| -> Vec<&'a T> {
        sessions.iter().filter(|session| is_wanted(session)).collect()
    };
    let exact = matching(&|session| session.has_id(typed));
    if !exact.is_empty() {
        return one_of(exact);
    }
    let named = matching(&|session| session.has_name(typed));
    let open: Vec<&T> = named.iter().copied().filter(|session| session.is_open()).collect();
    match (open.is_empty(), named.last()) {
        (false, _) => return one_of(open),
        (true, Some(newest)) => return Resolution::One(newest),
        (true, None) => {}
    }
    one_of(matching(&|session| {
        !typed.is_empty() && (session.id().starts_with(typed) || session.id().ends_with(typed))
    }))
}

fn one_of<T>(matching: Vec<&T>) -> Resolution<'_, T> {
    match matching.as_slice() {
        [] => Resolution::Nothing,
        [only] => Resolution::One(only),
        _ => Resolution::Several(matching),
    }
}

/// The session that the user named; if none, the only candidate.
pub(crate) fn resolve(
    settings: &Settings,
    typed: Option<&str>,
    scope: Scope,
    candidates: Candidates,
) -> Result<SessionLedger, SessionError> {
    match typed {
        None => only_candidate(settings, scope, candidates),
        Some(LATEST) => {
            latest(settings, scope)?.ok_or_else(|| SessionError::NoSession { given: LATEST.to_owned() })
        }
        Some(typed) => named(settings, typed, scope),
    }
}

fn named(settings: &Settings, typed: &str, scope: Scope) -> Result<SessionLedger, SessionError> {
    // An exact id needs no other session to be read.
    let exact: Vec<SessionLedger> = [Place::Sessions, Place::Runs]
        .into_iter()
        .filter(|place| place.holds(settings, typed))
        .map(|place| SessionLedger::at(settings, place, typed))
        .collect();
    if let [ledger] = exact.as_slice() {
        return in_scope(typed, ledger.clone(), scope);
    }
    let all = all_of(settings, Scope::Any)?.into_iter();
    let (entries, others): (Vec<_>, Vec<_>) = all.partition(|entry| scope.accepts(entry.kind));
    let given = typed.to_owned();
    match (resolve_id(typed, &entries), resolve_id(typed, &others)) {
        (Resolution::One(entry), _) => Ok(entry.ledger(settings)),
        (Resolution::Several(matching), _) => {
            let matching = matching.into_iter().map(SessionEntry::line).collect();
            Err(SessionError::AmbiguousSession { given, matching })
        }
        // The word may match a session that the command does not work on; the error then says so.
        (Resolution::Nothing, Resolution::One(other)) => in_scope(typed, other.ledger(settings), scope),
        (Resolution::Nothing, _) if scope == Scope::Changes => {
            let called = |entry: &SessionEntry| entry.name.as_ref().unwrap_or(&entry.id).clone();
            Err(SessionError::NoChange { given, known: entries.iter().map(called).collect() })
        }
        (Resolution::Nothing, _) => Err(SessionError::NoSession { given }),
    }
}

/// Refuses a session of another kind. If the journal does not tell the kind, the command decides.
fn in_scope(typed: &str, ledger: SessionLedger, scope: Scope) -> Result<SessionLedger, SessionError> {
    match ledger.first_event() {
        Some(first) if !scope.accepts(first.kind) => Err(SessionError::OtherKind {
            given: typed.to_owned(),
            id: ledger.label().to_owned(),
            kind: first.kind,
        }),
        _ => Ok(ledger),
    }
}

/// The session that was created last. A copy, whose journal has another id, never counts.
fn latest(settings: &Settings, scope: Scope) -> Result<Option<SessionLedger>, SessionError> {
    let ledgers = Place::all_ledgers(settings)?;
    let mut keyed: Vec<(String, &SessionLedger)> = ledgers
        .iter()
        .map(|ledger| {
            // The journal is read only for ids without a timestamp.
            let created_at = match ledger.place() {
                Place::Changes => ledger.first_event().map(|first| first.at.clone()).unwrap_or_default(),
                Place::Sessions | Place::Runs => String::new(),
            };
            (by_time(&ledger.id, &created_at), ledger)
        })
        .collect();
    keyed.sort_by(|a, b| b.0.cmp(&a.0));
    let is_wanted = |ledger: &&SessionLedger| !ledger.has_other_id() && scope.accepts(ledger.kind());
    Ok(keyed.into_iter().map(|(_, ledger)| ledger).find(is_wanted).cloned())
}

fn only_candidate(
    settings: &Settings,
    scope: Scope,
    candidates: Candidates,
) -> Result<SessionLedger, SessionError> {
    let mut entries = all_of(settings, scope)?;
    entries.retain(|entry| entry.status != SessionStatus::Unreadable);
    let (foreign, own): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| trust::is_foreign(settings, &entry.ledger(settings)));
    // A foreign session never competes with the user's own, but can be the only candidate.
    match only_of(&own, candidates) {
        Err(SessionError::NoOpenSession) => only_of(&foreign, candidates),
        found => found,
    }
    .map(|entry| entry.ledger(settings))
}

fn only_of(entries: &[SessionEntry], candidates: Candidates) -> Result<&SessionEntry, SessionError> {
    let with = |is_wanted: fn(&SessionEntry) -> bool| -> Vec<&SessionEntry> {
        entries.iter().filter(|entry| is_wanted(entry)).collect()
    };
    if candidates == Candidates::Complete
        && let [only] = with(|entry| entry.status == SessionStatus::Complete).as_slice()
    {
        return Ok(only);
    }
    let lines = |entries: &[&SessionEntry]| entries.iter().map(|entry| entry.line()).collect();
    if candidates == Candidates::Applied {
        match with(|entry| entry.is_applied).as_slice() {
            [] => {}
            [only] => return Ok(only),
            several => return Err(SessionError::SeveralEndedSessions { ended: lines(several) }),
        }
    }
    let open = with(SessionEntry::is_open);
    match (open.as_slice(), with(|_| true).as_slice()) {
        ([only], _) => Ok(only),
        ([], [only]) if candidates != Candidates::Open => Ok(only),
        ([], several @ [_, _, ..]) if candidates != Candidates::Open => {
            Err(SessionError::SeveralEndedSessions { ended: lines(several) })
        }
        ([], _) => Err(SessionError::NoOpenSession),
        (several, _) => Err(SessionError::SeveralOpenSessions { open: lines(several) }),
    }
}

/// The user's own sessions with phases.
pub(crate) fn own_ledgers(settings: &Settings) -> Result<Vec<SessionLedger>, SessionError> {
    let mut ledgers = Place::all_ledgers(settings)?;
    ledgers.retain(|ledger| Scope::Sessions.accepts(ledger.kind()) && !trust::is_foreign(settings, ledger));
    Ok(ledgers)
}

/// The purpose of a command; it decides which session is meant if none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The only open one.
    Continue,
    /// The only open one, else the only one.
    Look,
}

impl Engine {
    /// The id and kind of the session that the user named.
    pub fn resolve_session(
        &self,
        typed: Option<&str>,
        purpose: Purpose,
    ) -> Result<(String, LedgerKind), SessionError> {
        let candidates = match purpose {
            Purpose::Continue => Candidates::Open,
            Purpose::Look => Candidates::All,
        };
        let ledger = resolve(self.settings(), typed, Scope::Any, candidates)?;
        Ok((ledger.id.clone(), ledger.kind()))
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
