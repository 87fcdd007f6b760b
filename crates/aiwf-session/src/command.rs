//! Decides whether a command is possible now, and which events it produces.

use std::collections::BTreeMap;

use crate::call::{Call, SentParts, ToolUse};
use crate::change::{Agent, PhaseChoice};
use crate::checks::CheckResult;
use crate::comment::{CommentSubject, Resolution};
use crate::decide::{
    decide_apply, decide_asking, decide_budget, decide_checks, decide_course, decide_judging, decide_prompt,
    decide_reply, decide_revising,
};
use crate::event::{Actor, AppliedFile, Commit, Event, FileHash, Outcome};
use crate::follow::LineRange;
use crate::left_out::LeftOut;
use crate::phase::Phase;
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::state::State;
use crate::step::Step;

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
        parts: Option<Box<SentParts>>,
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
        /// What was added to the request.
        parts: Option<Box<SentParts>>,
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
    if state.step == Step::NotCreated {
        let Command::Create(setup) = command else { return Err(not_now) };
        return Ok(vec![Event::SessionCreated { setup }]);
    }
    // The list is exhaustive, so that a new command cannot be forgotten.
    match command {
        Command::Create(_) => Err(not_now),
        Command::RecordPrompt { .. } | Command::ApprovePrompt { .. } | Command::RejectPrompt { .. } => {
            decide_prompt(state, command, not_now)
        }
        Command::RecordSent { .. }
        | Command::RecordToolCalls { .. }
        | Command::RecordAskedAgain { .. }
        | Command::RecordReply { .. }
        | Command::RecordFailure { .. }
        | Command::Retry { .. }
        | Command::HandOver { .. } => decide_asking(state, command, not_now),
        Command::PauseForBudget { .. } | Command::RaiseBudget => decide_budget(state, command, not_now),
        Command::RefuseReply { .. }
        | Command::IntendOutputs { .. }
        | Command::ApproveResponse { .. }
        | Command::RejectResponse { .. } => decide_reply(state, command, not_now),
        Command::RecordCheck(_) | Command::FinishChecks | Command::HoldChecks { .. } => {
            decide_checks(state, command, not_now)
        }
        Command::RecordGateAsked { .. }
        | Command::RecordGateAnswer { .. }
        | Command::LeaveToPerson { .. } => decide_judging(state, command, not_now),
        Command::RaiseCap { .. }
        | Command::Accept { .. }
        | Command::BeginPhase { .. }
        | Command::ChooseAgents { .. }
        | Command::OpenGates
        | Command::Cancel { .. } => decide_course(state, command, not_now),
        Command::Revise { .. }
        | Command::Comment { .. }
        | Command::ResolveComment { .. }
        | Command::RemoveComment { .. }
        | Command::Rebind { .. } => decide_revising(state, command, not_now),
        Command::IntendApply { .. }
        | Command::IntendUndo { .. }
        | Command::RecordCommit(_)
        | Command::RecordApplied
        | Command::RecordApplyUndone => decide_apply(state, command, not_now),
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
