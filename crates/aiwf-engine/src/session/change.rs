//! Changes: created, run by phase or as a whole, and listed.
//!
//! A change is a session that follows another flow; everything else is shared with sessions.

use aiwf_config::Flags;
use aiwf_session::{Command, Flow, Phase, PhaseChoice, Step, decide};

use super::change_prompt::check_patterns;
use super::create::Reach;
use super::decisions::Decided;
use super::journal;
use super::open_session::OpenSession;
use super::perform::Performed;
use super::report::SessionReport;
use super::request::{NewRequest, chosen_agent};
use super::snapshot::SessionSummary;
use crate::Engine;
use crate::ledger::{SessionRef, Summary, summaries};
use crate::session::session_error::SessionError;

/// The settings of a new change.
#[derive(Clone, Debug, Default)]
pub struct NewChange {
    /// Free for another session once this one has ended.
    pub name: String,
    pub request: String,
    /// Patterns of files that every phase sees, relative to the project; typed by the user.
    pub files: Vec<String>,
    /// The provider of all phases; `None` for the configured ones.
    pub provider: Option<String>,
    /// Gate settings from the command line.
    pub flags: Flags,
}

/// The options of a phase.
#[derive(Clone, Debug, Default)]
pub struct PhaseOptions {
    /// An agent family or a provider.
    pub agent: Option<String>,
    pub instructions: Option<String>,
    /// Patterns of files to show, relative to the project.
    pub files: Vec<String>,
    /// Whether the agent may edit the project directly.
    pub may_write: bool,
    /// Whether the gates of this phase are skipped.
    pub opens_gates: bool,
}

impl Engine {
    /// Creates a change without asking a provider.
    pub fn create_change(&self, new: NewChange) -> Result<SessionReport, SessionError> {
        let begun = self.begin_request(&NewRequest {
            flow: Flow::CHANGE.to_owned(),
            name: Some(new.name),
            request: new.request,
            files: new.files,
            provider: new.provider,
            flags: new.flags,
            ..NewRequest::default()
        })?;
        self.session_report(SessionRef::Change(&begun.id))
    }

    /// Works on a phase until it is over or a decision is needed.
    pub fn run_phase(&self, name: &str, phase: &str, options: PhaseOptions) -> Result<Decided, SessionError> {
        let unknown = || SessionError::UnknownPhase { phase: phase.to_owned() };
        let phase = Phase::from_name(phase).ok_or_else(unknown)?;
        let mut session = self.open_change(name)?;
        let agent = options.agent.map(|given| chosen_agent(&given, phase, session.config())).transpose()?;
        let choice = PhaseChoice {
            agent,
            instructions: options.instructions,
            files: options.files,
            may_write: options.may_write || session.config().change.write.value,
            opens_gates: options.opens_gates,
        };
        session.resume_if_limit_raised()?;
        let kept = session.begin_phase(phase, choice)?;
        for kept in &kept {
            session.notify(kept);
        }
        session.stop_after_phase();
        let performed = session.run_until_waiting()?;
        let performed = kept.into_iter().chain(performed).collect();
        Ok(Self::decided(&session, performed))
    }

    /// Runs a change until a decision is needed, with another provider if one is given.
    pub fn run_change(&self, name: &str, provider: Option<&str>) -> Result<Decided, SessionError> {
        Self::run_open(self.open_change(name)?, provider)
    }

    /// Refuses sessions of other flows, which start from a request as well.
    fn open_change(&self, name: &str) -> Result<OpenSession<'_>, SessionError> {
        let session = OpenSession::open(self, journal::find(self.settings(), SessionRef::Change(name))?)?;
        if session.state.flow.name != Flow::CHANGE {
            let (id, flow) = (session.ledger.label().to_owned(), session.state.flow.name.clone());
            return Err(SessionError::NotAChange { id, flow });
        }
        Ok(session)
    }

    /// All changes, most recent first.
    pub fn list_changes(&self) -> Result<Vec<SessionSummary>, SessionError> {
        let mut summaries: Vec<SessionSummary> = summaries(self.settings())?
            .into_iter()
            .filter_map(
                |(_, summary)| if let Summary::Session(summary) = summary { Some(summary) } else { None },
            )
            .filter(|summary| summary.flow == Flow::CHANGE)
            .collect();
        summaries
            .sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.session_id.cmp(&b.session_id)));
        Ok(summaries)
    }
}

impl OpenSession<'_> {
    /// Stops when the current phase is over.
    fn stop_after_phase(&mut self) {
        self.stop_after = Some((self.state.phase, self.state.iteration));
    }

    /// Assigns all open phases to another provider.
    pub(super) fn choose_agents(&mut self, provider: &str) -> Result<(), SessionError> {
        let phases: Vec<Phase> = self.state.flow.names().collect();
        let agent = |phase: Phase| Ok((phase, chosen_agent(provider, phase, self.config())?));
        let agents = phases.into_iter().map(agent).collect::<Result<_, SessionError>>()?;
        let command = Command::ChooseAgents { agents };
        if decide(&self.state, command.clone())?.is_empty() {
            return Ok(());
        }
        self.commit(command)
    }

    /// Does not stop after a phase.
    pub(super) fn continue_past_phase(&mut self) {
        self.stop_after = None;
    }

    /// Whether the phase that the command was given for is over. The next phase needs a command of its own.
    pub(crate) fn is_phase_over(&self) -> bool {
        match (&self.state.step, self.stop_after) {
            (Step::PromptWanted { phase, iteration }, Some(last)) => last != (*phase, *iteration),
            _ => false,
        }
    }

    /// Records the options of a phase; a person's edits of a waiting prompt are kept.
    fn begin_phase(&mut self, phase: Phase, choice: PhaseChoice) -> Result<Vec<Performed>, SessionError> {
        let by = self.person();
        let command = Command::BeginPhase { by, phase, choice: Box::new(choice) };
        // Checks first, so that a refused command copies nothing.
        let events = decide(&self.state, command.clone())?;
        if let Command::BeginPhase { choice, .. } = &command {
            let reach = if self.is_own { Reach::Anywhere } else { Reach::Project };
            check_patterns(self.engine, &choice.files, reach)?;
        }
        let is_rebuilt = !events.is_empty() && self.state.step == Step::PromptReady;
        let edited = if is_rebuilt { self.edited_prompt_files() } else { Vec::new() };
        let kept = self.keep_rejected(&edited)?;
        if !events.is_empty() {
            self.commit(command)?;
        }
        Ok(kept.into_iter().map(|file| Performed::Kept { path: file.path }).collect())
    }
}
