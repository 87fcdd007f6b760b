//! Results as `JUnit` XML: a suite for each file, a failure for each assertion that does not hold, an error for what could
//! not be checked.

use std::fmt::Write as _;

use aiwf_engine::{TestOutcome, TestReport, TestResult};

pub(super) fn text(report: &TestReport) -> String {
    let mut files: Vec<&str> = Vec::new();
    for result in &report.results {
        if !files.contains(&result.file.as_str()) {
            files.push(&result.file);
        }
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for file in files {
        let results: Vec<&TestResult> = report.results.iter().filter(|result| result.file == file).collect();
        suite(&mut text, file, &results);
    }
    whole_run(&mut text, report);
    text.push_str("</testsuites>\n");
    text
}

/// What no single case shows: cases that passed more often before, and too small a share of passed cases.
fn whole_run(text: &mut String, report: &TestReport) {
    let mut failures: Vec<(String, &str, String)> = Vec::new();
    for drop in &report.drops {
        let whom = [Some(drop.receiver.as_str()), drop.variant.as_deref()];
        let whom: Vec<&str> = whom.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        let name = format!("{}: {} [{}]", drop.file, drop.case, whom.join(", "));
        let message = format!(
            "it passes {:.0} % of its runs, {:.0} % in the baseline",
            drop.now * 100.0,
            drop.before * 100.0
        );
        failures.push((name, "baseline", message));
    }
    if report.min_pass < 1.0 && report.misses_its_share() {
        let (passed, checked) = (report.counts.passed, report.counts.passed + report.counts.failed);
        let message =
            format!("{passed} of {checked} cases passed; at least {:.0} % must", report.min_pass * 100.0);
        failures.push(("the share of passed cases".to_owned(), "min-pass", message));
    }
    if failures.is_empty() {
        return;
    }
    let n_failures = failures.len();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "  <testsuite name=\"the whole run\" tests=\"{n_failures}\" failures=\"{n_failures}\" errors=\"0\" skipped=\"0\" time=\"0.000\">"
    );
    for (name, kind, message) in failures {
        let _ = writeln!(
            text,
            "    <testcase name=\"{}\" classname=\"the whole run\" time=\"0.000\">\n      <failure type=\"{kind}\" message=\"{}\"/>\n    </testcase>",
            escaped(&name),
            escaped(&message)
        );
    }
    text.push_str("  </testsuite>\n");
}

fn suite(text: &mut String, file: &str, results: &[&TestResult]) {
    let count =
        |outcomes: &[TestOutcome]| results.iter().filter(|one| outcomes.contains(&one.outcome)).count();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">",
        escaped(file),
        results.len(),
        count(&[TestOutcome::Failed]),
        count(&[TestOutcome::Error, TestOutcome::ProviderFailed]),
        count(&[TestOutcome::Skipped]),
        seconds(results.iter().map(|result| result.millis).sum()),
    );
    for result in results {
        let _ = write!(
            text,
            "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{}\" time=\"{}\"",
            escaped(&name(result)),
            escaped(file),
            escaped(file),
            result.line,
            seconds(result.millis)
        );
        if result.outcome == TestOutcome::Passed {
            text.push_str("/>\n");
            continue;
        }
        text.push_str(">\n");
        if result.outcome == TestOutcome::Skipped {
            let reason = result.assertions.first().map(|one| one.message.as_str()).unwrap_or_default();
            let _ = writeln!(text, "      <skipped message=\"{}\"/>", escaped(reason));
        }
        for failure in result.failures() {
            let element = if failure.outcome == TestOutcome::Failed { "failure" } else { "error" };
            let kind = if failure.kind.is_empty() { failure.outcome.as_str() } else { &failure.kind };
            let place = format!("{}:{}", result.file, failure.line);
            let _ = writeln!(
                text,
                "      <{element} type=\"{}\" message=\"{}\">{}</{element}>",
                escaped(kind),
                escaped(&failure.message),
                escaped(&format!("{place}\n{}", failure.diff.as_deref().unwrap_or_default()))
            );
        }
        text.push_str("    </testcase>\n");
    }
    text.push_str("  </testsuite>\n");
}

fn name(result: &TestResult) -> String {
    let parts = [Some(result.receiver.as_str()), Some(result.format.as_str()), result.variant.as_deref()];
    let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    let mut name = result.case.clone();
    if !parts.is_empty() {
        let _ = write!(name, " [{}]", parts.join(", "));
    }
    if result.repeat > 1 {
        let _ = write!(name, " #{}", result.repeat);
    }
    name
}

fn seconds(millis: u64) -> String {
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

/// Text in an attribute or an element; characters that XML cannot have become U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\r' => escaped.push_str("&#13;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_attribute() {
        assert_eq!(escaped("a\"<b>&\n\u{1b}[2J"), "a&quot;&lt;b&gt;&amp;&#10;\u{fffd}[2J");
    }
}
