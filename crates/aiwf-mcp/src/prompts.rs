//! The next prompt of each open session, as an MCP prompt named after the session.

use aiwf_engine::{Engine, SessionStatus, SessionSummary};
use rmcp::model::{GetPromptResult, ListPromptsResult, Prompt, PromptMessage, Role};

use crate::page::page;
use crate::tool_error::ToolError;

const PER_PAGE: usize = 100;

pub(crate) fn list(engine: &Engine, cursor: Option<&str>) -> Result<ListPromptsResult, ToolError> {
    let mut open = engine.list_sessions()?;
    open.retain(|session| !session.status.is_ended() && session.status != SessionStatus::Unreadable);
    let ids = open.iter().map(|session| session.session_id.clone()).collect();
    let of = |id: &str| open.iter().filter(|session| session.session_id == id).map(described).collect();
    let (prompts, next_cursor) = page(ids, cursor, PER_PAGE, of);
    let mut result = ListPromptsResult::with_all_items(prompts);
    result.next_cursor = next_cursor;
    Ok(result)
}

fn described(session: &SessionSummary) -> Prompt {
    let description = format!(
        "The next prompt of this {} session: {}, iteration {}",
        session.profile, session.phase, session.iteration
    );
    Prompt::new(&session.session_id, Some(description), None)
}

/// The prompt of a session, byte for byte as in `aiwf preview`.
pub(crate) fn get(engine: &Engine, session: &str) -> Result<GetPromptResult, ToolError> {
    let preview = engine.preview_session(Some(session))?;
    let description = format!(
        "The {} prompt of session {}, payload SHA-256 {}",
        preview.metadata.phase, preview.session_id, preview.metadata.payload_sha256
    );
    let message = PromptMessage::new_text(Role::User, preview.text());
    Ok(GetPromptResult::new(vec![message]).with_description(description))
}
