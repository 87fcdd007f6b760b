//! Why a change of a run's state is rejected.

use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectCode {
    /// The file is not the one the caller read.
    PreconditionFailed,
    /// The front matter is missing or unreadable.
    InvalidFrontMatter,
    /// The front matter does not match its schema.
    SchemaValidation,
    /// The run cannot go to that node, or not yet.
    InvalidTransition,
}

impl RejectCode {
    /// The code as shown to models.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreconditionFailed => "E_PRECONDITION_FAILED",
            Self::InvalidFrontMatter => "E_INVALID_FRONTMATTER",
            Self::SchemaValidation => "E_SCHEMA_VALIDATION",
            Self::InvalidTransition => "E_INVALID_TRANSITION",
        }
    }
}

/// A rejected change; the file is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Rejected {
    pub code: RejectCode,
    pub message: String,
    /// Details that help a model to correct the change.
    pub details: Option<Value>,
}

impl Rejected {
    pub(crate) fn new(code: RejectCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}
