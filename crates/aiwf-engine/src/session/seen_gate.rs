//! What was at a gate when the user looked.
//!
//! A command notes the gate before it takes the session's lock, and compares it once it has the lock. If another
//! command decided in between, the user did not see its result, so the second decision is refused.

use aiwf_session::{Phase, Stage, State, Step};
use aiwf_store::sha256_hex;

use super::journal;
use super::open_session::OpenSession;
use crate::Engine;
use crate::ledger::{SessionLedger, SessionRef};
use crate::session::session_error::SessionError;

/// Shorter prefixes could match another gate by chance.
const MIN_DIGITS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenGate {
    pub phase: Phase,
    pub stage: Option<Stage>,
    pub iteration: u32,
    /// The number of the last event.
    pub seq: u64,
    /// SHA-256 of the file at the gate, or of the list that `sha256sum` prints if there are several.
    pub sha256: Option<String>,
    /// Whether a reply was awaited and not there yet; the hash is then the prompt's.
    pub awaits_reply: bool,
}

impl SeenGate {
    pub(crate) fn of(ledger: &SessionLedger, state: &State, seq: u64) -> Self {
        let (sha256, awaits_reply) = match reply_sha256(ledger, state) {
            Some(sha256) => (Some(sha256), false),
            None => (prompt_sha256(ledger, state), state.step != Step::PromptReady),
        };
        Self { phase: state.phase, stage: state.stage, iteration: state.iteration, seq, sha256, awaits_reply }
    }

    /// The gate in a few words.
    fn words(&self) -> String {
        let stage = self.stage.map(|stage| format!(" {}", stage.as_str())).unwrap_or_default();
        let hash = self.sha256.as_deref().and_then(|sha256| sha256.get(..12));
        let hash = hash.map(|hash| format!(" ({hash})")).unwrap_or_default();
        format!("{}{stage}, iteration {}{hash}", self.phase.as_str(), self.iteration)
    }

    /// Whether a decision on one is a decision on the other.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_place =
            (self.phase, self.stage, self.iteration) == (other.phase, other.stage, other.iteration);
        let is_same_content = match (&self.sha256, &other.sha256) {
            // The user has not seen a reply that was saved meanwhile.
            _ if self.awaits_reply != other.awaits_reply => false,
            (Some(seen), Some(found)) if !self.awaits_reply => seen == found,
            // Nothing was at the gate, so no event may have happened since.
            (seen, found) => seen == found && self.seq == other.seq,
        };
        is_same_place && is_same_content
    }
}

/// SHA-256 of the reply at the gate, or of the prompt if there is no reply yet.
pub(crate) fn sha256_of(ledger: &SessionLedger, state: &State) -> Option<String> {
    reply_sha256(ledger, state).or_else(|| prompt_sha256(ledger, state))
}

fn reply_sha256(ledger: &SessionLedger, state: &State) -> Option<String> {
    match state.step {
        Step::Asked { .. } | Step::AskFailed { .. } | Step::ReplyReady { .. } | Step::Paused(_) => {
            ledger.sha256(&state.response_path()?)
        }
        Step::NotCreated
        | Step::PromptWanted { .. }
        | Step::PromptReady
        | Step::AskWanted
        | Step::ChecksWanted
        | Step::Ended => None,
    }
}

fn prompt_sha256(ledger: &SessionLedger, state: &State) -> Option<String> {
    let is_there = match state.step {
        Step::PromptReady | Step::Asked { .. } | Step::AskFailed { .. } => true,
        Step::NotCreated
        | Step::PromptWanted { .. }
        | Step::AskWanted
        | Step::ReplyReady { .. }
        | Step::ChecksWanted
        | Step::Paused(_)
        | Step::Ended => false,
    };
    let paths = state.written.iter().filter(|_| is_there).map(|file| file.path.clone());
    let mut hashes = Vec::new();
    for path in paths {
        hashes.push((ledger.sha256(&path)?, path));
    }
    match hashes.as_slice() {
        [] => None,
        [(sha256, _)] => Some(sha256.clone()),
        several => {
            let list: String = several
                .iter()
                .flat_map(|(sha256, path)| [sha256.as_str(), "  ", path.as_str(), "\n"])
                .collect();
            Some(sha256_hex(list.as_bytes()))
        }
    }
}

impl Engine {
    /// The gate of a session as it is now; takes no lock.
    pub fn seen_gate<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<SeenGate, SessionError> {
        let ledger = journal::find(self.settings(), given)?;
        read_gate(&ledger)
    }

    /// Opens a session to decide on the gate that was seen when the command started.
    pub(super) fn open_at_gate<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<OpenSession<'_>, SessionError> {
        let ledger = journal::find(self.settings(), given)?;
        self.open_seen(ledger)
    }

    /// Opens a session if its gate is still the one that was seen.
    pub(super) fn open_seen(&self, ledger: SessionLedger) -> Result<OpenSession<'_>, SessionError> {
        let seen = match &self.call_context().seen {
            Some(seen) => seen.clone(),
            None => read_gate(&ledger)?,
        };
        if let Some(expected) = &self.call_context().expected {
            refuse_unexpected(&seen, expected)?;
        }
        let mut session = OpenSession::open(self, ledger)?;
        let found = SeenGate::of(&session.ledger, &session.state, session.last_seq());
        if seen.is_same(&found) {
            session.skip_gates_if_asked()?;
            return Ok(session);
        }
        Err(SessionError::AnotherGate { seen: seen.words(), found: found.words() })
    }
}

fn read_gate(ledger: &SessionLedger) -> Result<SeenGate, SessionError> {
    let journal = ledger.journal()?;
    let state = State::fold(journal.lines().iter().map(|line| &line.event));
    Ok(SeenGate::of(ledger, &state, journal.lines().len() as u64))
}

fn refuse_unexpected(seen: &SeenGate, expected: &str) -> Result<(), SessionError> {
    let expected = expected.to_ascii_lowercase();
    let is_hash = expected.len() >= MIN_DIGITS && expected.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash {
        return Err(SessionError::NoHash { given: expected });
    }
    if seen.sha256.as_ref().is_some_and(|sha256| sha256.starts_with(&expected)) {
        return Ok(());
    }
    Err(SessionError::AnotherGate { seen: format!("`{expected}`"), found: seen.words() })
}
