//! What is handed to a provider, and its hash.
//!
//! The payload is system text, files, messages, the turns of a conversation after them, and the tools the model may
//! call. Texts are kept as blocks, one for each section of the prompt: a block is where a mark for a provider's cache
//! can stand, so the hash knows blocks and knows no marks.

use aiwf_prompt::{Role, Sha256Hex};
use serde::{Deserialize, Serialize, Serializer};

use crate::ask::ToolCall;
use crate::shared_text::SharedText;

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
        content: SharedText,
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
        content: SharedText,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// A person said something.
    User {
        /// What.
        content: SharedText,
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

/// One message of the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadMessage {
    /// Who speaks it.
    pub role: Role,
    /// What it says, a text for each block; together they are the message.
    pub blocks: Vec<String>,
}

impl PayloadMessage {
    /// A message of one block.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, blocks: vec![text.into()] }
    }

    /// The whole message.
    pub fn text(&self) -> String {
        self.blocks.concat()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(String::is_empty)
    }
}

/// A file that travels with the request, by the means of the provider's API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    /// The path that the text names it by.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// Everything a provider gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// The system text, a text for each block; together they are the whole.
    pub system: Vec<String>,
    /// The files that the messages name.
    pub files: Vec<AttachedFile>,
    /// The messages.
    pub messages: Vec<PayloadMessage>,
    /// What was said since.
    pub turns: Vec<Turn>,
    /// The tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// How many of the first blocks are the same for many requests, so that a cache of them pays. Blocks are counted
    /// over system text and messages, as `sections` are.
    pub n_stable_blocks: usize,
    /// What it is made of.
    pub sections: Vec<SectionHash>,
    /// The session, whose id may stand in the text.
    pub session_id: Option<String>,
}

/// The keys and indentation of a turn in the canonical form.
const BYTES_AROUND_A_TURN: usize = 256;
/// How many marks for a cache a request can have.
const MAX_MARKS: usize = 4;

/// What stands for the session's id in a key, so that another session with the same inputs has the same key.
const ANY_SESSION: &str = "SESSION";

impl Payload {
    /// The whole system text; `None` when there is none.
    pub fn system_text(&self) -> Option<String> {
        (!self.system.is_empty()).then(|| self.system.concat())
    }

    /// The blocks after which a mark for a provider's cache stands, counted as in `n_stable_blocks`.
    ///
    /// The end of the stable system text, and the borders of the last stable sections. While tools are called, the whole
    /// prompt is sent again: its end has a mark, too, or the turns have two.
    pub fn breakpoints(&self) -> Vec<usize> {
        let n_blocks =
            self.system.len() + self.messages.iter().map(|message| message.blocks.len()).sum::<usize>();
        let n_stable = self.n_stable_blocks.min(n_blocks);
        let is_exchange = self.turns.is_empty() && !self.tools.is_empty();
        let n_kept = if self.turns.is_empty() { usize::from(is_exchange) } else { 2 };
        let room = MAX_MARKS - n_kept;
        let end_of_system = self.system.len().min(n_stable).checked_sub(1);
        let end_of_prompt = n_blocks.checked_sub(1).filter(|_| is_exchange);
        let last_borders = (self.system.len()..n_stable).rev();
        let mut marked: Vec<usize> = end_of_system.into_iter().chain(last_borders).take(room).collect();
        marked.extend(end_of_prompt);
        marked.sort_unstable();
        marked.dedup();
        marked
    }

    /// A key that requests with a common beginning share: those of one session, else those with the same stable blocks.
    pub fn cache_key(&self) -> Option<String> {
        let session = self.session_id.as_deref().filter(|id| !id.is_empty());
        let messages = self.messages.iter().flat_map(|message| &message.blocks);
        let stable = self.system.iter().chain(messages).take(self.n_stable_blocks).map(String::as_str);
        let sha256 = match session {
            Some(id) => Sha256Hex::of([id]),
            None if self.n_stable_blocks > 0 => Sha256Hex::of(stable),
            None => return None,
        };
        Some(format!("aiwf-{}", sha256.to_string().get(..32).unwrap_or_default()))
    }

    /// SHA-256 of the canonical form.
    pub fn sha256(&self) -> String {
        Sha256Hex::of([self.canonical().as_str()]).to_string()
    }

    /// The canonical form: JSON with these keys in this order, indented by two spaces, without a line end after it.
    ///
    /// `system` (left out when there is none) and the `content` of every message are lists of texts, one for each
    /// block; `files` (left out when there are none) have `path` and `sha256`; turns are further messages; `tools` have
    /// `name`, `description` and `parameters`. Marks for a cache are no part of it.
    pub fn canonical(&self) -> String {
        let mut canonical = Vec::with_capacity(self.n_bytes_about());
        // Invariant: every key is a string, which is all that can be wrong with a value.
        match serde_json::to_writer_pretty(&mut canonical, &self.form()) {
            Ok(()) => String::from_utf8(canonical).unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    /// Writes the canonical form into a larger document; indented by two spaces it is [`Self::canonical`].
    pub fn serialize_canonical<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.form().serialize(serializer)
    }

    /// About how long the canonical form is: most texts grow a little when they are quoted.
    fn n_bytes_about(&self) -> usize {
        let messages = self.messages.iter().flat_map(|message| &message.blocks).map(String::len);
        let texts = self.system.iter().map(String::len).chain(messages);
        let turns = self.turns.iter().map(|turn| turn.content().len() + BYTES_AROUND_A_TURN);
        let n_bytes: usize = texts.chain(turns).sum();
        n_bytes + n_bytes / 8
    }

    /// The text of each of `sections`, in their order, with the session's id replaced.
    pub(crate) fn section_texts(&self) -> Vec<String> {
        let blocks = self.system.iter().chain(self.messages.iter().flat_map(|message| &message.blocks));
        let text = |block: &String| match self.session_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => block.replace(id, ANY_SESSION),
            None => block.clone(),
        };
        blocks.map(text).collect()
    }

    fn form(&self) -> Canonical<'_> {
        let messages = self.messages.iter().map(|message| Said {
            role: message.role.as_str(),
            content: message.blocks.iter().map(String::as_str).collect(),
            tool_calls: &[],
            id: None,
            name: None,
            is_error: false,
        });
        Canonical {
            system: self.system.iter().map(String::as_str).collect(),
            files: self
                .files
                .iter()
                .map(|file| FileKey {
                    path: &file.path,
                    sha256: Sha256Hex::of([file.text.as_str()]).to_string(),
                })
                .collect(),
            messages: messages.chain(self.turns.iter().map(said)).collect(),
            tools: &self.tools,
        }
    }

    /// What recordings are found by: the texts as wholes, with the session's id replaced by a fixed word.
    ///
    /// Where one block ends and the next begins is nothing that an answer depends on.
    pub(crate) fn key(&self) -> String {
        let texts: Vec<(&str, String)> =
            self.messages.iter().map(|message| (message.role.as_str(), message.text())).collect();
        let messages = texts.iter().map(|(role, content)| KeySaid::Message { role, content });
        let form = Key {
            system: self.system_text(),
            files: self.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect(),
            messages: messages.chain(self.turns.iter().map(KeySaid::Turn)).collect(),
            tools: &self.tools,
        };
        let whole = serde_json::to_string(&form).unwrap_or_default();
        let whole = match self.session_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => whole.replace(id, ANY_SESSION),
            None => whole,
        };
        Sha256Hex::of([whole.as_str()]).to_string()
    }
}

/// The canonical form, in the order of its keys.
#[derive(Serialize)]
struct Canonical<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileKey<'a>>,
    messages: Vec<Said<'a>>,
    tools: &'a [ToolSpec],
}

#[derive(Serialize)]
struct FileKey<'a> {
    path: &'a str,
    sha256: String,
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    content: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tool_calls: &'a [ToolCall],
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

fn said(turn: &Turn) -> Said<'_> {
    let plain = |role| Said {
        role,
        content: vec![turn.content()],
        tool_calls: &[],
        id: None,
        name: None,
        is_error: false,
    };
    match turn {
        Turn::Assistant { tool_calls, .. } => Said { tool_calls, ..plain("assistant") },
        Turn::Tool { id, name, is_error, .. } => {
            Said { id: Some(id), name: Some(name), is_error: *is_error, ..plain("tool") }
        }
        Turn::User { .. } => plain("user"),
    }
}

/// What a recording's key is made of.
#[derive(Serialize)]
struct Key<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<(&'a str, &'a str)>,
    messages: Vec<KeySaid<'a>>,
    tools: &'a [ToolSpec],
}

#[derive(Serialize)]
#[serde(untagged)]
enum KeySaid<'a> {
    Message { role: &'a str, content: &'a str },
    Turn(&'a Turn),
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
