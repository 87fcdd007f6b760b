//! What is handed to a provider, and its hash.
//!
//! The payload is system text, messages, the turns of a conversation after them, and the tools the model may call.

use aiwf_prompt::{Message, Sha256Hex};
use serde::{Deserialize, Serialize};

use crate::ask::ToolCall;

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
    /// The same with the session's id replaced, where it stands in it: what recordings are compared by.
    #[serde(skip)]
    pub key: Option<String>,
}

impl SectionHash {
    /// A section and what it contributes to a prompt, which may be a session's.
    pub fn new(id: &str, source: &str, text: &str, session_id: Option<&str>) -> Self {
        let key = session_id.filter(|id| !id.is_empty() && text.contains(id));
        Self {
            id: id.to_owned(),
            source: source.to_owned(),
            bytes: text.len(),
            sha256: Sha256Hex::of([text]).to_string(),
            key: key.map(|id| Sha256Hex::of([text.replace(id, ANY_SESSION).as_str()]).to_string()),
        }
    }

    /// What it is compared by.
    pub(crate) fn key(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.sha256)
    }
}

/// A tool that a model may call by its API's own means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name, of letters, digits, `_` and `-`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: serde_json::Value,
}

/// An entry of a conversation after the messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "kebab-case")]
pub enum Turn {
    /// The model said something, or wants tools used, or both.
    Assistant {
        /// What it said.
        content: String,
        /// The tools it wants used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// A tool gave a result.
    Tool {
        /// The call it answers.
        id: String,
        /// The tool.
        name: String,
        /// What it gave.
        content: String,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// A person said something.
    User {
        /// What.
        content: String,
    },
}

impl Turn {
    /// What is said in it.
    pub fn content(&self) -> &str {
        match self {
            Self::Assistant { content, .. } | Self::Tool { content, .. } | Self::User { content } => content,
        }
    }
}

/// Everything a provider gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// The system text.
    pub system: Option<String>,
    /// The messages.
    pub messages: Vec<Message>,
    /// What was said since.
    pub turns: Vec<Turn>,
    /// The tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether the system text is the same for many requests, so that a cache of it pays.
    pub is_system_stable: bool,
    /// How many of the first messages are the same for many requests.
    pub n_stable_messages: usize,
    /// What it is made of.
    pub sections: Vec<SectionHash>,
    /// The session, whose id may stand in the text.
    pub session_id: Option<String>,
}

/// What stands for the session's id in a key, so that another session with the same inputs has the same key.
const ANY_SESSION: &str = "SESSION";

impl Payload {
    /// SHA-256 of the canonical form: `{"system":…,"messages":[{"role":…,"content":…}],"tools":[…]}` without white
    /// space, `system` left out when there is none, turns as further messages, tools as `{"name":…,"description":…,
    /// "parameters":…}`. Where a cache breakpoint stands changes nothing of what is said, and so not the hash.
    pub fn sha256(&self) -> String {
        Sha256Hex::of([self.canonical().as_str()]).to_string()
    }

    /// The same, with the session's id replaced by a fixed word.
    pub(crate) fn key(&self) -> String {
        let canonical = self.canonical();
        let canonical = match self.session_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => canonical.replace(id, ANY_SESSION),
            None => canonical,
        };
        Sha256Hex::of([canonical.as_str()]).to_string()
    }

    fn canonical(&self) -> String {
        let messages = self
            .messages
            .iter()
            .map(|Message { role, content }| Said::Message { role: role.as_str(), content });
        let form = Canonical {
            system: self.system.as_deref(),
            messages: messages.chain(self.turns.iter().map(Said::Turn)).collect(),
            tools: &self.tools,
        };
        // Invariant: every key is a string, which is all that can be wrong with a value.
        serde_json::to_string(&form).unwrap_or_default()
    }
}

/// The canonical form, in the order of its keys.
#[derive(Serialize)]
struct Canonical<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'a str>,
    messages: Vec<Said<'a>>,
    tools: &'a [ToolSpec],
}

#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    Message { role: &'a str, content: &'a str },
    Turn(&'a Turn),
}
