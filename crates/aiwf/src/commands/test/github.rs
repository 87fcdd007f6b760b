//! Results as annotations of GitHub: one line for each failure, with file and line.

use std::fmt::Write as _;

use aiwf_engine::TestReport;

/// GitHub shows at most so many annotations of a step.
const MAX_ANNOTATIONS: usize = 50;

pub(super) fn annotations(report: &TestReport) -> String {
    let mut text = String::new();
    let failures =
        report.results.iter().flat_map(|result| result.failures().map(move |failure| (result, failure)));
    for (result, failure) in failures.take(MAX_ANNOTATIONS) {
        let title = if result.receiver.is_empty() {
            result.case.clone()
        } else {
            format!("{} ({})", result.case, result.receiver)
        };
        let mut message = if failure.kind.is_empty() {
            failure.message.clone()
        } else {
            format!("{}: {}", failure.kind, failure.message)
        };
        if let Some(diff) = &failure.diff {
            let _ = write!(message, "\n{diff}");
        }
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "::error file={},line={},title={}::{}",
            property(&result.file),
            failure.line,
            property(&title),
            data(&message)
        );
    }
    text
}

/// Text for the log of a step: nothing in it is a command of the runner.
///
/// The runner looks for `::` at the start of a line, after blanks, and for `##[` anywhere.
pub(super) fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let rest = line.trim_start_matches(|c: char| c != '\n' && (c.is_whitespace() || c.is_control()));
        if rest.starts_with("::") {
            safe.push_str("| ");
        }
        for c in line.chars() {
            match c {
                '\n' | '\t' => safe.push(c),
                c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                    safe.extend(c.escape_unicode());
                }
                c => safe.push(c),
            }
        }
    }
    safe.replace("##[", "## [")
}

/// The text after the second colon pair.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_diff_is_a_command() {
        let text = "    ::error::x\n a::b ##[error]c\n\u{1b}[1m\r::set-env\n\u{a0}::x\n\t::y\n:: z";
        let safe = harmless(text);
        assert_eq!(
            safe,
            "|     ::error::x\n a::b ## [error]c\n\\u{1b}[1m\\u{d}::set-env\n| \u{a0}::x\n| \t::y\n| :: z"
        );
        assert!(!safe.lines().any(|line| line.trim_start().starts_with("::") || line.contains("##[")));
        assert_eq!(harmless("ok  a plan\n\n1 passed\n"), "ok  a plan\n\n1 passed\n");
    }

    #[test]
    fn nothing_in_a_text_ends_its_annotation() {
        assert_eq!(property("a:b,c\nd%"), "a%3Ab%2Cc%0Ad%25");
        assert_eq!(data("one: two\r\nthree"), "one: two%0D%0Athree");
    }
}
