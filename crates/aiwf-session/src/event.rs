//! The events of a session: one line of the journal each.
//!
//! These types are the format of the journal. Every released journal must stay readable, so names and fields may be
//! added but never changed; tests fold recorded histories of each release. The doc comments of events and fields are the
//! text of the page `docs/src/reference/formats.md`.

use serde::{Deserialize, Serialize};

use crate::call::{Call, SentParts, ToolUse};
use crate::change::{Agent, Artifact};
use crate::checks::CheckResult;
use crate::comment::{NewComment, Resolution};
use crate::left_out::LeftOut;
use crate::phase::Phase;
use crate::setup::Setup;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileHash {
    /// Relative to the session.
    pub path: String,
    /// SHA-256 of its bytes, in lower-case hex.
    pub sha256: String,
}

/// Where a person made a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    Terminal,
    Mcp,
    Page,
    Fleet,
}

/// A person who made a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// User name of the operating system.
    pub name: String,
    /// Missing in journals of 0.1.0.
    pub surface: Option<Surface>,
}

/// Who made a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenActor", into = "WrittenActor")]
pub enum Actor {
    Person(Person),
    OpenGate,
    Provider(String),
}

/// [`Actor`] as the journal writes it: `{"person": "ann", "surface": "terminal"}`, `"open-gate"`, `{"provider":
/// "judge"}`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenActor {
    Person {
        person: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        surface: Option<Surface>,
    },
    Provider {
        provider: String,
    },
    OpenGate(OpenGate),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OpenGate {
    OpenGate,
}

impl From<WrittenActor> for Actor {
    fn from(written: WrittenActor) -> Self {
        match written {
            WrittenActor::Person { person, surface } => Self::Person(Person { name: person, surface }),
            WrittenActor::Provider { provider } => Self::Provider(provider),
            WrittenActor::OpenGate(OpenGate::OpenGate) => Self::OpenGate,
        }
    }
}

impl From<Actor> for WrittenActor {
    fn from(actor: Actor) -> Self {
        match actor {
            Actor::Person(Person { name, surface }) => Self::Person { person: name, surface },
            Actor::Provider(provider) => Self::Provider { provider },
            Actor::OpenGate => Self::OpenGate(OpenGate::OpenGate),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Plan {
        plan: FileHash,
    },
    Code {
        /// All files of the iteration.
        files: Vec<FileHash>,
    },
    Pass,
    Fail,
    Artifact(Box<Artifact>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The session was created.
    SessionCreated {
        /// Settings of the session.
        setup: Box<Setup>,
    },
    /// A prompt was written.
    PromptWritten {
        /// Phase of the prompt.
        phase: Phase,
        /// Iteration of the prompt.
        iteration: u32,
        /// The prompt file.
        prompt: FileHash,
        /// System prompt file, if the provider takes one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        system_prompt: Option<FileHash>,
        /// Files of the project shown in the prompt, if later steps depend on their content.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seen: Vec<FileHash>,
        /// File access of the receiver, if set by a flag.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fs_ability: Option<String>,
        /// Parts that were left out, with the reason.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
    },
    /// A prompt was approved.
    PromptApproved {
        /// Who approved it.
        by: Actor,
        /// The approved files.
        files: Vec<FileHash>,
        /// Whether a person edited the prompt after it was written.
        is_edited: bool,
        /// Whether a later change of these files makes the approval stale.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        is_checked: bool,
    },
    /// A prompt was rejected.
    PromptRejected {
        /// Who rejected it.
        by: Actor,
        /// The feedback.
        feedback: String,
        /// Copies of the rejected prompt, if it had been edited.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<FileHash>,
    },
    /// The prompt was sent to a provider.
    PromptSent {
        /// The provider.
        provider: String,
        /// SHA-256 of the payload.
        payload_sha256: String,
        /// How many times this prompt was sent before.
        n_earlier: u32,
        /// Whether asking again costs nothing.
        is_free: bool,
        /// What the request consists of; missing in journals of 0.1.0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parts: Option<Box<SentParts>>,
    },
    /// The provider called a tool before it replied.
    ToolCalled(Box<ToolUse>),
    /// The provider was asked again with the results of its tool calls.
    AskedAgain {
        /// The provider.
        provider: String,
        /// SHA-256 of the payload.
        payload_sha256: String,
        /// Whether asking again costs nothing.
        is_free: bool,
        /// Usage of the previous call.
        call: Box<Call>,
        /// What was added to the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parts: Option<Box<SentParts>>,
    },
    /// A complete reply arrived.
    ReplyReceived {
        /// The reply file.
        response: FileHash,
        /// Usage of the call; missing if a person wrote the reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<Call>>,
        /// The list of files that the agent changed in its worktree, stored in the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<FileHash>,
    },
    /// The provider failed to reply.
    AskFailed {
        /// The error.
        message: String,
        /// Usage of the call, with whatever arrived before it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<Call>>,
        /// When the usage limit ends, in seconds since 1970, if a usage limit is the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_until: Option<u64>,
    },
    /// The next call may exceed the budget, so it was not made.
    BudgetReached {
        /// Spent so far, estimated cost of the call, and the limit.
        message: String,
    },
    /// The budget was raised.
    BudgetRaised,
    /// The reply has problems and cannot be used as it is.
    ReplyRefused {
        /// The reply file.
        response: FileHash,
        /// The problems.
        problems: Vec<String>,
    },
    /// Files of a reply are about to be written.
    OutputsIntended {
        /// The files, relative to the session.
        files: Vec<FileHash>,
    },
    /// A reply was approved and its result accepted.
    ResponseApproved {
        /// Who approved it.
        by: Actor,
        /// The reply file.
        response: FileHash,
        /// The result: a plan, code, a verdict or an artifact.
        outcome: Outcome,
        /// Whether the project's checks run before the next phase.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        runs_checks: bool,
        /// The approver's note for the following phases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A check ended.
    CheckRan(Box<CheckResult>),
    /// All checks ended.
    ChecksFinished,
    /// Checks need the user's consent to their commands before they run.
    ChecksHeld {
        /// The checks.
        names: Vec<String>,
    },
    /// A person sent the phase back for another round.
    SentBack {
        /// Who sent it back.
        by: Actor,
        /// The feedback.
        feedback: String,
    },
    /// The approved prompt must be built again for another provider.
    PromptWithdrawn {
        /// Who changed the provider.
        by: Actor,
    },
    /// A reply was rejected.
    ResponseRejected {
        /// Who rejected it.
        by: Actor,
        /// The feedback.
        feedback: String,
        /// Copies of the rejected prompt and reply.
        kept: Vec<FileHash>,
    },
    /// A model was asked to judge the prompt or reply at the gate.
    GateAsked {
        /// The provider.
        provider: String,
        /// SHA-256 of the payload.
        payload_sha256: String,
        /// Whether asking costs nothing.
        is_free: bool,
    },
    /// The judge answered; its decision is a separate event.
    GateAnswered {
        /// The stored answer; missing if the call failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<FileHash>,
        /// Usage of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<Call>>,
    },
    /// The judge could not decide, so a person must.
    GateUndecided {
        /// The provider.
        provider: String,
        /// The reason.
        message: String,
    },
    /// The same prompt will be sent again.
    Retried {
        /// Who asked for it.
        by: Actor,
        /// Copy of the replaced reply.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<FileHash>,
    },
    /// The limit of iterations was raised.
    CapRaised {
        /// The new limit.
        max_iterations: u32,
    },
    /// A person accepted code whose review failed.
    Accepted {
        /// Who accepted it.
        by: Actor,
    },
    /// A phase was assigned to another agent.
    AgentChosen {
        /// The phase.
        phase: Phase,
        /// The agent.
        agent: Agent,
    },
    /// Instructions were added to a phase.
    InstructionsAdded {
        /// The phase.
        phase: Phase,
        /// The instructions.
        text: String,
    },
    /// Files were added to the prompt of a phase.
    FilesAdded {
        /// The phase.
        phase: Phase,
        /// Their patterns.
        patterns: Vec<String>,
    },
    /// The implementing agent may edit the project directly.
    WriteAllowed,
    /// The gates of these phases are skipped from now on.
    GatesOpened {
        /// The phases.
        phases: Vec<Phase>,
    },
    /// A session stopped by a verdict starts again.
    Reopened {
        /// Who reopened it.
        by: Actor,
        /// What should change; missing in journals of 0.1.0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// A person reopened an approved artifact.
    Revised {
        /// Who reopened it.
        by: Actor,
        /// The phase that produces it.
        phase: Phase,
        /// What should change.
        reason: String,
    },
    /// A person commented on lines of an artifact or of a changed file.
    CommentAdded(Box<NewComment>),
    /// A comment was resolved.
    CommentResolved {
        /// Who resolved it.
        by: Actor,
        /// The number of the comment.
        number: u32,
        /// Whether it was resolved or dismissed.
        how: Resolution,
    },
    /// A comment was removed; the journal keeps it.
    CommentRemoved {
        /// Who removed it.
        by: Actor,
        /// The number of the comment.
        number: u32,
    },
    /// Edits to approved files were accepted.
    Rebound {
        /// Who accepted them.
        by: Actor,
        /// The changed files with their new hashes.
        files: Vec<FileHash>,
    },
    /// The session was cancelled.
    Cancelled {
        /// Who cancelled it.
        by: Actor,
        /// The reason; missing in journals of 0.1.0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Approved files are about to be written to the project.
    ApplyIntended {
        /// The files, with their hashes before and after.
        files: Vec<AppliedFile>,
        /// Whether this undoes an earlier apply.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_undo: bool,
    },
    /// The files were written to the project.
    Applied,
    /// The approved files were committed.
    Committed(Commit),
    /// An interrupted apply was rolled back: the project is unchanged.
    ApplyUndone,
}

/// A file of the project that an apply writes or deletes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedFile {
    /// Relative to the project, or absolute.
    pub target: String,
    /// SHA-256 before; `None` if the file did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// SHA-256 after; `None` if the file is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Executable bit after; `None` if unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
}

/// A commit with the files of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    pub id: String,
    /// `None` for the user's current branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether it reverts an earlier commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_revert: bool,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_yes(value: &bool) -> bool {
    *value
}

impl Event {
    /// The event's name in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SessionCreated { .. } => "session-created",
            Self::PromptWritten { .. } => "prompt-written",
            Self::PromptApproved { .. } => "prompt-approved",
            Self::PromptRejected { .. } => "prompt-rejected",
            Self::PromptSent { .. } => "prompt-sent",
            Self::ToolCalled(_) => "tool-called",
            Self::AskedAgain { .. } => "asked-again",
            Self::ReplyReceived { .. } => "reply-received",
            Self::AskFailed { .. } => "ask-failed",
            Self::CheckRan(_) => "check-ran",
            Self::ChecksFinished => "checks-finished",
            Self::ChecksHeld { .. } => "checks-held",
            Self::SentBack { .. } => "sent-back",
            Self::PromptWithdrawn { .. } => "prompt-withdrawn",
            Self::Committed(_) => "committed",
            Self::ReplyRefused { .. } => "reply-refused",
            Self::OutputsIntended { .. } => "outputs-intended",
            Self::ResponseApproved { .. } => "response-approved",
            Self::ResponseRejected { .. } => "response-rejected",
            Self::GateAsked { .. } => "gate-asked",
            Self::GateAnswered { .. } => "gate-answered",
            Self::GateUndecided { .. } => "gate-undecided",
            Self::BudgetReached { .. } => "budget-reached",
            Self::BudgetRaised => "budget-raised",
            Self::Retried { .. } => "retried",
            Self::CapRaised { .. } => "cap-raised",
            Self::Accepted { .. } => "accepted",
            Self::AgentChosen { .. } => "agent-chosen",
            Self::InstructionsAdded { .. } => "instructions-added",
            Self::FilesAdded { .. } => "files-added",
            Self::WriteAllowed => "write-allowed",
            Self::GatesOpened { .. } => "gates-opened",
            Self::Reopened { .. } => "reopened",
            Self::Revised { .. } => "revised",
            Self::CommentAdded(_) => "comment-added",
            Self::CommentResolved { .. } => "comment-resolved",
            Self::CommentRemoved { .. } => "comment-removed",
            Self::Rebound { .. } => "rebound",
            Self::Cancelled { .. } => "cancelled",
            Self::ApplyIntended { .. } => "apply-intended",
            Self::Applied => "applied",
            Self::ApplyUndone => "apply-undone",
        }
    }
}
