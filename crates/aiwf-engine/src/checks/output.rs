//! The text of a prompt's section about checks.
//!
//! In: results and what was printed. Out: text that says first how many passed, then each command and how it ended, and
//! the beginning and end of what a failing check printed. What is left out is counted. Pure: same results, same bytes.

use std::fmt::Write as _;

use anstream::adapter::strip_str;

use super::CheckResult;

/// The most that a note about left-out output takes.
const MAX_NOTE: usize = 96;
/// The least of its output that a failing check shows.
const MIN_SHARE: usize = 400;
/// The most of a command that is shown.
const MAX_COMMAND: usize = 300;

/// How many checks passed, in one sentence without its end.
pub fn checks_summary<'a>(results: impl IntoIterator<Item = &'a CheckResult>) -> String {
    let (mut n_checks, mut n_passed) = (0, 0);
    for result in results {
        n_checks += 1;
        n_passed += usize::from(result.passed);
    }
    match (n_passed, n_checks) {
        (_, 0) => "no checks ran".to_owned(),
        (1, 1) => "1 check passed".to_owned(),
        (0, 1) => "1 check failed".to_owned(),
        (passed, all) if passed == all => format!("all {all} checks passed"),
        (passed, all) => format!("{passed} of {all} checks passed"),
    }
}

/// What a prompt says about checks, each with what it printed.
///
/// The output of all failing checks together is cut to `max_bytes`, each to the same share and at least 400 bytes.
pub fn checks_text(checks: &[(CheckResult, Vec<u8>)], max_bytes: usize) -> String {
    let mut text = checks_summary(checks.iter().map(|(result, _)| result));
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text.push('.');
    if !checks.is_empty() {
        text.push('\n');
    }
    for (result, _) in checks {
        let (name, run) = (inline_code(&result.name), inline_code(&result.run));
        // Writing to a string does not fail.
        let _ = write!(text, "\n- {name}: {run} {}", one_line(&result.outcome()));
        for note in &result.notes {
            let _ = write!(text, "; {}", one_line(note));
        }
    }
    let n_failed = checks.iter().filter(|(result, _)| !result.passed).count();
    let share = max_bytes.checked_div(n_failed).unwrap_or(max_bytes).max(MIN_SHARE);
    for (result, printed) in checks.iter().filter(|(result, _)| !result.passed) {
        let shown = head_and_tail(printed, share);
        let _ = write!(text, "\n\n### {}\n\n", inline_code(&result.name));
        if shown.trim().is_empty() {
            text.push_str("It printed nothing.");
        } else {
            let _ = write!(text, "It printed:\n\n{}", aiwf_prompt::fenced("text", &shown));
        }
    }
    text
}

/// The beginning and the end of what a program printed, as text: without the sequences that a terminal obeys, and
/// with the number of lines and bytes between them.
///
/// It is never longer than `max_bytes`, or than the note about what is left out when that is longer.
pub fn head_and_tail(printed: &[u8], max_bytes: usize) -> String {
    let text = plain_text(printed);
    if text.len() <= max_bytes {
        return text;
    }
    let room = max_bytes.saturating_sub(MAX_NOTE);
    let head = text.get(..text.floor_char_boundary(room / 3)).unwrap_or_default();
    let head = head.rfind('\n').and_then(|end| head.get(..=end)).unwrap_or(head);
    // Most programs sum up at the end.
    let tail = text.get(text.ceil_char_boundary(text.len() - (room - room / 3))..).unwrap_or_default();
    let after_line = tail.find('\n').and_then(|end| tail.get(end + 1..));
    let tail = after_line.filter(|rest| !rest.is_empty()).unwrap_or(tail);
    let left_out = text.get(head.len()..text.len() - tail.len()).unwrap_or_default();
    let counts = match (left_out.matches('\n').count(), left_out.len()) {
        (0, n_bytes) => format!("{n_bytes} bytes"),
        (1, n_bytes) => format!("1 line, {n_bytes} bytes"),
        (n_lines, n_bytes) => format!("{n_lines} lines, {n_bytes} bytes"),
    };
    let newline = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{newline}[… {counts} left out …]\n{tail}")
}

/// What a program printed as text with plain line ends.
///
/// Each line is read on its own, so that no sequence without an end can hide what comes after it.
fn plain_text(printed: &[u8]) -> String {
    let mut text = String::with_capacity(printed.len());
    for (number, line) in printed.split(|byte| *byte == b'\n').enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        for (number, part) in line.split(|byte| *byte == b'\r').enumerate() {
            if number > 0 {
                text.push('\n');
            }
            let part = String::from_utf8_lossy(part);
            let is_shown = |character: &char| !character.is_control() || *character == '\t';
            text.extend(strip_str(&part).flat_map(str::chars).filter(is_shown));
        }
    }
    text
}

/// Text as code within a line: nothing in it can end it.
fn inline_code(text: &str) -> String {
    let mut line = one_line(text);
    if line.chars().count() > MAX_COMMAND {
        line = line.chars().take(MAX_COMMAND - 1).chain(['…']).collect();
    }
    let longest = line.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{ticks}{space}{line}{space}{ticks}")
}

fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
