//! `aiwf workflow`, `aiwf agent` and `aiwf chat` before anybody is asked: help, usage, refusals, menus.

use insta::assert_snapshot;

use crate::{json, pretty, project};

/// A package of this repository.
const BUG_TRIAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/packages/bug-triage");

#[test]
fn workflow_help() {
    assert_snapshot!(project().run("workflow --help"), @"");
}

#[test]
fn workflow_run_help() {
    assert_snapshot!(project().run("workflow run --help"), @"");
}

#[test]
fn agent_help() {
    assert_snapshot!(project().run("agent --help"), @"");
}

#[test]
fn chat_help() {
    assert_snapshot!(project().run("chat --help"), @"");
}

#[test]
fn every_command_of_runs_has_an_example_and_fits_a_screen() {
    let project = project();
    let commands = [
        "agent",
        "chat",
        "workflow",
        "workflow cancel",
        "workflow fork",
        "workflow list",
        "workflow preview",
        "workflow resume",
        "workflow rewind",
        "workflow run",
        "workflow say",
        "workflow show",
        "workflow status",
    ];
    for command in commands {
        let help = project.run(&format!("{command} --help")).success().stdout_text();
        assert!(help.contains("Example:"), "`aiwf {command} --help` has no example");
        assert!(help.lines().count() <= 50, "`aiwf {command} --help` has {} lines", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 100), "`aiwf {command} --help` is too wide");
    }
}

#[test]
fn what_is_missing_on_the_command_line_is_said() {
    let project = project();
    for (line, error) in [
        ("workflow run", "error: missing `<PATH>`"),
        ("workflow say", "error: missing `<RUN>`"),
        ("workflow rewind latest", "error: missing `--to <NODE>`"),
        ("workflow fork latest", "error: missing `--at <NODE>`"),
        ("workflow rn x", "error: unknown command `rn`"),
        ("agent x", "error: missing `<AGENT>`"),
        ("chat hello", "error: unknown argument `hello`"),
        ("workflow list --limit many", "error: `many` does not fit `--limit`"),
    ] {
        let outcome = project.run(line);
        assert_eq!(outcome.exit_code(), 2, "{line}\n{outcome}");
        assert!(outcome.stderr_text().starts_with(error), "{line}\n{outcome}");
    }
}

#[test]
fn an_error_has_a_code_and_words_in_json() {
    assert_snapshot!(pretty(&project().run("workflow run --json")), @"");
}

#[test]
fn nothing_to_say_is_an_error_and_asks_nobody() {
    let project = project();
    for line in
        ["chat", "chat --input ''", "chat --input -", "workflow say latest", "workflow say latest ' '"]
    {
        let outcome = project.run(line);
        assert_eq!(outcome.exit_code(), 1, "{line}\n{outcome}");
        assert_eq!(outcome.first_error_line(), "error: there is nothing to say: the text is empty", "{line}");
    }
    let json = json(&project.run("chat --json"));
    assert_eq!(json["error"]["code"], "NO_INPUT");
    assert_eq!(json["exit_code"], 1);
}

#[test]
fn a_package_that_is_not_there_is_named() {
    let outcome = project().run("agent nowhere anna --input hi --json");
    let json = json(&outcome);
    assert_eq!(outcome.exit_code(), 1);
    assert_eq!(json["command"], "agent");
    let message = json["error"]["message"].as_str().unwrap();
    assert!(message.contains("nowhere"), "{message}");
}

#[test]
fn an_agent_that_the_package_does_not_have_is_refused_with_those_it_has() {
    let outcome = project().run(&format!("agent {BUG_TRIAGE} anna --input hi --json"));
    let json = json(&outcome);
    assert_eq!(json["error"]["code"], "AGENT_NOT_FOUND");
    let message = json["error"]["message"].as_str().unwrap();
    assert_eq!(message, "there is no agent `anna` in the package: it has `support`, `engineer`");
}

#[test]
fn the_menu_of_an_agent_is_shown_without_asking_anybody() {
    let project = project();
    assert_snapshot!(project.run(&format!("agent {BUG_TRIAGE} support --input /menu")), @"");
    assert_snapshot!(pretty(&project.run(&format!("agent {BUG_TRIAGE} support --input '*menu' --json"))), @"");
    assert!(!project.path(".aiwf").exists(), "a menu is no conversation");
}

#[test]
fn a_number_that_is_not_on_the_menu_asks_which_one() {
    let project = project();
    assert_snapshot!(project.run(&format!("agent {BUG_TRIAGE} support --input 7")), @"");
}
