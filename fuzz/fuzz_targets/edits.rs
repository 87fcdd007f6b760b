#![no_main]

use aiwf_fuzz::check_problems;
use aiwf_reply::{EditKind, apply_hunks, parse_edits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse_edits(text);
    check_problems(text, &parsed.problems);
    assert!(!parsed.value.is_empty() || !parsed.problems.is_empty());
    for edit in &parsed.value {
        if let EditKind::Change { path, hunks } = &edit.kind {
            assert!(!path.is_empty() && !hunks.is_empty());
            // The reply stands for the file: some of its own lines are found in it.
            let _ = apply_hunks(path, text, hunks);
        }
    }
});
