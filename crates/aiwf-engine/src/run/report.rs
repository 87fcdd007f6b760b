//! What is told about runs.

use aiwf_advice::Advice;
use aiwf_package::NodeStatus;
use aiwf_session::{LeftOut, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Fault, RunKind, RunPhase};

/// Where a run stands after a command.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The run.
    pub run_id: String,
    /// How the model is talked to.
    pub kind: RunKind,
    /// The package's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// How it stands.
    pub phase: RunPhase,
    /// The node it stands at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The agent that works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the model said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// What the model asked the user by `ui.ask_user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Value>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
    /// What the last request was to hold and did not.
    pub left_out: Vec<LeftOut>,
    /// Things worth saying.
    pub warnings: Vec<String>,
    /// What all calls of the run cost.
    pub usage: Usage,
}

/// A node and where it stands.
#[derive(Clone, Debug, Serialize)]
pub struct NodeProgress {
    /// The node.
    pub id: String,
    /// Its title, else its id.
    pub title: String,
    /// Its type.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Where it stands.
    pub status: NodeStatus,
}

/// Where a run stands, in full.
#[derive(Clone, Debug, Serialize)]
pub struct RunStatus {
    /// As after a command.
    #[serde(flatten)]
    pub report: RunReport,
    /// Whether the process that worked on it died in the middle.
    pub interrupted: bool,
    /// Whether another process works on it now.
    pub is_busy: bool,
    /// When it began.
    pub created_at: String,
    /// When something happened last.
    pub updated_at: String,
    /// Who answers.
    pub provider: String,
    /// Every node and where it stands.
    pub nodes: Vec<NodeProgress>,
    /// What the run has decided.
    pub variables: serde_json::Map<String, Value>,
    /// The decisions that were taken.
    pub decisions: Vec<Value>,
    /// The files it made, relative to the project.
    pub artifacts: Vec<String>,
    /// How often a provider was asked.
    pub n_calls: u64,
    /// How many tools were called.
    pub n_tool_calls: u64,
    /// The run it goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// Where the run's files are, relative to the project.
    pub directory: String,
    /// What to do next; nothing while another process works on it, or once it is cancelled.
    #[serde(skip)]
    pub next: Option<Advice>,
}

/// A run in a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run.
    pub run_id: String,
    /// How the model is talked to.
    pub kind: RunKind,
    /// The package's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The agent it was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the user said first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How it stands.
    pub phase: RunPhase,
    /// The node it stands at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// When it began.
    pub created_at: String,
    /// When something happened last.
    pub updated_at: String,
    /// Why it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Something that was said or done in a run, for a person to read.
#[derive(Clone, Debug, Serialize)]
pub struct RunEntry {
    /// The line of the journal.
    pub seq: u64,
    /// When.
    pub at: String,
    /// `user`, `engine`, `assistant`, `tool`, `state`, `stopped`, `failed`, `rewound`, `cancelled`, `created`.
    pub what: &'static str,
    /// Who or which: an agent, a tool, a layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// What was said, or what became of it.
    pub text: String,
}

/// A run and everything that happened in it.
#[derive(Clone, Debug, Serialize)]
pub struct RunShown {
    /// Where it stands.
    #[serde(flatten)]
    pub status: RunStatus,
    /// What happened, oldest first.
    pub entries: Vec<RunEntry>,
}

/// What a part of the next request is: a layer of the system text, or a turn.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewLayer {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// The layer: `base-rules`, `run-directive`, …, or `history`.
    pub layer: String,
    /// Its tokens.
    pub tokens: u64,
    /// SHA-256 of the text.
    pub sha256: String,
}

/// The next request of a run, exactly as it would be sent.
#[derive(Clone, Debug, Serialize)]
pub struct RunPreview {
    /// The run.
    pub run_id: String,
    /// Who would be asked.
    pub provider: String,
    /// Who counts, and whether exactly.
    pub tokenizer: String,
    /// Whether the counts are exact.
    pub is_exact: bool,
    /// SHA-256 of the payload: of its canonical form, which is what is printed.
    pub payload_sha256: String,
    /// The canonical form of the payload: what is sent, and nothing else.
    #[serde(skip)]
    pub canonical: String,
    /// The same as a value; indented by two spaces it has the hash above.
    pub payload: Value,
    /// The layers and turns it is made of, in order.
    pub layers: Vec<PreviewLayer>,
    /// How many tools the model may call.
    pub n_tools: usize,
    /// The tokens of the tools.
    pub tool_tokens: u64,
    /// All tokens.
    pub tokens: u64,
    /// How many tokens there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Turns of the conversation that were left out to fit, and their tokens.
    pub n_left_out: usize,
    /// The tokens of those.
    pub tokens_left_out: u64,
    /// What the request was to hold and does not: those turns, and parts of results and files.
    pub left_out: Vec<LeftOut>,
    /// Things worth saying.
    pub warnings: Vec<String>,
}
