//! OpenAI's Chat Completions, and the list of models that goes with both of OpenAI's APIs.

use serde_json::{Value, json};

use super::{Answer, AnswerPiece, Event};

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let chunk = |choices: Value| {
        json!({
            "id": format!("chatcmpl-{}", answer.number),
            "object": "chat.completion.chunk",
            "created": 0,
            "model": answer.model,
            "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut events = vec![Event::plain(&delta(json!({"role": "assistant", "content": ""})))];
    let mut n_calls = 0;
    for piece in &answer.pieces {
        match piece {
            AnswerPiece::Text(deltas) => {
                for text in deltas {
                    events.push(Event::plain(&delta(json!({"content": text}))).with_text(text));
                }
            }
            AnswerPiece::ToolCall { id, name, args } => {
                let call = |call: Value| Event::plain(&delta(json!({"tool_calls": [call]})));
                events.push(call(json!({
                    "index": n_calls,
                    "id": id,
                    "type": "function",
                    "function": {"name": name, "arguments": ""},
                })));
                for part in super::deltas(&args.to_string()) {
                    events.push(call(json!({"index": n_calls, "function": {"arguments": part}})));
                }
                n_calls += 1;
            }
        }
    }
    let end = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(answer)}]);
    events.push(Event::plain(&chunk(end)));
    if let Some(usage) = usage(answer) {
        let mut last = chunk(json!([]));
        last["usage"] = usage;
        events.push(Event::plain(&last));
    }
    events.push(Event { name: None, data: "[DONE]".to_owned(), n_text_bytes: 0 });
    events
}

pub(super) fn whole(answer: &Answer) -> Value {
    let text: String = answer
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            AnswerPiece::Text(deltas) => Some(deltas.concat()),
            AnswerPiece::ToolCall { .. } => None,
        })
        .collect();
    let calls: Vec<Value> = answer
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            AnswerPiece::Text(_) => None,
            AnswerPiece::ToolCall { id, name, args } => Some(json!({
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": args.to_string()},
            })),
        })
        .collect();
    let mut message = json!({"role": "assistant"});
    message["content"] = if text.is_empty() { Value::Null } else { json!(text) };
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let mut completion = json!({
        "id": format!("chatcmpl-{}", answer.number),
        "object": "chat.completion",
        "created": 0,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(answer)}],
    });
    if let Some(usage) = usage(answer) {
        completion["usage"] = usage;
    }
    completion
}

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.calls_a_tool() { "tool_calls" } else { "stop" }
}

fn usage(answer: &Answer) -> Option<Value> {
    answer.usage.map(|usage| {
        json!({
            "prompt_tokens": usage.input(),
            "completion_tokens": usage.output,
            "total_tokens": usage.input() + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        })
    })
}

pub(super) fn models() -> Value {
    json!({
        "object": "list",
        "data": [{"id": "scripted-model", "object": "model", "created": 0, "owned_by": "testkit"}],
    })
}
