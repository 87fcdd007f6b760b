//! The arguments of the tools. Unknown keys are errors.

use aiwf_engine::SessionStatus;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool_error::ToolError;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {
    pub(crate) profile: Option<String>,
    pub(crate) status: Option<SessionStatus>,
    #[serde(default = "default_limit")]
    pub(crate) limit: usize,
}

/// The same default as on the command line.
fn default_limit() -> usize {
    50
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionArguments {
    pub(crate) session: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApproveArguments {
    pub(crate) session: String,
    pub(crate) expect: Option<String>,
    pub(crate) note: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommentArguments {
    pub(crate) session: String,
    pub(crate) place: String,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListCommentsArguments {
    pub(crate) session: String,
    #[serde(default)]
    pub(crate) open: bool,
}

/// How a comment is settled.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolveArguments {
    pub(crate) session: String,
    pub(crate) number: u32,
    #[serde(default)]
    pub(crate) dismiss: bool,
}

/// The reason for reopening an artifact.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviseArguments {
    pub(crate) session: String,
    pub(crate) artifact: String,
    pub(crate) reason: String,
    pub(crate) expect: Option<String>,
}

/// A reply to the current prompt of a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplyArguments {
    pub(crate) session: String,
    pub(crate) reply: String,
    pub(crate) expect: Option<String>,
}

/// The reason for rejecting a prompt or reply.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectArguments {
    pub(crate) session: String,
    #[serde(default)]
    pub(crate) feedback: String,
    pub(crate) expect: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartArguments {
    pub(crate) profile: String,
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
}

pub(crate) fn read<T: DeserializeOwned>(tool: &str, given: Option<JsonObject>) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(given.unwrap_or_default())).map_err(|error| {
        ToolError::new(
            "INPUT_INVALID",
            format!("invalid arguments for `{tool}`: {error}"),
            "`tools/list` describes the arguments of each tool",
        )
    })
}
