//! The request of a prompt in the JSON output of `prompt build` and `prompt preview`, so that it can be built again.

use aiwf_prompt::{Format, FsAbility, Recipe, Tokenizer, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::EngineError;
use crate::prompt::build::BuildOptions;
use crate::prompt::document::Document;
use crate::prompt::gather::ChangeFlags;

/// A request with its flags.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RequestRecord {
    recipe: String,
    /// As `--input` takes it.
    document: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    thoughts: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fs_ability: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_prompt: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attachments: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokenizer: Option<String>,
}

impl RequestRecord {
    pub fn of(document: &Document, flags: &ChangeFlags, options: &BuildOptions) -> Self {
        let written = match document {
            Document::Session(document) => serde_json::to_value(document),
            Document::Change(document) => serde_json::to_value(document),
            Document::Workflow(document) => serde_json::to_value(document),
            Document::Reply(document) => serde_json::to_value(document),
        };
        Self {
            recipe: document.recipe().as_str().to_owned(),
            document: without_empty(written.unwrap_or_default()),
            files: flags.files.clone(),
            artifacts: flags.artifacts.clone(),
            thoughts: flags.thoughts.clone(),
            format: options.format.map(|format| format.as_str().to_owned()),
            provider: options.provider.clone(),
            fs_ability: options.fs_ability.map(|ability| ability.as_str().to_owned()),
            system_prompt: options.supports_system_prompt,
            attachments: options.supports_file_attachments,
            budget: options.budget.map(|tokens| tokens.0),
            tokenizer: options.tokenizer.map(|tokenizer| tokenizer.as_str().to_owned()),
        }
    }

    /// What `Engine::build` takes; `None` if the record names something that does not exist.
    pub(crate) fn read(&self) -> Result<Option<(Document, ChangeFlags, BuildOptions)>, EngineError> {
        let Some(recipe) = Recipe::from_name(&self.recipe) else { return Ok(None) };
        let document = Document::from_json(recipe, &self.document.to_string())?;
        let flags = ChangeFlags {
            files: self.files.clone(),
            artifacts: self.artifacts.clone(),
            thoughts: self.thoughts.clone(),
            ..ChangeFlags::default()
        };
        let options = BuildOptions {
            format: self.format.as_deref().and_then(Format::from_name),
            provider: self.provider.clone(),
            fs_ability: self.fs_ability.as_deref().and_then(FsAbility::from_name),
            default_fs_ability: None,
            supports_system_prompt: self.system_prompt,
            supports_file_attachments: self.attachments,
            budget: self.budget.map(Tokens),
            tokenizer: self.tokenizer.as_deref().and_then(Tokenizer::from_name),
        };
        Ok(Some((document, flags, options)))
    }
}

/// Fields whose values can be anything.
const USERS_OWN: [&str; 5] = ["variables", "input_schema", "prompts", "menu", "conversational_knowledge"];

/// Leaves out what a document has by default.
fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| {
                let is_users = USERS_OWN.contains(&name.as_str());
                (name, if is_users { value } else { without_empty(value) })
            });
            Value::Object(fields.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(without_empty).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
