#![no_main]

use aiwf_fuzz::check_problems;
use aiwf_reply::parse_tool_calls;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse_tool_calls(text);
    check_problems(text, &parsed.problems);
    assert!(parsed.value.calls.iter().all(|call| !call.name.trim().is_empty()));
    assert!(parsed.value.message.is_none_or(|message| !message.trim().is_empty()));
});
