#![no_main]

use aiwf_fuzz::check_problems;
use aiwf_reply::parse_front_matter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse_front_matter(text);
    check_problems(text, &parsed.problems);
    assert!(parsed.value.data.is_object());
    assert!(text.ends_with(&parsed.value.body));
});
