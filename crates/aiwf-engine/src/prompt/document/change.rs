//! The document of recipe `change`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::object::objects;
use super::reply::ToolDocument;

/// A phase of a change: how the agent works, what it should know, what to do.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeDocument {
    /// The agent whose template is used; without one, `BASE`.
    #[serde(default)]
    pub agent: Option<String>,
    /// The phase whose template is used; without one, there is no template.
    #[serde(default)]
    pub phase: Option<String>,
    /// System text in place of a template.
    #[serde(default, alias = "systemPrompt")]
    pub system_prompt: Option<String>,
    /// What the agent should know, in order.
    #[serde(default, deserialize_with = "objects")]
    pub context: Vec<ContextDocument>,
    /// What to do.
    pub instructions: String,
    /// Template variables, beside or in place of those the engine fills in.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// The tools that a receiver without tools of its own may call; only the engine knows them.
    #[serde(skip)]
    #[schemars(skip)]
    pub tools: Vec<ToolDocument>,
}

/// One thing the agent should know.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextDocument {
    /// What it is.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["file", "artifact", "thought"]))]
    pub kind: String,
    /// Its path or name; numbered when left out.
    #[serde(default)]
    pub name: Option<String>,
    /// What it says.
    #[serde(default)]
    pub content: String,
}
