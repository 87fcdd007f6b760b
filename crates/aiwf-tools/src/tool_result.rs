//! The result of a call, as text for a model and as data for a program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use aiwf_store::{Objects, sha256_hex};
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde::Serialize;
use serde_json::Value;

use crate::error::ToolsError;
use crate::shown::{excerpt, floor_boundary};

/// Where results that are truncated or not text are saved, in files named by their SHA-256.
#[derive(Clone, Copy, Debug)]
pub struct ResultsDir<'a> {
    pub path: &'a Path,
    /// The directory as shown to a model: relative to the project, or an alias.
    pub shown: &'a str,
}

/// The size limit of a result, and where the whole is saved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap<'a> {
    /// Maximum number of bytes of text.
    pub(crate) max_bytes: u64,
    /// Where results that are larger or not text are saved.
    pub(crate) results: ResultsDir<'a>,
}

/// What a result contains besides text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    Image,
    Audio,
    Resource,
    /// Where a resource is; its content is not part of the result.
    ResourceLink,
}

impl AttachmentKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Resource => "resource",
            Self::ResourceLink => "resource_link",
        }
    }
}

/// Content of a result that is not text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attachment {
    pub kind: AttachmentKind,
    /// The media type declared by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its decoded size in bytes, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolResult {
    /// Whether the tool reported a failure.
    pub is_error: bool,
    /// The result as text: complete, or its beginning with a note.
    pub text: String,
    /// Whether `text` is truncated.
    pub is_cut: bool,
    /// The size of the complete text in bytes.
    pub bytes: u64,
    /// SHA-256 of the complete text.
    pub sha256: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The file with the complete result, if `text` is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

impl ToolResult {
    pub(crate) fn new(result: &CallToolResult, cap: Cap<'_>) -> Result<Self, ToolsError> {
        let (whole, attachments) = render(result);
        let max_bytes = usize::try_from(cap.max_bytes).unwrap_or(usize::MAX);
        let is_cut = whole.len() > max_bytes;
        let structured = result.structured_content.clone();
        // The structured result has the same limit as the text; the file contains all of it.
        let structured_bytes = structured.as_ref().map_or(0, |value| value.to_string().len());
        let is_structured_cut = structured_bytes > max_bytes;
        let holds_data = attachments.iter().any(|attachment| attachment.kind != AttachmentKind::ResourceLink);
        let keep = |bytes: &[u8]| Objects::in_directory(cap.results.path)?.keep(bytes);
        // Text for a reader; the original JSON if there is more than text.
        let kept = if holds_data || is_structured_cut {
            // Invariant: every key is a string, so serializing cannot fail.
            Some(keep(&serde_json::to_vec(result).unwrap_or_default())?)
        } else if is_cut {
            Some(keep(whole.as_bytes())?)
        } else {
            None
        };
        let (bytes, sha256) = (whole.len() as u64, sha256_hex(whole.as_bytes()));
        let text = match &kept {
            Some(name) if is_cut => cut(&whole, max_bytes, &format!("{}/{name}", cap.results.shown)),
            _ => whole,
        };
        Ok(Self {
            is_error: result.is_error == Some(true),
            text,
            is_cut,
            bytes,
            sha256,
            attachments,
            structured: structured.filter(|_| !is_structured_cut),
            path: kept.map(|name| cap.results.path.join(name)),
        })
    }
}

fn cut(whole: &str, max_bytes: usize, path: &str) -> String {
    let end = floor_boundary(whole, max_bytes);
    let start = whole.get(..end).unwrap_or_default();
    format!(
        "{start}\n[truncated: the first {end} of {} bytes; the complete result is in `{path}`]",
        whole.len()
    )
}

/// The text of a result, and its other content.
fn render(result: &CallToolResult) -> (String, Vec<Attachment>) {
    let mut pieces = Vec::new();
    let mut attachments = Vec::new();
    for block in &result.content {
        match block {
            ContentBlock::Text(text) => pieces.push(text.text.clone()),
            ContentBlock::Image(image) => {
                add(
                    &mut pieces,
                    &mut attachments,
                    binary(AttachmentKind::Image, Some(&image.mime_type), None, &image.data),
                );
            }
            ContentBlock::Audio(audio) => {
                add(
                    &mut pieces,
                    &mut attachments,
                    binary(AttachmentKind::Audio, Some(&audio.mime_type), None, &audio.data),
                );
            }
            ContentBlock::Resource(resource) => match &resource.resource {
                ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                    let mime = mime_type.as_deref().map(|mime| format!(" {}", excerpt(mime)));
                    pieces.push(format!("[resource {}{}]\n{text}", excerpt(uri), mime.unwrap_or_default()));
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let attachment = binary(AttachmentKind::Resource, mime_type.as_deref(), Some(uri), blob);
                    add(&mut pieces, &mut attachments, attachment);
                }
                _ => pieces.push("[a resource of an unknown kind]".to_owned()),
            },
            ContentBlock::ResourceLink(link) => {
                pieces.push(shown_link(link));
                attachments.push(Attachment {
                    kind: AttachmentKind::ResourceLink,
                    mime_type: link.mime_type.as_deref().map(excerpt),
                    uri: Some(excerpt(&link.uri)),
                    bytes: link.size,
                });
            }
            _ => pieces.push("[content of an unknown kind]".to_owned()),
        }
    }
    // Servers usually repeat a structured result as text; otherwise it is shown as JSON.
    if pieces.is_empty()
        && let Some(structured) = &result.structured_content
    {
        pieces.push(format!("{structured:#}"));
    }
    (pieces.join("\n"), attachments)
}

fn add(pieces: &mut Vec<String>, attachments: &mut Vec<Attachment>, attachment: Attachment) {
    let mut shown = format!("[{}", attachment.kind.as_str());
    for part in [&attachment.uri, &attachment.mime_type].into_iter().flatten() {
        // Writing to a string cannot fail.
        let _ = write!(shown, " {part}");
    }
    if let Some(bytes) = attachment.bytes {
        let _ = write!(shown, ", {bytes} bytes");
    }
    shown.push(']');
    pieces.push(shown);
    attachments.push(attachment);
}

fn binary(kind: AttachmentKind, mime_type: Option<&str>, uri: Option<&str>, base64: &str) -> Attachment {
    let n_padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    let n_bytes = (base64.len() / 4 * 3).saturating_sub(n_padding);
    Attachment { kind, mime_type: mime_type.map(excerpt), uri: uri.map(excerpt), bytes: Some(n_bytes as u64) }
}

fn shown_link(link: &Resource) -> String {
    let mut shown = format!("[resource link {} {}", excerpt(&link.uri), excerpt(&link.name));
    if let Some(description) = &link.description {
        let _ = write!(shown, ": {}", excerpt(description));
    }
    shown.push(']');
    shown
}

#[cfg(test)]
#[path = "tool_result_tests.rs"]
mod tests;
