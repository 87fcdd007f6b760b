//! What a prompt was to hold and does not.

use serde::{Deserialize, Serialize};

/// Why something is not in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutKind {
    /// It does not fit the budget that somebody set.
    Budget,
    /// It does not fit what the provider reads at once.
    Window,
    /// It is larger than a file may be.
    SizeCap,
    /// It is not text, or holds characters that the format cannot.
    Encoding,
    /// It is not there.
    Missing,
    /// It cannot be read, or leads where nothing is read from.
    Unreadable,
}

impl LeftOutKind {
    /// The word used in output and JSON.
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

/// Something that a prompt was to hold and does not, or not as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The file, pattern or section.
    pub id: String,
    /// Its size, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its size in tokens, where it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Why, in one word.
    pub kind: LeftOutKind,
    /// Why, in a sentence.
    pub reason: String,
}
