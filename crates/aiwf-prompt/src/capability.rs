//! The capabilities of a prompt's receiver, and the format it gets.
//!
//! Capabilities, not provider names, shape a prompt.

/// What a provider can do with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsAbility {
    /// Reads and writes files of the project.
    LocalWrite,
    /// Reads files of the project.
    LocalRead,
    /// Offers files for download.
    WriteOnly,
    /// Works with text only.
    None,
}

impl FsAbility {
    pub const ALL: [Self; 4] = [Self::LocalWrite, Self::LocalRead, Self::WriteOnly, Self::None];

    /// The name used in flags, documents and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LocalWrite => "local-write",
            Self::LocalRead => "local-read",
            Self::WriteOnly => "write-only",
            Self::None => "none",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ability| ability.as_str() == name)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capability {
    /// What it can do with files; if unknown, the prompt does not say how to save the reply.
    pub fs_ability: Option<FsAbility>,
    /// Whether it accepts system text separately from the user's.
    pub supports_system_prompt: bool,
    /// Whether files are named as `@path` instead of being included in the text.
    pub supports_file_attachments: bool,
    /// Whether those files are sent with the request; otherwise the receiver opens them itself.
    pub sends_files: bool,
}

/// The format of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Markdown text.
    Text,
    /// One `<prompt>` document.
    Xml,
    /// A JSON array of messages, one per section.
    Messages,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Text, Self::Xml, Self::Messages];

    /// The name used in flags and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Xml => "xml",
            Self::Messages => "messages",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }
}
