//! What is handed to a provider, and its hash.

use aiwf_prompt::{Message, Sha256Hex};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A section of the prompt, for finding out which one differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionHash {
    /// The section.
    pub id: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// How many bytes it contributes.
    #[serde(default)]
    pub bytes: usize,
    /// SHA-256 of what it contributes.
    pub sha256: String,
}

/// Everything a provider gets: system text and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The system text.
    pub system: Option<String>,
    /// The messages.
    pub messages: Vec<Message>,
    /// What it is made of.
    pub sections: Vec<SectionHash>,
    /// The session, whose id may stand in the text.
    pub session_id: Option<String>,
}

/// What stands for the session's id in a key, so that another session with the same inputs has the same key.
const ANY_SESSION: &str = "SESSION";

impl Payload {
    /// SHA-256 of the canonical form: `{"system":…,"messages":[{"role":…,"content":…}],"tools":[]}` without white
    /// space, `system` left out when there is none.
    pub fn sha256(&self) -> String {
        Sha256Hex::of([self.canonical().as_str()]).to_string()
    }

    /// The same, with the session's id replaced by a fixed word.
    pub fn key(&self) -> String {
        let canonical = self.canonical();
        let canonical = match self.session_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => canonical.replace(id, ANY_SESSION),
            None => canonical,
        };
        Sha256Hex::of([canonical.as_str()]).to_string()
    }

    fn canonical(&self) -> String {
        let messages: Vec<_> = self
            .messages
            .iter()
            .map(|message| json!({ "role": message.role.as_str(), "content": message.content }))
            .collect();
        let mut form = serde_json::Map::new();
        if let Some(system) = &self.system {
            form.insert("system".to_owned(), system.as_str().into());
        }
        form.insert("messages".to_owned(), messages.into());
        form.insert("tools".to_owned(), json!([]));
        serde_json::Value::Object(form).to_string()
    }
}
