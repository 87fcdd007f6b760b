use std::time::Duration;

use serde_json::json;

use super::*;
use crate::testing::assertion::Pattern;

fn nothing(file: &str) -> Result<String, String> {
    if file == "expected.md" { Ok("# Plan\n".to_owned()) } else { Err(format!("there is no `{file}`")) }
}

#[track_caller]
fn check(check: &ReplyCheck, reply: &str, holds: bool, message: &str) {
    let reply = ReplySubject { text: reply.to_owned(), ..ReplySubject::default() };
    let finding = check_reply(check, &reply, &nothing).unwrap().unwrap();
    assert_eq!((finding.holds, finding.message.as_str()), (holds, message));
}

fn text(text: &str) -> TextFrom {
    TextFrom::Case(text.to_owned())
}

#[test]
fn texts_are_found_with_and_without_case() {
    let both = vec![text("plan"), text("Login")];
    check(&ReplyCheck::Contains(both.clone()), "plan: Login", true, "the reply contains `plan`, `Login`");
    check(&ReplyCheck::Contains(both.clone()), "plan: login", false, "the reply does not contain `Login`");
    check(&ReplyCheck::IContains(both.clone()), "PLAN: login", true, "the reply contains `plan`, `Login`");
    check(&ReplyCheck::ContainsAny(both.clone()), "a plan", true, "the reply contains `plan`");
    check(&ReplyCheck::ContainsAny(both), "none", false, "the reply contains none of `plan`, `Login`");
    check(&ReplyCheck::StartsWith(text("# ")), "# Plan", true, "the reply starts with `#`");
    let regex = Pattern::compile("(?i)^plan: \\w+$").unwrap();
    check(&ReplyCheck::Matches(regex), "Plan: login", true, "the reply matches `(?i)^plan: \\w+$`");
    let file = TextFrom::File("expected.md".to_owned());
    check(&ReplyCheck::Equals(file), "# Plan", true, "the reply is the expected text");
}

#[test]
fn a_file_that_is_missing_is_an_error_and_no_failure() {
    let missing = ReplyCheck::Equals(TextFrom::File("gone.md".to_owned()));
    let error = check_reply(&missing, &ReplySubject::default(), &nothing).unwrap_err();
    assert_eq!(error, "there is no `gone.md`");
}

#[test]
fn json_is_read_with_or_without_a_fence() {
    check(&ReplyCheck::IsJson, "{\"a\": 1}\n", true, "the reply is JSON");
    check(&ReplyCheck::IsJson, "```json\n[1]\n```\n", true, "the reply is JSON");
    check(&ReplyCheck::IsJson, "Here: {}", false, "the reply is not JSON: expected value at line 1 column 1");
    let schema = ReplyCheck::JsonSchema(SchemaFrom::Case(json!({ "required": ["score"] })));
    check(&schema, "{\"score\": 1}", true, "the reply matches the schema");
    check(&schema, "{}", false, "the reply does not match the schema: `/`: \"score\" is a required property");
}

#[test]
fn parsers_verdicts_and_files_are_those_of_the_engine() {
    let markers = ReplyCheck::ParsesAs { parser: Parser::FileMarkers, max_problems: 0 };
    check(&markers, "<<<FILE: a.rs>>>\nfn a() {}\n", true, "parsed as file-markers: 0 problems");
    check(&ReplyCheck::Verdict("pass".to_owned()), "<review>PASS</review>", true, "the verdict is PASS");
    let meta = "@@@REVIEW_META\nverdict: FAIL\nissues_total: 1\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
    check(&ReplyCheck::Verdict("PASS".to_owned()), meta, false, "the verdict is FAIL");
    check(&ReplyCheck::Verdict("PASS".to_owned()), "Looks good.", false, "the reply gives no verdict");
    let reply = "<<<FILE: src/a.rs>>>\nfn a() {}\n<<<FILE: src/deep/b.rs>>>\nfn b() {}\n";
    let files = |globs: &[&str]| ReplyCheck::Files(globs.iter().map(|glob| (*glob).to_owned()).collect());
    check(&files(&["src/*.rs", "**/b.rs"]), reply, true, "the reply writes `src/a.rs`, `src/deep/b.rs`");
    check(
        &files(&["src/*.rs", "tests/*"]),
        reply,
        false,
        "`tests/*` matches no file of the reply, which writes `src/a.rs`, `src/deep/b.rs`",
    );
}

#[test]
fn usage_is_a_maximum_and_unknown_usage_is_an_error() {
    let reply = ReplySubject {
        output_tokens: Some(120),
        cost: Some(0.02),
        latency: Some(900),
        ..ReplySubject::default()
    };
    let holds = |check: &ReplyCheck| check_reply(check, &reply, &nothing).unwrap().unwrap().holds;
    assert!(holds(&ReplyCheck::Tokens(120)) && !holds(&ReplyCheck::Tokens(119)));
    assert!(holds(&ReplyCheck::Cost(0.02)) && !holds(&ReplyCheck::Cost(0.01)));
    let latency = |millis| ReplyCheck::Latency(Duration::from_millis(millis));
    assert!(holds(&latency(900)) && !holds(&latency(899)));
    for check in [ReplyCheck::Tokens(1), ReplyCheck::Cost(1.0), latency(1)] {
        assert!(check_reply(&check, &ReplySubject::default(), &nothing).is_err());
    }
}

#[test]
fn similarity_is_one_minus_the_normalized_edit_distance() {
    let similar = |one: &str, other: &str| similarity(one, other).unwrap();
    assert!((similar("abcd", "abcd") - 1.0).abs() < 1e-9);
    assert!((similar("abcd", "abcx") - 0.75).abs() < 1e-9);
    assert!((similar("", "") - 1.0).abs() < 1e-9);
    // Long texts are compared line by line, in bounded time.
    let long = "a line of text\n".repeat(2_000);
    let other = format!("{long}one more line\n");
    assert!(similar(&long, &other) > 0.9);
    // Too many lines are refused at once.
    let (many, others) = ("a\n".repeat(5_000_000), "b\n".repeat(5_000_000));
    assert_eq!(similarity(&many, &others), None);
}

#[test]
fn an_empty_file_is_no_text_to_look_for() {
    let empty = |_: &str| Ok(String::new());
    let check = ReplyCheck::Contains(vec![TextFrom::File("e.md".to_owned())]);
    assert_eq!(check_reply(&check, &ReplySubject::default(), &empty).unwrap_err(), "`e.md` is empty");
}
