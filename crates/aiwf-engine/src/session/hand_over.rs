//! Assigns phases to another provider.

use aiwf_session::{Agent, Command, FileHash, Phase, Step, decide};

use super::decisions::Decided;
use super::open_session::OpenSession;
use super::request::chosen_agent;
use crate::Engine;
use crate::ask::providers::{self, Duty};
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

impl Engine {
    /// Sends the same prompt again, to another provider if one is given.
    ///
    /// A prompt that does not fit the new provider is built again.
    pub fn retry<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        provider: Option<&str>,
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        if let Some(provider) = provider {
            session.refuse_cancelled()?;
            let phase = session.state.phase;
            let agent = chosen_agent(provider, phase, session.config())?;
            session.hand_over(phase, &agent)?;
            session.continue_past_phase();
        } else {
            let by = session.person();
            session.send_again(by)?;
        }
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Assigns phases to other providers without asking them yet.
    pub fn assign<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        assignments: &[(String, String)],
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        session.refuse_cancelled()?;
        let mut agents = Vec::new();
        for (name, provider) in assignments {
            let known = Phase::from_name(name).filter(|phase| session.state.flow.spec(*phase).is_some());
            let phase = known.ok_or_else(|| SessionError::NoSuchPhase {
                phase: name.clone(),
                flow: session.state.flow.name.clone(),
                known: session.state.flow.names().map(|phase| phase.to_string()).collect(),
            })?;
            agents.push((phase, chosen_agent(provider, phase, session.config())?));
        }
        for (phase, agent) in agents {
            session.hand_over(phase, &agent)?;
        }
        Ok(Self::decided(&session, Vec::new()))
    }
}

impl OpenSession<'_> {
    /// Assigns a phase to another provider. An existing reply is kept under another name.
    fn hand_over(&mut self, phase: Phase, agent: &Agent) -> Result<(), SessionError> {
        let rebuilds_prompt = phase == self.state.phase && self.needs_other_prompt(phase, agent)?;
        let command = |by, kept: Vec<FileHash>| Command::HandOver {
            by,
            phase,
            agent: agent.clone(),
            rebuilds_prompt,
            kept,
        };
        let events = decide(&self.state, command(self.person(), Vec::new()))?;
        if events.is_empty() {
            return Ok(());
        }
        let is_current = phase == self.state.phase;
        let has_reply =
            matches!(self.state.step, Step::Asked { .. } | Step::AskFailed { .. } | Step::ReplyReady { .. });
        if !(is_current && has_reply) {
            return self.commit(command(self.person(), Vec::new()));
        }
        let response = self.response_path()?;
        let kept = self.keep_rejected(std::slice::from_ref(&response))?;
        self.commit(command(self.person(), kept))?;
        Ok(self.ledger.files()?.remove(&response)?)
    }

    /// Whether the approved prompt does not fit another provider: because only one of them edits files itself, or only
    /// one takes a system prompt.
    fn needs_other_prompt(&self, phase: Phase, agent: &Agent) -> Result<bool, SessionError> {
        let old = self.state.provider(phase);
        let config = self.config();
        let gives_edits = self.state.flow.spec(phase).is_some_and(|spec| spec.gives.changes_files());
        let writes = |name: &str| gives_edits && providers::writes_files(name, config);
        let call = Self::call_name(phase, self.state.iteration);
        let takes_system = |name: &str| {
            let ability = providers::ability(name, config, None, Duty::Read, &call)?;
            Ok::<_, SessionError>(ability.capability.supports_system_prompt)
        };
        Ok(writes(old) != writes(&agent.provider) || takes_system(old)? != takes_system(&agent.provider)?)
    }
}
