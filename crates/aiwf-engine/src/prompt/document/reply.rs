//! The document of recipe `reply`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::object::{object, objects, optional_object};

/// A reply to an agent's report.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyDocument {
    /// The agent's report and its context.
    #[serde(deserialize_with = "object")]
    pub request: ReplyRequestDocument,
    /// Settings for the answer.
    #[serde(default, deserialize_with = "optional_object")]
    pub settings: Option<ReplySettingsDocument>,
    /// How the receiver is called: through an API or a command line.
    #[schemars(extend("enum" = ["api", "cli"]))]
    pub mode: String,
    /// The command-line tool that the prompt is for.
    #[serde(default, alias = "cliTool")]
    pub cli_tool: Option<String>,
    /// The available tools.
    #[serde(default, alias = "mcpTools", deserialize_with = "objects")]
    pub mcp_tools: Vec<ToolDocument>,
}

/// An agent's report and its context.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyRequestDocument {
    /// The agent's report.
    #[serde(alias = "aiMessage")]
    pub ai_message: String,
    /// Context from the user.
    #[serde(default, alias = "userContext")]
    pub user_context: Option<String>,
    /// Results of tools.
    #[serde(default, alias = "toolResults")]
    pub tool_results: Option<String>,
    /// Whether to list the tools.
    #[serde(default, alias = "includeMCPTools", alias = "includeMcpTools")]
    pub include_mcp_tools: Option<bool>,
    /// Name of the project.
    #[serde(default, alias = "projectName")]
    pub project_name: Option<String>,
    /// Path of the project.
    #[serde(default, alias = "projectPath")]
    pub project_path: Option<String>,
}

/// Settings for the answer.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplySettingsDocument {
    /// Rules for the answer.
    #[serde(default, alias = "systemPrompt")]
    pub system_prompt: Option<String>,
    /// The closing instruction, instead of the built-in one.
    #[serde(default)]
    pub closing: Option<String>,
    /// Changes of components for this request.
    #[serde(default, deserialize_with = "objects")]
    pub components: Vec<ComponentDocument>,
}

/// A change of a component for one request.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComponentDocument {
    /// Id of the component.
    pub id: String,
    /// Its new position.
    #[serde(default)]
    pub order: Option<i32>,
    /// Whether it is used.
    #[serde(default)]
    pub enabled: Option<bool>,
}

/// A tool that the model may call, as its server describes it; other keys are ignored.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ToolDocument {
    /// Name of the tool.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(default, alias = "inputSchema")]
    pub input_schema: Option<serde_json::Value>,
}
