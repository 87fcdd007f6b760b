//! The document of recipe `session`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::ToolDocument;
use crate::prompt::gather::ReadArtifact;

/// A step of a session, and the abilities of the receiver.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionDocument {
    /// The session directory.
    #[serde(alias = "sessionDir")]
    pub session_dir: String,
    /// The current phase of the session.
    #[schemars(extend("enum" = ["initialized", "planning", "generating", "reviewing", "revising"]))]
    pub phase: String,
    /// The iteration, starting at 1.
    #[schemars(range(min = 1))]
    pub iteration: u32,
    /// The prompt of the profile.
    #[serde(alias = "profilePrompt")]
    pub profile_prompt: String,
    /// What the receiver can do with files: local-write, local-read, write-only or none.
    #[serde(default, alias = "fsAbility")]
    pub fs_ability: Option<String>,
    /// Whether the receiver takes a separate system prompt.
    #[serde(default, alias = "supportsSystemPrompt")]
    pub supports_system_prompt: Option<bool>,
    /// Whether the receiver opens `@path` references itself.
    #[serde(default, alias = "supportsFileAttachments")]
    pub supports_file_attachments: Option<bool>,
    /// People's open comments on what the phase reads or writes.
    #[serde(default)]
    pub comments: Option<String>,
    /// Notes that people gave when they approved what the phase reads.
    #[serde(default)]
    pub notes: Option<String>,
    /// The user's feedback on the rejected reply.
    #[serde(default)]
    pub feedback: Option<String>,
    /// The rejected reply, as a path relative to the session directory.
    #[serde(default, alias = "rejectedReply")]
    pub rejected_reply: Option<String>,
    /// Tools for a receiver without native tools; only the engine sets them.
    #[serde(skip)]
    #[schemars(skip)]
    pub tools: Vec<ToolDocument>,
    /// What only a session that changes files of the project has.
    #[serde(skip)]
    #[schemars(skip)]
    pub project: ProjectParts,
}

/// The parts of a prompt about files of the project.
#[derive(Clone, Debug, Default)]
pub struct ProjectParts {
    /// The files that the session is about, by path relative to the project.
    pub files: Vec<ReadArtifact>,
    /// The approved code as changes of the project.
    pub changes: Option<ReadArtifact>,
    /// The results of the project's checks.
    pub checks: Option<ReadArtifact>,
    /// How to answer, if the profile leaves that to the engine.
    pub answer_format: Option<String>,
}
