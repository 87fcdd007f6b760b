#![no_main]

use aiwf_fuzz::check_problems;
use aiwf_reply::parse_review_meta;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse_review_meta(text);
    check_problems(text, &parsed.problems);
    let meta = parsed.value;
    let is_whole = meta.verdict.is_some()
        && meta.issues_total.is_some()
        && meta.issues_critical.is_some()
        && meta.missing_inputs.is_some();
    assert!(is_whole || !parsed.problems.is_empty());
});
