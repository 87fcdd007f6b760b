//! The agents of a package.

use serde::Deserialize;
use serde_json::{Map, Value};

/// An agent as its package defines it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AgentDefinition {
    /// Its id.
    pub id: String,
    /// What people see.
    pub metadata: AgentMetadata,
    /// Who it is.
    pub persona: Persona,
    /// What it must always do.
    #[serde(default)]
    pub critical_actions: Vec<String>,
    /// Texts its menu refers to.
    #[serde(default)]
    pub prompts: Vec<AgentPrompt>,
    /// What a user can choose.
    #[serde(default)]
    pub menu: Vec<MenuItem>,
    /// Text that stands in place of the persona.
    #[serde(default, rename = "systemPrompt")]
    pub system_prompt: Option<String>,
    /// A template the user's text is put into.
    #[serde(default, rename = "userPromptTemplate")]
    pub user_prompt_template: Option<String>,
    /// What it may use.
    #[serde(default)]
    pub tools: AgentTools,
}

/// What people see of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentMetadata {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its icon.
    pub icon: String,
    /// The module it comes from.
    #[serde(default)]
    pub module: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Its id where it comes from.
    #[serde(default)]
    pub source_id: Option<String>,
}

/// Who an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Persona {
    /// What it does.
    pub role: String,
    /// Who it is.
    pub identity: String,
    /// How it speaks.
    pub communication_style: String,
    /// What it holds to.
    principles: Principles,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Principles {
    Text(String),
    List(Vec<String>),
}

impl Persona {
    /// What it holds to; a text is split into its lines.
    pub fn principles(&self) -> Vec<String> {
        match &self.principles {
            Principles::List(list) => list.clone(),
            Principles::Text(text) => {
                let line = |line: &str| line.trim().trim_start_matches("- ").trim().to_owned();
                text.lines().map(line).filter(|line| !line.is_empty()).collect()
            }
        }
    }
}

/// A text a menu refers to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AgentPrompt {
    /// Its id.
    pub id: String,
    /// The text.
    pub content: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
}

/// What a user can choose.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MenuItem {
    /// What it does, in words.
    pub description: String,
    /// The word that chooses it.
    #[serde(default)]
    pub trigger: Option<String>,
    /// More words, and what each does.
    #[serde(default)]
    pub triggers: Vec<Map<String, Value>>,
    /// The workflow it starts.
    #[serde(default)]
    pub workflow: Option<String>,
    /// The file it runs.
    #[serde(default)]
    pub exec: Option<String>,
    /// What it does: `#prompt`, a built-in name, or text for the model.
    #[serde(default)]
    pub action: Option<String>,
    /// The file that is given along.
    #[serde(default)]
    pub data: Option<String>,
    /// The workflow that is checked before it starts.
    #[serde(default)]
    pub validate_workflow: Option<String>,
    /// Not for the web.
    #[serde(default)]
    pub ide_only: bool,
    /// For the web alone.
    #[serde(default)]
    pub web_only: bool,
    /// Keys that the format leaves open.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What an agent may use; what it leaves open is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct AgentTools {
    /// Files.
    #[serde(default)]
    pub fs: FsTools,
    /// MCP servers.
    #[serde(default)]
    pub mcp: McpTools,
}

/// File tools of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FsTools {
    /// Whether it has them.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// How many bytes one read may return.
    #[serde(default)]
    pub max_read_bytes: Option<u64>,
    /// How many bytes one write may take.
    #[serde(default)]
    pub max_write_bytes: Option<u64>,
}

/// MCP tools of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpTools {
    /// Whether it has them.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// The servers it may use.
    #[serde(default)]
    pub allowed_servers: Option<Vec<String>>,
}
