//! Performs effects: each does its work on disk, then records it in the journal.

use std::fmt;

use aiwf_config::Origin;
use aiwf_session::{
    Actor, Approver, CheckResult, Command, Effect, LeftOut, Pause, Phase, Stage, Step, next_effect,
};

use super::open_session::OpenSession;
use crate::ask::watch::CallEvent;
use crate::checks::checks_summary;
use crate::prompt::left_out::left_out_lines;
use crate::session::session_error::SessionError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Performed {
    /// A prompt is ready.
    PromptWritten {
        phase: Phase,
        /// Relative to the session.
        path: String,
        left_out: Vec<LeftOut>,
    },
    /// A skipped gate let it pass.
    GatePassed { phase: Phase, stage: &'static str },
    /// A provider was asked.
    Asked { provider: String },
    /// A judge decided.
    Judged { provider: String, is_approved: bool },
    /// A call was not made because it could exceed the budget.
    BudgetReached {
        /// Spent so far, estimated cost of the call, and the limit.
        message: String,
    },
    /// A note about a call.
    Noted { message: String },
    /// The profile changed since the session started; its prompts and parsers may differ.
    ProfileChanged { name: String },
    /// A reply approved its prompt.
    PromptImplied {
        /// Relative to the session.
        path: String,
    },
    /// A person's text was kept under another name.
    Kept {
        /// Relative to the session.
        path: String,
    },
    ChecksRan {
        /// The phase whose files were checked.
        phase: Phase,
        results: Vec<CheckResult>,
    },
    /// Checks wait for the user's consent to their commands.
    ChecksHeld { names: Vec<String> },
    ReplyReceived {
        /// Relative to the session.
        path: String,
        /// Notes about the call.
        notes: Vec<String>,
    },
}

impl fmt::Display for Performed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PromptWritten { phase, path, left_out } => {
                write!(formatter, "{phase}: wrote the prompt {path}")?;
                let lines = left_out_lines(left_out);
                lines.iter().try_for_each(|line| write!(formatter, "\nwarning: {line}"))
            }
            Self::GatePassed { phase, stage } => write!(formatter, "{phase}: {stage} gate skipped"),
            Self::Asked { .. } => formatter.write_str("prompt ready: paste it into your chat"),
            Self::ProfileChanged { name } => {
                write!(formatter, "warning: profile `{name}` changed since the session began")
            }
            Self::PromptImplied { path } => {
                write!(formatter, "approved the prompt {path} as it is on disk, since you pasted it")
            }
            Self::Kept { path } => write!(formatter, "saved your edited version as {path}"),
            Self::ReplyReceived { path, notes } => {
                write!(formatter, "reply saved to {path}")?;
                notes.iter().try_for_each(|note| write!(formatter, "; {note}"))
            }
            Self::Judged { provider, is_approved: true } => {
                write!(formatter, "{provider} approved it")
            }
            Self::Judged { provider, is_approved: false } => {
                write!(formatter, "{provider} rejected it")
            }
            Self::BudgetReached { message } => write!(formatter, "not sent: {message}"),
            Self::ChecksRan { phase, results } => {
                let results: Vec<_> = results.iter().map(super::checking::shown).collect();
                write!(formatter, "{phase}: {}", checks_summary(&results))
            }
            Self::ChecksHeld { names } => {
                write!(formatter, "checks are waiting for your consent: {}", names.join(", "))
            }
            Self::Noted { message } => formatter.write_str(message),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepOutcome {
    Done(Performed),
    /// A person or a reply is needed.
    Waiting,
}

/// Upper bound for steps of one command: far more than any session needs.
const MAX_STEPS: usize = 1_000;

impl OpenSession<'_> {
    /// Performs the next step that needs no decision, and reports it to the watcher.
    ///
    /// Errors name the session and the phase, because a command may run several phases.
    pub(crate) fn step(&mut self) -> Result<StepOutcome, SessionError> {
        let outcome =
            self.next_step().map_err(|error| error.in_phase(self.ledger.label(), self.state.phase))?;
        if let StepOutcome::Done(done) = &outcome {
            self.notify(done);
        }
        Ok(outcome)
    }

    fn next_step(&mut self) -> Result<StepOutcome, SessionError> {
        self.recover_complete_reply()?;
        self.resume_if_limit_raised()?;
        match next_effect(&self.state) {
            Some(effect) if !self.is_phase_over() => self.perform(effect),
            Some(_) | None => Ok(StepOutcome::Waiting),
        }
    }

    /// Reports a step to the watcher.
    pub(crate) fn notify(&self, done: &Performed) {
        self.engine.call_context().notify(CallEvent::Performed(done));
    }

    /// Resumes a session paused at a limit if the configuration now allows more; returns whether it did.
    pub(crate) fn resume_if_limit_raised(&mut self) -> Result<bool, SessionError> {
        if self.state.gate_over_budget {
            return self.resume_gate_if_budget_raised();
        }
        let Step::Paused(pause) = self.state.step else { return Ok(false) };
        let command = match pause {
            // Checks run as soon as the user consented. Other pauses need a decision.
            Pause::CheckConsent => return self.run_checks(),
            Pause::Verdict | Pause::NoTarget | Pause::Checks => return Ok(false),
            Pause::IterationCap => {
                // Without a configured limit the caps of the flow apply.
                let Some(max_iterations) = self.configured_rounds() else { return Ok(false) };
                if max_iterations <= self.state.round.max(self.setup()?.max_iterations) {
                    return Ok(false);
                }
                Command::RaiseCap { max_iterations }
            }
            Pause::Budget => {
                let name = self.state.provider(self.state.phase).to_owned();
                let payload = self.payload()?;
                if self.over_budget(&name, &payload)?.is_some() {
                    return Ok(false);
                }
                Command::RaiseBudget
            }
        };
        self.refuse_stale()?;
        self.commit(command)?;
        Ok(true)
    }

    /// The configured number of rounds, if set.
    fn configured_rounds(&self) -> Option<u32> {
        let config = self.config();
        let max =
            if self.state.is_request() { &config.change.max_rounds } else { &config.session.max_iterations };
        (max.origin != Origin::Default).then(|| max.value.get())
    }

    /// Lets the judge be asked if the configuration now allows more; returns whether it does.
    fn resume_gate_if_budget_raised(&mut self) -> Result<bool, SessionError> {
        let (Approver::Ai(name), Some(stage)) = (self.state.approver().clone(), self.state.stage) else {
            return Ok(false);
        };
        let payload = self.gate_payload(stage)?;
        if self.over_budget(&name, &payload)?.is_some() {
            return Ok(false);
        }
        self.commit(Command::RaiseBudget)?;
        Ok(true)
    }

    /// Continues until a person or a reply is needed, or nothing is left to do.
    pub(crate) fn run_until_waiting(&mut self) -> Result<Vec<Performed>, SessionError> {
        let mut performed = Vec::new();
        for _ in 0..MAX_STEPS {
            match self.step()? {
                StepOutcome::Done(done) => performed.push(done),
                StepOutcome::Waiting => break,
            }
        }
        if self.is_profile_changed {
            let changed = Performed::ProfileChanged { name: self.setup()?.profile.clone() };
            self.notify(&changed);
            performed.push(changed);
        }
        Ok(performed)
    }

    fn perform(&mut self, effect: Effect) -> Result<StepOutcome, SessionError> {
        // A prompt that no person approves is sent with the file access of this command, as `preview` shows it.
        let is_at_prompt = matches!(
            effect,
            Effect::PassGate { stage: Stage::Prompt } | Effect::Judge { stage: Stage::Prompt, .. }
        );
        if let Some(ability) = self.fs_ability.filter(|_| is_at_prompt) {
            self.rewrite_prompt(ability)?;
        }
        match effect {
            Effect::WritePrompt { phase, iteration } => {
                self.write_prompt(phase, iteration, self.fs_ability)?;
                let path = self.state.flow.prompt_path(phase, iteration).unwrap_or_default();
                let left_out = self.state.left_out.clone();
                self.is_left_out_reported = true;
                Ok(StepOutcome::Done(Performed::PromptWritten { phase, path, left_out }))
            }
            Effect::PassGate { stage } => {
                let passed = Performed::GatePassed { phase: self.state.phase, stage: stage.as_str() };
                match stage {
                    Stage::Prompt => self.approve_prompt(Actor::OpenGate, None)?,
                    Stage::Response => self.take_reply(Actor::OpenGate, None)?,
                }
                Ok(StepOutcome::Done(passed))
            }
            Effect::Judge { stage, provider } => self.judge(stage, &provider),
            Effect::Ask { provider } => self.ask(&provider),
            Effect::AwaitReply { provider } => self.await_reply(&provider),
            Effect::RunChecks => self.step_checks(),
            Effect::SettleApply => {
                self.settle_apply(None)?;
                Ok(StepOutcome::Waiting)
            }
        }
    }

    /// Approves the prompt as it is on disk.
    pub(crate) fn approve_prompt(&mut self, by: Actor, is_checked: Option<bool>) -> Result<(), SessionError> {
        self.refuse_stale()?;
        let paths = self.state.files_at_gate();
        let files = paths.iter().map(|path| self.keep(path)).collect::<Result<Vec<_>, _>>()?;
        // A payload that cannot be sent is not approved: the prompt can still be edited or rejected.
        if self.state.step == Step::PromptReady {
            let payload = self.payload()?;
            self.refuse_over_budget(&payload)?;
            self.refuse_unsendable(payload)?;
        }
        self.commit(Command::ApprovePrompt { by, files, is_checked })
    }

    /// Records the file at the expected path as the reply; returns whether there is one.
    pub(crate) fn record_reply_file(&mut self) -> Result<bool, SessionError> {
        let path = self.response_path()?;
        if !self.ledger.is_file(&path) {
            return Ok(false);
        }
        let response = self.keep(&path)?;
        if self.state.response.as_ref() != Some(&response) {
            // After a crash the agent's reply and its changes in the worktree are both on disk.
            let is_agents = self.state.is_interrupted() && self.works_in_worktree(self.state.phase)?;
            let changes = is_agents.then(|| self.take_worktree()).transpose()?.map(|(file, _)| file);
            self.commit(Command::RecordReply { response, call: None, changes })?;
        }
        Ok(true)
    }

    /// Where the reply of the current phase is expected, relative to the session.
    pub(crate) fn response_path(&self) -> Result<String, SessionError> {
        let state = &self.state;
        state.response_path().ok_or(SessionError::NoPrompt { phase: state.phase })
    }
}
