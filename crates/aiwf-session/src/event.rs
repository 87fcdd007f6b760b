//! What happened in a session: the truth, one line of the journal each.
//!
//! These types are the format of the journal. Their names and fields stay readable for ever: recorded histories
//! are folded in tests, so a change that would lose one of them fails there.

use serde::{Deserialize, Serialize};

use crate::call::{Call, ToolUse};
use crate::change::{Agent, Artifact};
use crate::checks::CheckResult;
use crate::left_out::LeftOut;
use crate::phase::Phase;
use crate::setup::Setup;

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileHash {
    /// Its path, relative to the session.
    pub path: String,
    /// SHA-256 of its bytes, in lower-case hex.
    pub sha256: String,
}

/// Where a person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// The command line.
    Terminal,
    /// A client of the MCP server.
    Mcp,
    /// The page in the browser.
    Page,
    /// A fleet's client.
    Fleet,
}

/// A person who decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name the system knows.
    pub name: String,
    /// Where they decided; journals of 0.1.0 do not say.
    pub surface: Option<Surface>,
}

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenActor", into = "WrittenActor")]
pub enum Actor {
    /// A person.
    Person(Person),
    /// The gate was open.
    OpenGate,
    /// A provider.
    Provider(String),
}

/// An actor in the journal: `{"person": "ann", "surface": "terminal"}`, `"open-gate"`, `{"provider": "judge"}`.
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

/// What an approved reply gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A plan.
    Plan {
        /// The plan.
        plan: FileHash,
    },
    /// Code.
    Code {
        /// Every file of the iteration.
        files: Vec<FileHash>,
    },
    /// The code is good.
    Pass,
    /// The code needs another round.
    Fail,
    /// What a phase of a change gave.
    Artifact(Box<Artifact>),
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The session began.
    SessionCreated {
        /// What it was set up with.
        setup: Box<Setup>,
    },
    /// A prompt lies ready.
    PromptWritten {
        /// The phase it is for.
        phase: Phase,
        /// The iteration it is for.
        iteration: u32,
        /// The prompt.
        prompt: FileHash,
        /// The system prompt, when the provider takes one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        system_prompt: Option<FileHash>,
        /// The files of the project that it shows, where what follows depends on them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seen: Vec<FileHash>,
        /// What the receiver can do with files, when a flag said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fs_ability: Option<String>,
        /// What it was to hold and does not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
    },
    /// A prompt was approved as it is.
    PromptApproved {
        /// Who said yes.
        by: Actor,
        /// What was approved.
        files: Vec<FileHash>,
        /// Whether somebody changed it after it was written.
        is_edited: bool,
        /// Whether a later change of its files counts.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        is_checked: bool,
    },
    /// A prompt was turned down.
    PromptRejected {
        /// Who said no.
        by: Actor,
        /// Why.
        feedback: String,
        /// The edited prompt, when it was kept under another name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<FileHash>,
    },
    /// A provider was asked.
    PromptSent {
        /// Who was asked.
        provider: String,
        /// SHA-256 of what was sent.
        payload_sha256: String,
        /// How many times this prompt was sent before.
        n_earlier: u32,
        /// Whether asking again costs nothing.
        is_free: bool,
    },
    /// The provider called a tool before it replied.
    ToolCalled(Box<ToolUse>),
    /// The provider was asked again, with what the tools it called gave.
    AskedAgain {
        /// Who was asked.
        provider: String,
        /// SHA-256 of what was sent.
        payload_sha256: String,
        /// Whether asking again costs nothing.
        is_free: bool,
        /// How the call before went.
        call: Box<Call>,
    },
    /// The reply is there, whole.
    ReplyReceived {
        /// The reply.
        response: FileHash,
        /// How the call went; nothing when a person gave the reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<Call>>,
        /// What the agent changed in its worktree, as a file of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<FileHash>,
    },
    /// The provider did not answer.
    AskFailed {
        /// What it said.
        message: String,
        /// How the call went, and what arrived all the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<Call>>,
        /// When its limit ends, in seconds since 1970, if a limit is the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_until: Option<u64>,
    },
    /// The next call might cost more than may be spent.
    BudgetReached {
        /// What is spent, what the call might cost, and the limit.
        message: String,
    },
    /// More may be spent.
    BudgetRaised,
    /// The reply cannot be used as it is.
    ReplyRefused {
        /// The reply.
        response: FileHash,
        /// What is wrong with it.
        problems: Vec<String>,
    },
    /// Files are about to be written for a reply.
    OutputsIntended {
        /// The files, relative to the session.
        files: Vec<FileHash>,
    },
    /// A reply was approved and what it gave was taken over.
    ResponseApproved {
        /// Who said yes.
        by: Actor,
        /// The reply.
        response: FileHash,
        /// What it gave.
        outcome: Outcome,
        /// Whether the project's checks run before the next phase.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        runs_checks: bool,
    },
    /// A check ended.
    CheckRan(Box<CheckResult>),
    /// All checks ended.
    ChecksFinished,
    /// Checks do not run before the user agreed to their commands.
    ChecksHeld { names: Vec<String> },
    /// A person sent the phase back although nothing in the flow did.
    SentBack { by: Actor, feedback: String },
    /// An approved prompt is to be built again, for another provider.
    PromptWithdrawn { by: Actor },
    /// A reply was turned down.
    ResponseRejected {
        /// Who said no.
        by: Actor,
        /// Why.
        feedback: String,
        /// The prompt and the reply, under the names they are kept.
        kept: Vec<FileHash>,
    },
    /// A provider was asked to judge what lies at the gate.
    GateAsked {
        /// Who was asked.
        provider: String,
        /// SHA-256 of what was sent.
        payload_sha256: String,
        /// Whether asking costs nothing.
        is_free: bool,
    },
    /// A provider judged; what follows from it is an event of its own.
    GateAnswered {
        /// What it said; nothing when the call failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<FileHash>,
        /// How the call went.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<Call>>,
    },
    /// A provider could not judge; a person decides.
    GateUndecided {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
    },
    /// The same prompt is to be sent once more.
    Retried {
        /// Who asked for it.
        by: Actor,
        /// The reply it replaces, under the name it is kept.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<FileHash>,
    },
    /// More iterations are allowed.
    CapRaised {
        /// How many.
        max_iterations: u32,
    },
    /// A person took the code although its review failed.
    Accepted {
        /// Who.
        by: Actor,
    },
    /// Somebody else does the work of a phase.
    AgentChosen {
        /// The phase.
        phase: Phase,
        /// Who.
        agent: Agent,
    },
    /// Something was said for a phase.
    InstructionsAdded {
        /// The phase.
        phase: Phase,
        /// What.
        text: String,
    },
    /// A phase is shown more files.
    FilesAdded {
        /// The phase.
        phase: Phase,
        /// Their patterns.
        patterns: Vec<String>,
    },
    /// The agent that implements may edit the project itself.
    WriteAllowed,
    /// The gates of these phases are skipped from here on.
    GatesOpened {
        /// The phases.
        phases: Vec<Phase>,
    },
    /// A session that a verdict stopped begins anew.
    Reopened {
        /// Who wants it.
        by: Actor,
        /// What should be different; journals of 0.1.0 do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// Approved files were changed, and the change was accepted.
    Rebound {
        /// Who accepted it.
        by: Actor,
        /// The files as they are now.
        files: Vec<FileHash>,
    },
    /// The session was cancelled.
    Cancelled {
        /// Who cancelled it.
        by: Actor,
        /// Why; journals of 0.1.0 do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Code is about to be copied into the project.
    ApplyIntended {
        /// Where it goes.
        files: Vec<AppliedFile>,
        /// Whether an earlier apply is reversed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_undo: bool,
    },
    /// Code was copied into the project.
    Applied,
    /// What was approved is in a commit.
    Committed(Commit),
    /// Copying was undone; the project is as it was.
    ApplyUndone,
}

/// A file of the project that code is copied to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedFile {
    /// Its path, relative to the project or absolute.
    pub target: String,
    /// SHA-256 of what was there; nothing when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// SHA-256 of what is put there; nothing when the file is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Whether it can be run afterwards; nothing when that does not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
}

/// Where the code of a session is in the project's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    pub id: String,
    /// The branch it was put on; nothing when it went onto the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether it takes back what an earlier one did.
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
    /// The name of the event in the journal.
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
            Self::Rebound { .. } => "rebound",
            Self::Cancelled { .. } => "cancelled",
            Self::ApplyIntended { .. } => "apply-intended",
            Self::Applied => "applied",
            Self::ApplyUndone => "apply-undone",
        }
    }
}
