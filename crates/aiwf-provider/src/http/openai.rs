//! OpenAI's Chat Completions API, and what other servers make of it: what is sent, and what the events say.

use serde_json::{Map, Value, json};

use super::api::Options;
use super::calls::{Piece, schema};
use super::fault::fault;
use super::stream::{Ending, FoldError, Stream, count, text};
use crate::ask::ToolCall;
use crate::payload::{Payload, Turn};

/// The body of a request.
///
/// The vendor's newer models take the limit of the reply only as `max_completion_tokens`, many servers like it only
/// as `max_tokens`; the address decides. The API caches by itself; the vendor's takes a key that leads requests with a
/// common beginning to the same cache.
pub(super) fn request_body(payload: &Payload, options: &Options<'_>) -> Value {
    let mut messages = Vec::new();
    if let Some(text) = payload.system_text() {
        messages.push(json!({ "role": "system", "content": text }));
    }
    for message in &payload.messages {
        messages.push(json!({ "role": message.role.as_str(), "content": message.text() }));
    }
    messages.extend(payload.turns.iter().map(turn_message));

    let limit = if options.is_vendors { "max_completion_tokens" } else { "max_tokens" };
    let mut body = Map::new();
    body.insert("model".to_owned(), options.model.into());
    body.insert(limit.to_owned(), options.max_output_tokens.into());
    body.insert("stream".to_owned(), true.into());
    body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    if !payload.tools.is_empty() {
        let tools = payload.tools.iter().map(|tool| {
            let parameters = schema(&tool.parameters);
            let function =
                json!({ "name": tool.name, "description": tool.description, "parameters": parameters });
            json!({ "type": "function", "function": function })
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    if let Some(key) = payload.cache_key().filter(|_| options.is_vendors) {
        body.insert("prompt_cache_key".to_owned(), key.into());
    }
    body.insert("messages".to_owned(), messages.into());
    Value::Object(body)
}

fn turn_message(turn: &Turn) -> Value {
    match turn {
        Turn::Assistant { content, tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": content })
        }
        Turn::Assistant { content, tool_calls } => {
            let calls: Vec<Value> = tool_calls.iter().map(call_value).collect();
            let content = if content.is_empty() { Value::Null } else { content.as_str().into() };
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        Turn::Tool { id, name: _, content, is_error: _ } => {
            json!({ "role": "tool", "tool_call_id": id, "content": content })
        }
        Turn::User { content } => json!({ "role": "user", "content": content }),
    }
}

fn call_value(call: &ToolCall) -> Value {
    // Arguments travel as text, so what the model wrote goes back as it wrote it.
    let arguments = call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned);
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}

/// Folds one event; its text is appended to `out`.
///
/// A reason to finish makes the reply whole, and so does `[DONE]`, which is seen before an event gets here: servers
/// leave one or the other out.
pub(super) fn fold(stream: &mut Stream, event: &Value, out: &mut String) -> Result<(), FoldError> {
    if let Some(fault) = fault(event) {
        return Err(FoldError::Fault(fault));
    }
    stream.name_model(event.get("model"));
    read_usage(stream, event.get("usage"));
    let Some(choice) = event.get("choices").and_then(Value::as_array).and_then(|choices| choices.first())
    else {
        return Ok(());
    };
    if let Some(delta) = choice.get("delta") {
        read_text(delta.get("content"), out);
        if let Some(refusal) = text(delta, "refusal").filter(|refusal| !refusal.is_empty()) {
            refuse(stream, refusal);
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = call.get("function");
            stream.calls.add(Piece {
                slot: count(Some(call), "index"),
                id: text(call, "id"),
                name: function.and_then(|function| text(function, "name")),
                arguments: function.and_then(|function| text(function, "arguments")),
                signature: None,
            })?;
        }
    }
    if let Some(reason) = text(choice, "finish_reason").filter(|reason| !reason.is_empty()) {
        if !matches!(stream.ending, Some(Ending::Refused(_))) {
            stream.ending = Some(ending(reason));
        }
        stream.is_whole = true;
    }
    Ok(())
}

/// Text, or a list of parts of which the texts count.
fn read_text(content: Option<&Value>, out: &mut String) {
    let Some(content) = content else { return };
    if let Some(text) = content.as_str() {
        out.push_str(text);
    }
    for part in content.as_array().into_iter().flatten() {
        if text(part, "type") == Some("text") {
            out.push_str(text(part, "text").unwrap_or_default());
        }
    }
}

/// A refusal arrives in pieces; only its beginning is kept.
fn refuse(stream: &mut Stream, piece: &str) {
    const MAX_BYTES: usize = 4_096;
    match &mut stream.ending {
        Some(Ending::Refused(said)) if said.len() + piece.len() <= MAX_BYTES => said.push_str(piece),
        Some(Ending::Refused(_)) => {}
        Some(_) | None => stream.ending = Some(Ending::Refused(piece.chars().take(MAX_BYTES).collect())),
    }
}

fn read_usage(stream: &mut Stream, usage: Option<&Value>) {
    let Some(found) = usage.filter(|usage| usage.is_object()) else { return };
    let usage = &mut stream.usage;
    usage.input_tokens = count(Some(found), "prompt_tokens").or(usage.input_tokens);
    usage.output_tokens = count(Some(found), "completion_tokens").or(usage.output_tokens);
    let cached = count(found.get("prompt_tokens_details"), "cached_tokens");
    usage.cached_tokens = cached.or(usage.cached_tokens);
    // OpenRouter names its price in dollars.
    usage.cost = found.get("cost").and_then(Value::as_f64).or(usage.cost);
}

fn ending(reason: &str) -> Ending {
    match reason {
        "stop" | "tool_calls" | "function_call" => Ending::Done,
        "length" => Ending::OutputLimit,
        "content_filter" => Ending::Refused(reason.to_owned()),
        "error" => Ending::Broken(reason.to_owned()),
        _ => Ending::Other(reason.to_owned()),
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
