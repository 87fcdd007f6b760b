//! The document of recipe `workflow`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::object::{object, objects, optional_object};

/// A turn of a workflow run, an agent session or a chat.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowDocument {
    /// How the model is talked to.
    #[schemars(extend("enum" = ["run", "agent", "chat"]))]
    pub mode: String,
    /// The user's project; shown to the model as `@project`.
    #[serde(default, alias = "projectRoot")]
    pub project_root: Option<String>,
    /// The extracted package; shown to the model as `@pkg`.
    #[serde(default, alias = "packageRoot")]
    pub package_root: Option<String>,
    /// The run's private state; shown to the model as `@state`.
    #[serde(default, alias = "stateRoot")]
    pub state_root: Option<String>,
    /// The package.
    #[serde(default, alias = "packageId")]
    pub package_id: Option<String>,
    /// The workflow; mode `run` needs it.
    #[serde(default, alias = "workflowId")]
    pub workflow_id: Option<String>,
    /// The graph file, relative to the package; mode `run` needs it.
    #[serde(default, alias = "graphRelPath")]
    pub graph_rel_path: Option<String>,
    /// The agent the run was started with.
    #[serde(default, alias = "activeAgentId")]
    pub active_agent_id: Option<String>,
    /// The agent that works on this node.
    #[serde(default, alias = "effectiveAgentId")]
    pub effective_agent_id: Option<String>,
    /// That agent, as `agents.json` has it.
    #[serde(alias = "agentDefinition", deserialize_with = "object")]
    pub agent_definition: AgentDocument,
    /// The run.
    #[serde(default, alias = "runId")]
    pub run_id: Option<String>,
    /// The node the run stands at.
    #[serde(default, alias = "currentNodeId")]
    pub current_node_id: Option<String>,
    /// The nodes that are done.
    #[serde(default, alias = "stepsCompleted")]
    pub steps_completed: Vec<String>,
    /// What the run has decided so far.
    #[serde(default)]
    pub variables: Map<String, Value>,
    /// What the run has made so far.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// The current node; mode `run` needs it until the workflow is complete.
    #[serde(default, alias = "nodeBrief", deserialize_with = "optional_object")]
    pub node_brief: Option<NodeBriefDocument>,
    /// What the system allows; the agent can only tighten it.
    #[serde(default, alias = "toolPolicy", deserialize_with = "optional_object")]
    pub tool_policy: Option<ToolPolicyDocument>,
    /// Why the model is asked now.
    #[serde(default)]
    #[schemars(extend("enum" = ["start", "continue", "resume", null]))]
    pub intent: Option<String>,
    /// Whether the model goes on by itself.
    #[serde(default)]
    pub autopilot: bool,
    /// What the user said.
    #[serde(default, alias = "userInput")]
    pub user_input: Option<String>,
    /// What the user's menu choice brought along.
    #[serde(default, alias = "dataContext", deserialize_with = "optional_object")]
    pub data_context: Option<DataContextDocument>,
    /// Whether the workflow is complete.
    #[serde(default, alias = "workflowCompleted")]
    pub workflow_completed: bool,
}

/// An agent of a package.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentDocument {
    /// Its id.
    pub id: String,
    /// Its name, title and icon.
    #[serde(default, deserialize_with = "optional_object")]
    pub metadata: Option<AgentMetadataDocument>,
    /// Who it is.
    #[serde(default, deserialize_with = "optional_object")]
    pub persona: Option<PersonaDocument>,
    /// What it must always do.
    #[serde(default, alias = "criticalActions")]
    pub critical_actions: Vec<String>,
    /// Text that stands in place of the persona.
    #[serde(default, alias = "systemPrompt")]
    pub system_prompt: Option<String>,
    /// A template the user's text is put into.
    #[serde(default, alias = "userPromptTemplate")]
    pub user_prompt_template: Option<String>,
    /// What it may use.
    #[serde(default, deserialize_with = "optional_object")]
    pub tools: Option<ToolPolicyDocument>,
    /// Prompts of its menu; they take no part in the prompt.
    #[serde(default)]
    pub prompts: Option<Value>,
    /// Its menu; it takes no part in the prompt.
    #[serde(default)]
    pub menu: Option<Value>,
    /// Takes no part in the prompt.
    #[serde(default)]
    pub discussion: Option<bool>,
    /// Takes no part in the prompt.
    #[serde(default)]
    pub webskip: Option<bool>,
    /// Takes no part in the prompt.
    #[serde(default, alias = "conversationalKnowledge")]
    pub conversational_knowledge: Option<Value>,
}

/// What an agent is called.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentMetadataDocument {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its icon.
    #[serde(default)]
    pub icon: Option<String>,
    /// Where it comes from.
    #[serde(default)]
    pub module: Option<String>,
    /// What it is.
    #[serde(default)]
    pub description: Option<String>,
    /// Where it comes from.
    #[serde(default, alias = "sourceId")]
    pub source_id: Option<String>,
}

/// Who an agent is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonaDocument {
    /// What it does.
    pub role: String,
    /// Who it is.
    pub identity: String,
    /// How it speaks.
    #[serde(alias = "communicationStyle")]
    pub communication_style: String,
    /// What it holds to.
    pub principles: PrinciplesDocument,
}

/// One principle a line, or a list of them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
pub enum PrinciplesDocument {
    /// One text.
    Text(String),
    /// A list.
    List(Vec<String>),
}

/// The current node.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeBriefDocument {
    /// Its id.
    #[serde(alias = "nodeId")]
    pub node_id: String,
    /// Its type.
    #[serde(alias = "nodeType")]
    pub node_type: String,
    /// Its title.
    #[serde(default)]
    pub title: Option<String>,
    /// Its instruction file, relative to the package.
    #[serde(alias = "stepFilePathInPkg")]
    pub step_file_path_in_pkg: String,
    /// What it reads.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// What it must leave behind.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// The edges out of it, in graph order.
    #[serde(deserialize_with = "objects")]
    pub transitions: Vec<TransitionDocument>,
}

/// An edge out of the current node.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransitionDocument {
    /// The node it leads to.
    pub to: String,
    /// Its label.
    pub label: String,
    /// Whether it is taken when nothing decides.
    #[serde(default, alias = "isDefault")]
    pub is_default: bool,
    /// When it is taken, in words.
    #[serde(default, alias = "conditionText")]
    pub condition_text: Option<String>,
}

/// What may be used.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPolicyDocument {
    /// Files.
    #[serde(default, deserialize_with = "optional_object")]
    pub fs: Option<FsPolicyDocument>,
    /// MCP servers.
    #[serde(default, deserialize_with = "optional_object")]
    pub mcp: Option<McpPolicyDocument>,
}

/// Reading and writing files.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FsPolicyDocument {
    /// Whether file tools are there.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// How many bytes one read may return.
    #[serde(default, alias = "maxReadBytes")]
    pub max_read_bytes: Option<u64>,
    /// How many bytes one write may take.
    #[serde(default, alias = "maxWriteBytes")]
    pub max_write_bytes: Option<u64>,
}

/// Tools of MCP servers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpPolicyDocument {
    /// Whether they are there.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// The servers; none when empty.
    #[serde(default, alias = "allowedServers")]
    pub allowed_servers: Option<Vec<String>>,
}

/// What the user's menu choice brought along.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataContextDocument {
    /// What it is.
    pub label: String,
    /// Where the model can read it.
    pub path: String,
    /// How it begins.
    #[serde(default)]
    pub preview: String,
}
