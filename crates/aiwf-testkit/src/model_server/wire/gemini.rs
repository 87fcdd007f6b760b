//! Gemini's `generateContent`.

use serde_json::{Value, json};

use super::{Answer, AnswerPiece, Event};

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let mut events = Vec::new();
    for piece in &answer.pieces {
        match piece {
            AnswerPiece::Text(deltas) => {
                for text in deltas {
                    let part = chunk(answer, &[json!({"text": text})]);
                    events.push(Event::plain(&part).with_text(text));
                }
            }
            AnswerPiece::ToolCall { id, name, args } => {
                events.push(Event::plain(&chunk(answer, &[call(id, name, args)])));
            }
        }
    }
    events.push(Event::plain(&finished(answer, chunk(answer, &[json!({"text": ""})]))));
    events
}

pub(super) fn whole(answer: &Answer) -> Value {
    let part = |piece: &AnswerPiece| match piece {
        AnswerPiece::Text(deltas) => json!({"text": deltas.concat()}),
        AnswerPiece::ToolCall { id, name, args } => call(id, name, args),
    };
    let parts: Vec<Value> = answer.pieces.iter().map(part).collect();
    finished(answer, chunk(answer, &parts))
}

fn call(id: &str, name: &str, args: &Value) -> Value {
    json!({"functionCall": {"id": id, "name": name, "args": args}})
}

fn chunk(answer: &Answer, parts: &[Value]) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": answer.model,
        "responseId": format!("response_{}", answer.number),
    })
}

fn finished(answer: &Answer, mut chunk: Value) -> Value {
    chunk["candidates"][0]["finishReason"] = json!("STOP");
    if let Some(usage) = answer.usage {
        chunk["usageMetadata"] = json!({
            "promptTokenCount": usage.input(),
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input() + usage.output,
        });
    }
    chunk
}

pub(super) fn models() -> Value {
    json!({
        "models": [{
            "name": "models/scripted-model",
            "displayName": "Scripted",
            "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }],
    })
}
