//! The document of recipe `change`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::object::objects;
use super::reply::ToolDocument;

/// A phase of a change: the agent, its context, and the task.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeDocument {
    /// The agent whose template to use; `BASE` by default.
    #[serde(default)]
    pub agent: Option<String>,
    /// The phase whose template to use; without one, no template is used.
    #[serde(default)]
    pub phase: Option<String>,
    /// System text instead of a template.
    #[serde(default, alias = "systemPrompt")]
    pub system_prompt: Option<String>,
    /// Context for the agent, in order.
    #[serde(default, deserialize_with = "objects")]
    pub context: Vec<ContextDocument>,
    /// The task.
    pub instructions: String,
    /// Additional template variables; they override those of the engine.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// Tools for a receiver without native tools; only the engine sets them.
    #[serde(skip)]
    #[schemars(skip)]
    pub tools: Vec<ToolDocument>,
}

/// One context item for the agent.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextDocument {
    /// The kind of item.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["file", "artifact", "thought"]))]
    pub kind: String,
    /// Its path or name; numbered by default.
    #[serde(default)]
    pub name: Option<String>,
    /// Its text.
    #[serde(default)]
    pub content: String,
}
