use aiwf_provider::Usage;

use crate::fake_agent::{FakeAgent, prompt};

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;
const SESSION: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}"#;
const END: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":148,"output_tokens":9},"model_usage":[{"model":"gemini-test","token_count":{}}]}}}}"#;

fn chunk(text: &str) -> String {
    let update = serde_json::json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    serde_json::json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s-1", "update": update } })
        .to_string()
}

/// Speaks the protocol: answers the first two requests, then says the lines, reading one line for each `READ`.
fn says(lines: &[&str]) -> FakeAgent {
    let script = r#"
read -r line; printf '%s\n' "$line" >> "$FAKE_DIR/heard"; sed -n 1p "$FAKE_DIR/out"
read -r line; printf '%s\n' "$line" >> "$FAKE_DIR/heard"; sed -n 2p "$FAKE_DIR/out"
read -r line; printf '%s\n' "$line" >> "$FAKE_DIR/heard"
sed -n '3,$p' "$FAKE_DIR/out" | while IFS= read -r out; do printf '%s\n' "$out"; done
cat >> "$FAKE_DIR/heard"
"#;
    let agent = FakeAgent::new("gemini-cli", script);
    let all = [&[INITIALIZED, SESSION], lines].concat();
    std::fs::write(agent.dir().join("out"), all.join("\n") + "\n").unwrap();
    agent
}

fn heard(agent: &FakeAgent) -> Vec<serde_json::Value> {
    agent.file("heard").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_prompt_goes_as_one_block_and_the_chunks_are_the_reply() {
    let mut agent = says(&[
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hmm"}}}}"#,
        &chunk("The "),
        &chunk("reply."),
        END,
    ]);
    let text = " \n@src/main.rs me@example.com\r\n\u{1}\u{2028}é\n\n";
    agent.payload = prompt(text);
    let (kept, reply) = agent.ask();
    let reply = reply.unwrap();
    assert_eq!(kept.text, "The reply.");
    assert_eq!(kept.n_restarts, 0);
    let usage = Usage { input_tokens: Some(148), output_tokens: Some(9), ..Usage::default() };
    assert_eq!(reply.usage, Some(usage));
    assert_eq!(reply.model.as_deref(), Some("gemini-test"));
    let heard = heard(&agent);
    assert_eq!(
        heard[2].pointer("/params/prompt").unwrap(),
        &serde_json::json!([{ "type": "text", "text": text }])
    );
    assert_eq!(heard[2].pointer("/params/sessionId").unwrap(), "s-1");
    let methods: Vec<_> = heard.iter().filter_map(|message| message["method"].as_str()).collect();
    assert_eq!(methods, ["initialize", "session/new", "session/prompt"]);
}

#[test]
fn text_before_a_tool_call_is_not_the_reply() {
    let tool = r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"1"}}}"#;
    let (kept, reply) = says(&[&chunk("I look first."), tool, &chunk("The "), &chunk("reply."), END]).ask();
    reply.unwrap();
    assert_eq!(kept.text, "The reply.");
    assert_eq!(kept.n_restarts, 1);
}

#[test]
fn nothing_is_permitted_and_nothing_else_is_served() {
    let ask = r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"options":[{"optionId":"proceed_once","kind":"allow_once"},{"optionId":"cancel","kind":"reject_once"}],"toolCall":{"title":"write_file"}}}"#;
    let read = r#"{"jsonrpc":"2.0","id":"x","method":"fs/read_text_file","params":{"path":"a"}}"#;
    let agent = says(&[ask, read, &chunk("The reply."), END]);
    let (_, reply) = agent.ask();
    assert_eq!(reply.unwrap().notes, ["`write_file` was denied"]);
    let heard = heard(&agent);
    assert_eq!(
        heard[3],
        serde_json::json!({"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"cancel"}}})
    );
    assert_eq!(heard[4]["error"]["code"], -32601);
}

#[test]
fn a_prompt_that_begins_like_a_command_is_kept_from_being_one() {
    let mut agent = says(&[&chunk("x"), END]);
    agent.payload = prompt("\n/memory show");
    let (_, reply) = agent.ask();
    assert_eq!(
        reply.unwrap().notes,
        ["the prompt starts like a command, so a zero-width space was put before it"]
    );
    assert_eq!(heard(&agent)[2].pointer("/params/prompt/1/text").unwrap(), "\n/memory show");
}

#[test]
fn a_turn_that_counts_nothing_is_no_reply() {
    let zero = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":0,"output_tokens":0},"model_usage":[]}}}}"#;
    insta::assert_snapshot!(says(&[&chunk("half a rep"), zero]).error(), @"
    the reply from `gemini-cli` was cut off: its model was not asked, or stopped early
    hint: Retry asks again
    ");
}

#[test]
fn an_early_stop_is_a_failure() {
    let end = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_tokens","_meta":{"quota":{"token_count":{"input_tokens":1,"output_tokens":2}}}}}"#;
    insta::assert_snapshot!(says(&[&chunk("half"), end]).error(), @r#"
    `gemini-cli` failed: it stopped early: max_tokens
    hint: Retry asks again
    {"input_tokens":1,"output_tokens":2}
    "#);
}

#[test]
fn an_error_of_the_protocol_is_a_failure() {
    let error = r#"{"jsonrpc":"2.0","id":3,"error":{"code":401,"message":"API key not valid."}}"#;
    insta::assert_snapshot!(says(&[error]).error(), @r"
    `gemini-cli` failed: API key not valid. (code 401)
    hint: log in by running `gemini` yourself, or set `api_key_env` of the provider
    ");
}

#[test]
fn an_error_that_wraps_the_servers_words_is_unwrapped() {
    let message = r#"{\"error\":{\"message\":\"no such key\",\"code\":401}}"#;
    let error = format!(r#"{{"jsonrpc":"2.0","id":3,"error":{{"code":401,"message":"{message}"}}}}"#);
    assert!(says(&[&error]).error().starts_with("`gemini-cli` failed: no such key (code 401)\n"));
}

#[test]
fn a_missing_login_is_named() {
    let script = r#"read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read -r line; echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Gemini API key is missing or not configured."}}'"#;
    insta::assert_snapshot!(FakeAgent::new("gemini-cli", script).error(), @r"
    `gemini-cli` failed: Gemini API key is missing or not configured
    hint: log in by running `gemini` yourself, or set `api_key_env` of the provider
    ");
}

#[test]
fn the_error_at_the_end_of_the_complaints_is_found() {
    let script = r#"printf 'Error: x\n    at y {z}\n{\n  "session_id": "s",\n  "error": {"type": "Error", "message": "Invalid auth method selected.", "code": 41}\n}\n' >&2; exit 41"#;
    insta::assert_snapshot!(FakeAgent::new("gemini-cli", script).error(), @r"
    `gemini-cli` failed: it ended with exit code 41: Invalid auth method selected
    hint: log in by running `gemini` yourself, or set `api_key_env` of the provider
    ");
}

#[test]
fn a_folder_that_is_not_trusted_is_named() {
    insta::assert_snapshot!(FakeAgent::new("gemini-cli", "echo 'not trusted' >&2; exit 55").error(), @r"
    `gemini-cli` failed: it ended with exit code 55: not trusted
    hint: run `gemini` in the project yourself and say whether you trust it
    ");
}

#[test]
fn a_variable_of_its_own_in_the_system_text_is_refused() {
    let mut agent = says(&[END]);
    agent.payload.system = vec!["Use\nthe ${x} and ${read_file_ToolName}".to_owned()];
    insta::assert_snapshot!(agent.error(), @r"
    the prompt cannot be sent to `gemini-cli` unchanged: `${read_file_ToolName}` of the system text would be replaced in line 2, column 14
    hint: remove these characters from the prompt, or use another provider
    ");
}

#[test]
fn a_program_that_leaves_the_talk_is_cut() {
    insta::assert_snapshot!(FakeAgent::new("gemini-cli", "read -r line; exit 0").error(), @"
    the reply from `gemini-cli` was cut off: it exited without reporting that it was done
    hint: Retry asks again
    ");
}
