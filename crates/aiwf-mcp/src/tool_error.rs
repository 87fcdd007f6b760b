//! Errors of tools, worded as on the command line.

use std::error::Error;

use aiwf_engine::config::Settings;
use aiwf_engine::{EngineError, SessionError};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

use crate::advice_words::worded;
use crate::hidden_paths::without_machine_paths;

/// An error with its causes in one text, and a hint.
#[derive(Debug)]
pub(crate) struct ToolError {
    code: &'static str,
    message: String,
    hint: Option<String>,
    is_not_found: bool,
}

impl ToolError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: Some(hint.into()), is_not_found: false }
    }

    /// Something that the client referred to does not exist.
    pub(crate) fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { is_not_found: true, ..Self::new("ARTIFACT_NOT_FOUND", message, hint) }
    }

    /// The same error, after a first part that succeeded.
    pub(crate) fn after(mut self, done: &str) -> Self {
        self.message = format!("{done}, but: {}", self.message);
        self
    }

    /// The error as a tool result, so that the client's model can read it and react.
    pub(crate) fn into_result(self, settings: &Settings) -> CallToolResult {
        let code = self.code;
        let (message, hint) = self.shown(settings);
        let text = match &hint {
            Some(hint) => format!("error: {message}\n\nhint: {hint}"),
            None => format!("error: {message}"),
        };
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        let error = match hint {
            Some(hint) => json!({ "code": code, "message": message, "hint": hint }),
            None => json!({ "code": code, "message": message }),
        };
        result.structured_content = Some(json!({ "error": error }));
        result
    }

    /// The error as a response to a request other than a tool call.
    pub(crate) fn into_protocol_error(self, settings: &Settings) -> ErrorData {
        let (code, is_not_found) = (self.code, self.is_not_found);
        let (message, hint) = self.shown(settings);
        // The protocol's own code is a number; ours goes next to the hint.
        let data = Some(match hint {
            Some(hint) => json!({ "code": code, "hint": hint }),
            None => json!({ "code": code }),
        });
        if is_not_found {
            ErrorData::resource_not_found(message, data)
        } else {
            ErrorData::invalid_params(message, data)
        }
    }

    fn shown(self, settings: &Settings) -> (String, Option<String>) {
        let shown = |text: &str| without_machine_paths(text, settings);
        (shown(&self.message), self.hint.as_deref().map(shown))
    }
}

impl From<SessionError> for ToolError {
    fn from(error: SessionError) -> Self {
        if let SessionError::InPhase { session_id, phase, error } = error {
            let mut of_phase = Self::from(*error);
            of_phase.message = format!("{}\n  session `{session_id}`, phase `{phase}`", of_phase.message);
            return of_phase;
        }
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}\n  caused by: {cause}");
            source = cause.source();
        }
        let is_not_found = matches!(
            error,
            SessionError::NoSession { .. }
                | SessionError::NoArtifact { .. }
                | SessionError::NotReopenable { .. }
                | SessionError::OutsideSession { .. }
                | SessionError::Engine(EngineError::LeavesDirectory { .. } | EngineError::BrokenLink { .. })
        );
        let hint =
            in_words_of_clients(&error).map(str::to_owned).or_else(|| error.advice().as_ref().map(worded));
        Self { code: error.code(), message, hint, is_not_found }
    }
}

/// A hint for a client with tools and no command line; `None` if the usual hint is fine.
fn in_words_of_clients(error: &SessionError) -> Option<&'static str> {
    if let SessionError::NoSession { .. } = error {
        Some("`list_sessions` lists the sessions; `start_session` starts one")
    } else if let SessionError::Params { .. } | SessionError::UnknownProfile { .. } = error {
        Some("the input schema of `start_session` describes the profiles and their parameters")
    } else {
        None
    }
}
