//! What the receiver of a prompt can take, and how the prompt is written down for it.
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
    /// Works with text alone.
    None,
}

impl FsAbility {
    /// Every value, in the order the documentation lists them.
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

    /// The value with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ability| ability.as_str() == name)
    }
}

/// What the receiver can take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capability {
    /// What it can do with files; nothing is said about saving when it is not known.
    pub fs_ability: Option<FsAbility>,
    /// Whether it takes system text apart from the user's.
    pub supports_system_prompt: bool,
    /// Whether files are named as `@path` instead of standing in the text.
    pub supports_file_attachments: bool,
    /// Whether the files that are named so travel with the request; else the receiver opens them by itself.
    pub sends_files: bool,
}

/// How sections are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Markdown text.
    Text,
    /// One `<prompt>` document.
    Xml,
    /// A JSON array of messages, one for each section.
    Messages,
}

impl Format {
    /// Every value, in the order the documentation lists them.
    pub const ALL: [Self; 3] = [Self::Text, Self::Xml, Self::Messages];

    /// The name used in flags and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Xml => "xml",
            Self::Messages => "messages",
        }
    }

    /// The value with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }
}
