//! What a provider is opened with: everything the configuration says about it, resolved.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the place that sends it and no other.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// Where a key comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeySource {
    /// No key is sent.
    #[default]
    None,
    /// A variable of the environment, and what it holds.
    Variable {
        /// Its name.
        name: String,
        /// What it holds; `None` when it is not set.
        value: Option<Secret>,
    },
    /// What a program prints.
    Command(Vec<String>),
}

/// Where a server is, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    /// Its address, without a slash at the end.
    pub url: String,
    /// Whether the user's own configuration names it; a key goes to no other place that only a project names.
    pub is_users: bool,
}

/// How a reply is found in what a program gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReplySource {
    /// It is what the program prints.
    #[default]
    Stdout,
    /// It is the file at the response path.
    File,
    /// It is the text at a pointer (RFC 6901) in the JSON that the program prints.
    Json(String),
}

/// How long each part of a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until the first byte of the reply.
    pub first_byte: Duration,
    /// Until the last.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            total: Duration::from_mins(30),
        }
    }
}

/// How large a reply, or an agent's output, may be when nobody says otherwise.
pub(crate) const MAX_REPLY_BYTES: u64 = 32 * 1024 * 1024;

/// What a provider is opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSetting {
    /// The name it is used by.
    pub name: String,
    /// Its kind: one of [`crate::kind_names`].
    pub kind: String,
    /// The model; the provider's own choice when not said.
    pub model: Option<String>,
    /// Where its server is, when not the vendor's.
    pub base_url: Option<BaseUrl>,
    /// Where its key comes from.
    pub key: KeySource,
    /// How long each part of a call may take.
    pub timeouts: Timeouts,
    /// The program of a CLI agent, when it is not found by its usual name.
    pub program: Option<PathBuf>,
    /// The program of `command`, with its arguments.
    pub argv: Vec<String>,
    /// How the reply from `command` is found.
    pub reply: ReplySource,
    /// Variables that an agent gets beside those of the environment.
    pub env: BTreeMap<String, String>,
    /// The recordings of `replay`.
    pub dir: Option<PathBuf>,
    /// How many tokens a reply may have; sent where the API takes it.
    pub max_output_tokens: Option<u64>,
    /// How large a reply, or an agent's output, may be.
    pub max_reply_bytes: u64,
    /// Whether it takes system text apart from the user's.
    pub supports_system_prompt: bool,
    /// Whether files are named as `@path` and opened or sent, instead of standing in the text.
    pub supports_file_attachments: bool,
}

impl ProviderSetting {
    /// A provider of a kind, with nothing set.
    pub fn new(name: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            model: None,
            base_url: None,
            key: KeySource::None,
            timeouts: Timeouts::default(),
            program: None,
            argv: Vec::new(),
            reply: ReplySource::Stdout,
            env: BTreeMap::new(),
            dir: None,
            max_output_tokens: None,
            max_reply_bytes: MAX_REPLY_BYTES,
            supports_system_prompt: false,
            supports_file_attachments: false,
        }
    }
}
