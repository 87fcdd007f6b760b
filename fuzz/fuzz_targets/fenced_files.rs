#![no_main]

use aiwf_fuzz::check_problems;
use aiwf_reply::parse_fenced_files;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse_fenced_files(text);
    check_problems(text, &parsed.problems);
    assert!(!parsed.value.is_empty() || !parsed.problems.is_empty());
    for file in &parsed.value {
        assert!(!file.path.is_empty() && file.path.len() <= text.len());
        assert!(file.content.is_empty() || file.content.ends_with('\n'));
        assert!(file.content.len() <= text.len() + 1);
    }
});
