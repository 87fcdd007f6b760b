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
    fn nothing_in_a_text_ends_its_annotation() {
        assert_eq!(property("a:b,c\nd%"), "a%3Ab%2Cc%0Ad%25");
        assert_eq!(data("one: two\r\nthree"), "one: two%0D%0Athree");
    }
}
