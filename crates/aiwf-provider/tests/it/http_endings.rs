//! Replies that arrive whole and are none: too long, refused, empty, failed half way.

use aiwf_provider::AskError;
use insta::assert_snapshot;

use crate::asking::{ask, setting, shown};
use crate::server::{EVENTS, STOP, Server, Step, events, hello, piece};

const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;

fn ending(reason: &str) -> String {
    format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

/// What is said of a reply, which has to name its cost.
fn said(kind: &str, list: &[&str]) -> String {
    let server = Server::answering(&[&events(list), &hello()]);
    let (_, reply) = ask(setting(kind, &server));
    let error = reply.unwrap_err();
    assert_eq!(server.received().len(), 1);
    assert_eq!(error.usage().unwrap().input_tokens, Some(3));
    shown(&error, &server)
}

#[test]
fn a_reply_that_reached_the_limit_of_its_tokens_is_a_cut() {
    let list = [&piece("hello"), &ending("length"), USAGE, "[DONE]"];
    assert_snapshot!(said("openai", &list), @"
    the reply from `local` was cut off: it reached the 32000 tokens that `max_output_tokens` allows
    Retry asks again
    ");
    // A model that only thought has said nothing, and would think as long again.
    assert!(said("openai", &[&ending("length"), USAGE, "[DONE]"]).contains("max_output_tokens"));
}

#[test]
fn a_refusal_is_a_failure() {
    assert_snapshot!(said("openai", &[&ending("content_filter"), USAGE, "[DONE]"]), @"
    `local` failed: the request was refused (content_filter)
    change what the prompt asks for, or use another provider
    ");
    let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3}}"#;
    assert_snapshot!(said("gemini", &[blocked]), @"
    `local` failed: the request was refused (SAFETY)
    change what the prompt asks for, or use another provider
    ");
    let broken = r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}],"usageMetadata":{"promptTokenCount":3}}"#;
    assert_snapshot!(said("gemini", &[broken]), @"
    `local` failed: the model stopped early (MALFORMED_FUNCTION_CALL)
    Retry asks again
    ");
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":3}}}"#;
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":1}}"#;
    assert_snapshot!(said("anthropic", &[start, delta, r#"{"type":"message_stop"}"#]), @"
    `local` failed: the request was refused (refusal)
    change what the prompt asks for, or use another provider
    ");
    let delta =
        r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{}}"#;
    assert_snapshot!(said("anthropic", &[start, delta, r#"{"type":"message_stop"}"#]), @"
    the reply from `local` was cut off: the prompt and the reply fill the model's context window
    Retry asks again
    ");
}

#[test]
fn a_reply_without_a_word_is_empty() {
    assert_snapshot!(said("openai", &[&piece(" \n"), STOP, USAGE, "[DONE]"]), @"
    `local` sent an empty reply
    Retry asks again
    ");
}

const OVERLOADED: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;

#[test]
fn an_error_inside_a_stream_is_tried_again_only_before_a_word() {
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":3}}}"#;
    let text = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}"#;
    let whole = events(&[start, text, r#"{"type":"message_stop"}"#]);
    let server = Server::answering(&[&events(&[start, OVERLOADED]), &whole]);
    let (recorder, reply) = ask(setting("anthropic", &server));
    assert_eq!((reply.unwrap().n_attempts, recorder.text.as_str()), (2, "hel"));
    assert_snapshot!(said("anthropic", &[start, text, OVERLOADED]), @"
    the reply from `local` was cut off: Overloaded
    Retry asks again
    ");
}

#[test]
fn a_permanent_error_inside_a_stream_is_reported_at_once() {
    let error = r#"{"error":{"message":"the prompt is not allowed","type":"invalid_request_error"}}"#;
    assert_snapshot!(said("openai", &[USAGE, error]), @"
    `local` failed: the prompt is not allowed
    fix what it reports, then Retry
    ");
}

#[test]
fn a_reply_that_is_larger_than_it_may_be_ends_the_call() {
    let server = Server::answering(&[&events(&[&piece("0123456789"), &piece("x"), STOP])]);
    let mut setting = setting("openai", &server);
    setting.max_reply_bytes = 10;
    let (recorder, reply) = ask(setting);
    assert_eq!(recorder.text, "0123456789");
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    the reply from `local` is larger than 10 bytes
    raise `max_reply_bytes` of the provider
    ");
}

#[test]
fn an_event_that_is_larger_than_it_may_be_ends_the_call() {
    let server = Server::new(vec![vec![
        Step::Write(format!("{EVENTS}data: ").into_bytes()),
        Step::Repeat(vec![b'x'; 64 * 1024], 200),
    ]]);
    let (_, reply) = ask(setting("openai", &server));
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    the reply from `local` cannot be read: an event is larger than 8388608 bytes
    check that `type`, `base_url` and `reply` of the provider fit together
    ");
}

#[test]
fn a_sink_that_takes_no_more_ends_the_call() {
    let server = Server::answering(&[&hello()]);
    let mut sink = aiwf_provider::TextSink::new(2);
    let stop = aiwf_provider::Stop::default();
    let payload = crate::asking::payload();
    let error = crate::asking::ask_into(setting("openai", &server), &payload, &stop, &mut sink).unwrap_err();
    assert!(matches!(error, AskError::Sink(_)));
}
