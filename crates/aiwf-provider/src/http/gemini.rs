//! Gemini's API: what is sent, and what its events say.

use aiwf_prompt::Role;
use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::api::Options;
use super::calls::{Piece, api_s_id, as_object, schema};
use super::fault::fault;
use super::stream::{Ending, FoldError, Stream, count, text};
use crate::payload::{Payload, Turn};

/// The body of a request; the model stands in the address.
///
/// The API caches prefixes by itself. Caches of their own are resources that are paid by the hour and have to be deleted, so
/// none is made.
pub(super) fn request_body(payload: &Payload, options: &Options<'_>) -> Value {
    let mut system = Vec::new();
    let mut contents = Contents::default();
    // The API takes no empty text; there is nothing to lose of it.
    if let Some(text) = payload.system_text().filter(|text| !text.is_empty()) {
        system.push(json!({ "text": text }));
    }
    for file in &payload.files {
        // A part with data has no name, so the path stands before it.
        contents.push("user", json!({ "text": format!("@{}:", file.path) }));
        let data = base64::engine::general_purpose::STANDARD.encode(&file.text);
        contents.push("user", json!({ "inlineData": { "mimeType": "text/plain", "data": data } }));
    }
    for message in payload.messages.iter().filter(|message| !message.is_empty()) {
        let part = json!({ "text": message.text() });
        match message.role {
            Role::System => system.push(part),
            Role::User => contents.push("user", part),
        }
    }
    for turn in &payload.turns {
        push_turn(&mut contents, turn);
    }

    let mut body = Map::new();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({ "parts": system }));
    }
    body.insert("contents".to_owned(), contents.into_value());
    if !payload.tools.is_empty() {
        let declarations: Vec<Value> = payload
            .tools
            .iter()
            .map(|tool| {
                let parameters = schema(&tool.parameters);
                // `parameters` takes a part of JSON schema only; this one takes all of it.
                json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": parameters })
            })
            .collect();
        body.insert("tools".to_owned(), json!([{ "functionDeclarations": declarations }]));
    }
    body.insert("generationConfig".to_owned(), json!({ "maxOutputTokens": options.max_output_tokens }));
    Value::Object(body)
}

/// Contents of alternating roles: all results of parallel calls stand in one.
#[derive(Default)]
struct Contents(Vec<(&'static str, Vec<Value>)>);

impl Contents {
    fn push(&mut self, role: &'static str, part: Value) {
        match self.0.last_mut() {
            Some((last, parts)) if *last == role => parts.push(part),
            _ => self.0.push((role, vec![part])),
        }
    }

    fn into_value(self) -> Value {
        self.0.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
    }
}

fn push_turn(contents: &mut Contents, turn: &Turn) {
    match turn {
        Turn::Assistant { content, tool_calls } => {
            if !content.is_empty() {
                contents.push("model", json!({ "text": content }));
            }
            for call in tool_calls {
                let function = json!({ "name": call.name, "args": as_object(&call.arguments) });
                let mut part = json!({ "functionCall": with_id(function, &call.id) });
                // The API turns a call of its newer models down that comes back without its signature.
                if let (Some(part), Some(signature)) = (part.as_object_mut(), &call.signature) {
                    part.insert("thoughtSignature".to_owned(), signature.as_str().into());
                }
                contents.push("model", part);
            }
        }
        Turn::Tool { id, name, content, is_error } => {
            let kind = if *is_error { "error" } else { "result" };
            let response = json!({ "name": name, "response": { kind: content } });
            contents.push("user", json!({ "functionResponse": with_id(response, id) }));
        }
        Turn::User { content } if content.is_empty() => {}
        Turn::User { content } => contents.push("user", json!({ "text": content })),
    }
}

/// Says the id again that the API gave; one of ours would mean nothing to it.
fn with_id(mut function: Value, id: &str) -> Value {
    if let (Some(function), Some(id)) = (function.as_object_mut(), api_s_id(id)) {
        function.insert("id".to_owned(), id.into());
    }
    function
}

/// Folds one event; its text is appended to `out`.
///
/// There is no last event: a reason to finish makes the reply whole, and the stream ends after it.
pub(super) fn fold(stream: &mut Stream, event: &Value, out: &mut String) -> Result<(), FoldError> {
    if let Some(fault) = fault(event) {
        return Err(FoldError::Fault(fault));
    }
    stream.name_model(event.get("modelVersion"));
    read_usage(stream, event.get("usageMetadata"));
    if let Some(reason) = event.get("promptFeedback").and_then(|feedback| text(feedback, "blockReason")) {
        stream.ending = Some(Ending::Refused(reason.to_owned()));
        stream.is_whole = true;
    }
    let candidates = event.get("candidates").and_then(Value::as_array);
    let Some(candidate) = candidates.and_then(|candidates| candidates.first()) else { return Ok(()) };
    let parts = candidate.get("content").and_then(|content| content.get("parts")).and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        if let Some(text) = text(part, "text").filter(|_| !is_thought) {
            out.push_str(text);
        }
        if let Some(call) = part.get("functionCall") {
            let arguments = call.get("args").filter(|args| !args.is_null()).map(Value::to_string);
            stream.calls.begin(Piece {
                slot: None,
                id: text(call, "id"),
                name: text(call, "name"),
                arguments: arguments.as_deref(),
                signature: text(part, "thoughtSignature"),
            })?;
        }
    }
    if let Some(reason) = text(candidate, "finishReason") {
        stream.ending = Some(ending(reason));
        stream.is_whole = true;
    }
    Ok(())
}

fn read_usage(stream: &mut Stream, usage: Option<&Value>) {
    let Some(found) = usage.filter(|usage| usage.is_object()) else { return };
    let usage = &mut stream.usage;
    usage.input_tokens = count(Some(found), "promptTokenCount").or(usage.input_tokens);
    usage.cached_tokens = count(Some(found), "cachedContentTokenCount").or(usage.cached_tokens);
    let (said, thought) =
        (count(Some(found), "candidatesTokenCount"), count(Some(found), "thoughtsTokenCount"));
    if said.is_some() || thought.is_some() {
        usage.output_tokens = Some(said.unwrap_or(0).saturating_add(thought.unwrap_or(0)));
    }
}

fn ending(reason: &str) -> Ending {
    match reason {
        "STOP" => Ending::Done,
        "MAX_TOKENS" => Ending::OutputLimit,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" | "OTHER" => Ending::Refused(reason.to_owned()),
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE" => Ending::Broken(reason.to_owned()),
        _ => Ending::Other(reason.to_owned()),
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
