#![no_main]

use aiwf_fuzz::check_problems;
use aiwf_reply::parse_verdict_tag;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse_verdict_tag(text);
    check_problems(text, &parsed.problems);
    assert!(parsed.value.is_some() || !parsed.problems.is_empty());
    if let Some(verdict) = parsed.value {
        let quoted = format!("> {}", text.replace('\n', "\n> "));
        assert_eq!(parse_verdict_tag(&quoted).value, None, "{verdict} was quoted");
    }
});
