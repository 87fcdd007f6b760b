//! Reports about runs.

use aiwf_advice::Advice;
use aiwf_package::{NodeStatus, NodeType};
use aiwf_provider::Payload;
use aiwf_session::{LeftOut, Usage};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::event::{Fault, RunKind, RunPhase};
use super::menu::MenuEntry;

/// The status of a run after a command.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    pub run_id: String,
    pub kind: RunKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    pub phase: RunPhase,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model's last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The question asked with `ui.ask_user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
    /// Parts that the last request left out.
    pub left_out: Vec<LeftOut>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Sum over all calls of the run.
    pub usage: Usage,
}

#[derive(Clone, Debug, Serialize)]
pub struct NodeProgress {
    pub id: String,
    /// Its title, else its id.
    pub title: String,
    #[serde(rename = "type")]
    pub node_type: NodeType,
    pub status: NodeStatus,
}

/// The full status of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunStatus {
    #[serde(flatten)]
    pub report: RunReport,
    /// Whether the process that worked on it was killed.
    pub interrupted: bool,
    /// Whether another process is working on it.
    pub is_busy: bool,
    pub created_at: String,
    /// Time of the last event.
    pub updated_at: String,
    pub provider: String,
    pub nodes: Vec<NodeProgress>,
    /// The graph as SVG, with what is done and where the run is; for pages.
    #[serde(skip)]
    pub picture: Option<String>,
    /// The menu of its agent.
    #[serde(skip)]
    pub menu: Vec<MenuEntry>,
    pub variables: serde_json::Map<String, Value>,
    pub decisions: Vec<Value>,
    /// Relative to the project.
    pub artifacts: Vec<String>,
    /// Requests to providers.
    pub n_calls: u64,
    pub n_tool_calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// The run's directory, relative to the project.
    pub directory: String,
    /// The next action; `None` while another process works on it, and after it was cancelled.
    #[serde(skip)]
    pub next: Option<Advice>,
}

/// A run in a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// Id of the run.
    pub run_id: String,
    /// Workflow run, conversation with an agent, or chat.
    pub kind: RunKind,
    /// Name of the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The agent it started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The user's first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Status of the run.
    pub phase: RunPhase,
    /// The current node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Time of creation.
    pub created_at: String,
    /// Time of the last event.
    pub updated_at: String,
    /// Why the run cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// An entry of the history, for display.
#[derive(Clone, Debug, Serialize)]
pub struct RunEntry {
    pub seq: u64,
    pub at: String,
    /// `user`, `engine`, `assistant`, `tool`, `state`, `stopped`, `failed`, `rewound`, `cancelled`, `created`.
    pub what: &'static str,
    /// The agent, tool or layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The text, or the result.
    pub text: String,
}

/// A run with its history.
#[derive(Clone, Debug, Serialize)]
pub struct RunShown {
    #[serde(flatten)]
    pub status: RunStatus,
    /// Oldest first.
    pub entries: Vec<RunEntry>,
}

/// A part of the next request: a layer of the system text, or a turn.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewLayer {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// The layer: `base-rules`, `run-directive`, …, or `history`.
    pub layer: String,
    pub tokens: u64,
    /// SHA-256 of the text.
    pub sha256: String,
}

/// The payload of a preview; serializes as its canonical form.
///
/// A long conversation is large, so a preview that is printed as text does not build the form as a value.
#[derive(Clone, Debug, Default)]
pub struct PreviewPayload(pub(crate) Payload);

impl Serialize for PreviewPayload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_canonical(serializer)
    }
}

/// The next request of a run, exactly as it would be sent.
#[derive(Clone, Debug, Serialize)]
pub struct RunPreview {
    pub run_id: String,
    pub provider: String,
    pub tokenizer: String,
    pub is_exact: bool,
    /// SHA-256 of the canonical form.
    pub payload_sha256: String,
    /// The canonical form of the payload, as printed.
    #[serde(skip)]
    pub canonical: String,
    /// The same as a JSON value; indented by two spaces it has the hash above.
    pub payload: PreviewPayload,
    /// The layers and turns of the payload, in order.
    pub layers: Vec<PreviewLayer>,
    /// The layers after which a mark for the provider's cache stands, before those of the conversation; missing if its API
    /// takes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_breakpoints: Option<Vec<String>>,
    pub n_tools: usize,
    pub tool_tokens: u64,
    pub tokens: u64,
    /// Maximum number of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Turns of the conversation that were left out to fit, and their tokens.
    pub n_left_out: usize,
    pub tokens_left_out: u64,
    /// Parts that the request leaves out: those turns, and parts of results and files.
    pub left_out: Vec<LeftOut>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}
