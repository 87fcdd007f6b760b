//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{Answer, AnswerPiece, Event};

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let mut message = message(answer);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let mut events = vec![
        Event::typed(&json!({"type": "message_start", "message": message})),
        Event::typed(&json!({"type": "ping"})),
    ];
    for (idx, piece) in answer.pieces.iter().enumerate() {
        let mut push = |data: Value, text: &str| events.push(Event::typed(&data).with_text(text));
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": idx, "delta": delta});
        let start =
            |block: Value| json!({"type": "content_block_start", "index": idx, "content_block": block});
        match piece {
            AnswerPiece::Text(deltas) => {
                push(start(json!({"type": "text", "text": ""})), "");
                for text in deltas {
                    push(delta(json!({"type": "text_delta", "text": text})), text);
                }
            }
            AnswerPiece::ToolCall { id, name, args } => {
                push(start(json!({"type": "tool_use", "id": id, "name": name, "input": {}})), "");
                for part in super::deltas(&args.to_string()) {
                    push(delta(json!({"type": "input_json_delta", "partial_json": part})), "");
                }
            }
        }
        push(json!({"type": "content_block_stop", "index": idx}), "");
    }
    let mut end = json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
    });
    if let Some(usage) = answer.usage {
        end["usage"] = json!({"output_tokens": usage.output});
    }
    events.push(Event::typed(&end));
    events.push(Event::typed(&json!({"type": "message_stop"})));
    events
}

pub(super) fn whole(answer: &Answer) -> Value {
    let mut message = message(answer);
    if let Some(usage) = answer.usage {
        message["usage"]["output_tokens"] = json!(usage.output);
    }
    message
}

fn message(answer: &Answer) -> Value {
    let blocks: Vec<Value> = answer
        .pieces
        .iter()
        .map(|piece| match piece {
            AnswerPiece::Text(deltas) => json!({"type": "text", "text": deltas.concat()}),
            AnswerPiece::ToolCall { id, name, args } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": args})
            }
        })
        .collect();
    let mut message = json!({
        "id": format!("msg_{}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks,
        "stop_reason": stop_reason(answer),
        "stop_sequence": null,
    });
    if let Some(usage) = answer.usage {
        // Cached tokens stand beside the input, not in it; the output is known at the end.
        message["usage"] = json!({
            "input_tokens": usage.fresh_input,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
            "output_tokens": 1,
        });
    }
    message
}

fn stop_reason(answer: &Answer) -> &'static str {
    if answer.calls_a_tool() { "tool_use" } else { "end_turn" }
}

pub(super) fn models() -> Value {
    json!({
        "data": [{
            "type": "model",
            "id": "scripted-model",
            "display_name": "Scripted",
            "created_at": "2026-01-01T00:00:00Z",
        }],
        "has_more": false,
        "first_id": "scripted-model",
        "last_id": "scripted-model",
    })
}
