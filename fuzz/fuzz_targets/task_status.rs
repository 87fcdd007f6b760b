#![no_main]

use aiwf_fuzz::check_problems;
use aiwf_reply::parse_task_status;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse_task_status(text);
    check_problems(text, &parsed.problems);
    assert!(!parsed.value.is_empty() || !parsed.problems.is_empty());
    assert!(parsed.value.iter().all(|task| !task.id.is_empty()));
});
