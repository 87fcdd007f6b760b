use insta::assert_json_snapshot;

use super::super::test_payload::{conversation, folded, prompt, stable};
use super::*;
use crate::ask::Usage;

const OPTIONS: Options<'_> = Options { model: "m-1", max_output_tokens: 1_000, is_vendors: true };

#[test]
fn a_prompt_is_one_text_block() {
    assert_json_snapshot!(request_body(&prompt(), &OPTIONS), @r#"
    {
      "model": "m-1",
      "max_tokens": 1000,
      "stream": true,
      "system": [
        {
          "type": "text",
          "text": "be brief"
        }
      ],
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "line 1\r\n\tline 2 😀\u0000\n"
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn breakpoints_stand_after_the_stable_texts() {
    assert_json_snapshot!(request_body(&stable(), &OPTIONS), @r#"
    {
      "model": "m-1",
      "max_tokens": 1000,
      "stream": true,
      "system": [
        {
          "type": "text",
          "text": "rules",
          "cache_control": {
            "type": "ephemeral"
          }
        },
        {
          "type": "text",
          "text": "more rules",
          "cache_control": {
            "type": "ephemeral"
          }
        }
      ],
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "standards",
              "cache_control": {
                "type": "ephemeral"
              }
            },
            {
              "type": "text",
              "text": "task"
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn a_conversation_pairs_calls_with_results_in_one_message() {
    assert_json_snapshot!(request_body(&conversation(), &OPTIONS), @r#"
    {
      "model": "m-1",
      "max_tokens": 1000,
      "stream": true,
      "tools": [
        {
          "name": "read",
          "description": "Reads a file",
          "input_schema": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string"
              }
            }
          }
        },
        {
          "name": "list",
          "description": "Lists files",
          "input_schema": {
            "type": "object",
            "properties": {}
          }
        }
      ],
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "task",
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ]
        },
        {
          "role": "assistant",
          "content": [
            {
              "type": "text",
              "text": "I look"
            },
            {
              "type": "tool_use",
              "id": "id-a",
              "name": "read",
              "input": {
                "path": "a.rs"
              }
            },
            {
              "type": "tool_use",
              "id": "aiwf-call-2",
              "name": "list",
              "input": {
                "malformed_arguments": "{oops"
              }
            }
          ]
        },
        {
          "role": "user",
          "content": [
            {
              "type": "tool_result",
              "tool_use_id": "id-a",
              "content": "fn main() {}"
            },
            {
              "type": "tool_result",
              "tool_use_id": "aiwf-call-2",
              "content": "arguments are not JSON",
              "is_error": true
            },
            {
              "type": "text",
              "text": "go on",
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn at_most_four_breakpoints_are_set() {
    let payload = Payload { turns: conversation().turns, ..stable() };
    let body = request_body(&payload, &OPTIONS).to_string();
    assert_eq!(body.matches("cache_control").count(), 4);
}

fn events() -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1-2026",
            "content": [], "stop_reason": null, "usage": {"input_tokens": 10, "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 3000, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "xx"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "ping"}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I lo"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "ok"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"pa"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "th\": \"a\"}"}}),
        json!({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}}}),
        json!({"type": "content_block_delta", "index": 3, "delta": {"type": "input_json_delta", "partial_json": "{oops"}}),
        json!({"type": "content_block_start", "index": 4, "content_block": {"type": "tool_use", "id": "toolu_3", "name": "now", "input": {}}}),
        json!({"type": "something_new", "index": 4}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"output_tokens": 42}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn events_give_text_calls_usage_and_model() {
    let (text, stream) = folded(fold, &events());
    assert_eq!(text, "I look");
    assert_eq!(stream.model.as_deref(), Some("m-1-2026"));
    assert_eq!(stream.ending, Some(Ending::Done));
    assert!(stream.is_whole && stream.is_over);
    let usage =
        Usage { input_tokens: Some(3_210), output_tokens: Some(42), cached_tokens: Some(3_000), cost: None };
    assert_eq!(stream.usage(), Some(usage));
    assert_json_snapshot!(stream.calls.into_calls(), @r#"
    [
      {
        "id": "toolu_1",
        "name": "read",
        "arguments": {
          "path": "a"
        }
      },
      {
        "id": "toolu_2",
        "name": "list",
        "arguments": "{oops"
      },
      {
        "id": "toolu_3",
        "name": "now",
        "arguments": {}
      }
    ]
    "#);
}

#[test]
fn what_is_not_reported_is_unknown() {
    let (_, stream) = folded(fold, &events()[..8]);
    assert!(!stream.is_whole);
    assert_eq!(stream.usage().unwrap().output_tokens, None);
    let bare = json!({"type": "message_start", "message": {"model": "m"}});
    assert_eq!(folded(fold, &[bare]).1.usage(), None);
}

#[test]
fn an_error_event_is_a_fault() {
    let event = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let error = fold(&mut Stream::default(), &event, &mut String::new()).unwrap_err();
    assert!(matches!(error, FoldError::Fault(fault) if fault.is_passing && fault.message == "Overloaded"));
}

#[test]
fn calls_that_grow_without_end_are_refused() {
    let begin = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "b"}});
    let piece = "x".repeat(1024 * 1024);
    let more = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}});
    let mut stream = Stream::default();
    let mut fold = |event: &Value| fold(&mut stream, event, &mut String::new());
    fold(&begin).unwrap();
    assert_eq!((0..10).find_map(|_| fold(&more).err()), Some(FoldError::CallsTooLarge));
    let mut stream = Stream::default();
    let many = (0..1_000).find_map(|_| super::fold(&mut stream, &begin, &mut String::new()).err());
    assert_eq!(many, Some(FoldError::TooManyCalls));
}

#[test]
fn every_reason_to_stop_is_judged() {
    assert_eq!(ending("end_turn"), Ending::Done);
    assert_eq!(ending("max_tokens"), Ending::OutputLimit);
    assert_eq!(ending("model_context_window_exceeded"), Ending::WindowFull);
    assert_eq!(ending("refusal"), Ending::Refused("refusal".to_owned()));
    assert_eq!(ending("new_reason"), Ending::Other("new_reason".to_owned()));
}

/// The text of a body, without its marks.
fn without_marks(mut body: Value) -> (Value, usize) {
    fn strip(value: &mut Value) -> usize {
        match value {
            Value::Object(object) => {
                let n_own = usize::from(object.remove("cache_control").is_some());
                n_own + object.values_mut().map(strip).sum::<usize>()
            }
            Value::Array(values) => values.iter_mut().map(strip).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }
    let n_marks = strip(&mut body);
    (body, n_marks)
}

#[test]
fn marks_change_no_text_and_are_four_at_most() {
    let mut long = conversation();
    long.system = (0..4).map(|n| format!("rule {n}")).collect();
    long.messages[0].blocks =
        (0..6).map(|n| if n == 3 { " ".to_owned() } else { format!("section {n}") }).collect();
    for payload in [prompt(), stable(), conversation(), Payload { turns: Vec::new(), ..long.clone() }, long] {
        let n_blocks =
            payload.system.len() + payload.messages.iter().map(|it| it.blocks.len()).sum::<usize>();
        let plain = Payload { n_stable_blocks: 0, ..payload.clone() };
        let (expected, _) = without_marks(request_body(&plain, &OPTIONS));
        for n_stable_blocks in 0..=n_blocks {
            let marked = Payload { n_stable_blocks, ..payload.clone() };
            let (text, n_marks) = without_marks(request_body(&marked, &OPTIONS));
            assert_eq!(text, expected, "{n_stable_blocks} stable blocks");
            assert!(n_marks <= 4, "{n_marks} marks with {n_stable_blocks} stable blocks");
            assert_eq!(marked.sha256(), plain.sha256());
        }
    }
}
