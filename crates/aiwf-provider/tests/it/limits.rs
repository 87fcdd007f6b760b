use aiwf_provider::{AskError, ProviderSetting};
use insta::assert_snapshot;
use jiff::Timestamp;

use crate::asking::{ask, setting};
use crate::fake_agent::FakeAgent;
use crate::server::{Server, answer, events, piece};

fn now() -> i64 {
    Timestamp::now().as_second()
}

/// The error with its advice, and `TIME` for the end of the limit.
fn shown(error: &AskError) -> String {
    let until = error.limit_until().map(|until| Timestamp::from_second(until).unwrap());
    let time = until.map(|until| until.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let shown = format!("{error}\n{}", error.advice().worded(|action, _| format!("{action:?}")));
    time.map_or(shown.clone(), |time| shown.replace(&time, "TIME"))
}

/// Checks how long a limit lasts that was reached between `before` and now.
#[track_caller]
fn assert_lasts(error: &AskError, before: i64, seconds: i64) {
    let until = error.limit_until().unwrap_or_else(|| panic!("{error}"));
    assert!((before + seconds..=now() + seconds).contains(&until), "{until} for {seconds}: {error}");
}

/// An agent that prints this and ends with an exit code.
fn agent(kind: &str, printed: &str, exit: i32) -> AskError {
    let agent = FakeAgent::new(kind, &format!("cat \"$FAKE_DIR/out\"; cat > /dev/null; exit {exit}"));
    std::fs::write(agent.dir().join("out"), printed).unwrap();
    agent.ask().1.unwrap_err()
}

#[test]
fn claude_code_names_the_second() {
    let until = now() + 7_200;
    let result = format!(
        r#"{{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"Claude AI usage limit reached|{until}","usage":{{"input_tokens":3,"output_tokens":0}}}}"#
    );
    let error = agent("claude-code", &result, 1);
    assert_eq!(error.limit_until(), Some(until));
    assert_eq!(error.usage().unwrap().input_tokens, Some(3));
    assert_snapshot!(shown(&error), @"
    `claude-code` has reached its usage limit, which resets at TIME: Claude AI usage limit reached
    Retry asks again after the limit resets; until then, another provider can take over
    ");
    // Some versions call it a success.
    let well = result.replace(r#""is_error":true"#, r#""is_error":false"#);
    assert_eq!(agent("claude-code", &well, 0).limit_until(), Some(until));
}

#[test]
fn claude_code_names_the_hour_and_an_event_has_the_second() {
    let until = now() + 7_200;
    let event = |status: &str| {
        format!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","resetsAt":{until}}}}}"#
        )
    };
    let result = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"You've hit your session limit"}"#;
    let error = agent("claude-code", &format!("{}\n{result}", event("rejected")), 1);
    assert_eq!(error.limit_until(), Some(until));
    let error = agent("claude-code", &format!("{}\n{result}", event("allowed")), 1);
    assert_eq!(error.limit_until(), None);
    assert_snapshot!(shown(&error), @"
    `claude-code` has reached its usage limit: You've hit your session limit
    Retry asks again after the limit resets; until then, another provider can take over
    ");
    let hourly = result.replace("session limit", "session limit · resets 3pm (UTC)");
    let error = agent("claude-code", &hourly, 1);
    let until = Timestamp::from_second(error.limit_until().unwrap()).unwrap();
    // A time of day that just passed is over, and the limit is lifted soon.
    assert!(until.to_string().ends_with("T15:00:00Z") || until.as_second() - now() <= 60, "{until}");
}

#[test]
fn a_reply_about_limits_is_a_reply() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"5-hour limit reached ∙ resets 3pm is what it prints"}"#;
    let script = "cat > /dev/null; cat \"$FAKE_DIR/out\"";
    let agent = FakeAgent::new("claude-code", script);
    std::fs::write(agent.dir().join("out"), result).unwrap();
    agent.ask().1.unwrap();
}

#[test]
fn codex_names_a_span() {
    let before = now();
    let failed = r#"{"type":"turn.failed","error":{"message":"You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 hours 5 minutes."}}"#;
    let error = agent("codex", failed, 1);
    assert_lasts(&error, before, 7_500);
    assert_snapshot!(shown(&error), @"
    `codex` has reached its usage limit, which resets at TIME: You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 hours 5 minutes
    Retry asks again after the limit resets; until then, another provider can take over
    ");
    // The end of the turn may be missing.
    let complaint =
        r#"{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}"#;
    for exit in [0, 1] {
        let error = agent("codex", complaint, exit);
        assert!(matches!(error, AskError::LimitReached { until: None, .. }), "{error}");
    }
}

#[test]
fn gemini_cli_names_a_span_in_its_words_or_its_details() {
    let before = now();
    let of_prompt = |error: &str| {
        let lines = [
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}"#,
            &format!(r#"{{"jsonrpc":"2.0","id":3,"error":{error}}}"#),
        ];
        agent("gemini-cli", &(lines.join("\n") + "\n"), 0)
    };
    let error = of_prompt(
        r#"{"code":429,"message":"You have exhausted your capacity on this model. Your quota will reset after 3h12m5s."}"#,
    );
    assert_lasts(&error, before, 11_525);
    assert_snapshot!(shown(&error), @"
    `gemini-cli` has reached its usage limit, which resets at TIME: You have exhausted your capacity on this model. Your quota will reset after 3h12m5s. (code 429)
    Retry asks again after the limit resets; until then, another provider can take over
    ");
    let inner = r#"{\"error\":{\"code\":429,\"message\":\"Quota exceeded\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"7200s\"}]}}"#;
    let error = of_prompt(&format!(r#"{{"code":429,"message":"{inner}"}}"#));
    assert_lasts(&error, before, 7_200);
}

#[test]
fn a_program_that_is_not_known_has_failed() {
    let mut agent = FakeAgent::new("command", "echo 'usage limit reached' >&2; exit 1");
    agent.setting = ProviderSetting { kind: "command".to_owned(), ..agent.setting };
    assert!(matches!(agent.ask().1, Err(AskError::Failed { .. })));
}

#[test]
fn a_model_api_names_a_wait_in_headers_or_in_its_body() {
    let body = r#"{"error":{"message":"slow down"}}"#;
    let retry_info = r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7200s"}]}}"#;
    for (headers, body, seconds) in [
        ("retry-after: 7200\r\n", body, 7_200),
        ("x-ratelimit-reset-requests: 1s\r\nx-ratelimit-reset-tokens: 2h0m0s\r\n", body, 7_200),
        ("retry-after: 120\r\nx-ratelimit-reset: 7200\r\n", body, 120),
        ("", retry_info, 7_200),
    ] {
        let server = Server::answering(&[&answer(429, headers, body)]);
        let before = now();
        let error = ask(setting("openai", &server)).1.unwrap_err();
        assert_eq!(server.received().len(), 1);
        assert_lasts(&error, before, seconds);
    }
    let server = Server::answering(&[&answer(429, "retry-after: 7200\r\n", body)]);
    assert_snapshot!(shown(&ask(setting("openai", &server)).1.unwrap_err()), @"
    `local` has reached its usage limit, which resets at TIME: slow down
    Retry asks again after the limit resets; until then, another provider can take over
    ");
}

#[test]
fn a_wait_that_the_call_has_no_time_for_is_a_limit_of_a_minute() {
    let server = Server::answering(&[&answer(429, "retry-after: 30\r\n", "")]);
    let mut impatient = setting("openai", &server);
    impatient.timeouts.total = std::time::Duration::from_secs(20);
    let before = now();
    assert_lasts(&ask(impatient).1.unwrap_err(), before, 60);
}

#[test]
fn a_limit_without_a_time_is_tried_again_and_then_a_status() {
    let busy = answer(429, "x-ratelimit-remaining-tokens: 5\r\nx-ratelimit-reset-tokens: 2h\r\n", "");
    let server = Server::answering(&[&busy, &busy, &busy, &busy]);
    assert!(matches!(ask(setting("openai", &server)).1, Err(AskError::Status { status: 429, .. })));
    assert_eq!(server.received().len(), 4);
}

#[test]
fn a_limit_in_a_stream_has_its_end_unless_a_reply_began() {
    let fault =
        r#"{"error":{"type":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 2h."}}"#;
    let server = Server::answering(&[&events(&[fault])]);
    let before = now();
    let error = ask(setting("openai", &server)).1.unwrap_err();
    assert_eq!(server.received().len(), 1);
    assert_lasts(&error, before, 7_200);
    let server = Server::answering(&[&events(&[&piece("a"), fault])]);
    assert!(matches!(ask(setting("openai", &server)).1, Err(AskError::Cut { .. })));
}
