//! The results of a session's checks, with the end of their output, as pages show them.

use aiwf_engine::{CheckReport, Engine, SessionPlace};
use serde::Serialize;

use crate::words::in_address;

/// How much of an output is shown; its own page has all.
const MAX_OUTPUT: usize = 3_000;

#[derive(Debug, Serialize)]
pub(crate) struct Check {
    name: String,
    command: String,
    passed: bool,
    outcome: String,
    output: String,
    href: String,
}

pub(crate) fn checks_of(engine: &Engine, place: &SessionPlace, checks: &[CheckReport]) -> Vec<Check> {
    checks.iter().map(|check| check_of(engine, place, check)).collect()
}

fn check_of(engine: &Engine, place: &SessionPlace, check: &CheckReport) -> Check {
    let path = check.output.strip_prefix(&format!("{}/", place.directory)).unwrap_or(&check.output);
    let output = engine.session_file(Some(place.id.as_str()), path).map(|(_, text)| text).unwrap_or_default();
    Check {
        name: check.name.clone(),
        command: check.command.clone(),
        passed: check.passed,
        outcome: check.outcome.clone(),
        href: format!("/s/{}/a/{}", in_address(&place.id), in_address(path)),
        output: tail(&output, MAX_OUTPUT).to_owned(),
    }
}

/// The end of a text, from the start of a line.
fn tail(text: &str, max_bytes: usize) -> &str {
    let excess = text.len().saturating_sub(max_bytes);
    if excess == 0 {
        return text;
    }
    let start = text.bytes().skip(excess).position(|byte| byte == b'\n').map_or(excess, |at| excess + at + 1);
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_output_starts_with_a_line() {
        assert_eq!(tail("one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
        assert_eq!(tail("one\ntwo\nthree\n", 8), "three\n");
    }
}
