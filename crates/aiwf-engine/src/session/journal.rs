//! Opens and checks the journal of a session, and resolves which session a command means.

use aiwf_config::Settings;
use aiwf_session::{Event, State};
use aiwf_store::Journal;

use crate::ledger::moment;
use crate::ledger::{Candidates, SessionLedger, SessionRef, resolve};
use crate::session::session_error::SessionError;

impl SessionLedger {
    /// Opens the journal and checks its hash chain and every event.
    pub(crate) fn journal(&self) -> Result<Journal<Event>, SessionError> {
        let path = self.file("journal.jsonl");
        if let Some(known) = moment::recall(&path) {
            return Ok(known);
        }
        let mut state = State::default();
        let journal = self.read_journal(
            |event| if let Event::SessionCreated { setup } = event { Some(&setup.session_id) } else { None },
            |event| {
                let fault = state.fault(event).map(|fault| fault.to_string());
                state = std::mem::take(&mut state).evolve(event);
                fault
            },
        )?;
        moment::keep(&path, &journal);
        Ok(journal)
    }
}

/// The session to continue: the given one, or the only open one.
pub(crate) fn find<'a>(
    settings: &Settings,
    session: impl Into<SessionRef<'a>>,
) -> Result<SessionLedger, SessionError> {
    let session = session.into();
    resolve(settings, session.typed(), session.scope(), Candidates::Open)
}

/// The session to read: the given one, or the only open one, or the only one.
pub(crate) fn find_any<'a>(
    settings: &Settings,
    session: impl Into<SessionRef<'a>>,
) -> Result<SessionLedger, SessionError> {
    let session = session.into();
    resolve(settings, session.typed(), session.scope(), Candidates::All)
}

/// The session to undo: the given one, or the only applied one, or as in [`find_any`].
pub(crate) fn find_applied<'a>(
    settings: &Settings,
    session: impl Into<SessionRef<'a>>,
) -> Result<SessionLedger, SessionError> {
    let session = session.into();
    resolve(settings, session.typed(), session.scope(), Candidates::Applied)
}

/// The session to apply: the given one, or the only complete one, or as in [`find_any`].
pub(crate) fn find_complete<'a>(
    settings: &Settings,
    session: impl Into<SessionRef<'a>>,
) -> Result<SessionLedger, SessionError> {
    let session = session.into();
    resolve(settings, session.typed(), session.scope(), Candidates::Complete)
}
