//! Reopens an approved artifact: the old version is kept, and what was made from it is made again.

use aiwf_session::{Command, decide};

use super::decisions::Decided;
use super::journal;
use super::open_session::OpenSession;
use super::versions::reopened_version;
use crate::Engine;
use crate::ledger::{SessionRef, refuse_taken};
use crate::session::session_error::SessionError;

impl Engine {
    /// Reopens an approved artifact, and continues with its phase. Works on a complete session that is not applied.
    pub fn revise<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        artifact: &str,
        reason: &str,
    ) -> Result<Decided, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let mut session = self.open_seen(ledger)?;
        session.refuse_cancelled()?;
        let spec = session.state.flow.phase_of_artifact(artifact);
        let phase = spec.map(|spec| spec.name).ok_or_else(|| SessionError::NotReopenable {
            artifact: artifact.to_owned(),
            id: session.ledger.label().to_owned(),
            known: session.reopenable(),
        })?;
        let command = Command::Revise { by: session.person(), phase, reason: reason.trim().to_owned() };
        // Checks first, so that a refused command changes nothing.
        decide(&session.state, command.clone())?;
        if session.state.phase.is_final()
            && let Some(name) = session.ledger.name()
        {
            // A name is free once its session has ended; another one may have it now.
            refuse_taken(self.settings(), name)?;
        }
        session.keep_what_waits()?;
        session.commit(command)?;
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }
}

impl OpenSession<'_> {
    /// The artifacts that can be reopened now.
    fn reopenable(&self) -> Vec<String> {
        let can_reopen = |phase| {
            let (by, reason) = (self.person(), "why".to_owned());
            decide(&self.state, Command::Revise { by, phase, reason }).is_ok()
        };
        let specs = self.state.flow.phases.iter().filter(|spec| can_reopen(spec.name));
        specs.map(|spec| spec.artifact.clone()).collect()
    }

    /// What a prompt says before the reason, if the current phase makes a reopened version again.
    pub(super) fn reopened(&self) -> Option<String> {
        let version = reopened_version(&self.state)?;
        let name = self.state.version_name(self.state.phase, version.number);
        Some(format!("`{name}` was approved and is reopened. What should be different:"))
    }

    /// Keeps the bytes of a reply at its gate, which the session is about to leave.
    fn keep_what_waits(&self) -> Result<(), SessionError> {
        for path in self.state.files_at_gate().iter().filter(|path| self.ledger.is_file(path)) {
            self.keep(path)?;
        }
        Ok(())
    }
}
