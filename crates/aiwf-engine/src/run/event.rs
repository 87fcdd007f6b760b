//! The events of a run or a conversation: one line of the journal each.
//!
//! These types are the format of the journal. Every released journal must stay readable, so names and fields may be
//! added but never changed; tests fold recorded histories. The journal contains the whole conversation, so that a run
//! can be resumed. The position in the workflow is in the state file; the journal records every change of it. The doc
//! comments of events and fields are the text of the page `docs/src/reference/formats.md`.

use aiwf_provider::{SharedText, ToolCall};
use aiwf_session::{Call, LeftOut, SentParts};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::tagged::{self, Tagged};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// The model follows a workflow.
    Run,
    /// The model plays an agent of a package.
    Agent,
    /// The model has no role.
    Chat,
}

impl RunKind {
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
    /// Name of the package.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The directory or archive it was read from.
    pub path: String,
    /// SHA-256 of its files.
    pub sha256: String,
}

/// The run that another one continues from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The original run.
    pub run_id: String,
    /// The node it was at.
    pub node: String,
    /// The last line of its journal that was copied.
    pub seq: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSetup {
    /// Id of the run.
    pub run_id: String,
    /// Workflow run, conversation with an agent, or chat.
    pub kind: RunKind,
    /// The package; a chat may have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<RunPackage>,
    /// The workflow, if it follows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The agent it started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The provider.
    pub provider: String,
    /// Whether the model continues without asking about each step.
    #[serde(default)]
    pub is_autopilot: bool,
    /// SHA-256 of the initial state file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_sha256: Option<String>,
    /// The run that this one continues from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
}

/// Which layer of a prompt a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Why the model is asked, and where the files are.
    RunDirective,
    /// The current node.
    NodeBrief,
    /// Data of the chosen menu item.
    DataContext,
    /// The user's message.
    UserInput,
}

/// A message from the engine or the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The layer of the prompt.
    pub layer: Layer,
    /// The text.
    pub text: SharedText,
    /// Parts that were left out, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// What caused a change of the state file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateWriter {
    /// The call of a tool, by its id.
    Call(String),
    /// The engine, which records a new artifact after a call.
    Artifact(String),
    /// A person rewound the run.
    Rewind,
}

/// Status of a run after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPhase {
    /// The model is working, or was when the process was killed.
    Running,
    /// The run is waiting for the user.
    WaitingUser,
    /// The workflow is complete; the conversation can continue.
    Completed,
    /// A call failed; the run can be resumed.
    Failed,
    /// The user cancelled it.
    Cancelled,
}

impl RunPhase {
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Error code, stable between versions.
    pub code: String,
    /// Error message.
    pub message: String,
    /// One thing to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Decides the exit code and the advice for a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The user stopped the call.
    Stopped,
    /// The provider failed.
    Provider,
    /// The request cannot be sent with the current settings.
    Precondition,
    Other,
}

/// The code of a call that the user stopped.
pub(crate) const ABORTED: &str = "ENGINE_ABORTED";
/// The code of a request that cannot be sent with the current settings.
pub(crate) const PRECONDITION_FAILED: &str = "ENGINE_PRECONDITION_FAILED";
/// Prefix of the codes for provider failures.
const OF_PROVIDERS: &str = "LLM_";

impl Fault {
    // The journal stores only the code, so the kind is derived from it.
    pub fn kind(&self) -> FaultKind {
        match self.code.as_str() {
            ABORTED => FaultKind::Stopped,
            PRECONDITION_FAILED => FaultKind::Precondition,
            code if code.starts_with(OF_PROVIDERS) => FaultKind::Provider,
            _ => FaultKind::Other,
        }
    }

    pub(crate) fn new(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: Some(hint.into()) }
    }
}

/// A tool call as the log contains it: no contents, no real paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolExec {
    /// Id of the call.
    pub tool_call_id: String,
    /// Name of the tool, without its server.
    pub tool_name: String,
    /// The agent whose policy applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Arguments; contents as size and hash.
    pub input: Value,
    /// Result; contents as size and hash.
    pub output: Value,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The run was created.
    RunCreated { setup: Box<RunSetup> },
    /// The model was told something new, by the user or by the engine after a move.
    Said {
        /// The messages, in order.
        blocks: Vec<Block>,
        /// The user's message as typed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<String>,
        /// The current node; missing after completion and in conversations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
        /// The current agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A provider was asked.
    RunAsked {
        /// The provider.
        provider: String,
        /// SHA-256 of the payload.
        payload_sha256: String,
        /// How many turns of the conversation were left out to fit.
        #[serde(default)]
        n_left_out: usize,
        /// Parts that were left out, with the reason: turns, and parts of results and files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
        /// Rules and tools of the request, if they differ from those of the previous one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parts: Option<Box<SentParts>>,
    },
    /// The provider replied.
    RunReplied {
        /// Text of the reply.
        text: SharedText,
        /// Tool calls in the reply.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// Usage of the call.
        call: Box<Call>,
    },
    /// The provider failed to reply.
    RunAskFailed {
        /// The error.
        fault: Fault,
        /// Text that arrived before the failure.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Usage of the call.
        call: Box<Call>,
    },
    /// The state file is about to be replaced; the new version is stored by its hash.
    StateIntended {
        /// What caused the change.
        by: StateWriter,
        /// SHA-256 of the file before.
        before: String,
        /// SHA-256 of the file after.
        after: String,
    },
    /// A tool was called, or the call was refused.
    ToolRan {
        /// The call, as in the log.
        exec: Box<ToolExec>,
        /// The result shown to the model.
        content: SharedText,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        /// The part of the result that the model does not see.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_out: Option<Box<LeftOut>>,
    },
    /// The turn ended.
    RunStopped {
        /// Status of the run.
        phase: RunPhase,
        /// The error, if the turn failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
        /// The question to the user, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<Value>,
    },
    /// A person returned the run to an earlier node; the `state-intended` event before this one has the hashes.
    Rewound {
        /// The node before.
        from: String,
        /// The node after.
        to: String,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person cancelled the run.
    RunCancelled {
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl Tagged for RunEvent {
    const TAG: &'static str = "event";

    // With `remote`, serde derives functions of these names instead of the traits; they know no tag.
    fn read_variant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }

    fn write_variant<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl Serialize for RunEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        tagged::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for RunEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl RunEvent {
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

    /// The hash of the state file after the event, if the event changes it.
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

    /// Finds hashes, names and paths that are not valid: the journal may come from a stranger's checkout.
    pub(crate) fn fault(&self) -> Option<String> {
        let hash = |sha256: &String| {
            let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            let is_hash = sha256.len() == 64 && sha256.bytes().all(is_hex);
            (!is_hash).then(|| format!("`{}` is not a SHA-256", shown(sha256)))
        };
        let name = |name: &String| {
            let is_name = !name.is_empty()
                && name.len() <= MAX_NAME_BYTES
                && !name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\'))
                && !matches!(name.as_str(), "." | "..");
            (!is_name).then(|| format!("`{}` is not a valid name", shown(name)))
        };
        match self {
            Self::RunCreated { setup } => {
                let package = setup.package.as_ref().and_then(|package| {
                    // The user who typed the path of a package may name any place.
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
            Self::RunAsked { provider, payload_sha256, parts, .. } => name(provider)
                .or_else(|| hash(payload_sha256))
                .or_else(|| parts.iter().flat_map(|parts| parts.hashes()).find_map(hash)),
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

const MAX_PATH_BYTES: usize = 4_096;
const MAX_NAME_BYTES: usize = 255;

fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}
