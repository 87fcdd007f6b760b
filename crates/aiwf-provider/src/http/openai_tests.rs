use insta::assert_json_snapshot;

use super::super::test_payload::{conversation, folded, prompt, stable};
use super::*;
use crate::ask::Usage;

const OPTIONS: Options<'_> = Options { model: "m-1", max_output_tokens: 1_000, is_vendors: true };

#[test]
fn a_prompt_is_one_message() {
    assert_json_snapshot!(request_body(&prompt(), &OPTIONS), @r#"
    {
      "model": "m-1",
      "max_completion_tokens": 1000,
      "stream": true,
      "stream_options": {
        "include_usage": true
      },
      "messages": [
        {
          "role": "system",
          "content": "be brief"
        },
        {
          "role": "user",
          "content": "line 1\r\n\tline 2 😀\u0000\n"
        }
      ]
    }
    "#);
}

#[test]
fn other_servers_get_the_limit_by_its_older_name() {
    let body = request_body(&stable(), &Options { is_vendors: false, ..OPTIONS });
    assert_json_snapshot!(body, @r#"
    {
      "model": "m-1",
      "max_tokens": 1000,
      "stream": true,
      "stream_options": {
        "include_usage": true
      },
      "messages": [
        {
          "role": "system",
          "content": "rules"
        },
        {
          "role": "system",
          "content": "more rules"
        },
        {
          "role": "user",
          "content": "standards"
        },
        {
          "role": "user",
          "content": "task"
        }
      ]
    }
    "#);
}

#[test]
fn a_conversation_pairs_calls_with_results() {
    assert_json_snapshot!(request_body(&conversation(), &OPTIONS), @r#"
    {
      "model": "m-1",
      "max_completion_tokens": 1000,
      "stream": true,
      "stream_options": {
        "include_usage": true
      },
      "tools": [
        {
          "type": "function",
          "function": {
            "name": "read",
            "description": "Reads a file",
            "parameters": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string"
                }
              }
            }
          }
        },
        {
          "type": "function",
          "function": {
            "name": "list",
            "description": "Lists files",
            "parameters": {
              "type": "object",
              "properties": {}
            }
          }
        }
      ],
      "messages": [
        {
          "role": "user",
          "content": "task"
        },
        {
          "role": "assistant",
          "content": "I look",
          "tool_calls": [
            {
              "id": "id-a",
              "type": "function",
              "function": {
                "name": "read",
                "arguments": "{\"path\":\"a.rs\"}"
              }
            },
            {
              "id": "aiwf-call-2",
              "type": "function",
              "function": {
                "name": "list",
                "arguments": "{oops"
              }
            }
          ]
        },
        {
          "role": "tool",
          "tool_call_id": "id-a",
          "content": "fn main() {}"
        },
        {
          "role": "tool",
          "tool_call_id": "aiwf-call-2",
          "content": "arguments are not JSON"
        },
        {
          "role": "user",
          "content": "go on"
        }
      ]
    }
    "#);
}

fn chunk(delta: &Value, reason: Option<&str>) -> Value {
    json!({"id": "c-1", "object": "chat.completion.chunk", "model": "m-1-2026", "usage": null,
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
}

fn calls(calls: &Value) -> Value {
    chunk(&json!({ "tool_calls": calls }), None)
}

#[test]
fn events_give_text_calls_usage_and_model() {
    let (text, stream) = folded(
        fold,
        &[
            chunk(&json!({"role": "assistant", "content": "", "refusal": null}), None),
            chunk(&json!({"reasoning_content": "hm"}), None),
            chunk(&json!({"content": "I lo"}), None),
            chunk(&json!({"content": "ok"}), None),
            calls(
                &json!([{"index": 0, "id": "call_1", "type": "function", "function": {"name": "read", "arguments": ""}}]),
            ),
            calls(&json!([{"index": 0, "function": {"arguments": "{\"pa"}}])),
            calls(
                &json!([{"index": 1, "id": "call_2", "type": "function", "function": {"name": "list", "arguments": "{oops"}}]),
            ),
            calls(&json!([{"index": 0, "function": {"arguments": "th\":\"a\"}"}}])),
            chunk(&json!({}), Some("tool_calls")),
            json!({"model": "m-1-2026", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 7}}}),
        ],
    );
    assert_eq!(text, "I look");
    assert_eq!(stream.model.as_deref(), Some("m-1-2026"));
    assert_eq!(stream.ending, Some(Ending::Done));
    assert!(stream.is_whole && !stream.is_over);
    let usage =
        Usage { input_tokens: Some(100), output_tokens: Some(20), cached_tokens: Some(64), cost: None };
    assert_eq!(stream.usage(), Some(usage));
    assert_json_snapshot!(stream.calls.into_calls(), @r#"
    [
      {
        "id": "call_1",
        "name": "read",
        "arguments": {
          "path": "a"
        }
      },
      {
        "id": "call_2",
        "name": "list",
        "arguments": "{oops"
      }
    ]
    "#);
}

#[test]
fn servers_that_are_only_like_it_are_understood() {
    // Whole calls that all stand in slot 0, calls without a slot, calls without an id.
    let (_, stream) = folded(
        fold,
        &[
            calls(&json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}}])),
            calls(&json!([{"index": 0, "id": "b", "function": {"name": "list", "arguments": "{}"}}])),
            calls(&json!([{"id": "c", "function": {"name": "now", "arguments": "{"}}])),
            calls(&json!([{"id": "", "function": {"arguments": "}"}}])),
            calls(&json!([{"index": 7, "function": {"name": "last", "arguments": ""}}])),
        ],
    );
    let calls = stream.calls.into_calls();
    let shown: Vec<String> =
        calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
    assert_eq!(shown, ["a read {}", "b list {}", "c now {}", "aiwf-call-6 last {}"]);
    let parts = json!([{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}]);
    assert_eq!(folded(fold, &[chunk(&json!({ "content": parts }), None)]).0, "a");
    let priced = json!({"choices": [], "usage": {"prompt_tokens": 1, "cost": 0.25}});
    let usage = folded(fold, &[priced]).1.usage().unwrap();
    assert_eq!((usage.cost, usage.output_tokens), (Some(0.25), None));
}

#[test]
fn a_refusal_keeps_its_words() {
    let events = [
        chunk(&json!({"refusal": "I will "}), None),
        chunk(&json!({"refusal": "not"}), None),
        chunk(&json!({}), Some("stop")),
    ];
    assert_eq!(folded(fold, &events).1.ending, Some(Ending::Refused("I will not".to_owned())));
}

#[test]
fn an_error_object_is_a_fault() {
    let event = json!({"error": {"message": "The server had an error", "type": "server_error"}});
    let error = fold(&mut Stream::default(), &event, &mut String::new()).unwrap_err();
    assert!(matches!(error, FoldError::Fault(fault) if fault.is_passing));
}

#[test]
fn every_reason_to_finish_is_judged() {
    assert_eq!(ending("stop"), Ending::Done);
    assert_eq!(ending("length"), Ending::OutputLimit);
    assert_eq!(ending("content_filter"), Ending::Refused("content_filter".to_owned()));
    assert_eq!(ending("eos"), Ending::Other("eos".to_owned()));
}
