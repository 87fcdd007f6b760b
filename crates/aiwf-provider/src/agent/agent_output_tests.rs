use aiwf_prompt::Role;
use proptest::prelude::*;

use super::*;
use crate::agent::claude_code::ClaudeEvents;
use crate::agent::codex::CodexEvents;
use crate::agent::gemini_cli::GeminiEvents;
use crate::ask::{Permission, Request};
use crate::payload::Payload;
use crate::payload::PayloadMessage;
use aiwf_process::Stop;

fn folds() -> Vec<Box<dyn Fold>> {
    let payload =
        Payload { messages: vec![PayloadMessage::new(Role::User, "p".to_owned())], ..Payload::default() };
    let request = Request {
        name: "x",
        payload: &payload,
        directory: std::path::Path::new("/p"),
        response_path: None,
        permission: Permission::ReadOnly,
        stop: &Stop::default(),
    };
    vec![
        Box::new(JsonLines::new(ClaudeEvents)),
        Box::new(JsonLines::new(CodexEvents)),
        Box::new(JsonLines::new(GeminiEvents::new(&request))),
    ]
}

/// What is parsed from some output in chunks of these sizes; the steps as the text they leave.
fn parsed(mut fold: Box<dyn Fold>, output: &[u8], sizes: &[usize]) -> (AgentOutput, String) {
    let mut parsed = AgentOutput::default();
    let mut rest = output;
    let mut sizes = sizes.iter().copied().cycle();
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(sizes.next().unwrap_or(1).clamp(1, rest.len()));
        fold.bytes(chunk, &mut parsed).unwrap();
        rest = after;
    }
    fold.end(&mut parsed).unwrap();
    let mut text = String::new();
    for step in &parsed.steps {
        match step {
            Step::Text(more) => text.push_str(more),
            Step::Restart => text.clear(),
            Step::Send(_) => {}
        }
    }
    (parsed, text)
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"é","usage":{"input_tokens":1}}"#,
        r#"{"type":"result","is_error":true,"result":"no","modelUsage":{"a":{},"b":3}}"#,
        r#"{"type":"result","permission_denials":[1,{"tool_name":"W"}],"usage":3}"#,
        r#"{"type":"system","subtype":"init","model":"m"}"#,
        r#"{"type":"item.completed","item":{"type":"agent_message","text":"a"}}"#,
        r#"{"type":"item.completed","item":{"type":"error"}}"#,
        r#"{"type":"turn.completed","usage":{"input_tokens":18446744073709551615}}"#,
        r#"{"type":"turn.completed","usage":[]}"#,
        r#"{"type":"turn.failed","error":"e"}"#,
        r#"{"type":"error","message":null}"#,
        r#"{"id":1,"result":{}}"#,
        r#"{"id":2,"result":{"sessionId":"s"}}"#,
        r#"{"id":2,"result":{}}"#,
        r#"{"id":3,"result":{"stopReason":"end_turn"}}"#,
        r#"{"id":3,"error":{"code":-1,"data":{"details":"d"}}}"#,
        r#"{"id":"x","method":"session/request_permission","params":{"options":3}}"#,
        r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"t"}}}}"#,
        r#"{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call"}}}"#,
        r#"{"type":"res"#,
        "[1,2]",
        "",
    ]);
    prop_oneof![
        4 => known.prop_map(|line| line.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..60),
    ]
}

proptest! {
    #[test]
    fn any_chunks_of_any_lines_are_parsed_alike(
        lines in prop::collection::vec(line(), 0..12),
        sizes in prop::collection::vec(1_usize..40, 1..6),
    ) {
        let output = lines.join(&b'\n');
        let whole = folds().into_iter().map(|fold| parsed(fold, &output, &[usize::MAX]));
        let chunked = folds().into_iter().map(|fold| parsed(fold, &output, &sizes));
        for (whole, chunked) in whole.zip(chunked) {
            prop_assert_eq!(whole, chunked);
        }
    }

    #[test]
    fn words_are_shown_short_and_without_control_characters(words in ".{0,50}", n in 1_usize..200) {
        let shown = shown(&words.repeat(n));
        prop_assert!(shown.len() <= MAX_WORDS + '…'.len_utf8());
        let has_control = shown.contains(|letter: char| letter.is_control() && letter != '\n' && letter != '\t');
        prop_assert!(!has_control);
    }
}

#[test]
fn the_end_of_long_words_is_shown() {
    let words = format!("{}é{}", "a".repeat(10), "b".repeat(MAX_WORDS - 1));
    assert_eq!(shown(&words), format!("…{}", "b".repeat(MAX_WORDS - 1)));
    assert_eq!(shown("\u{1b}[31;1mred\u{1b}[0m\u{7}."), "red");
}
