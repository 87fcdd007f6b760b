//! What somebody wants, and whether it may happen.

use std::collections::BTreeMap;

use crate::call::{Call, ToolUse};
use crate::change::{Agent, PhaseChoice};
use crate::checks::CheckResult;
use crate::event::{Actor, AppliedFile, Commit, Event, FileHash, Outcome, Person};
use crate::flow::{Access, Gives, PhaseRecipe, PhaseSpec};
use crate::flow_check::MAX_ROUNDS;
use crate::left_out::LeftOut;
use crate::phase::{Phase, Stage};
use crate::refusal::Refusal;
use crate::setup::{Approver, Setup};
use crate::state::State;
use crate::step::{Pause, Step};

/// What a person wants, or what the engine has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Begin a session.
    Create(Box<Setup>),
    /// A prompt was written.
    RecordPrompt {
        /// The prompt.
        prompt: FileHash,
        /// The system prompt, when the provider takes one.
        system_prompt: Option<FileHash>,
        /// The files of the project that it shows, where what follows depends on them.
        seen: Vec<FileHash>,
        /// What the receiver can do with files, when a flag said so.
        fs_ability: Option<String>,
        /// What it was to hold and does not.
        left_out: Vec<LeftOut>,
    },
    /// Approve the prompt, as its files are now.
    ApprovePrompt {
        /// Who says yes.
        by: Actor,
        /// The files as they are.
        files: Vec<FileHash>,
        /// Whether a later change counts; as the session is set up, when not said.
        is_checked: Option<bool>,
    },
    /// Turn the prompt down.
    RejectPrompt {
        /// Who says no.
        by: Actor,
        /// Why.
        feedback: String,
        /// The edited prompt, under the name it is kept.
        kept: Vec<FileHash>,
    },
    /// The prompt is being sent.
    RecordSent {
        /// To whom.
        provider: String,
        /// SHA-256 of what is sent.
        payload_sha256: String,
        /// Whether asking again would cost nothing.
        is_free: bool,
    },
    /// The provider called tools before it replied.
    RecordToolCalls {
        /// The calls, in their order.
        calls: Vec<ToolUse>,
    },
    /// The provider is being asked again, with what the tools gave.
    RecordAskedAgain {
        /// Who is asked.
        provider: String,
        /// SHA-256 of what is sent.
        payload_sha256: String,
        /// Whether asking again would cost nothing.
        is_free: bool,
        /// How the call before went.
        call: Box<Call>,
    },
    /// The reply is there, whole.
    RecordReply {
        /// The reply.
        response: FileHash,
        /// How the call went; nothing when a person gave the reply.
        call: Option<Box<Call>>,
        /// What the agent changed in its worktree.
        changes: Option<FileHash>,
    },
    /// The provider did not answer.
    RecordFailure {
        /// What it said.
        message: String,
        /// How the call went.
        call: Option<Box<Call>>,
        /// When its limit ends, in seconds since 1970.
        limit_until: Option<u64>,
    },
    /// The next call might cost more than may be spent.
    PauseForBudget {
        /// What is spent, what the call might cost, and the limit.
        message: String,
    },
    /// More may be spent.
    RaiseBudget,
    /// The reply cannot be used as it is.
    RefuseReply {
        /// The reply.
        response: FileHash,
        /// What is wrong with it.
        problems: Vec<String>,
    },
    /// Files are about to be written for the reply.
    IntendOutputs {
        /// The files.
        files: Vec<FileHash>,
    },
    /// Approve the reply, as it is now, with what it gives.
    ApproveResponse {
        /// Who says yes.
        by: Actor,
        /// The reply as it is.
        response: FileHash,
        /// What it gives.
        outcome: Outcome,
        /// Whether checks are configured for the phase.
        has_checks: bool,
    },
    /// A check ended.
    RecordCheck(Box<CheckResult>),
    /// All checks ended.
    FinishChecks,
    /// Checks need the user's consent.
    HoldChecks { names: Vec<String> },
    /// Let another provider do a phase, whatever became of its prompt.
    HandOver {
        by: Actor,
        phase: Phase,
        agent: Agent,
        /// Whether the approved prompt does not fit the new provider.
        rebuilds_prompt: bool,
        /// The reply that is given up, under the name it is kept.
        kept: Vec<FileHash>,
    },
    /// Turn the reply down.
    RejectResponse {
        /// Who says no.
        by: Actor,
        /// Why.
        feedback: String,
        /// The prompt and the reply, under the names they are kept.
        kept: Vec<FileHash>,
    },
    /// A provider is being asked to judge.
    RecordGateAsked {
        /// Who is asked.
        provider: String,
        /// SHA-256 of what is sent.
        payload_sha256: String,
        /// Whether asking costs nothing.
        is_free: bool,
    },
    /// A provider judged.
    RecordGateAnswer {
        /// What it said; nothing when the call failed.
        reply: Option<FileHash>,
        /// How the call went.
        call: Option<Box<Call>>,
    },
    /// A provider could not judge.
    LeaveToPerson {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
    },
    /// Send the same prompt once more.
    Retry {
        /// Who asks for it.
        by: Actor,
        /// The reply it replaces, under the name it is kept.
        kept: Vec<FileHash>,
    },
    /// Allow more iterations.
    RaiseCap {
        /// How many.
        max_iterations: u32,
    },
    /// Take the code although its review failed.
    Accept {
        /// Who takes it.
        by: Actor,
    },
    /// Work on a phase.
    BeginPhase {
        /// Who wants it.
        by: Actor,
        /// The phase.
        phase: Phase,
        /// What is said about it.
        choice: Box<PhaseChoice>,
    },
    /// Let somebody else do the work of phases.
    ChooseAgents {
        /// Who, by phase.
        agents: BTreeMap<Phase, Agent>,
    },
    /// Skip every gate from here on.
    OpenGates,
    /// Accept changes of approved files.
    Rebind {
        /// Who accepts them.
        by: Actor,
        /// The files as they are.
        files: Vec<FileHash>,
    },
    /// Cancel the session.
    Cancel {
        /// Who cancels it.
        by: Actor,
        /// Why.
        reason: Option<String>,
    },
    /// Code is about to be copied into the project.
    IntendApply {
        /// Where it goes.
        files: Vec<AppliedFile>,
    },
    /// An apply is about to be reversed.
    IntendUndo { files: Vec<AppliedFile> },
    /// What was approved is in a commit.
    RecordCommit(Commit),
    /// Code was copied.
    RecordApplied,
    /// Copying was undone.
    RecordApplyUndone,
}

impl Command {
    /// The word for it on the command line, or for what the engine does.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create(_) => "create the session",
            Self::RecordPrompt { .. } => "write a prompt",
            Self::ApprovePrompt { .. } | Self::ApproveResponse { .. } => "approve",
            Self::RejectPrompt { .. } | Self::RejectResponse { .. } => "reject",
            Self::RecordSent { .. } => "ask",
            Self::RecordToolCalls { .. } => "record tool calls",
            Self::RecordAskedAgain { .. } => "ask again",
            Self::RecordReply { .. } => "take a reply",
            Self::RecordFailure { .. } => "record a failure",
            Self::RefuseReply { .. } => "read the reply",
            Self::IntendOutputs { .. } => "write the outputs",
            Self::RecordGateAsked { .. } => "ask at the gate",
            Self::RecordGateAnswer { .. } => "take the gate's answer",
            Self::LeaveToPerson { .. } => "leave the gate to a person",
            Self::PauseForBudget { .. } => "pause for the budget",
            Self::RaiseBudget => "raise the budget",
            Self::RecordCheck(_) | Self::FinishChecks | Self::HoldChecks { .. } => "run checks",
            Self::HandOver { .. } => "hand over",
            Self::IntendUndo { .. } => "undo",
            Self::RecordCommit(_) => "commit",
            Self::Retry { .. } => "retry",
            Self::RaiseCap { .. } => "raise the cap",
            Self::Accept { .. } => "accept",
            Self::BeginPhase { .. } => "work on that phase",
            Self::ChooseAgents { .. } => "choose agents",
            Self::OpenGates => "open the gates",
            Self::Rebind { .. } => "rebind",
            Self::Cancel { .. } => "cancel",
            Self::IntendApply { .. } | Self::RecordApplied | Self::RecordApplyUndone => "apply",
        }
    }
}

/// The events of a command, or why it is not possible now.
pub fn decide(state: &State, command: Command) -> Result<Vec<Event>, Refusal> {
    let not_now = Refusal::not_now(command.name(), state);
    let one = |event: Event| Ok(vec![event]);
    match (command, &state.step) {
        (Command::Create(setup), Step::NotCreated) => one(Event::SessionCreated { setup }),
        (_, Step::NotCreated) => Err(not_now),

        (
            Command::RecordPrompt { prompt, system_prompt, seen, fs_ability, left_out },
            Step::PromptWanted { phase, iteration },
        ) => one(Event::PromptWritten {
            phase: *phase,
            iteration: *iteration,
            prompt,
            system_prompt,
            seen,
            fs_ability,
            left_out,
        }),
        // A prompt that nobody has judged yet can be written anew, for another kind of receiver.
        (
            Command::RecordPrompt { prompt, system_prompt, seen, fs_ability, left_out },
            Step::PromptReady,
        ) => {
            one(Event::PromptWritten {
                phase: state.phase,
                iteration: state.iteration,
                prompt,
                system_prompt,
                seen,
                fs_ability,
                left_out,
            })
        }
        (Command::ApprovePrompt { by, files, is_checked }, Step::PromptReady) => {
            approve_prompt(state, by, files, is_checked)
        }
        (
            Command::RejectPrompt { by, feedback, kept },
            Step::PromptReady | Step::AskWanted | Step::Paused(Pause::Budget),
        ) => {
            if has_used_up(state, &by) {
                return one(left_to_person(&by, feedback));
            }
            one(Event::PromptRejected { by, feedback: said(feedback)?, kept })
        }
        (
            Command::RecordSent { provider, payload_sha256, is_free },
            Step::AskWanted | Step::Asked { is_free: true },
        ) => one(Event::PromptSent { provider, payload_sha256, n_earlier: state.n_sent, is_free }),
        (Command::RecordToolCalls { calls }, Step::Asked { .. }) => {
            Ok(calls.into_iter().map(|call| Event::ToolCalled(Box::new(call))).collect())
        }
        (
            Command::RecordAskedAgain { provider, payload_sha256, is_free, call },
            Step::Asked { is_free: was_free },
        ) if is_free == *was_free => one(Event::AskedAgain { provider, payload_sha256, is_free, call }),
        (
            Command::RecordReply { response, call, changes },
            Step::Asked { .. } | Step::AskFailed { .. } | Step::ReplyReady { .. },
        ) => {
            at_gate(state, &response)?;
            one(Event::ReplyReceived { response, call, changes })
        }
        (Command::RecordFailure { message, call, limit_until }, Step::Asked { .. }) => {
            one(Event::AskFailed { message, call, limit_until })
        }
        (Command::PauseForBudget { message }, Step::AskWanted) => one(Event::BudgetReached { message }),
        (Command::PauseForBudget { message }, Step::PromptReady | Step::ReplyReady { .. })
            if matches!(state.approver(), Approver::Ai(_)) =>
        {
            one(Event::BudgetReached { message })
        }
        (Command::RaiseBudget, Step::Paused(Pause::Budget)) => one(Event::BudgetRaised),
        (Command::RaiseBudget, _) if state.gate_over_budget => one(Event::BudgetRaised),
        (Command::RefuseReply { response, problems }, Step::ReplyReady { .. }) => {
            at_gate(state, &response)?;
            one(Event::ReplyRefused { response, problems })
        }
        (Command::IntendOutputs { files }, Step::ReplyReady { .. }) => one(Event::OutputsIntended { files }),
        (Command::ApproveResponse { by, response, outcome, has_checks }, Step::ReplyReady { .. }) => {
            at_gate(state, &response)?;
            fits(state, &outcome)?;
            let runs_checks = has_checks && state.flow.spec(state.phase).is_some_and(|spec| spec.checks);
            one(Event::ResponseApproved { by, response, outcome, runs_checks })
        }
        (Command::RecordCheck(result), Step::ChecksWanted | Step::Paused(Pause::CheckConsent)) => {
            one(Event::CheckRan(result))
        }
        (Command::FinishChecks, Step::ChecksWanted | Step::Paused(Pause::CheckConsent)) => {
            one(Event::ChecksFinished)
        }
        (Command::HoldChecks { names }, Step::ChecksWanted) => one(Event::ChecksHeld { names }),
        (Command::RejectResponse { by, feedback, .. }, Step::Paused(Pause::Checks)) => {
            one(Event::SentBack { by, feedback: said(feedback)? })
        }
        // Whoever disagrees with a verdict that stopped the session begins anew.
        (Command::RejectResponse { by, feedback, .. }, Step::Paused(Pause::Verdict | Pause::NoTarget)) => {
            one(Event::Reopened { by, feedback: Some(said(feedback)?) })
        }
        (Command::RejectResponse { by, feedback, kept }, Step::ReplyReady { .. }) => {
            if has_used_up(state, &by) {
                return one(left_to_person(&by, feedback));
            }
            one(Event::ResponseRejected { by, feedback: said(feedback)?, kept })
        }
        (
            Command::RecordGateAsked { provider, payload_sha256, is_free },
            Step::PromptReady | Step::ReplyReady { .. },
        ) if !state.is_judged => one(Event::GateAsked { provider, payload_sha256, is_free }),
        (Command::RecordGateAnswer { reply, call }, Step::PromptReady | Step::ReplyReady { .. })
            if state.is_judged =>
        {
            one(Event::GateAnswered { reply, call })
        }
        (Command::LeaveToPerson { provider, message }, Step::PromptReady | Step::ReplyReady { .. }) => {
            one(Event::GateUndecided { provider, message })
        }
        (
            Command::Retry { by, kept },
            Step::Asked { is_free: false }
            | Step::AskFailed { .. }
            | Step::ReplyReady { .. }
            | Step::Paused(Pause::Checks),
        ) => one(Event::Retried { by, kept }),
        (Command::HandOver { by, phase, agent, rebuilds_prompt, kept }, step) if *step != Step::Ended => {
            hand_over(state, by, phase, agent, rebuilds_prompt, kept)
        }
        (Command::RaiseCap { max_iterations }, Step::Paused(Pause::IterationCap)) => {
            if max_iterations <= state.round || max_iterations > MAX_ROUNDS {
                return Err(Refusal::CapTooLow { round: state.round, given: max_iterations });
            }
            one(Event::CapRaised { max_iterations })
        }
        (Command::Accept { by }, Step::Paused(Pause::IterationCap | Pause::Verdict | Pause::NoTarget))
            // What nobody has made yet cannot be accepted: a plan that did not pass is never implemented.
            if state.flow.judges_files(state.phase) =>
        {
            one(Event::Accepted { by })
        }
        (Command::Accept { by }, Step::Paused(Pause::Checks)) => one(Event::Accepted { by }),
        (Command::BeginPhase { by, phase, choice }, _) => {
            begin_phase(state, by, phase, *choice)
        }
        (Command::ChooseAgents { agents }, step) if *step != Step::Ended => Ok(choose_agents(state, agents)),
        (Command::OpenGates, step) if *step != Step::Ended => {
            Ok(open_gates(state, &state.flow.names().collect::<Vec<_>>()))
        }
        (Command::Rebind { by, files }, _) if state.phase != Phase::CANCELLED => {
            match files.iter().find(|file| !state.bound.contains_key(&file.path)) {
                Some(file) => Err(Refusal::NotBound { path: file.path.clone() }),
                None if files.is_empty() => Ok(Vec::new()),
                None => one(Event::Rebound { by, files }),
            }
        }
        (Command::Cancel { by, reason }, step) if *step != Step::Ended => one(Event::Cancelled { by, reason }),
        (Command::IntendApply { files }, _) if state.can_apply() && state.applying.is_none() => {
            one(Event::ApplyIntended { files, is_undo: false })
        }
        (Command::IntendUndo { files }, _) if state.is_applied && state.applying.is_none() => {
            one(Event::ApplyIntended { files, is_undo: true })
        }
        (Command::RecordCommit(commit), _) if state.can_apply() => one(Event::Committed(commit)),
        (Command::RecordApplied, _) if state.applying.is_some() => one(Event::Applied),
        (Command::RecordApplyUndone, _) if state.applying.is_some() => one(Event::ApplyUndone),

        // Everything else makes no sense where the session stands. The list is spelled out, so that a new command
        // cannot be forgotten here.
        (
            Command::Create(_)
            | Command::RecordPrompt { .. }
            | Command::ApprovePrompt { .. }
            | Command::RejectPrompt { .. }
            | Command::RecordSent { .. }
            | Command::RecordToolCalls { .. }
            | Command::RecordAskedAgain { .. }
            | Command::RecordReply { .. }
            | Command::RecordFailure { .. }
            | Command::RefuseReply { .. }
            | Command::IntendOutputs { .. }
            | Command::ApproveResponse { .. }
            | Command::RejectResponse { .. }
            | Command::RecordGateAsked { .. }
            | Command::RecordGateAnswer { .. }
            | Command::LeaveToPerson { .. }
            | Command::PauseForBudget { .. }
            | Command::RaiseBudget
            | Command::Retry { .. }
            | Command::RaiseCap { .. }
            | Command::Accept { .. }
            | Command::ChooseAgents { .. }
            | Command::OpenGates
            | Command::Rebind { .. }
            | Command::Cancel { .. }
            | Command::RecordCheck(_)
            | Command::FinishChecks
            | Command::HoldChecks { .. }
            | Command::HandOver { .. }
            | Command::IntendApply { .. }
            | Command::IntendUndo { .. }
            | Command::RecordCommit(_)
            | Command::RecordApplied
            | Command::RecordApplyUndone,
            _,
        ) => Err(not_now),
    }
}

fn approve_prompt(
    state: &State,
    by: Actor,
    files: Vec<FileHash>,
    is_checked: Option<bool>,
) -> Result<Vec<Event>, Refusal> {
    let is_checked =
        is_checked.unwrap_or_else(|| state.setup.as_ref().is_none_or(|setup| setup.hash_prompts));
    let is_expected = |file: &FileHash| state.written.iter().any(|written| written.path == file.path);
    if let Some(stranger) = files.iter().find(|file| !is_expected(file)) {
        return Err(Refusal::NotAtGate { path: stranger.path.clone() });
    }
    if let Some(missing) =
        state.written.iter().find(|written| files.iter().all(|file| file.path != written.path))
    {
        return Err(Refusal::NotAtGate { path: missing.path.clone() });
    }
    let is_edited = files.iter().any(|file| !state.written.contains(file));
    Ok(vec![Event::PromptApproved { by, files, is_edited, is_checked }])
}

/// The reply of the current phase and no other file.
fn at_gate(state: &State, response: &FileHash) -> Result<(), Refusal> {
    if state.response_path().as_deref() == Some(response.path.as_str()) {
        Ok(())
    } else {
        Err(Refusal::NotAtGate { path: response.path.clone() })
    }
}

/// Continues the phase that the session is in, and no other.
fn begin_phase(state: &State, by: Actor, phase: Phase, choice: PhaseChoice) -> Result<Vec<Event>, Refusal> {
    let Some(setup) = state.setup.as_ref().and_then(|setup| setup.change.as_ref()) else {
        return Err(Refusal::other_phase(phase, state));
    };
    let mut events = Vec::new();
    match state.step {
        // Only a person who asks for it leads out of a verdict that said no.
        Step::Paused(Pause::Verdict | Pause::NoTarget) if phase == state.flow.first() => {
            events.push(Event::Reopened { by, feedback: None });
        }
        Step::Paused(Pause::Verdict | Pause::NoTarget | Pause::IterationCap)
        | Step::Ended
        | Step::NotCreated => {
            return Err(Refusal::other_phase(phase, state));
        }
        Step::PromptWanted { .. }
        | Step::PromptReady
        | Step::AskWanted
        | Step::Asked { .. }
        | Step::AskFailed { .. }
        | Step::ReplyReady { .. }
        | Step::ChecksWanted
        | Step::Paused(Pause::Budget | Pause::Checks | Pause::CheckConsent) => {
            if state.phase != phase {
                return Err(Refusal::other_phase(phase, state));
            }
        }
    }
    let gates = if choice.opens_gates { open_gates(state, &[phase]) } else { Vec::new() };
    // What was said already is not said again: a command that was cut short can be run once more.
    if let Some(agent) = choice.agent.filter(|agent| setup.agents.get(&phase) != Some(agent)) {
        events.push(Event::AgentChosen { phase, agent });
    }
    let said = setup.instructions_of(phase);
    let is_news = |text: &String| !text.trim().is_empty() && !said.contains(text);
    if let Some(text) = choice.instructions.filter(is_news) {
        events.push(Event::InstructionsAdded { phase, text });
    }
    let shown = setup.files_of(phase);
    let patterns: Vec<String> = choice.files.into_iter().filter(|pattern| !shown.contains(pattern)).collect();
    if !patterns.is_empty() {
        events.push(Event::FilesAdded { phase, patterns });
    }
    let gives_files = state.flow.spec(phase).is_some_and(|spec| spec.access == Access::Write);
    if choice.may_write && !setup.may_write && gives_files {
        events.push(Event::WriteAllowed);
    }
    let is_open = matches!(
        state.step,
        Step::PromptWanted { .. } | Step::PromptReady | Step::Paused(Pause::Verdict | Pause::NoTarget)
    );
    if !events.is_empty() && !is_open {
        return Err(Refusal::Settled { phase });
    }
    events.extend(gates);
    Ok(events)
}

/// The phases that are still open get another agent: the prompt of the current one must not be approved yet.
fn choose_agents(state: &State, agents: BTreeMap<Phase, Agent>) -> Vec<Event> {
    let setup = state.setup.as_ref();
    let is_open = matches!(state.step, Step::PromptWanted { .. } | Step::PromptReady);
    let counts = |phase: &Phase, agent: &Agent| {
        state.flow.spec(*phase).is_some()
            && (is_open || *phase != state.phase)
            && setup.and_then(|setup| setup.agent(*phase)) != Some(agent)
    };
    let chosen = agents.into_iter().filter(|(phase, agent)| counts(phase, agent));
    chosen.map(|(phase, agent)| Event::AgentChosen { phase, agent }).collect()
}

/// Another provider does the phase from here on; the current one is asked again with the same prompt, if that fits.
fn hand_over(
    state: &State,
    by: Actor,
    phase: Phase,
    agent: Agent,
    rebuilds_prompt: bool,
    kept: Vec<FileHash>,
) -> Result<Vec<Event>, Refusal> {
    if state.flow.spec(phase).is_none() {
        return Err(Refusal::other_phase(phase, state));
    }
    let setup = state.setup.as_ref();
    let is_news = setup.and_then(|setup| setup.agent(phase)) != Some(&agent);
    let mut events: Vec<Event> = is_news.then_some(Event::AgentChosen { phase, agent }).into_iter().collect();
    if phase != state.phase {
        return Ok(events);
    }
    match state.step {
        Step::AskWanted | Step::Paused(Pause::Budget) if rebuilds_prompt => {
            events.push(Event::PromptWithdrawn { by });
        }
        Step::Asked { .. } | Step::AskFailed { .. } | Step::ReplyReady { .. } => {
            events.push(Event::Retried { by: by.clone(), kept });
            if rebuilds_prompt {
                events.push(Event::PromptWithdrawn { by });
            }
        }
        Step::NotCreated
        | Step::PromptWanted { .. }
        | Step::PromptReady
        | Step::AskWanted
        | Step::ChecksWanted
        | Step::Paused(_)
        | Step::Ended => {}
    }
    Ok(events)
}

fn open_gates(state: &State, phases: &[Phase]) -> Vec<Event> {
    let is_open = |phase: &Phase| {
        state.setup.as_ref().is_some_and(|setup| {
            Stage::ALL.into_iter().all(|stage| setup.gate(*phase, stage).approver == Approver::Skip)
        })
    };
    let phases: Vec<Phase> = phases.iter().copied().filter(|phase| !is_open(phase)).collect();
    if phases.is_empty() { Vec::new() } else { vec![Event::GatesOpened { phases }] }
}

/// Whether what a reply gives is what its phase gives.
fn fits(state: &State, outcome: &Outcome) -> Result<(), Refusal> {
    let phase = state.phase;
    let spec = state.flow.spec(phase);
    let is = |recipe: PhaseRecipe, gives: Gives| {
        spec.is_some_and(|spec| spec.recipe == recipe && spec.gives == gives)
    };
    let (found, fits) = match outcome {
        Outcome::Plan { .. } => ("plan", is(PhaseRecipe::Session, Gives::Text)),
        Outcome::Code { .. } => ("code", is(PhaseRecipe::Session, Gives::Files)),
        Outcome::Pass | Outcome::Fail => ("verdict", is(PhaseRecipe::Session, Gives::Verdict)),
        Outcome::Artifact(artifact) => {
            let name = spec.filter(|spec| spec.recipe == PhaseRecipe::Change).map(PhaseSpec::artifact_file);
            ("such artifact", name.as_ref() == Some(&artifact.file.path))
        }
    };
    if !fits {
        return Err(Refusal::WrongOutcome { phase, found });
    }
    match (outcome, spec) {
        (Outcome::Artifact(artifact), Some(spec)) => {
            // A marker that is missing is never taken for a yes.
            if artifact.verdict.is_some() != (spec.gives == Gives::Verdict) {
                return Err(Refusal::Markers { phase, marker: "<review>" });
            }
            if artifact.tasks.is_empty() == spec.reports_tasks() {
                return Err(Refusal::Markers { phase, marker: "<task_status>" });
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn said(feedback: String) -> Result<String, Refusal> {
    if feedback.trim().is_empty() { Err(Refusal::NoFeedback) } else { Ok(feedback) }
}

/// Whether a provider has said no as often as it may; then a person decides.
fn has_used_up(state: &State, by: &Actor) -> bool {
    let (Actor::Provider(_), Some(setup), Some(current)) = (by, &state.setup, state.stage) else {
        return false;
    };
    let gate = setup.gate(state.phase, current);
    let n_rejected = match current {
        Stage::Prompt => state.n_prompts_rejected_by_provider,
        Stage::Response => state.n_replies_rejected_by_provider,
    };
    matches!(gate.approver, Approver::Ai(_)) && n_rejected >= gate.max_retries
}

fn left_to_person(by: &Actor, feedback: String) -> Event {
    let provider = match by {
        Actor::Provider(name) | Actor::Person(Person { name, .. }) => name.clone(),
        Actor::OpenGate => String::new(),
    };
    Event::GateUndecided { provider, message: feedback }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
