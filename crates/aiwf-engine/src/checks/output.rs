//! The text about checks in a prompt.
//!
//! In: results and output. Out: how many checks passed, then each command with its result, and the beginning and end of
//! the output of failing checks. Omitted output is counted. Pure: same results, same bytes.

use std::fmt::Write as _;

use anstream::adapter::strip_str;

use super::CheckResult;

/// Maximum size of the note about omitted output.
const MAX_NOTE: usize = 96;
/// Minimum output of a failing check.
const MIN_SHARE: usize = 400;
/// Maximum length of a command.
const MAX_COMMAND: usize = 300;

/// How many checks passed, as a sentence without its period.
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

/// The text about checks, with their output.
///
/// Limits the output of all failing checks together to `max_bytes`, in equal shares of at least 400 bytes.
pub(crate) fn checks_text(checks: &[(CheckResult, Vec<u8>)], max_bytes: usize) -> String {
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
        // Writing to a string cannot fail.
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

/// The beginning and the end of a program's output, without control sequences, and with the number of lines and bytes
/// in between.
///
/// Never longer than `max_bytes`, or than the note about omitted output if that is longer.
pub fn head_and_tail(printed: &[u8], max_bytes: usize) -> String {
    let text = plain_text(printed);
    if text.len() <= max_bytes {
        return text;
    }
    let room = max_bytes.saturating_sub(MAX_NOTE);
    let head = text.get(..text.floor_char_boundary(room / 3)).unwrap_or_default();
    let head = head.rfind('\n').and_then(|end| head.get(..=end)).unwrap_or(head);
    // The end gets more, because most programs print a summary there.
    let tail = text.get(text.ceil_char_boundary(text.len() - (room - room / 3))..).unwrap_or_default();
    let after_line = tail.find('\n').and_then(|end| tail.get(end + 1..));
    let tail = after_line.filter(|rest| !rest.is_empty()).unwrap_or(tail);
    let left_out = text.get(head.len()..text.len() - tail.len()).unwrap_or_default();
    let counts = match (left_out.matches('\n').count(), left_out.len()) {
        (0, n_bytes) => crate::error::bytes_in_words(n_bytes as u64),
        (1, n_bytes) => format!("1 line, {n_bytes} bytes"),
        (n_lines, n_bytes) => format!("{n_lines} lines, {n_bytes} bytes"),
    };
    let newline = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{newline}[… {counts} left out …]\n{tail}")
}

/// A program's output as plain text.
///
/// Lines are parsed separately, so that an unterminated sequence cannot hide what comes after it.
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

/// Inline code that its content cannot end.
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
