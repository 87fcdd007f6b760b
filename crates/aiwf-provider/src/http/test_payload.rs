//! Payloads that the tests of the three APIs share.

use aiwf_prompt::Role;
use serde_json::{Value, json};

use super::stream::{FoldError, Stream};
use crate::ask::ToolCall;
use crate::payload::{Payload, PayloadMessage, ToolSpec, Turn};

fn message(role: Role, content: &str) -> PayloadMessage {
    PayloadMessage::new(role, content.to_owned())
}

fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments, signature: None }
}

/// One prompt with system text.
pub(super) fn prompt() -> Payload {
    Payload {
        system: vec!["be brief".to_owned()],
        messages: vec![message(Role::User, "line 1\r\n\tline 2 \u{1F600}\u{0}\n")],
        ..Payload::default()
    }
}

/// Several messages, of which all but the last are stable.
pub(super) fn stable() -> Payload {
    Payload {
        system: vec!["rules".to_owned()],
        messages: vec![
            message(Role::System, "more rules"),
            message(Role::User, "standards"),
            message(Role::User, "task"),
        ],
        n_stable_blocks: 3,
        ..Payload::default()
    }
}

/// A conversation with tools: two calls at once, one of them malformed and failed, then a word of a person's.
pub(super) fn conversation() -> Payload {
    let mut signed = call("id-a", "read", json!({ "path": "a.rs" }));
    signed.signature = Some("SIG".to_owned());
    let tool = |id: &str, name: &str, content: &str, is_error| Turn::Tool {
        id: id.to_owned(),
        name: name.to_owned(),
        content: content.into(),
        is_error,
    };
    Payload {
        messages: vec![message(Role::User, "task")],
        turns: vec![
            Turn::Assistant {
                content: "I look".into(),
                tool_calls: vec![signed, call("aiwf-call-2", "list", Value::String("{oops".to_owned()))],
            },
            tool("id-a", "read", "fn main() {}", false),
            tool("aiwf-call-2", "list", "arguments are not JSON", true),
            Turn::User { content: "go on".into() },
        ],
        tools: vec![
            ToolSpec {
                name: "read".to_owned(),
                description: "Reads a file".to_owned(),
                parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
            },
            ToolSpec {
                name: "list".to_owned(),
                description: "Lists files".to_owned(),
                parameters: Value::Null,
            },
        ],
        ..Payload::default()
    }
}

/// Folds events, and gives the text with the stream.
pub(super) fn folded(
    fold: fn(&mut Stream, &Value, &mut String) -> Result<(), FoldError>,
    events: &[Value],
) -> (String, Stream) {
    let mut stream = Stream::of(&conversation());
    let mut text = String::new();
    for event in events {
        fold(&mut stream, event, &mut text).unwrap();
    }
    (text, stream)
}
