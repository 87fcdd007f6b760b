//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{Answer, AnswerPiece, Event};

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let mut stream = Stream::default();
    let mut opening = response(answer, "in_progress");
    opening["output"] = json!([]);
    stream.push("response.created", json!({"response": opening}));
    for (idx, piece) in answer.pieces.iter().enumerate() {
        let done = item(answer, idx, piece);
        let id = &done["id"];
        let mut begun = done.clone();
        begun["status"] = json!("in_progress");
        match piece {
            AnswerPiece::Text(deltas) => {
                let place = json!({"item_id": id, "output_index": idx, "content_index": 0});
                let text = deltas.concat();
                begun["content"] = json!([]);
                stream.push("response.output_item.added", json!({"output_index": idx, "item": begun}));
                stream.push("response.content_part.added", with(&place, "part", text_part("")));
                for delta in deltas {
                    stream.push("response.output_text.delta", with(&place, "delta", json!(delta)));
                    stream.mark_text(delta);
                }
                stream.push("response.output_text.done", with(&place, "text", json!(text)));
                stream.push("response.content_part.done", with(&place, "part", text_part(&text)));
            }
            AnswerPiece::ToolCall { args, .. } => {
                let place = json!({"item_id": id, "output_index": idx});
                begun["arguments"] = json!("");
                stream.push("response.output_item.added", json!({"output_index": idx, "item": begun}));
                for part in super::deltas(&args.to_string()) {
                    let kind = "response.function_call_arguments.delta";
                    stream.push(kind, with(&place, "delta", json!(part)));
                }
                let kind = "response.function_call_arguments.done";
                stream.push(kind, with(&place, "arguments", json!(args.to_string())));
            }
        }
        stream.push("response.output_item.done", json!({"output_index": idx, "item": done}));
    }
    stream.push("response.completed", json!({"response": whole(answer)}));
    stream.events
}

/// Events so far; each says its place in the stream.
#[derive(Default)]
struct Stream {
    events: Vec<Event>,
}

impl Stream {
    fn push(&mut self, kind: &str, fields: Value) {
        let mut data = json!({"type": kind, "sequence_number": self.events.len()});
        if let (Some(data), Value::Object(fields)) = (data.as_object_mut(), fields) {
            data.extend(fields);
        }
        self.events.push(Event::typed(&data));
    }

    /// Says that the last event carries a text.
    fn mark_text(&mut self, delta: &str) {
        if let Some(event) = self.events.last_mut() {
            event.n_text_bytes = delta.len();
        }
    }
}

fn with(fields: &Value, key: &str, value: Value) -> Value {
    let mut fields = fields.clone();
    fields[key] = value;
    fields
}

pub(super) fn whole(answer: &Answer) -> Value {
    let mut response = response(answer, "completed");
    if let Some(usage) = answer.usage {
        response["usage"] = json!({
            "input_tokens": usage.input(),
            "input_tokens_details": {"cached_tokens": usage.cache_read},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input() + usage.output,
        });
    }
    response
}

fn response(answer: &Answer, status: &str) -> Value {
    let items: Vec<Value> =
        answer.pieces.iter().enumerate().map(|(idx, piece)| item(answer, idx, piece)).collect();
    json!({
        "id": format!("resp_{}", answer.number),
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": answer.model,
        "output": items,
    })
}

fn item(answer: &Answer, idx: usize, piece: &AnswerPiece) -> Value {
    match piece {
        AnswerPiece::Text(deltas) => json!({
            "type": "message",
            "id": format!("msg_{}_{idx}", answer.number),
            "status": "completed",
            "role": "assistant",
            "content": [text_part(&deltas.concat())],
        }),
        AnswerPiece::ToolCall { id, name, args } => json!({
            "type": "function_call",
            "id": format!("fc_{}_{idx}", answer.number),
            "status": "completed",
            "call_id": id,
            "name": name,
            "arguments": args.to_string(),
        }),
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}
