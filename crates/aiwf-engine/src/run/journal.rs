//! The journal and the state file of a run, and how commands find a run.

use std::path::PathBuf;

use aiwf_config::Settings;
use aiwf_store::Journal;

use super::event::{RunEvent, RunKind};
use crate::ledger::{Candidates, Scope, SessionLedger, resolve};
use crate::run::run_error::RunError;
use crate::session::session_error::SessionError;

/// The state file, relative to the run.
pub(crate) const STATE: &str = "state/workflow.md";

/// Prefix of the id, which shows the kind.
pub(super) fn id_prefix(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Run => "",
        RunKind::Agent => "agent-",
        RunKind::Chat => "chat-",
    }
}

impl SessionLedger {
    /// The journal of a run, with its events checked.
    pub(crate) fn run_journal(&self) -> Result<Journal<RunEvent>, SessionError> {
        self.read_journal(
            |event| if let RunEvent::RunCreated { setup } = event { Some(&setup.run_id) } else { None },
            RunEvent::fault,
        )
    }

    /// The bytes of a file; `None` if it is missing or unusable.
    pub(super) fn usable(&self, relative: &str) -> Option<Vec<u8>> {
        self.read(relative).ok().flatten()
    }

    /// The directory that the model sees as `@state`.
    pub(super) fn state_dir(&self) -> PathBuf {
        self.path.join("state")
    }
}

/// Finds the run that the user named.
pub(crate) fn find(settings: &Settings, typed: &str) -> Result<SessionLedger, RunError> {
    let found = resolve(settings, Some(typed), Scope::Runs, Candidates::All);
    #[expect(clippy::wildcard_enum_match_arm, reason = "two errors have words of their own for runs")]
    found.map_err(|error| match error {
        SessionError::NoSession { given } => RunError::NoRun { given },
        SessionError::AmbiguousSession { given, matching } => RunError::AmbiguousRun { given, matching },
        error => error.into(),
    })
}
