//! The agents of a package.

use serde::Deserialize;
use serde_json::{Map, Value};

/// An agent as defined by its package.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AgentDefinition {
    pub id: String,
    /// Name, title and description for display.
    pub metadata: AgentMetadata,
    pub persona: Persona,
    /// Actions it must always perform.
    #[serde(default)]
    pub critical_actions: Vec<String>,
    /// Texts that its menu refers to.
    #[serde(default)]
    pub prompts: Vec<AgentPrompt>,
    #[serde(default)]
    pub menu: Vec<MenuItem>,
    /// Text that replaces the persona.
    #[serde(default, rename = "systemPrompt")]
    pub system_prompt: Option<String>,
    /// A template for the user's text.
    #[serde(default, rename = "userPromptTemplate")]
    pub user_prompt_template: Option<String>,
    #[serde(default)]
    pub tools: AgentTools,
}

/// What users see of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentMetadata {
    pub name: String,
    pub title: String,
    pub icon: String,
    #[serde(default)]
    pub module: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub source_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Persona {
    pub role: String,
    pub identity: String,
    pub communication_style: String,
    principles: Principles,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Principles {
    Text(String),
    List(Vec<String>),
}

impl Persona {
    /// Its principles; a text is split into lines.
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

/// A text that a menu refers to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AgentPrompt {
    pub id: String,
    pub content: String,
    #[serde(default)]
    pub description: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MenuItem {
    pub description: String,
    #[serde(default)]
    pub trigger: Option<String>,
    /// More trigger words, and what each of them does.
    #[serde(default)]
    pub triggers: Vec<Map<String, Value>>,
    #[serde(default)]
    pub workflow: Option<String>,
    #[serde(default)]
    pub exec: Option<String>,
    /// What it does: `#prompt`, a built-in name, or text for the model.
    #[serde(default)]
    pub action: Option<String>,
    /// A data file for the command.
    #[serde(default)]
    pub data: Option<String>,
    /// The workflow to check before it starts.
    #[serde(default)]
    pub validate_workflow: Option<String>,
    #[serde(default)]
    pub ide_only: bool,
    /// Shown only on the web.
    #[serde(default)]
    pub web_only: bool,
    /// Additional keys, which the format allows.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The tools of an agent; a missing setting restricts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct AgentTools {
    #[serde(default)]
    pub fs: FsTools,
    #[serde(default)]
    pub mcp: McpTools,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FsTools {
    #[serde(default)]
    pub enabled: Option<bool>,
    /// Maximum number of bytes per read.
    #[serde(default)]
    pub max_read_bytes: Option<u64>,
    /// Maximum number of bytes per write.
    #[serde(default)]
    pub max_write_bytes: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpTools {
    #[serde(default)]
    pub enabled: Option<bool>,
    #[serde(default)]
    pub allowed_servers: Option<Vec<String>>,
}
