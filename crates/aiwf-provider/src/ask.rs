//! How a provider is asked.

use crate::payload::Payload;

/// What a provider gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The reply, whole.
    Reply(String),
    /// A person will put the reply in place.
    AwaitsPerson,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The request was never recorded.
    #[error("no recording answers this request{}", near(nearest.as_deref(), differs.as_deref()))]
    NotRecorded {
        /// The recording that is most alike.
        nearest: Option<String>,
        /// The first section that differs from it.
        differs: Option<String>,
    },
    /// The recordings cannot be read.
    #[error("recordings in `{directory}` cannot be read: {message}")]
    Unreadable {
        /// Where they are.
        directory: String,
        /// What is wrong.
        message: String,
    },
}

fn near(nearest: Option<&str>, differs: Option<&str>) -> String {
    match (nearest, differs) {
        (Some(nearest), Some(differs)) => {
            format!("\n  nearest: `{nearest}`; the first section that differs is `{differs}`")
        }
        (Some(nearest), None) => format!("\n  nearest: `{nearest}`"),
        (None, _) => String::new(),
    }
}

impl AskError {
    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotRecorded { .. } => {
                "bring the inputs back to what was recorded, or use a provider that can answer".to_owned()
            }
            Self::Unreadable { .. } => "check the `dir` of the provider in `.aiwf/config.toml`".to_owned(),
        }
    }
}

/// Someone who can be asked.
pub trait Ask {
    /// Whether asking twice costs nothing and changes nothing.
    fn is_free(&self) -> bool;
    /// Asks once.
    fn ask(&self, payload: &Payload) -> Result<Answer, AskError>;
}
