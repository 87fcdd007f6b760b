use insta::assert_json_snapshot;

use super::super::test_payload::{conversation, folded, prompt, stable};
use super::*;
use crate::ask::Usage;

const OPTIONS: Options<'_> = Options { model: "m-1", max_output_tokens: 1_000, is_vendors: true };

#[test]
fn a_prompt_is_one_part() {
    assert_json_snapshot!(request_body(&prompt(), &OPTIONS), @r#"
    {
      "systemInstruction": {
        "parts": [
          {
            "text": "be brief"
          }
        ]
      },
      "contents": [
        {
          "role": "user",
          "parts": [
            {
              "text": "line 1\r\n\tline 2 😀\u0000\n"
            }
          ]
        }
      ],
      "generationConfig": {
        "maxOutputTokens": 1000
      }
    }
    "#);
}

#[test]
fn system_messages_join_the_system_text() {
    assert_json_snapshot!(request_body(&stable(), &OPTIONS), @r#"
    {
      "systemInstruction": {
        "parts": [
          {
            "text": "rules"
          },
          {
            "text": "more rules"
          }
        ]
      },
      "contents": [
        {
          "role": "user",
          "parts": [
            {
              "text": "standards"
            },
            {
              "text": "task"
            }
          ]
        }
      ],
      "generationConfig": {
        "maxOutputTokens": 1000
      }
    }
    "#);
}

#[test]
fn a_conversation_pairs_calls_with_results_in_one_content() {
    assert_json_snapshot!(request_body(&conversation(), &OPTIONS), @r#"
    {
      "contents": [
        {
          "role": "user",
          "parts": [
            {
              "text": "task"
            }
          ]
        },
        {
          "role": "model",
          "parts": [
            {
              "text": "I look"
            },
            {
              "functionCall": {
                "name": "read",
                "args": {
                  "path": "a.rs"
                },
                "id": "id-a"
              },
              "thoughtSignature": "SIG"
            },
            {
              "functionCall": {
                "name": "list",
                "args": {
                  "malformed_arguments": "{oops"
                }
              }
            }
          ]
        },
        {
          "role": "user",
          "parts": [
            {
              "functionResponse": {
                "name": "read",
                "response": {
                  "result": "fn main() {}"
                },
                "id": "id-a"
              }
            },
            {
              "functionResponse": {
                "name": "list",
                "response": {
                  "error": "arguments are not JSON"
                }
              }
            },
            {
              "text": "go on"
            }
          ]
        }
      ],
      "tools": [
        {
          "functionDeclarations": [
            {
              "name": "read",
              "description": "Reads a file",
              "parametersJsonSchema": {
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
              "parametersJsonSchema": {
                "type": "object",
                "properties": {}
              }
            }
          ]
        }
      ],
      "generationConfig": {
        "maxOutputTokens": 1000
      }
    }
    "#);
}

fn event(parts: &Value, reason: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    if let Some(reason) = reason {
        candidate["finishReason"] = reason.into();
    }
    json!({"candidates": [candidate], "modelVersion": "m-1-2026", "responseId": "x",
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 5,
            "cachedContentTokenCount": 64, "totalTokenCount": 125}})
}

#[test]
fn events_give_text_calls_usage_and_model() {
    let (text, stream) = folded(
        fold,
        &[
            event(&json!([{"text": "hm", "thought": true}]), None),
            event(&json!([{"text": "I lo"}]), None),
            event(&json!([{"text": "ok"}]), None),
            event(
                &json!([{"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "SIG"},
                {"functionCall": {"name": "list", "id": "g-1"}}]),
                None,
            ),
            event(&json!([{"text": ""}]), Some("STOP")),
        ],
    );
    assert_eq!(text, "I look");
    assert_eq!(stream.model.as_deref(), Some("m-1-2026"));
    assert_eq!(stream.ending, Some(Ending::Done));
    assert!(stream.is_whole && !stream.is_over);
    let usage =
        Usage { input_tokens: Some(100), output_tokens: Some(25), cached_tokens: Some(64), cost: None };
    assert_eq!(stream.usage(), Some(usage));
    assert_json_snapshot!(stream.calls.into_calls(), @r#"
    [
      {
        "id": "aiwf-call-3",
        "name": "read",
        "arguments": {
          "path": "a"
        },
        "signature": "SIG"
      },
      {
        "id": "g-1",
        "name": "list",
        "arguments": {}
      }
    ]
    "#);
}

#[test]
fn a_blocked_prompt_is_refused() {
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}});
    let (_, stream) = folded(fold, &[blocked]);
    assert_eq!(stream.ending, Some(Ending::Refused("PROHIBITED_CONTENT".to_owned())));
    assert_eq!(stream.usage(), Some(Usage { input_tokens: Some(4), ..Usage::default() }));
}

#[test]
fn an_error_object_is_a_fault() {
    let event = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    let error = fold(&mut Stream::default(), &event, &mut String::new()).unwrap_err();
    assert!(matches!(error, FoldError::Fault(fault) if fault.is_passing));
}

#[test]
fn every_reason_to_finish_is_judged() {
    assert_eq!(ending("MAX_TOKENS"), Ending::OutputLimit);
    assert_eq!(ending("SAFETY"), Ending::Refused("SAFETY".to_owned()));
    assert_eq!(ending("MALFORMED_FUNCTION_CALL"), Ending::Broken("MALFORMED_FUNCTION_CALL".to_owned()));
    assert_eq!(ending("NEW"), Ending::Other("NEW".to_owned()));
}
