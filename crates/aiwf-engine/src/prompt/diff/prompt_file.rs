//! Reads prompts that a command printed with `--json`: `prompt build`, `prompt preview`, and `preview` of a session or run.
//!
//! Only the texts are read; keys that repeat them are skipped.

use std::borrow::Cow;

use aiwf_prompt::{Sha256Hex, Tokenizer};
use aiwf_provider::ToolSpec;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ComparedPrompt;
use super::diff_error::DiffError;
use crate::ask::sent_parts::{OwnedPiece, role_of, tool_pieces};
use crate::prompt::request_record::RequestRecord;

/// What all of them have in common.
#[derive(Deserialize)]
struct PromptFile<'a> {
    #[serde(borrow, default)]
    sections: Vec<FileSection<'a>>,
    /// Read only if the sections do not add up to the prompt.
    #[serde(borrow, default)]
    messages: Option<&'a RawValue>,
    /// The printed text of `prompt preview`.
    #[serde(borrow, default)]
    prompt: Option<&'a RawValue>,
    /// The canonical form, in the preview of a run.
    #[serde(borrow, default)]
    payload: Option<Canonical<'a>>,
    #[serde(borrow, default)]
    layers: Vec<FileLayer<'a>>,
    #[serde(default)]
    tools: Vec<ToolSpec>,
    #[serde(borrow, default)]
    metadata: Option<FileMetadata<'a>>,
    #[serde(borrow, default)]
    provider: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    request: Option<FileRequest<'a>>,
}

/// Only the provider that a prompt was built for.
#[derive(Deserialize)]
struct FileRequest<'a> {
    #[serde(borrow, default, rename = "for")]
    provider: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct FileSection<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    source: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(default)]
    bytes: usize,
    #[serde(borrow, default)]
    content: Option<Cow<'a, str>>,
}

impl FileSection<'_> {
    fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct FileMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Cow<'a, str>,
}

#[derive(Deserialize)]
struct FileLayer<'a> {
    #[serde(borrow)]
    layer: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Canonical<'a> {
    #[serde(borrow, default)]
    system: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    messages: Vec<CanonicalMessage<'a>>,
    #[serde(default)]
    tools: Vec<ToolSpec>,
}

#[derive(Deserialize)]
struct CanonicalMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct FileMetadata<'a> {
    #[serde(borrow, default)]
    tokenizer: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    sha256: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    provider: Option<Cow<'a, str>>,
}

/// How a prompt was built, if its file says so.
pub(super) fn request(name: &str, json: &str) -> Result<Option<RequestRecord>, DiffError> {
    #[derive(Deserialize)]
    struct WithRequest {
        #[serde(default)]
        request: Option<RequestRecord>,
    }
    // Reading the prompt first reports a file that is none.
    read(name, json)?;
    Ok(serde_json::from_str::<WithRequest>(json).ok().and_then(|file| file.request))
}

/// Reads a prompt; `name` is its path as the user typed it.
pub(super) fn read(name: &str, json: &str) -> Result<ComparedPrompt, DiffError> {
    let not_a_prompt = |problem: String| DiffError::NotAPrompt { path: name.to_owned(), problem };
    let file: PromptFile<'_> = serde_json::from_str(json).map_err(|error| {
        let problem = if error.is_data() { "it has none of the expected keys" } else { "it is not JSON" };
        not_a_prompt(format!("{problem}, line {}", error.line()))
    })?;
    let metadata = file.metadata.as_ref();
    let tokenizer = metadata.and_then(|metadata| Tokenizer::from_name(metadata.tokenizer.as_deref()?));
    let provider = metadata.and_then(|metadata| metadata.provider.clone()).or_else(|| file.provider.clone());
    let provider = provider.or_else(|| file.request.as_ref()?.provider.clone());
    let mut pieces = tool_pieces(&file.tools);
    if let Some(payload) = &file.payload {
        pieces.extend(of_run(payload, &file.layers));
    } else if file.sections.is_empty() && file.messages.is_none() {
        return Err(not_a_prompt("it has no sections".to_owned()));
    } else {
        pieces.extend(of_sections(name, &file)?);
    }
    Ok(ComparedPrompt { name: name.to_owned(), provider: provider.map(Cow::into_owned), tokenizer, pieces })
}

/// The next request of a run: its layers name the texts of the canonical form in order.
fn of_run(payload: &Canonical<'_>, layers: &[FileLayer<'_>]) -> Vec<OwnedPiece> {
    let mut pieces = tool_pieces(&payload.tools);
    let mut layers = layers.iter().map(|layer| layer.layer.to_string());
    let system = payload.system.iter().map(|text| ("system", text.to_string()));
    let messages = payload.messages.iter().map(|message| {
        let calls = message.tool_calls.map(RawValue::get).unwrap_or_default();
        (role_of(&message.role), message.content.concat() + calls)
    });
    pieces.extend(system.chain(messages).map(|(role, text)| OwnedPiece {
        section: layers.next().unwrap_or_else(|| role.to_owned()),
        source: String::new(),
        role,
        text,
    }));
    pieces
}

/// The texts of the sections in the order of the messages.
fn of_sections(name: &str, file: &PromptFile<'_>) -> Result<Vec<OwnedPiece>, DiffError> {
    if let Some(pieces) = whole(file) {
        return Ok(pieces);
    }
    let messages: Option<Vec<FileMessage<'_>>> =
        file.messages.and_then(|messages| serde_json::from_str(messages.get()).ok());
    let Some(messages) = &messages else {
        let text: String = match file.prompt {
            Some(prompt) => serde_json::from_str(prompt.get()).unwrap_or_default(),
            None => String::new(),
        };
        return by_content(name, file, &[("user", &text)]);
    };
    let messages: Vec<(&str, &str)> =
        messages.iter().map(|message| (role_of(&message.role), message.content.as_ref())).collect();
    if file.sections.iter().any(|section| section.content.is_some()) {
        return by_content(name, file, &messages);
    }
    by_size(name, file, &messages)
}

/// Printed between system text and the user's.
const APART: &str = "\n\n---\n\n";

/// The sections, if they are the whole prompt by its hash; then the larger copies of the text need not be read.
fn whole(file: &PromptFile<'_>) -> Option<Vec<OwnedPiece>> {
    let sha256 = file.metadata.as_ref()?.sha256.as_deref()?;
    let kept = file.sections.iter().filter(|section| !section.text().is_empty());
    let is_system = |section: &&FileSection<'_>| section.role == "system";
    let (system, user): (Vec<&FileSection<'_>>, Vec<&FileSection<'_>>) = kept.partition(is_system);
    let joint = if system.is_empty() || user.is_empty() { "" } else { APART };
    let is_whole = |joint: &str| {
        let (system, user) =
            (system.iter().map(|section| section.text()), user.iter().map(|section| section.text()));
        Sha256Hex::of(system.chain([joint]).chain(user)).to_string() == sha256
    };
    let is_apart = is_whole(joint);
    // A document in one message has no system text of its own.
    let is_one = !is_apart && !joint.is_empty() && is_whole("");
    if !is_apart && !is_one {
        return None;
    }
    let is_document =
        is_one || system.iter().chain(&user).next().is_some_and(|first| first.text().starts_with("<prompt>"));
    let piece = |section: &&FileSection<'_>| OwnedPiece {
        section: section.id.to_string(),
        source: section.source.to_string(),
        role: if is_document { "user" } else { role_of(&section.role) },
        text: section.text().to_owned(),
    };
    Some(system.iter().chain(&user).map(piece).collect())
}

/// Sections without text: their sizes cut the messages, as in the preview of a session.
fn by_size(
    name: &str,
    file: &PromptFile<'_>,
    messages: &[(&str, &str)],
) -> Result<Vec<OwnedPiece>, DiffError> {
    let mut sections = file.sections.iter();
    let mut pieces = Vec::new();
    for (role, text) in messages {
        let mut rest = *text;
        while !rest.is_empty() {
            let section = sections.next();
            let cut = section.and_then(|section| rest.split_at_checked(section.bytes));
            let (Some(section), Some((text, after))) = (section, cut.filter(|(text, _)| !text.is_empty()))
            else {
                return Err(DiffError::NoText { path: name.to_owned() });
            };
            pieces.push(OwnedPiece {
                section: section.id.to_string(),
                source: section.source.to_string(),
                role: role_of(role),
                text: text.to_owned(),
            });
            rest = after;
        }
    }
    Ok(pieces)
}

/// Finds the text of each section in the messages; text between them belongs to none.
fn by_content(
    name: &str,
    file: &PromptFile<'_>,
    messages: &[(&str, &str)],
) -> Result<Vec<OwnedPiece>, DiffError> {
    let mut left: Vec<(&FileSection<'_>, &str)> = file
        .sections
        .iter()
        .filter_map(|section| Some((section, section.content.as_deref().filter(|text| !text.is_empty())?)))
        .collect();
    if left.is_empty() {
        return Err(DiffError::NoText { path: name.to_owned() });
    }
    let is_in_messages = messages.iter().any(|(_, text)| !text.is_empty());
    let mut pieces = Vec::new();
    let piece = |section: &FileSection<'_>, role: &str, text: &str| OwnedPiece {
        section: section.id.to_string(),
        source: section.source.to_string(),
        role: role_of(role),
        text: text.to_owned(),
    };
    for (role, text) in messages {
        let mut rest = *text;
        while !rest.is_empty() {
            // Usually the next section comes next; a format may order them differently.
            let found = left.iter().position(|(_, content)| rest.starts_with(content));
            let (index, at) = if let Some(index) = found {
                (index, 0)
            } else {
                let places = left.iter().enumerate();
                let nearest =
                    places.filter_map(|(index, (_, content))| Some((rest.find(content)?, index))).min();
                let Some((at, index)) = nearest else { break };
                (index, at)
            };
            let (section, content) = left.remove(index);
            if let Some(between) = rest.get(..at).filter(|between| !between.is_empty()) {
                pieces.push(OwnedPiece {
                    section: "separator".to_owned(),
                    source: String::new(),
                    role: role_of(role),
                    text: between.to_owned(),
                });
            }
            pieces.push(piece(section, role, content));
            rest = rest.get(at + content.len()..).unwrap_or_default();
        }
        if !rest.is_empty() {
            let rest = OwnedPiece {
                section: "text".to_owned(),
                source: String::new(),
                role: role_of(role),
                text: rest.to_owned(),
            };
            pieces.push(rest);
        }
    }
    if !is_in_messages {
        pieces.extend(left.into_iter().map(|(section, content)| piece(section, "user", content)));
    }
    Ok(pieces)
}

#[cfg(test)]
#[path = "prompt_file_tests.rs"]
mod tests;
