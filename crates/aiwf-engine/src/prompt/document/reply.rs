//! The document of recipe `reply`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::object::{object, objects, optional_object};

/// A reply to what an agent reported.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyDocument {
    /// What was reported.
    #[serde(deserialize_with = "object")]
    pub request: ReplyRequestDocument,
    /// How to answer.
    #[serde(default, deserialize_with = "optional_object")]
    pub settings: Option<ReplySettingsDocument>,
    /// Who the prompt is written for.
    #[schemars(extend("enum" = ["api", "cli"]))]
    pub mode: String,
    /// The command-line tool the prompt is for.
    #[serde(default, alias = "cliTool")]
    pub cli_tool: Option<String>,
    /// The tools there are.
    #[serde(default, alias = "mcpTools", deserialize_with = "objects")]
    pub mcp_tools: Vec<ToolDocument>,
}

/// What was reported, and what goes with it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyRequestDocument {
    /// What the agent reported.
    #[serde(alias = "aiMessage")]
    pub ai_message: String,
    /// What the user added.
    #[serde(default, alias = "userContext")]
    pub user_context: Option<String>,
    /// What tools returned.
    #[serde(default, alias = "toolResults")]
    pub tool_results: Option<String>,
    /// Whether the tools are listed.
    #[serde(default, alias = "includeMCPTools", alias = "includeMcpTools")]
    pub include_mcp_tools: Option<bool>,
    /// The project's name.
    #[serde(default, alias = "projectName")]
    pub project_name: Option<String>,
    /// The project's path.
    #[serde(default, alias = "projectPath")]
    pub project_path: Option<String>,
}

/// How to answer.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplySettingsDocument {
    /// Rules for the answer.
    #[serde(default, alias = "systemPrompt")]
    pub system_prompt: Option<String>,
    /// The last words, in place of the built-in ones.
    #[serde(default)]
    pub closing: Option<String>,
    /// What this request changes about components.
    #[serde(default, deserialize_with = "objects")]
    pub components: Vec<ComponentDocument>,
}

/// What a request changes about a component.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComponentDocument {
    /// The component.
    pub id: String,
    /// Another place.
    #[serde(default)]
    pub order: Option<i32>,
    /// Whether it takes part.
    #[serde(default)]
    pub enabled: Option<bool>,
}

/// A tool the model may call, as its server lists it; what else the server says takes no part in the prompt.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ToolDocument {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(default, alias = "inputSchema")]
    pub input_schema: Option<serde_json::Value>,
}
