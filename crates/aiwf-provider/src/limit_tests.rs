use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

fn clock() -> Clock {
    let at: Timestamp = "2026-10-07T12:00:00Z".parse().unwrap();
    Clock { now: at.to_zoned(TimeZone::UTC), zone: |_| None }
}

/// How long a limit lasts: `?` when nobody knows, nothing when there is none.
fn shown(limit: Option<Limit>) -> Option<String> {
    let now = clock().now.timestamp().as_second();
    let wait = |until: i64| format!("{:?}", Duration::from_secs((until - now).unsigned_abs()));
    limit.map(|limit| limit.until.map_or_else(|| "?".to_owned(), wait))
}

type Parser = fn(&str, Option<&str>, &Clock) -> Option<Limit>;

#[track_caller]
fn check(parser: Parser, words: &str, expected: Option<&str>) {
    assert_eq!(shown(parser(words, None, &clock())).as_deref(), expected, "{words}");
}

#[test]
fn claude_code_says_it_in_many_ways() {
    let check = |words, expected| check(of_claude_code, words, expected);
    check("Claude AI usage limit reached|1791388800", Some("14400s"));
    check("Claude usage limit reached. Your limit will reset at 3pm (Etc/UTC).", Some("10800s"));
    check("5-hour limit reached ∙ resets 3pm", Some("10800s"));
    check("Weekly limit reached · resets Oct 9, 12pm", Some("172800s"));
    check("Opus weekly limit reached ∙ resets Oct 8", Some("43200s"));
    check("You've hit your session limit · resets 8:30pm (Asia/Tokyo)", Some("30600s"));
    check("You've hit your limit · resets 1pm (UTC)", Some("3600s"));
    check("You've reached your usage limit.", Some("?"));
    check("You're out of extra usage · resets 2pm", Some("7200s"));
    check(
        "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This request would exceed your account's rate limit. Please try again later.\"}}",
        Some("?"),
    );
    for other in [
        "Context limit reached · /compact or /clear to continue",
        "error_max_turns",
        "Credit balance is too low",
        "Failed to authenticate. API Error: 401",
        "the limit reached the moon",
    ] {
        check(other, None);
    }
}

#[test]
fn codex_says_it_with_a_span_or_a_time() {
    let check = |words, expected| check(of_codex, words, expected);
    check(
        "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 hours 5 minutes.",
        Some("7500s"),
    );
    check(
        "You've hit your usage limit. Upgrade to Plus to continue using Codex, or try again at Oct 8th, 2026 12:00 PM.",
        Some("86400s"),
    );
    check("You've hit your usage limit. To get more access now, send a request to your admin.", Some("?"));
    check(
        r#"unexpected status 429 Too Many Requests: {"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_in_seconds":602705}}"#,
        Some("602705s"),
    );
    check("exceeded retry limit, last status: 429 Too Many Requests", Some("?"));
    check(
        "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 28000. Please try again in 6s.",
        Some("60s"),
    );
    check("stream disconnected before completion", None);
    check("Quota exceeded. Check your plan and billing details.", None);
}

#[test]
fn gemini_cli_says_it_with_a_span_or_in_its_details() {
    let check_words = |words, expected| check(of_gemini_cli, words, expected);
    check_words(
        "You have exhausted your capacity on this model. Your quota will reset after 3h12m5s. (code 429)",
        Some("11525s"),
    );
    check_words("Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' (code 429)", Some("?"));
    check_words(
        "You exceeded your current quota, please check your plan.\nPlease retry in 3601.5s.",
        Some("3601s"),
    );
    check_words("model not found (code 404)", None);
    let details = r#"{"code":500,"data":{"details":"{\"error\":{\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"7200s\"}]}}"}}"#;
    let limit = of_gemini_cli("RESOURCE_EXHAUSTED", Some(details), &clock());
    assert_eq!(shown(limit).as_deref(), Some("7200s"));
    assert_eq!(of_gemini_cli("model not found", Some(details), &clock()), None);
}

#[test]
fn a_limit_is_within_a_minute_and_a_month() {
    check(of_claude_code, "Claude AI usage limit reached|1700000000", Some("60s"));
    check(of_claude_code, "Claude AI usage limit reached|9900000000", Some("2678400s"));
    check(of_codex, "usage limit: try again in 400 days", Some("2678400s"));
    assert_eq!(shown(Some(Limit::after(Duration::MAX, &clock()))).as_deref(), Some("2678400s"));
}

#[test]
fn headers_name_a_wait_by_what_is_used_up() {
    let check = |headers: &[(&str, &str)], expected: Option<u64>| {
        let wait = wait_of_headers(headers.iter().copied(), &clock());
        assert_eq!(wait, expected.map(Duration::from_secs), "{headers:?}");
    };
    check(&[("content-type", "application/json"), ("retry-after", "7")], None);
    check(&[("x-ratelimit-reset", "3600")], Some(3_600));
    check(&[("x-ratelimit-reset", "1791388800")], Some(14_400));
    check(&[("x-ratelimit-reset", "1791388800000")], Some(14_400));
    check(&[("ratelimit-reset", "90")], Some(90));
    check(&[("x-ratelimit-reset", "1700000000")], Some(0));
    check(&[("x-ratelimit-reset", "soon")], None);
    check(
        &[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "6m0s"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("x-ratelimit-reset-tokens", "2h"),
        ],
        Some(360),
    );
    // Nothing is used up, so none of these is the limit.
    check(&[("x-ratelimit-remaining-tokens", "5"), ("x-ratelimit-reset-tokens", "2h")], None);
    check(
        &[
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "2026-10-07T12:02:00Z"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-10-07T12:05:00Z"),
        ],
        Some(300),
    );
    check(
        &[
            ("anthropic-ratelimit-unified-5h-status", "rejected"),
            ("anthropic-ratelimit-unified-5h-reset", "1791388800"),
            ("anthropic-ratelimit-unified-7d-status", "allowed"),
            ("anthropic-ratelimit-unified-7d-reset", "1791900000"),
        ],
        Some(14_400),
    );
}

mod properties {
    use super::*;

    proptest! {
        #[test]
        fn a_parsed_limit_stays_within_its_bounds(
            words in ".{0,40}",
            number in any::<u64>(),
            form in 0_usize..6,
        ) {
            let said = match form {
                0 => format!("usage limit reached|{number} {words}"),
                1 => format!("usage limit, try again in {number} days {words}"),
                2 => format!("usage limit, resets_at: {number}{words}"),
                3 => format!("usage limit: retry in {number}.{number}s{words}"),
                4 => format!("usage limit · resets Oct {number}, {words}"),
                _ => words,
            };
            let now = clock().now.timestamp().as_second();
            for parser in [of_claude_code as Parser, of_codex, of_gemini_cli] {
                if let Some(until) = parser(&said, Some(&said), &clock()).and_then(|limit| limit.until) {
                    prop_assert!(until - now >= 60 && until - now <= 31 * 86_400, "{}", until - now);
                }
            }
        }

        #[test]
        fn no_header_makes_it_fail(name in "[a-z-]{0,12}", value in ".{0,30}") {
            let name = format!("x-ratelimit-{name}");
            let headers = [(name.as_str(), value.as_str()), ("x-ratelimit-reset", value.as_str())];
            // A wait is never negative: that one comes back at all is what is asked of it.
            prop_assert!(wait_of_headers(headers, &clock()).is_none_or(|wait| wait >= Duration::ZERO));
        }
    }
}
