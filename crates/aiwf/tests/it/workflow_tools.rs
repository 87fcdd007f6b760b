//! Calls of tools that a model's API delivers broken.

use std::fmt::Write as _;

use aiwf_testkit::model_server::Turn;
use aiwf_testkit::{ModelServer, SmallPackage};
use serde_json::{Value, json};

use crate::workflow_package::{in_package, last_code, run};

/// A stream of events, byte for byte.
fn raw_events(events: &[Value], is_named: bool) -> Turn {
    let mut text =
        String::from("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
    for event in events {
        if is_named {
            writeln!(text, "event: {}", event["type"].as_str().unwrap()).unwrap();
        }
        write!(text, "data: {event}\n\n").unwrap();
    }
    Turn::Raw(text.into_bytes())
}

#[test]
fn arguments_that_are_no_json_go_back_as_an_error() {
    let broken = r#"{"path": "@pkg/st"#;
    let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": { "name": "fs_read", "arguments": broken } });
    let openai = raw_events(
        &[
            json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "tool_calls": [call] } }] }),
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
        ],
        false,
    );
    let anthropic = raw_events(
        &[
            json!({ "type": "message_start", "message": { "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "call_1", "name": "fs_read", "input": {} } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": broken } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 1 } }),
            json!({ "type": "message_stop" }),
        ],
        true,
    );
    for (kind, turn) in [("openai", openai), ("anthropic", anthropic)] {
        let server = ModelServer::script([turn, Turn::text("I see.")]);
        let scene = in_package(&SmallPackage::new(), kind, &server, "");
        run(&scene, 3);
        let asks = server.asks();
        assert_eq!(last_code(&asks[1]), "TOOL_ARGS_INVALID_JSON", "{kind}");
        if kind == "anthropic" {
            // The API takes back only what it would have sent: an object.
            let body = asks[1].body.to_string();
            assert!(!body.contains(r#""input":""#), "{body}");
        }
    }
}
