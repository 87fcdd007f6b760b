//! Why a change of a run's state is not taken.

use serde_json::Value;

/// What kind of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectCode {
    /// The file is not the one the caller read.
    PreconditionFailed,
    /// There is no front matter, or it cannot be read.
    InvalidFrontMatter,
    /// It does not fit its schema.
    SchemaValidation,
    /// The run cannot go there, or not yet.
    InvalidTransition,
}

impl RejectCode {
    /// As a model reads it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreconditionFailed => "E_PRECONDITION_FAILED",
            Self::InvalidFrontMatter => "E_INVALID_FRONTMATTER",
            Self::SchemaValidation => "E_SCHEMA_VALIDATION",
            Self::InvalidTransition => "E_INVALID_TRANSITION",
        }
    }
}

/// A change that is not taken; the file is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Rejected {
    /// What kind.
    pub code: RejectCode,
    /// What is wrong.
    pub message: String,
    /// What a model can work with.
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
