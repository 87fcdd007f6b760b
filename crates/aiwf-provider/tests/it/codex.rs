use aiwf_provider::Usage;

use crate::fake_agent::{FakeAgent, prompt};

fn says(lines: &[&str], exit: i32) -> FakeAgent {
    let agent =
        FakeAgent::new("codex", &format!("cat > \"$FAKE_DIR/stdin\"; cat \"$FAKE_DIR/out\"; exit {exit}"));
    std::fs::write(agent.dir().join("out"), lines.join("\n")).unwrap();
    agent
}

const COMPLETED: &str = r#"{"type":"turn.completed","usage":{"input_tokens":246,"cached_input_tokens":40,"output_tokens":12,"reasoning_output_tokens":3}}"#;

#[test]
fn the_last_message_is_the_reply() {
    let agent = says(
        &[
            r#"{"type":"thread.started","thread_id":"t"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"error","message":"Reconnecting... 1/5"}"#,
            r#"{"type":"item.completed","item":{"id":"0","type":"error","message":"model metadata not found"}}"#,
            r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"I look first."}}"#,
            r#"{"type":"item.completed","item":{"id":"2","type":"command_execution","aggregated_output":"x","exit_code":0}}"#,
            r#"{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"The reply."}}"#,
            COMPLETED,
        ],
        0,
    );
    let (kept, reply) = agent.ask();
    let reply = reply.unwrap();
    assert_eq!(kept.text, "The reply.");
    assert_eq!(kept.n_restarts, 1);
    let usage =
        Usage { input_tokens: Some(246), output_tokens: Some(12), cached_tokens: Some(40), cost: None };
    assert_eq!(reply.usage, Some(usage));
    assert_eq!(reply.notes, ["model metadata not found"]);
    assert_eq!(agent.file("stdin"), "the prompt");
}

#[test]
fn a_failed_turn_is_a_failure() {
    let lines = [
        r#"{"type":"error","message":"Reconnecting... 1/1"}"#,
        r#"{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}"#,
    ];
    insta::assert_snapshot!(says(&lines, 1).error(), @r"
    `codex` failed: unexpected status 401 Unauthorized
    hint: log in with `codex login`, or set `api_key_env` of the provider
    ");
}

#[test]
fn a_failure_before_the_turn_has_the_programs_words() {
    let agent =
        FakeAgent::new("codex", "printf '\\033[31mError\\033[0m: wire_api chat is gone\\n' >&2; exit 1");
    insta::assert_snapshot!(agent.error(), @"
    `codex` failed: it ended with exit code 1: Error: wire_api chat is gone
    hint: Retry asks again
    ");
}

#[test]
fn a_usage_error_means_an_old_version() {
    let agent =
        FakeAgent::new("codex", "echo \"error: unexpected argument '--ephemeral' found\" >&2; exit 2");
    insta::assert_snapshot!(agent.error(), @"
    `codex` failed: it ended with exit code 2: error: unexpected argument '--ephemeral' found
    hint: install the version that aiwf is tested with: `npm install -g @openai/codex@0.166.0`
    ");
}

#[test]
fn a_turn_without_a_message_is_empty_and_still_costs() {
    insta::assert_snapshot!(says(&[COMPLETED], 0).error(), @r#"
    `codex` sent an empty reply
    hint: Retry asks again
    {"input_tokens":246,"output_tokens":12,"cached_tokens":40}
    "#);
}

#[test]
fn a_reply_is_not_held_up_by_a_program_that_does_not_go() {
    let mut agent = says(&[], 0);
    let message = r#"{"type":"item.completed","item":{"type":"agent_message","text":"The reply."}}"#;
    std::fs::write(agent.dir().join("script.sh"), "cat \"$FAKE_DIR/out\"; sleep 6000").unwrap();
    std::fs::write(agent.dir().join("out"), [message, COMPLETED, ""].join("\n")).unwrap();
    agent.setting.timeouts.total = std::time::Duration::from_mins(100);
    let (kept, reply) = agent.ask();
    assert_eq!(kept.text, "The reply.");
    reply.unwrap();
}

#[test]
fn an_exit_that_is_not_zero_is_a_failure_even_after_the_turn() {
    let message = r#"{"type":"item.completed","item":{"type":"agent_message","text":"The reply."}}"#;
    assert!(says(&[message, COMPLETED, ""], 3).error().contains("it ended with exit code 3"));
}

#[test]
fn a_turn_without_an_end_is_cut() {
    let lines = [
        r#"{"type":"item.completed","item":{"type":"agent_message","text":"The reply."}}"#,
        r#"{"type":"error","message":"stream closed before response.completed"}"#,
        r#"{"type":"turn.comp"#,
    ];
    insta::assert_snapshot!(says(&lines, 0).error(), @"
    the reply from `codex` was cut off: stream closed before response.completed
    hint: Retry asks again
    ");
}

#[test]
fn a_prompt_that_is_too_long_is_refused_before_anything_runs() {
    let mut agent = says(&[], 0);
    agent.payload = prompt(&"é".repeat(1_048_577));
    insta::assert_snapshot!(agent.error(), @"
    the prompt has 1048577 characters, but `codex` accepts 1048576
    hint: set `[session] budget_tokens`, give fewer files, or use another provider
    ");
    assert!(!agent.dir().join("pid").exists());
}

#[test]
fn a_byte_order_mark_is_refused_before_anything_runs() {
    let mut agent = says(&[], 0);
    agent.payload = prompt("\u{feff}x");
    insta::assert_snapshot!(agent.error(), @r"
    the prompt cannot be sent to `codex` unchanged: a byte order mark would be dropped in line 1, column 1
    hint: remove these characters from the prompt, or use another provider
    ");
    assert!(!agent.dir().join("pid").exists());
}
