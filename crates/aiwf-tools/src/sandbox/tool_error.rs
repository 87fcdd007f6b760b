//! Why a call failed, in the form a model receives.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// `ENOENT`.
    NotFound,
    /// `E_SANDBOX_VIOLATION`.
    SandboxViolation,
    /// `E_READ_LIMIT`.
    ReadLimit,
    /// `E_WRITE_LIMIT`.
    WriteLimit,
    /// `E_INVALID_FRONTMATTER`.
    InvalidFrontMatter,
    /// `E_SCHEMA_VALIDATION`.
    SchemaValidation,
    /// `E_INVALID_TRANSITION`.
    InvalidTransition,
    /// `E_PRECONDITION_FAILED`.
    PreconditionFailed,
    /// `E_INVALID_ARGS`.
    InvalidArgs,
    /// `E_INTERNAL`.
    Internal,
    ToolNotAvailable,
    ToolArgsInvalidJson,
    ToolExecFailed,
    StateChangeRequiresConfirmation,
}

impl ErrorCode {
    /// The code as shown to models.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "ENOENT",
            Self::SandboxViolation => "E_SANDBOX_VIOLATION",
            Self::ReadLimit => "E_READ_LIMIT",
            Self::WriteLimit => "E_WRITE_LIMIT",
            Self::InvalidFrontMatter => "E_INVALID_FRONTMATTER",
            Self::SchemaValidation => "E_SCHEMA_VALIDATION",
            Self::InvalidTransition => "E_INVALID_TRANSITION",
            Self::PreconditionFailed => "E_PRECONDITION_FAILED",
            Self::InvalidArgs => "E_INVALID_ARGS",
            Self::Internal => "E_INTERNAL",
            Self::ToolNotAvailable => "TOOL_NOT_AVAILABLE",
            Self::ToolArgsInvalidJson => "TOOL_ARGS_INVALID_JSON",
            Self::ToolExecFailed => "TOOL_EXEC_FAILED",
            Self::StateChangeRequiresConfirmation => "STATE_CHANGE_REQUIRES_CONFIRMATION",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A call that was refused or failed; nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    pub code: ErrorCode,
    /// What is wrong, without real paths.
    pub message: String,
    /// Details that help a model to correct the call.
    pub details: Option<Value>,
}

impl ToolError {
    /// An error without details; the message says what is wrong and, after a colon, what to do about it.
    #[cfg_attr(test, track_caller)]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        #[cfg(test)]
        tests::note_place(std::panic::Location::caller());
        Self { code, message: message.into(), details: None }
    }

    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The result of the call.
    pub fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code.as_str(), "message": self.message });
        if let (Some(details), Some(error)) = (&self.details, error.as_object_mut()) {
            error.insert("details".to_owned(), details.clone());
        }
        json!({ "ok": false, "error": error })
    }
}

/// Parses the arguments of a call; unknown, missing and mistyped ones are named.
pub fn parse_args<T: DeserializeOwned>(args: Value) -> Result<T, ToolError> {
    if !args.is_object() {
        return Err(ToolError::new(
            ErrorCode::InvalidArgs,
            "arguments are not a JSON object: send an object",
        ));
    }
    serde_json::from_value(args).map_err(|error| {
        ToolError::new(
            ErrorCode::InvalidArgs,
            format!("invalid arguments ({error}): correct them, then call again"),
        )
    })
}

#[cfg(test)]
#[path = "tool_error_tests.rs"]
mod tests;
