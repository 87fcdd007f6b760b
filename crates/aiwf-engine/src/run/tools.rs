//! The tools of a run.

use aiwf_prompt::{ToolPolicy, ToolSchema};
use aiwf_provider::{Stop, ToolCall, ToolSpec};
use serde_json::Value;

use super::event::ToolExec;
use super::state_desk::StateDesk;

/// What became of a call.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// As the log has it.
    pub(crate) exec: ToolExec,
    /// What the model gets.
    pub(crate) content: String,
    /// Whether it failed.
    pub(crate) is_error: bool,
    /// What the user is asked; the turn ends with it.
    pub(crate) question: Option<Value>,
    /// Things worth saying to the user.
    pub(crate) warnings: Vec<String>,
}
