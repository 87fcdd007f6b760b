use aiwf_provider::Usage;

use crate::fake_agent::FakeAgent;

const INIT: &str = r#"{"type":"system","subtype":"init","model":"claude-test-1","tools":[]}"#;

fn says(lines: &[&str], exit: i32) -> FakeAgent {
    let agent = FakeAgent::new(
        "claude-code",
        &format!("cat > \"$FAKE_DIR/stdin\"; cat \"$FAKE_DIR/out\"; exit {exit}"),
    );
    std::fs::write(agent.dir().join("out"), lines.join("\n")).unwrap();
    agent
}

#[test]
fn the_result_is_the_reply_with_usage_cost_model_and_denials() {
    let agent = says(
        &[
            r#"{"type":"system","subtype":"ui_invalidate"}"#,
            INIT,
            "not JSON at all",
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look first."}]}}"#,
            r#"{"result":"The reply.\n","type":"result","subtype":"success","is_error":false,"num_turns":2,"total_cost_usd":0.25,"usage":{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":5,"output_tokens":7},"modelUsage":{"claude-test-1":{"inputTokens":10}},"permission_denials":[{"tool_name":"Write","tool_input":{"file_path":"src/main.rs"}},{"tool_name":"Bash","tool_input":{}}]}"#,
        ],
        0,
    );
    let (kept, reply) = agent.ask();
    let reply = reply.unwrap();
    assert_eq!(kept.text, "The reply.\n");
    assert!(kept.raw.starts_with(br#"{"type":"system""#));
    let usage =
        Usage { input_tokens: Some(35), output_tokens: Some(7), cached_tokens: Some(20), cost: Some(0.25) };
    assert_eq!(reply.usage, Some(usage));
    assert_eq!(reply.model.as_deref(), Some("claude-test-1"));
    assert_eq!(reply.notes, ["`Write` was denied: src/main.rs", "`Bash` was denied"]);
    let sent: serde_json::Value = serde_json::from_str(&agent.file("stdin")).unwrap();
    assert_eq!(sent.pointer("/message/content/0/text").unwrap(), "the prompt");
}

#[test]
fn counts_by_model_stand_in_for_a_sum_of_zero() {
    let (_, reply) = says(
        &[r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"x","usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{"a":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheCreationInputTokens":4},"b":{"inputTokens":10,"outputTokens":20}}}"#],
        0,
    )
    .ask();
    let usage = Usage { input_tokens: Some(18), output_tokens: Some(22), cached_tokens: Some(3), cost: None };
    assert_eq!(reply.unwrap().usage, Some(usage));
}

#[test]
fn an_error_that_calls_itself_success_is_none() {
    let result = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"Failed to authenticate. API Error: 401","usage":{"input_tokens":3,"output_tokens":0}}"#;
    insta::assert_snapshot!(says(&[INIT, result], 1).error(), @r#"
    `claude-code` failed: Failed to authenticate. API Error: 401
    hint: log in by running `claude` yourself, or set `api_key_env` of the provider
    {"input_tokens":3,"output_tokens":0}
    "#);
}

#[test]
fn an_empty_result_is_no_reply() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":" \n"}"#;
    insta::assert_snapshot!(says(&[INIT, result], 0).error(), @"
    `claude-code` sent an empty reply
    hint: Retry asks again
    ");
}

#[test]
fn a_result_without_a_turn_is_no_reply() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"/compact isn't available in this environment."}"#;
    insta::assert_snapshot!(says(&[INIT, result], 0).error(), @"
    `claude-code` failed: /compact isn't available in this environment
    hint: Retry asks again
    ");
}

#[test]
fn the_limit_of_turns_is_a_failure() {
    let result = r#"{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":3}"#;
    insta::assert_snapshot!(says(&[INIT, result], 0).error(), @"
    `claude-code` failed: error_max_turns
    hint: Retry asks again
    ");
}

#[test]
fn output_that_breaks_off_is_cut() {
    let broken = r#"{"type":"result","subtype":"success","is_error":false,"result":"The rep"#;
    insta::assert_snapshot!(says(&[INIT, broken], 0).error(), @"
    the reply from `claude-code` was cut off: it exited without reporting that it was done
    hint: Retry asks again
    ");
}

#[test]
fn the_echo_of_a_prompt_is_no_reply() {
    let echo = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"the prompt"}]}}"#;
    let (kept, reply) = says(&[INIT, echo], 0).ask();
    assert!(reply.is_err());
    assert_eq!(kept.text, "");
}

#[test]
fn an_old_version_is_named_as_such() {
    let agent = FakeAgent::new("claude-code", "echo \"error: unknown option '--restricted'\" >&2; exit 1");
    insta::assert_snapshot!(agent.error(), @"
    `claude-code` failed: it ended with exit code 1: error: unknown option '--restricted'
    hint: install the version that aiwf is tested with: `npm install -g @anthropic-ai/claude-code@2.1.325`
    ");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let agent = FakeAgent::new(
        "claude-code",
        r#"printf '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"a\377b"}'"#,
    );
    let (kept, reply) = agent.ask();
    reply.unwrap();
    assert_eq!(kept.text, "a\u{fffd}b");
}
