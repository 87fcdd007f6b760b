//! The document of recipe `session`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::reply::ToolDocument;

/// A step of a session: which one, and for what kind of receiver.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionDocument {
    /// The session's directory.
    #[serde(alias = "sessionDir")]
    pub session_dir: String,
    /// The phase the session is in.
    #[schemars(extend("enum" = ["initialized", "planning", "generating", "reviewing", "revising"]))]
    pub phase: String,
    /// The iteration, from 1.
    #[schemars(range(min = 1))]
    pub iteration: u32,
    /// What the profile asks for.
    #[serde(alias = "profilePrompt")]
    pub profile_prompt: String,
    /// What the receiver can do with files: local-write, local-read, write-only or none.
    #[serde(default, alias = "fsAbility")]
    pub fs_ability: Option<String>,
    /// Whether the receiver takes system text apart from the user's.
    #[serde(default, alias = "supportsSystemPrompt")]
    pub supports_system_prompt: Option<bool>,
    /// Whether the receiver opens `@path` references by itself.
    #[serde(default, alias = "supportsFileAttachments")]
    pub supports_file_attachments: Option<bool>,
    /// What a person said when rejecting the last reply.
    #[serde(default)]
    pub feedback: Option<String>,
    /// The reply that was rejected, as a path below the session's directory.
    #[serde(default, alias = "rejectedReply")]
    pub rejected_reply: Option<String>,
    /// The tools that a receiver without tools of its own may call; only the engine knows them.
    #[serde(skip)]
    #[schemars(skip)]
    pub tools: Vec<ToolDocument>,
}
