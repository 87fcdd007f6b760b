//! What every fuzz target checks.
//!
//! ```sh
//! cargo +nightly fuzz run tool_calls fuzz/corpus/tool_calls crates/aiwf-reply/tests/it/cases/tool-calls \
//!     -- -dict=fuzz/marks.dict -max_total_time=180 -timeout=5
//! ```
//!
//! A finding becomes a case in `crates/aiwf-reply/tests/it/cases/` or a test next to the code.

use aiwf_reply::Problem;

/// Checks that problems lie in the text, come in its order and read as our messages do.
pub fn check_problems(text: &str, problems: &[Problem]) {
    let lines: Vec<&str> = text.split('\n').collect();
    assert!(problems.is_sorted_by_key(|problem| (problem.line, problem.column)));
    for problem in problems {
        let line = lines[problem.line - 1];
        assert!((1..=line.chars().count() + 1).contains(&problem.column), "{problem}");
        assert!(!problem.message.is_empty() && !problem.message.contains('\n'), "{problem}");
        assert!(
            !problem.message.starts_with(char::is_uppercase) && !problem.message.ends_with('.'),
            "{problem}"
        );
    }
}
