//! What a prompt should contain and does not.

use serde::{Deserialize, Serialize};

/// Why something is not in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutKind {
    /// Over the budget set by the user.
    Budget,
    /// Over the provider's context window.
    Window,
    /// Larger than the limit for one file.
    SizeCap,
    /// Not text, or with characters that the format cannot contain.
    Encoding,
    Missing,
    /// Not readable, or outside the directories that may be read.
    Unreadable,
}

impl LeftOutKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Window => "window",
            Self::SizeCap => "size-cap",
            Self::Encoding => "encoding",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Something that a prompt should contain and does not contain, or not in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The file, pattern or section.
    pub id: String,
    /// If known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// If counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    pub kind: LeftOutKind,
    pub reason: String,
}
