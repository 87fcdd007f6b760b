//! The document of recipe `workflow`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::object::{object, objects, optional_object};

/// A turn of a workflow run, an agent session or a chat.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowDocument {
    /// A workflow run, an agent session or a chat.
    #[schemars(extend("enum" = ["run", "agent", "chat"]))]
    pub mode: String,
    /// The project directory; shown to the model as `@project`.
    #[serde(default, alias = "projectRoot")]
    pub project_root: Option<String>,
    /// The unpacked package; shown to the model as `@pkg`.
    #[serde(default, alias = "packageRoot")]
    pub package_root: Option<String>,
    /// The state directory of the run; shown to the model as `@state`.
    #[serde(default, alias = "stateRoot")]
    pub state_root: Option<String>,
    /// Id of the package.
    #[serde(default, alias = "packageId")]
    pub package_id: Option<String>,
    /// Id of the workflow; required in mode `run`.
    #[serde(default, alias = "workflowId")]
    pub workflow_id: Option<String>,
    /// The graph file, relative to the package; required in mode `run`.
    #[serde(default, alias = "graphRelPath")]
    pub graph_rel_path: Option<String>,
    /// The agent that the run started with.
    #[serde(default, alias = "activeAgentId")]
    pub active_agent_id: Option<String>,
    /// The agent of the current node.
    #[serde(default, alias = "effectiveAgentId")]
    pub effective_agent_id: Option<String>,
    /// The definition of that agent, as in `agents.json`.
    #[serde(alias = "agentDefinition", deserialize_with = "object")]
    pub agent_definition: AgentDocument,
    /// Id of the run.
    #[serde(default, alias = "runId")]
    pub run_id: Option<String>,
    /// The current node.
    #[serde(default, alias = "currentNodeId")]
    pub current_node_id: Option<String>,
    /// The completed nodes.
    #[serde(default, alias = "stepsCompleted")]
    pub steps_completed: Vec<String>,
    /// Variables set by the run so far.
    #[serde(default)]
    pub variables: Map<String, Value>,
    /// Artifacts of the run so far.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// The current node; required in mode `run` until the workflow is complete.
    #[serde(default, alias = "nodeBrief", deserialize_with = "optional_object")]
    pub node_brief: Option<NodeBriefDocument>,
    /// The policy of the system; the agent's policy can only restrict it.
    #[serde(default, alias = "toolPolicy", deserialize_with = "optional_object")]
    pub tool_policy: Option<ToolPolicyDocument>,
    /// Why the model is asked.
    #[serde(default)]
    #[schemars(extend("enum" = ["start", "continue", "resume", null]))]
    pub intent: Option<String>,
    /// Whether the model continues without asking about each step.
    #[serde(default)]
    pub autopilot: bool,
    /// The user's message.
    #[serde(default, alias = "userInput")]
    pub user_input: Option<String>,
    /// Data of the chosen menu item.
    #[serde(default, alias = "dataContext", deserialize_with = "optional_object")]
    pub data_context: Option<DataContextDocument>,
    /// Whether the workflow is complete.
    #[serde(default, alias = "workflowCompleted")]
    pub workflow_completed: bool,
}

/// An agent of a package.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentDocument {
    /// Id of the agent.
    pub id: String,
    /// Its name, title and icon.
    #[serde(default, deserialize_with = "optional_object")]
    pub metadata: Option<AgentMetadataDocument>,
    /// The character of the agent.
    #[serde(default, deserialize_with = "optional_object")]
    pub persona: Option<PersonaDocument>,
    /// Actions that are always required.
    #[serde(default, alias = "criticalActions")]
    pub critical_actions: Vec<String>,
    /// System text instead of the persona.
    #[serde(default, alias = "systemPrompt")]
    pub system_prompt: Option<String>,
    /// A template for the user's text.
    #[serde(default, alias = "userPromptTemplate")]
    pub user_prompt_template: Option<String>,
    /// Tools of the agent.
    #[serde(default, deserialize_with = "optional_object")]
    pub tools: Option<ToolPolicyDocument>,
    /// Prompts of its menu; not part of the prompt.
    #[serde(default)]
    pub prompts: Option<Value>,
    /// Its menu; not part of the prompt.
    #[serde(default)]
    pub menu: Option<Value>,
    /// Not part of the prompt.
    #[serde(default)]
    pub discussion: Option<bool>,
    /// Not part of the prompt.
    #[serde(default)]
    pub webskip: Option<bool>,
    /// Not part of the prompt.
    #[serde(default, alias = "conversationalKnowledge")]
    pub conversational_knowledge: Option<Value>,
}

/// Display data of an agent.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentMetadataDocument {
    /// Name of the agent.
    pub name: String,
    /// Title of the agent.
    pub title: String,
    /// Icon of the agent.
    #[serde(default)]
    pub icon: Option<String>,
    /// The module it comes from.
    #[serde(default)]
    pub module: Option<String>,
    /// A description.
    #[serde(default)]
    pub description: Option<String>,
    /// Its id in the source.
    #[serde(default, alias = "sourceId")]
    pub source_id: Option<String>,
}

/// The character of an agent.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonaDocument {
    /// Its role.
    pub role: String,
    /// Its identity.
    pub identity: String,
    /// Its communication style.
    #[serde(alias = "communicationStyle")]
    pub communication_style: String,
    /// Its principles.
    pub principles: PrinciplesDocument,
}

/// One principle per line, or a list of them.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
pub enum PrinciplesDocument {
    /// One text.
    Text(String),
    /// A list.
    List(Vec<String>),
}

/// The current node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeBriefDocument {
    /// Id of the node.
    #[serde(alias = "nodeId")]
    pub node_id: String,
    /// Type of the node.
    #[serde(alias = "nodeType")]
    pub node_type: String,
    /// Title of the node.
    #[serde(default)]
    pub title: Option<String>,
    /// Its instruction file, relative to the package.
    #[serde(alias = "stepFilePathInPkg")]
    pub step_file_path_in_pkg: String,
    /// Its inputs.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Outputs that it must produce.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// Its outgoing edges, in graph order.
    #[serde(deserialize_with = "objects")]
    pub transitions: Vec<TransitionDocument>,
}

/// An outgoing edge of the current node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransitionDocument {
    /// The target node.
    pub to: String,
    /// Label of the edge.
    pub label: String,
    /// Whether it is the default edge.
    #[serde(default, alias = "isDefault")]
    pub is_default: bool,
    /// Its condition, in words.
    #[serde(default, alias = "conditionText")]
    pub condition_text: Option<String>,
}

/// The available tools.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPolicyDocument {
    /// File tools.
    #[serde(default, deserialize_with = "optional_object")]
    pub fs: Option<FsPolicyDocument>,
    /// MCP servers.
    #[serde(default, deserialize_with = "optional_object")]
    pub mcp: Option<McpPolicyDocument>,
}

/// Limits of file tools.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FsPolicyDocument {
    /// Whether file tools are available.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// Maximum number of bytes per read.
    #[serde(default, alias = "maxReadBytes")]
    pub max_read_bytes: Option<u64>,
    /// Maximum number of bytes per write.
    #[serde(default, alias = "maxWriteBytes")]
    pub max_write_bytes: Option<u64>,
}

/// The available MCP tools.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpPolicyDocument {
    /// Whether MCP tools are available.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// The allowed servers; an empty list allows none.
    #[serde(default, alias = "allowedServers")]
    pub allowed_servers: Option<Vec<String>>,
}

/// Data of the chosen menu item.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataContextDocument {
    /// Label of the data.
    pub label: String,
    /// Path where the model can read it.
    pub path: String,
    /// The beginning of the data.
    #[serde(default)]
    pub preview: String,
}
