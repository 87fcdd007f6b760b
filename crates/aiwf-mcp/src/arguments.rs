//! The arguments of the tools, read strictly: a name that is not known is a mistake worth saying.

use aiwf_engine::SessionStatus;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool_error::ToolError;

/// Which sessions are listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {
    pub(crate) profile: Option<String>,
    pub(crate) status: Option<SessionStatus>,
    #[serde(default = "default_limit")]
    pub(crate) limit: usize,
}

/// As many as the command line lists.
fn default_limit() -> usize {
    50
}

/// One session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionArguments {
    pub(crate) session: String,
}

/// The gate of a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApproveArguments {
    pub(crate) session: String,
    pub(crate) expect: Option<String>,
}

/// A reply to the prompt of a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplyArguments {
    pub(crate) session: String,
    pub(crate) reply: String,
    pub(crate) expect: Option<String>,
}

/// Why what lies at the gate of a session is turned down.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectArguments {
    pub(crate) session: String,
    pub(crate) feedback: String,
    pub(crate) expect: Option<String>,
}

/// A new session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartArguments {
    pub(crate) profile: String,
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
}

/// Reads the arguments of a tool.
pub(crate) fn read<T: DeserializeOwned>(tool: &str, given: Option<JsonObject>) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(given.unwrap_or_default())).map_err(|error| {
        ToolError::new(
            "INPUT_INVALID",
            format!("the arguments do not fit `{tool}`: {error}"),
            "`tools/list` says what each tool takes",
        )
    })
}
