//! Whole replies of the three APIs.

use std::sync::mpsc::channel;

use aiwf_provider::{Progress, Reply, Stop, ToolCall, Usage};
use insta::assert_snapshot;
use serde_json::json;

use crate::asking::{Recorder, ask, ask_into, payload, setting, variable};
use crate::server::{EVENTS, Received, STOP, Server, Step, answer, events, hello, piece};

/// The head of a request without what changes from run to run.
fn head(received: &Received) -> String {
    let is_fixed =
        |line: &&str| !line.is_empty() && !line.starts_with("host:") && !line.starts_with("content-length:");
    received.head.lines().filter(is_fixed).collect::<Vec<_>>().join("\n")
}

#[test]
fn anthropic_is_asked_in_its_own_way() {
    let server = Server::answering(&[&events(&[
        r#"{"type":"message_start","message":{"model":"m-2026","usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
        r#"{"type":"message_stop"}"#,
    ])]);
    let mut setting = setting("anthropic", &server);
    setting.key = variable("sk-1");
    let (recorder, reply) = ask(setting);
    assert_eq!(recorder.text, "hello");
    let usage = Usage { input_tokens: Some(12), output_tokens: Some(2), cached_tokens: Some(7), cost: None };
    let reply = reply.unwrap();
    assert!(reply.timings.first_byte.unwrap() <= reply.timings.total);
    let expected = Reply {
        usage: Some(usage),
        model: Some("m-2026".to_owned()),
        timings: reply.timings,
        n_attempts: 1,
        ..Reply::default()
    };
    assert_eq!(reply, expected);
    assert_snapshot!(head(&server.received()[0]), @"
    POST /v1/messages HTTP/1.1
    content-type: application/json
    accept: */*
    user-agent: aiwf/0.0.0
    anthropic-version: 2023-06-01
    x-api-key: sk-1
    ");
    assert_snapshot!(server.received()[0].body, @r#"{"model":"m-1","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":[{"type":"text","text":"say hello\n"}]}]}"#);
}

#[test]
fn openai_is_asked_in_its_own_way() {
    let server = Server::answering(&[&hello()]);
    let mut setting = setting("openai", &server);
    setting.key = variable("sk-1");
    setting.max_output_tokens = Some(77);
    let (recorder, reply) = ask(setting);
    assert_eq!(recorder.text, "hello");
    assert_eq!(recorder.progress, [Progress::Bytes(5)]);
    let reply = reply.unwrap();
    assert_eq!((reply.usage, reply.model.as_deref()), (None, Some("m-2026")));
    assert_snapshot!(head(&server.received()[0]), @"
    POST /v1/chat/completions HTTP/1.1
    content-type: application/json
    accept: */*
    user-agent: aiwf/0.0.0
    authorization: Bearer sk-1
    ");
    assert_snapshot!(server.received()[0].body, @r#"{"model":"m-1","max_tokens":77,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"say hello\n"}]}"#);
}

#[test]
fn gemini_is_asked_in_its_own_way() {
    let server = Server::answering(&[&events(&[
        r#"{"candidates":[{"content":{"parts":[{"text":"hel"}]}}],"modelVersion":"m-2026"}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":1}}"#,
    ])]);
    let mut setting = setting("gemini", &server);
    setting.key = variable("sk-1");
    let (recorder, reply) = ask(setting);
    assert_eq!(recorder.text, "hello");
    let usage = reply.unwrap().usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cached_tokens), (Some(3), Some(3), None));
    assert_snapshot!(head(&server.received()[0]), @"
    POST /v1beta/models/m-1:streamGenerateContent?alt=sse HTTP/1.1
    content-type: application/json
    accept: */*
    user-agent: aiwf/0.0.0
    x-goog-api-key: sk-1
    ");
    assert_snapshot!(server.received()[0].body, @r#"{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"say hello\n"}]}],"generationConfig":{"maxOutputTokens":32000}}"#);
}

#[test]
fn the_prompt_arrives_byte_for_byte() {
    let text = "tab\t cr\r\n nul\u{0} \u{7f} \u{feff} é 😀 \"quotes\" \\ </script> {{x}} @file \u{2028}\n\n";
    let mut payload = payload();
    payload.messages[0].blocks = vec![text.to_owned()];
    for (kind, pointer) in [
        ("anthropic", "/messages/0/content/0/text"),
        ("openai", "/messages/1/content"),
        ("gemini", "/contents/0/parts/0/text"),
    ] {
        // No reply is needed to see what was asked.
        let server = Server::answering(&[&answer(400, "", "")]);
        drop(ask_into(setting(kind, &server), &payload, &Stop::default(), &mut Recorder::default()));
        let received = server.received();
        assert_eq!(received[0].json().pointer(pointer), Some(&json!(text)), "{kind}");
    }
}

#[test]
fn text_is_passed_on_while_the_stream_continues() {
    let (sender, receiver) = channel();
    let server = Server::new(vec![vec![
        Step::Write(events(&[&piece("first")]).into_bytes()),
        Step::Await(receiver),
        Step::Write(format!("data: {}\n\ndata: {STOP}\n\n", piece(" second")).into_bytes()),
    ]]);
    let mut recorder = Recorder {
        // The server goes on once the first text is here; before that it could wait for ever.
        on_text: Some(Box::new(move || sender.send(()).unwrap_or_default())),
        ..Recorder::default()
    };
    ask_into(setting("openai", &server), &payload(), &Stop::default(), &mut recorder).unwrap();
    assert_eq!(recorder.text, "first second");
    assert_eq!(recorder.progress, [Progress::Bytes(5), Progress::Bytes(12)]);
}

#[test]
fn tools_that_the_model_wants_used_come_back() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c-1","function":{"name":"read","arguments":"{\"path\":"}}]}}]}"#;
    let more = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
    let server = Server::answering(&[&events(&[call, more, end, "[DONE]"])]);
    let (recorder, reply) = ask(setting("openai", &server));
    assert_eq!(recorder.text, "");
    let expected = ToolCall {
        id: "c-1".to_owned(),
        name: "read".to_owned(),
        arguments: json!({ "path": "a" }),
        signature: None,
    };
    assert_eq!(reply.unwrap().tool_calls, [expected]);
}

#[test]
fn a_reply_that_ends_for_an_unknown_reason_is_taken_with_a_note() {
    let end = r#"{"choices":[{"delta":{},"finish_reason":"eos"}]}"#;
    let server = Server::answering(&[&events(&[&piece("hello"), end])]);
    let (_, reply) = ask(setting("openai", &server));
    assert_eq!(reply.unwrap().notes, ["the reply ended for an unknown reason: `eos`"]);
}

/// Counts and forgets.
struct Counter(u64);

impl aiwf_provider::Sink for Counter {
    fn text(&mut self, text: &str) -> std::io::Result<()> {
        self.0 += text.len() as u64;
        Ok(())
    }

    fn restart(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The most memory that this process ever had, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("VmHWM: 0");
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_reply_of_a_hundred_megabytes_takes_the_memory_of_a_small_one() {
    const PIECE: usize = 64 * 1024;
    const N_PIECES: usize = 1_600;
    let data = format!("data: {}\n\n", piece(&"x".repeat(PIECE)));
    let server = Server::new(vec![vec![
        Step::Write(EVENTS.as_bytes().to_vec()),
        Step::Repeat(data.into_bytes(), N_PIECES),
        Step::Write(format!("data: {STOP}\n\n").into_bytes()),
    ]]);
    let mut setting = setting("openai", &server);
    setting.max_reply_bytes = u64::MAX;
    let before = peak_memory();
    let mut counter = Counter(0);
    ask_into(setting, &payload(), &Stop::default(), &mut counter).unwrap();
    assert_eq!(counter.0, (PIECE * N_PIECES) as u64);
    let grown = peak_memory() - before;
    // Other tests may run in the same process, so there is room for them; not for the reply.
    assert!(grown < 64 * 1024, "{grown} KiB more than before");
}
