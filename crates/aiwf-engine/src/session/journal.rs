//! The journal of a session, checked line by line, and how commands find theirs.

use aiwf_config::Settings;
use aiwf_session::{Event, State};
use aiwf_store::Journal;

use crate::ledger::{Candidates, SessionLedger, SessionRef, resolve};
use crate::session::session_error::SessionError;

impl SessionLedger {
    /// The journal of a session, checked: its chain, and that every line says what aiwf would have written for this
    /// very session.
    pub(crate) fn journal(&self) -> Result<Journal<Event>, SessionError> {
        let mut state = State::default();
        self.read_journal(
            |event| if let Event::SessionCreated { setup } = event { Some(&setup.session_id) } else { None },
            |event| {
                let fault = state.fault(event).map(|fault| fault.to_string());
                state = std::mem::take(&mut state).evolve(event);
                fault
            },
        )
    }
}

/// The session to go on with: the one that is named, else the only one that is open.
pub(crate) fn find<'a>(
    settings: &Settings,
    session: impl Into<SessionRef<'a>>,
) -> Result<SessionLedger, SessionError> {
    let session = session.into();
    resolve(settings, session.typed(), session.scope(), Candidates::Open)
}

/// The session to look at: the one that is named, else the only one that is open, else the only one there is.
pub(crate) fn find_any<'a>(
    settings: &Settings,
    session: impl Into<SessionRef<'a>>,
) -> Result<SessionLedger, SessionError> {
    let session = session.into();
    resolve(settings, session.typed(), session.scope(), Candidates::All)
}

/// The session to apply: the one that is named, else the only complete one, else as for looking.
pub(crate) fn find_complete<'a>(
    settings: &Settings,
    session: impl Into<SessionRef<'a>>,
) -> Result<SessionLedger, SessionError> {
    let session = session.into();
    resolve(settings, session.typed(), session.scope(), Candidates::Complete)
}
