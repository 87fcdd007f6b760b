//! Decides whether a command is possible now, and which events it produces.

use std::collections::BTreeMap;

use crate::action::possible;
use crate::assign::{begin_phase, choose_agents, hand_over, open_gates};
use crate::call::{Call, ToolUse};
use crate::change::{Agent, PhaseChoice};
use crate::checks::CheckResult;
use crate::comment::{CommentSubject, NewComment, Resolution, check_remark};
use crate::event::{Actor, AppliedFile, Commit, Event, FileHash, Outcome, Person};
use crate::flow::{Gives, PhaseRecipe, PhaseSpec};
use crate::flow_check::MAX_ROUNDS;
use crate::follow::LineRange;
use crate::left_out::LeftOut;
use crate::phase::{Phase, Stage};
use crate::refusal::{Refusal, situation};
use crate::setup::{Approver, Setup};
use crate::state::State;
use crate::step::{Pause, Step};

/// What a person asks for, or what the engine has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Create(Box<Setup>),
    RecordPrompt {
        prompt: FileHash,
        /// Set if the provider takes a system prompt.
        system_prompt: Option<FileHash>,
        /// Files of the project shown in the prompt. Recorded only if later steps depend on their content.
        seen: Vec<FileHash>,
        /// File access of the receiver, if set by a flag.
        fs_ability: Option<String>,
        left_out: Vec<LeftOut>,
    },
    ApprovePrompt {
        by: Actor,
        files: Vec<FileHash>,
        /// Whether a later change makes the approval stale; `None` for the default of the session.
        is_checked: Option<bool>,
    },
    RejectPrompt {
        by: Actor,
        feedback: String,
        /// Copies of the rejected prompt, if it had been edited.
        kept: Vec<FileHash>,
    },
    RecordSent {
        provider: String,
        /// SHA-256 of the payload.
        payload_sha256: String,
        /// Whether asking again would cost nothing.
        is_free: bool,
    },
    RecordToolCalls {
        calls: Vec<ToolUse>,
    },
    /// The provider is asked again with the results of its tool calls.
    RecordAskedAgain {
        provider: String,
        payload_sha256: String,
        /// Whether asking again would cost nothing.
        is_free: bool,
        /// Usage of the previous call.
        call: Box<Call>,
    },
    RecordReply {
        response: FileHash,
        /// Usage of the call; `None` if a person wrote the reply.
        call: Option<Box<Call>>,
        changes: Option<FileHash>,
    },
    RecordFailure {
        message: String,
        call: Option<Box<Call>>,
        /// In seconds since 1970.
        limit_until: Option<u64>,
    },
    PauseForBudget {
        /// Spent so far, estimated cost of the call, and the limit.
        message: String,
    },
    RaiseBudget,
    RefuseReply {
        response: FileHash,
        problems: Vec<String>,
    },
    IntendOutputs {
        files: Vec<FileHash>,
    },
    /// Approve the reply with the outcome parsed from it.
    ApproveResponse {
        by: Actor,
        response: FileHash,
        outcome: Outcome,
        /// Whether checks are configured for the phase.
        has_checks: bool,
        /// What the approver says for the phases that follow.
        note: Option<String>,
    },
    /// Reopen an approved artifact.
    Revise {
        by: Actor,
        /// The phase that gives it.
        phase: Phase,
        reason: String,
    },
    Comment {
        by: Actor,
        on: CommentSubject,
        /// The text that is commented on.
        sha256: String,
        /// `None` for all of it.
        lines: Option<LineRange>,
        quoted: String,
        text: String,
    },
    ResolveComment {
        by: Actor,
        number: u32,
        how: Resolution,
    },
    RemoveComment {
        by: Actor,
        number: u32,
    },
    RecordCheck(Box<CheckResult>),
    FinishChecks,
    HoldChecks {
        names: Vec<String>,
    },
    /// Assign a phase to another provider, whether its prompt is approved or not.
    HandOver {
        by: Actor,
        phase: Phase,
        agent: Agent,
        /// Whether the approved prompt must be built again for the new provider.
        rebuilds_prompt: bool,
        /// Copy of the discarded reply.
        kept: Vec<FileHash>,
    },
    /// Reject the reply.
    RejectResponse {
        by: Actor,
        feedback: String,
        /// Copies of the rejected prompt and reply.
        kept: Vec<FileHash>,
    },
    RecordGateAsked {
        provider: String,
        /// SHA-256 of the payload.
        payload_sha256: String,
        /// Whether asking costs nothing.
        is_free: bool,
    },
    RecordGateAnswer {
        /// Stored answer; `None` if the call failed.
        reply: Option<FileHash>,
        call: Option<Box<Call>>,
    },
    LeaveToPerson {
        provider: String,
        message: String,
    },
    /// Send the same prompt again.
    Retry {
        by: Actor,
        /// Copy of the replaced reply.
        kept: Vec<FileHash>,
    },
    RaiseCap {
        max_iterations: u32,
    },
    /// Accept code whose review failed.
    Accept {
        by: Actor,
    },
    /// Start or continue a phase.
    BeginPhase {
        by: Actor,
        phase: Phase,
        choice: Box<PhaseChoice>,
    },
    ChooseAgents {
        agents: BTreeMap<Phase, Agent>,
    },
    /// Skip all gates from now on.
    OpenGates,
    Rebind {
        by: Actor,
        files: Vec<FileHash>,
    },
    Cancel {
        by: Actor,
        reason: Option<String>,
    },
    /// Approved files are about to be written to the project.
    IntendApply {
        files: Vec<AppliedFile>,
    },
    /// An apply is about to be undone.
    IntendUndo {
        files: Vec<AppliedFile>,
    },
    RecordCommit(Commit),
    RecordApplied,
    RecordApplyUndone,
}

impl Command {
    /// The name of the command on the command line, or a description of what the engine does.
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
            Self::Revise { .. } => "revise",
            Self::Comment { .. } => "comment",
            Self::ResolveComment { .. } => "resolve a comment",
            Self::RemoveComment { .. } => "remove a comment",
            Self::IntendUndo { .. } => "undo",
            Self::RecordCommit(_) => "commit",
            Self::Retry { .. } => "retry",
            Self::RaiseCap { .. } => "raise the limit",
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

/// Returns the events of a command, or why it is not possible now.
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
        // An undecided prompt can be written again, for another kind of receiver.
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
        (Command::ApproveResponse { by, response, outcome, has_checks, note }, Step::ReplyReady { .. }) => {
            at_gate(state, &response)?;
            fits(state, &outcome)?;
            let runs_checks = has_checks && state.flow.spec(state.phase).is_some_and(|spec| spec.checks);
            if let Some(note) = &note {
                check_remark(note)?;
            }
            one(Event::ResponseApproved { by, response, outcome, runs_checks, note })
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
        // Rejecting a reply whose verdict stopped the session starts the session again.
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
            // Nothing to accept exists yet: a plan that did not pass is never implemented.
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
        (Command::Revise { by, phase, reason }, _) if state.phase != Phase::CANCELLED => {
            revise(state, by, phase, reason)
        }
        (Command::Comment { by, on, sha256, lines, quoted, text }, _) if state.phase != Phase::CANCELLED => {
            let number = state.next_comment(&text)?;
            let comment = NewComment { number, by, on, sha256, lines, quoted, text };
            one(Event::CommentAdded(Box::new(comment)))
        }
        (Command::ResolveComment { by, number, how }, _) if state.phase != Phase::CANCELLED => {
            state.check_open_comment(number)?;
            one(Event::CommentResolved { by, number, how })
        }
        (Command::RemoveComment { by, number }, _) if state.phase != Phase::CANCELLED => {
            if !state.comments.contains_key(&number) {
                return Err(state.no_comment(number));
            }
            one(Event::CommentRemoved { by, number })
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

        // Every other command is impossible in this step. The list is exhaustive, so that a new command cannot be
        // forgotten here.
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
            | Command::Revise { .. }
            | Command::Comment { .. }
            | Command::ResolveComment { .. }
            | Command::RemoveComment { .. }
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

/// Reopens an approved artifact, unless its code is in the project or the session has not come back to it yet.
fn revise(state: &State, by: Actor, phase: Phase, reason: String) -> Result<Vec<Event>, Refusal> {
    let Some(spec) = state.flow.spec(phase) else { return Err(Refusal::other_phase(phase, state)) };
    if state.is_applied || state.applying.is_some() {
        return Err(Refusal::Applied);
    }
    if spec.gives == Gives::Verdict {
        return Err(Refusal::Verdict { artifact: spec.artifact.clone() });
    }
    if state.approved_version(phase).is_none() || !state.flow.is_behind(phase, state.phase) {
        let artifact = spec.artifact.clone();
        return Err(Refusal::NotApproved {
            artifact,
            situation: situation(state),
            possible: possible(state),
        });
    }
    check_remark(&reason)?;
    Ok(vec![Event::Revised { by, phase, reason }])
}

/// Accepts only the reply of the current phase.
fn at_gate(state: &State, response: &FileHash) -> Result<(), Refusal> {
    if state.response_path().as_deref() == Some(response.path.as_str()) {
        Ok(())
    } else {
        Err(Refusal::NotAtGate { path: response.path.clone() })
    }
}

/// Checks that the outcome is of the kind that the phase produces.
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
            let name = spec.filter(|spec| spec.gives_artifact()).map(PhaseSpec::artifact_file);
            ("such artifact", name.as_ref() == Some(&artifact.file.path))
        }
    };
    if !fits {
        return Err(Refusal::WrongOutcome { phase, found });
    }
    match (outcome, spec) {
        (Outcome::Artifact(artifact), Some(spec)) => {
            // A missing marker is never a pass.
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

/// Whether a judge has used up its rejections, so that a person must decide.
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
