//! Files of sessions as resources: `aiwf://session/ID/PATH`, where the path may be the name of an artifact.
//!
//! They are read like in `aiwf show`, with the same confinement by the engine.

use aiwf_engine::{Engine, SessionArtifact};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::page::page;
use crate::tool_error::ToolError;

/// Approximate number of resources per page; a session is never split.
const PER_PAGE: usize = 100;
/// Size limit of a file.
const MAX_BYTES: usize = 4 * 1024 * 1024;
const PREFIX: &str = "aiwf://session/";
/// Characters that are not escaped in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

pub(crate) fn list(engine: &Engine, cursor: Option<&str>) -> Result<ListResourcesResult, ToolError> {
    let ids = engine.list_sessions()?.into_iter().map(|session| session.session_id).collect();
    // An unreadable session has no resources; `list_sessions` reports what is wrong with it.
    let of = |id: &str| {
        let artifacts = engine.session_artifacts(Some(id)).unwrap_or_default();
        artifacts.iter().map(|artifact| described(id, artifact)).collect()
    };
    let (resources, next_cursor) = page(ids, cursor, PER_PAGE, of);
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next_cursor;
    Ok(result)
}

fn described(id: &str, artifact: &SessionArtifact) -> Resource {
    Resource::new(uri(id, &artifact.path), &artifact.path)
        .with_description(format!("A file of session {id}"))
        .with_mime_type(mime_type(&artifact.path))
        .with_size(artifact.n_bytes)
}

fn uri(id: &str, path: &str) -> String {
    format!("{PREFIX}{}/{}", utf8_percent_encode(id, ESCAPED), utf8_percent_encode(path, ESCAPED))
}

fn mime_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("md") => "text/markdown",
        Some("json") => "application/json",
        _ => "text/plain",
    }
}

/// The URI template of the files of a session.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{session}}/{{+artifact}}"), "artifact").with_description(
        "An artifact or file of a session (its id, a unique prefix of it, or latest): \
         plan, standards, prompt, response, review, code, or the path of a file",
    )
}

pub(crate) fn read(engine: &Engine, uri: &str) -> Result<ReadResourceResult, ToolError> {
    let unknown = || {
        ToolError::not_found(
            "no resource has this URI",
            format!("use a URI like `{PREFIX}ID/plan`; `resources/list` lists all"),
        )
    };
    let (id, path) = uri.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
    let id = percent_decode_str(id).decode_utf8().ok().ok_or_else(unknown)?;
    let path = percent_decode_str(path).decode_utf8().ok().ok_or_else(unknown)?;
    let (shown, text) = engine.session_file(Some(id.as_ref()), &path)?;
    if text.len() > MAX_BYTES {
        return Err(ToolError::new(
            "FILE_UNREADABLE",
            format!("`{shown}` has {} bytes, more than {MAX_BYTES}", text.len()),
            "open the file itself in the project",
        ));
    }
    let contents = ResourceContents::text(text, uri).with_mime_type(mime_type(&shown));
    Ok(ReadResourceResult::new(vec![contents]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_path_round_trips() {
        assert_eq!(
            uri("a-1", "iteration-1/code/Ü b%.java"),
            "aiwf://session/a-1/iteration-1/code/%C3%9C%20b%25.java"
        );
    }
}
