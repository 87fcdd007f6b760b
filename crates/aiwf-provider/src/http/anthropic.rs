//! Anthropic's Messages API: what is sent, and what its events say.

use aiwf_prompt::Role;
use serde_json::{Value, json};

use super::api::Options;
use super::calls::{Piece, as_object, schema};
use super::fault::fault;
use super::stream::{Ending, FoldError, Stream, count, text};
use crate::payload::{AttachedFile, Payload, Turn};

/// The body of a request.
///
/// Marks for the cache stand after the blocks that [`Payload::breakpoints`] names and, in a conversation, at the end of
/// the request before and of this one: four at most, which is what the API takes. A mark changes no text.
pub(super) fn request_body(payload: &Payload, options: &Options<'_>) -> Value {
    let mut messages = Messages::default();
    let mut blocks = MarkedBlocks { marks: payload.breakpoints(), n_blocks: 0 };
    let mut system = blocks.take(&payload.system);
    for file in &payload.files {
        messages.push("user", document(file));
    }
    for message in &payload.messages {
        let blocks = blocks.take(&message.blocks);
        match message.role {
            Role::System => system.extend(blocks),
            Role::User => blocks.into_iter().for_each(|block| messages.push("user", block)),
        }
    }
    for turn in &payload.turns {
        push_turn(&mut messages, turn);
    }
    if !payload.turns.is_empty() {
        messages.mark_ends();
    }

    let mut body = json!({ "model": options.model, "max_tokens": options.max_output_tokens, "stream": true });
    if let Some(body) = body.as_object_mut() {
        if !system.is_empty() {
            body.insert("system".to_owned(), system.into());
        }
        if !payload.tools.is_empty() {
            let tools = payload.tools.iter().map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "input_schema": schema(&tool.parameters) })
            });
            body.insert("tools".to_owned(), tools.collect());
        }
        body.insert("messages".to_owned(), messages.into_value());
    }
    body
}

/// Messages of alternating roles; what one role says in a row is one message with several blocks, as the results of
/// parallel calls have to be.
#[derive(Default)]
struct Messages(Vec<(&'static str, Vec<Value>)>);

impl Messages {
    fn push(&mut self, role: &'static str, block: Value) {
        match self.0.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => self.0.push((role, vec![block])),
        }
    }

    /// Marks the end of the request before this one, which the cache has, and the end of this one for the next.
    fn mark_ends(&mut self) {
        let answer = self.0.iter().rposition(|(role, _)| *role == "assistant");
        let before = answer.and_then(|answer| answer.checked_sub(1));
        for idx in before.into_iter().chain(self.0.len().checked_sub(1)) {
            if let Some(block) = self.0.get_mut(idx).and_then(|(_, blocks)| blocks.last_mut()) {
                mark(block);
            }
        }
    }

    fn into_value(self) -> Value {
        self.0.into_iter().map(|(role, blocks)| json!({ "role": role, "content": blocks })).collect()
    }
}

fn push_turn(messages: &mut Messages, turn: &Turn) {
    match turn {
        Turn::Assistant { content, tool_calls } => {
            if !content.is_empty() {
                messages.push("assistant", text_block(content));
            }
            for call in tool_calls {
                let input = as_object(&call.arguments);
                let block = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input });
                messages.push("assistant", block);
            }
        }
        Turn::Tool { id, name: _, content, is_error } => {
            let mut block = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            if let Some(block) = block.as_object_mut().filter(|_| *is_error) {
                block.insert("is_error".to_owned(), true.into());
            }
            messages.push("user", block);
        }
        Turn::User { content } if content.is_empty() => {}
        Turn::User { content } => messages.push("user", text_block(content)),
    }
}

/// The blocks of a payload, counted over system text and messages.
struct MarkedBlocks {
    marks: Vec<usize>,
    n_blocks: usize,
}

impl MarkedBlocks {
    /// A block for each text.
    ///
    /// The API takes no text without a word in it: one joins its neighbour, and where there is no word at all there is
    /// nothing to lose.
    fn take(&mut self, texts: &[String]) -> Vec<Value> {
        let mut joined: Vec<(String, bool)> = Vec::new();
        for text in texts {
            let is_marked = self.marks.contains(&self.n_blocks);
            self.n_blocks += 1;
            match joined.last_mut() {
                Some((last, last_is_marked)) if text.trim().is_empty() || last.trim().is_empty() => {
                    last.push_str(text);
                    *last_is_marked |= is_marked;
                }
                _ => joined.push((text.clone(), is_marked)),
            }
        }
        let blocks = joined.iter().filter(|(text, _)| !text.is_empty());
        blocks
            .map(|(text, is_marked)| {
                let mut block = text_block(text);
                if *is_marked {
                    mark(&mut block);
                }
                block
            })
            .collect()
    }
}

/// A file as a document of its own, under the path that the prompt names it by.
fn document(file: &AttachedFile) -> Value {
    let source = json!({ "type": "text", "media_type": "text/plain", "data": file.text });
    json!({ "type": "document", "source": source, "title": file.path })
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn mark(block: &mut Value) {
    if let Some(block) = block.as_object_mut() {
        block.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
}

/// Folds one event; its text is appended to `out`.
pub(super) fn fold(stream: &mut Stream, event: &Value, out: &mut String) -> Result<(), FoldError> {
    match text(event, "type").unwrap_or_default() {
        "message_start" => {
            if let Some(message) = event.get("message") {
                stream.name_model(message.get("model"));
                read_input(stream, message.get("usage"));
            }
        }
        "content_block_start" => {
            let Some(block) = event.get("content_block") else { return Ok(()) };
            match text(block, "type").unwrap_or_default() {
                "text" => out.push_str(text(block, "text").unwrap_or_default()),
                "tool_use" => {
                    // Servers like this one may give the whole input here; the API itself gives an empty object.
                    let input = block
                        .get("input")
                        .filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
                    let input = input.map(Value::to_string);
                    stream.calls.begin(Piece {
                        slot: count(Some(event), "index"),
                        id: text(block, "id"),
                        name: text(block, "name"),
                        arguments: input.as_deref(),
                        signature: None,
                    })?;
                }
                _ => {}
            }
        }
        "content_block_delta" => {
            let Some(delta) = event.get("delta") else { return Ok(()) };
            match text(delta, "type").unwrap_or_default() {
                "text_delta" => out.push_str(text(delta, "text").unwrap_or_default()),
                "input_json_delta" => stream.calls.add(Piece {
                    slot: count(Some(event), "index"),
                    arguments: text(delta, "partial_json"),
                    ..Piece::default()
                })?,
                _ => {}
            }
        }
        "message_delta" => {
            if let Some(reason) = event.get("delta").and_then(|delta| text(delta, "stop_reason")) {
                stream.ending = Some(ending(reason));
            }
            let usage = event.get("usage");
            read_input(stream, usage);
            // The count in `message_start` is only what was made by then.
            if let Some(tokens) = count(usage, "output_tokens") {
                stream.usage.output_tokens = Some(tokens);
            }
        }
        "message_stop" => {
            stream.is_whole = true;
            stream.is_over = true;
        }
        "error" => {
            if let Some(fault) = fault(event) {
                return Err(FoldError::Fault(fault));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Counts of the input: apart in what is new, what was read from the cache and what was written to it.
fn read_input(stream: &mut Stream, usage: Option<&Value>) {
    let latest = |before: Option<u64>, name: &str| count(usage, name).or(before);
    stream.uncached = latest(stream.uncached, "input_tokens");
    stream.cache_written = latest(stream.cache_written, "cache_creation_input_tokens");
    stream.usage.cached_tokens = latest(stream.usage.cached_tokens, "cache_read_input_tokens");
    let cached = stream.usage.cached_tokens.unwrap_or(0).saturating_add(stream.cache_written.unwrap_or(0));
    stream.usage.input_tokens = stream.uncached.map(|tokens| tokens.saturating_add(cached));
}

fn ending(reason: &str) -> Ending {
    match reason {
        "end_turn" | "stop_sequence" | "tool_use" => Ending::Done,
        "max_tokens" => Ending::OutputLimit,
        "model_context_window_exceeded" => Ending::WindowFull,
        "refusal" => Ending::Refused(reason.to_owned()),
        "pause_turn" => Ending::Broken(reason.to_owned()),
        _ => Ending::Other(reason.to_owned()),
    }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
