//! Journals of every released format: each must still fold to where its session stood. Old ones are never edited.

use std::path::Path;

use aiwf_engine::RunEvent;
use aiwf_session::{Event, State};
use aiwf_store::Journal;

fn check(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories").join(name);
    let journal = Journal::<Event>::open_path(&path).unwrap();
    assert!(journal.torn().is_none());
    let state = State::fold(journal.lines().iter().map(|line| &line.event));
    let bound: Vec<String> = state
        .bound
        .iter()
        .map(|(path, bound)| format!("{} {path}", bound.sha256.get(..8).unwrap_or_default()))
        .collect();
    let reached = format!(
        "{} events, {} in iteration {}, applied {}\n{}",
        journal.lines().len(),
        state.phase.as_str(),
        state.iteration,
        state.is_applied,
        bound.join("\n")
    );
    assert_eq!(reached, expected);
}

#[test]
fn format_1_folds_a_session_that_failed_and_then_passed() {
    check("v1-fail-then-pass.jsonl", include_str!("../histories/v1-fail-then-pass.txt").trim_end());
}

#[test]
fn format_1_folds_a_change_that_was_revised_accepted_and_applied() {
    check("v1-change.jsonl", include_str!("../histories/v1-change.txt").trim_end());
}

#[test]
fn format_1_folds_a_run_that_was_completed_rewound_and_resumed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories/v1-run.jsonl");
    let journal = Journal::<RunEvent>::open_path(&path).unwrap();
    assert!(journal.torn().is_none());
    let names: Vec<String> = journal
        .lines()
        .iter()
        .map(|line| serde_json::to_value(&line.event).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    insta::assert_snapshot!(names.join(" "), @"run-created said run-asked run-replied tool-ran tool-ran run-asked run-replied run-stopped said run-asked run-replied state-intended tool-ran run-asked run-replied state-intended tool-ran said run-asked run-replied state-intended tool-ran said run-asked run-replied state-intended tool-ran said run-asked run-replied run-stopped state-intended rewound said run-asked run-replied tool-ran run-asked run-replied tool-ran run-stopped");
}
