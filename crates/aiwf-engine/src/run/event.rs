//! What happened in a run or a conversation: the truth, one line of its journal each.
//!
//! These types are the format of the journal. Their names and fields stay readable for ever: recorded histories are
//! folded in tests. The journal holds the whole conversation, so that a run can be gone on with; where a workflow
//! stands is in its state file, and the journal witnesses every change of it.

use aiwf_provider::ToolCall;
use aiwf_session::{Call, LeftOut};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a model is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// It walks through a workflow.
    Run,
    /// It is an agent of a package.
    Agent,
    /// It is nobody in particular.
    Chat,
}

impl RunKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Agent => "agent",
            Self::Chat => "chat",
        }
    }
}

/// The package of a run, as it was when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPackage {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it was read from: a directory or an archive.
    pub path: String,
    /// The hash of its files.
    pub sha256: String,
}

/// The run that another one goes on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The run.
    pub run_id: String,
    /// The node it stood at.
    pub node: String,
    /// The line of its journal up to which its history was taken.
    pub seq: u64,
}

/// What a run begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSetup {
    /// Its id.
    pub run_id: String,
    /// How the model is talked to.
    pub kind: RunKind,
    /// Its package; a chat may have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<RunPackage>,
    /// Its workflow, when it walks through one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The agent it was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who answers.
    pub provider: String,
    /// Whether the model goes on by itself.
    #[serde(default)]
    pub is_autopilot: bool,
    /// SHA-256 of the state file it begins with, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_sha256: Option<String>,
    /// The run it goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
}

/// Which layer of a prompt a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Why the model is asked, and where everything is.
    RunDirective,
    /// The node it works on.
    NodeBrief,
    /// What a menu item brought along.
    DataContext,
    /// What the user said.
    UserInput,
}

/// A message of the engine or the user, as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The layer.
    pub layer: Layer,
    /// The text.
    pub text: String,
    /// What it was to hold and does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// What a state file was for, when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateWriter {
    /// The call of a tool, by its id.
    Call(String),
    /// The engine, which puts a new artifact on record after a call.
    Artifact(String),
    /// A person went back.
    Rewind,
}

/// How a stretch of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPhase {
    /// The model is at work, or was when the process died.
    Running,
    /// The model waits for the user.
    WaitingUser,
    /// The workflow is complete; the conversation can go on.
    Completed,
    /// Something went wrong; it can be resumed.
    Failed,
    /// A person ended it.
    Cancelled,
}

impl RunPhase {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::WaitingUser => "waiting-user",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind: a name that stays the same between versions.
    pub code: String,
    /// What, in words.
    pub message: String,
    /// One thing to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What a fault means for whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The user stopped the call.
    Stopped,
    /// The provider failed.
    Provider,
    /// The request could not be sent as the settings are.
    Precondition,
    /// Anything else.
    Other,
}

/// The code of a call that the user stopped.
pub(crate) const ABORTED: &str = "ENGINE_ABORTED";
/// The code of a request that cannot be sent as the settings are.
pub(crate) const PRECONDITION_FAILED: &str = "ENGINE_PRECONDITION_FAILED";
/// How the codes of providers begin.
const OF_PROVIDERS: &str = "LLM_";

impl Fault {
    /// What it means: journals and programs know it by its code alone.
    pub fn kind(&self) -> FaultKind {
        match self.code.as_str() {
            ABORTED => FaultKind::Stopped,
            PRECONDITION_FAILED => FaultKind::Precondition,
            code if code.starts_with(OF_PROVIDERS) => FaultKind::Provider,
            _ => FaultKind::Other,
        }
    }

    /// What went wrong, and what to do about it.
    pub(crate) fn new(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: Some(hint.into()) }
    }
}

/// A tool that was called, as the run log has it: no contents, no real paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolExec {
    /// The id of the call.
    pub tool_call_id: String,
    /// The tool, by its own name.
    pub tool_name: String,
    /// The agent whose policy held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What it was given, contents by size and hash.
    pub input: Value,
    /// What it gave, contents by size and hash.
    pub output: Value,
    /// How long it took.
    pub duration_ms: u64,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The run began.
    RunCreated {
        /// With this.
        setup: Box<RunSetup>,
    },
    /// The model is told something new: by the user, or by the engine because the run moved on.
    Said {
        /// The messages, in order.
        blocks: Vec<Block>,
        /// What the user wrote, as it was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<String>,
        /// The node the run stands at; none when it is complete, or no workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
        /// The agent that works.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A provider is asked.
    RunAsked {
        /// Who.
        provider: String,
        /// SHA-256 of the payload.
        payload_sha256: String,
        /// How many turns of the conversation were left out to fit.
        #[serde(default)]
        n_left_out: usize,
        /// What the request was to hold and does not: turns, and parts of results and files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
    },
    /// It answered.
    RunReplied {
        /// What it said.
        text: String,
        /// The tools it wants used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// How the call went.
        call: Box<Call>,
    },
    /// It did not answer; what it said until then is kept.
    RunAskFailed {
        /// What went wrong.
        fault: Fault,
        /// What arrived.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// How the call went.
        call: Box<Call>,
    },
    /// The state file is about to be replaced; its new bytes are kept by their hash.
    StateIntended {
        /// What for.
        by: StateWriter,
        /// SHA-256 of the file before.
        before: String,
        /// SHA-256 of the file after.
        after: String,
    },
    /// A tool was called, or refused.
    ToolRan {
        /// As the log has it.
        exec: Box<ToolExec>,
        /// What the model gets.
        content: String,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        /// The part of the result that the model does not get.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_out: Option<Box<LeftOut>>,
    },
    /// The work stops here.
    RunStopped {
        /// How.
        phase: RunPhase,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
        /// What the user is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<Value>,
    },
    /// A person went back; the state file before and after is named by the intent before this.
    Rewound {
        /// From this node.
        from: String,
        /// To this one.
        to: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person ended the run.
    RunCancelled {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl RunEvent {
    /// The name of the event in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunCreated { .. } => "run-created",
            Self::Said { .. } => "said",
            Self::RunAsked { .. } => "run-asked",
            Self::RunReplied { .. } => "run-replied",
            Self::RunAskFailed { .. } => "run-ask-failed",
            Self::StateIntended { .. } => "state-intended",
            Self::ToolRan { .. } => "tool-ran",
            Self::RunStopped { .. } => "run-stopped",
            Self::Rewound { .. } => "rewound",
            Self::RunCancelled { .. } => "run-cancelled",
        }
    }

    /// The hash of the state file that comes with it, when one does.
    pub(crate) fn state_sha256(&self) -> Option<&String> {
        match self {
            Self::RunCreated { setup } => setup.state_sha256.as_ref(),
            Self::StateIntended { after, .. } => Some(after),
            Self::Said { .. }
            | Self::RunAsked { .. }
            | Self::RunReplied { .. }
            | Self::RunAskFailed { .. }
            | Self::ToolRan { .. }
            | Self::RunStopped { .. }
            | Self::Rewound { .. }
            | Self::RunCancelled { .. } => None,
        }
    }

    /// What is wrong with an event that came with a checkout: a hash, a name or a path that cannot be one.
    pub(crate) fn fault(&self) -> Option<String> {
        let hash = |sha256: &String| {
            let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            let is_hash = sha256.len() == 64 && sha256.bytes().all(is_hex);
            (!is_hash).then(|| format!("it gives `{}` as a SHA-256", shown(sha256)))
        };
        let name = |name: &String| {
            let is_name = !name.is_empty()
                && name.len() <= MAX_NAME_BYTES
                && !name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\'))
                && !matches!(name.as_str(), "." | "..");
            (!is_name).then(|| format!("it gives `{}` as a name", shown(name)))
        };
        match self {
            Self::RunCreated { setup } => {
                let package = setup.package.as_ref().and_then(|package| {
                    // A package may be anywhere, for the user who typed its path.
                    let is_path = !package.path.is_empty()
                        && package.path.len() <= MAX_PATH_BYTES
                        && !package.path.contains('\0');
                    let path = (!is_path).then(|| {
                        format!("it names the package `{}`, which names no file", shown(&package.path))
                    });
                    path.or_else(|| hash(&package.sha256))
                });
                let forked_from = setup.forked_from.as_ref().map(|from| &from.run_id);
                let mut names = [&setup.run_id, &setup.provider].into_iter().chain(forked_from);
                package
                    .or_else(|| setup.state_sha256.as_ref().and_then(hash))
                    .or_else(|| names.find_map(name))
            }
            Self::RunAsked { provider, payload_sha256, .. } => {
                name(provider).or_else(|| hash(payload_sha256))
            }
            Self::StateIntended { before, after, .. } => hash(before).or_else(|| hash(after)),
            Self::RunReplied { call, .. } | Self::RunAskFailed { call, .. } => {
                call.fault().map(|fault| fault.to_string())
            }
            Self::Said { .. }
            | Self::ToolRan { .. }
            | Self::RunStopped { .. }
            | Self::Rewound { .. }
            | Self::RunCancelled { .. } => None,
        }
    }
}

/// The longest path of a package.
const MAX_PATH_BYTES: usize = 4_096;
/// The longest name of a run or provider.
const MAX_NAME_BYTES: usize = 255;

fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}
