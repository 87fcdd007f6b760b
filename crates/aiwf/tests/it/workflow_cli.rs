//! `aiwf workflow`, `aiwf agent` and `aiwf chat` before anybody is asked: help, usage, refusals, menus.

use insta::assert_snapshot;

use crate::{json, pretty, project};

/// A package of this repository.
const BUG_TRIAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/packages/bug-triage");

#[test]
fn workflow_help() {
    assert_snapshot!(project().run("workflow --help"), @"
    --- stdout
    Run workflow packages as a conversation

    Usage: aiwf workflow [OPTIONS] <COMMAND>

    Commands:
      run     Start a run and continue until it waits for you or is complete
      resume  Resume an interrupted or waiting run
      say     Send a message to a run or conversation
      rewind  Return a run to an earlier node, keeping its history
      fork    Start a new run from another run's state at a node, without asking a model yet

    Options:
      -h, --help  Print help

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example:
      aiwf workflow run examples/packages/bug-triage --provider anthropic
      aiwf workflow say latest 'It began on Monday'
      aiwf status latest
    --- exit code 0
    ");
}

#[test]
fn workflow_run_help() {
    assert_snapshot!(project().run("workflow run --help"), @"
    --- stdout
    Start a run and continue until it waits for you or is complete

    Usage: aiwf workflow run [OPTIONS] <PATH>

    Arguments:
      <PATH>  Package: a directory, or a `.bmad` or `.zip` file

    Options:
          --workflow <ID>    Id of the workflow [default: the only one]
          --agent <ID>       Agent to start with [default: the entry node's]
          --input <TEXT|->   First message, or - for stdin
          --autopilot        Let the model continue without asking about each step
          --provider <NAME>  Provider to ask [default: the one used before, else `[workflow] provider`]
          --model <NAME>     Model for this command [default: the provider's `model`, else the default
                             for its API]
      -h, --help             Print help

    Calls:
          --record <DIR>   Record every request and its reply in this directory, for a provider of type
                           replay
          --events         Print call events to stderr, one line of JSON each
          --adopt          Trust a session that you did not create, and remember it
          --trust-servers  Start tool servers you have not agreed to yet, and remember your consent to
                           their exact commands

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    On a terminal, this opens a conversation; with --input, it runs one turn.
    Exit code 3 means that the run is waiting for you.

    Example: aiwf workflow run my-flow.bmad --input 'The login page is slow'
    --- exit code 0
    ");
}

#[test]
fn agent_help() {
    assert_snapshot!(project().run("agent --help"), @"
    --- stdout
    Talk to an agent of a workflow package

    Usage: aiwf agent [OPTIONS] <PATH> <AGENT>

    Arguments:
      <PATH>   Package: a directory, or a `.bmad` or `.zip` file
      <AGENT>  Id of the agent

    Options:
          --input <TEXT|->   Send this message and exit, or - for stdin
          --provider <NAME>  Provider to ask [default: the one used before, else `[workflow] provider`]
          --model <NAME>     Model for this command [default: the provider's `model`, else the default
                             for its API]
      -h, --help             Print help

    Calls:
          --record <DIR>   Record every request and its reply in this directory, for a provider of type
                           replay
          --events         Print call events to stderr, one line of JSON each
          --adopt          Trust a session that you did not create, and remember it
          --trust-servers  Start tool servers you have not agreed to yet, and remember your consent to
                           their exact commands

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf agent examples/packages/bug-triage support --input 'Is this a bug?'
    --- exit code 0
    ");
}

#[test]
fn chat_help() {
    assert_snapshot!(project().run("chat --help"), @"
    --- stdout
    Chat with a model that can use tools

    Usage: aiwf chat [OPTIONS]

    Options:
          --package <PATH>   Package whose files the model may read
          --input <TEXT|->   Send this message and exit, or - for stdin
          --provider <NAME>  Provider to ask [default: the one used before, else `[workflow] provider`]
          --model <NAME>     Model for this command [default: the provider's `model`, else the default
                             for its API]
      -h, --help             Print help

    Calls:
          --record <DIR>   Record every request and its reply in this directory, for a provider of type
                           replay
          --events         Print call events to stderr, one line of JSON each
          --adopt          Trust a session that you did not create, and remember it
          --trust-servers  Start tool servers you have not agreed to yet, and remember your consent to
                           their exact commands

    Global options:
          --json               Print one line of JSON instead of text
          --project-dir <DIR>  Project directory [default: the nearest one at or above the working
                               directory]

    Example: aiwf chat --provider anthropic --input 'What is in this project?'
    --- exit code 0
    ");
}

#[test]
fn every_command_of_runs_has_an_example_and_fits_a_screen() {
    let project = project();
    let commands = [
        "agent",
        "chat",
        "workflow",
        "cancel",
        "workflow fork",
        "list",
        "preview",
        "workflow resume",
        "workflow rewind",
        "workflow run",
        "workflow say",
        "show",
        "status",
    ];
    for command in commands {
        let help = project.run(&format!("{command} --help")).success().stdout_text();
        assert!(
            (help.contains("Example:") || help.contains("Examples:")),
            "`aiwf {command} --help` has no example"
        );
        assert!(help.lines().count() <= 50, "`aiwf {command} --help` has {} lines", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 100), "`aiwf {command} --help` is too wide");
    }
}

#[test]
fn missing_arguments_are_reported() {
    let project = project();
    for (line, error) in [
        ("workflow run", "error: missing `<PATH>`"),
        ("workflow say", "error: missing `<RUN>`"),
        ("workflow rewind latest", "error: missing `--to <NODE>`"),
        ("workflow fork latest", "error: missing `--at <NODE>`"),
        ("workflow rn x", "error: unknown command `rn`"),
        ("agent x", "error: missing `<AGENT>`"),
        ("chat hello", "error: unknown argument `hello`"),
        ("list --flow package --limit many", "error: `many` is not valid for `--limit`"),
    ] {
        let outcome = project.run(line);
        assert_eq!(outcome.exit_code(), 2, "{line}\n{outcome}");
        assert!(outcome.stderr_text().starts_with(error), "{line}\n{outcome}");
    }
}

#[test]
fn an_error_has_a_code_and_words_in_json() {
    assert_snapshot!(pretty(&project().run("workflow run --json")), @r#"
    {
      "schema_version": 1,
      "command": "workflow run",
      "exit_code": 2,
      "error": {
        "code": "USAGE",
        "message": "missing `<PATH>`",
        "hint": "write it like `aiwf workflow run my-flow.bmad --input 'The login page is slow'`; `aiwf workflow run --help` shows more"
      }
    }
    "#);
}

#[test]
fn an_empty_message_is_an_error_and_sends_nothing() {
    let project = project();
    for line in
        ["chat", "chat --input ''", "chat --input -", "workflow say latest", "workflow say latest ' '"]
    {
        let outcome = project.run(line);
        assert_eq!(outcome.exit_code(), 1, "{line}\n{outcome}");
        assert_eq!(outcome.first_error_line(), "error: the message is empty", "{line}");
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
    assert_eq!(message, "the package has no agent `anna`: it has `support`, `engineer`");
}

#[test]
fn the_menu_of_an_agent_is_shown_without_a_request() {
    let project = project();
    assert_snapshot!(project.run(&format!("agent {BUG_TRIAGE} support --input /menu")), @"
    --- stdout
    🎧 Sam, Support
      1. [TR] Triage a report (triage, report)
      2. [KI] Explain what a bug is (kinds)
      3. Resume the last run (continue)
      4. Leave (bye)
    --- exit code 0
    ");
    assert_snapshot!(pretty(&project.run(&format!("agent {BUG_TRIAGE} support --input '*menu' --json"))), @r#"
    {
      "schema_version": 1,
      "command": "agent",
      "exit_code": 0,
      "agent": "support",
      "menu": [
        {
          "number": 1,
          "triggers": [
            "triage",
            "report"
          ],
          "description": "[TR] Triage a report"
        },
        {
          "number": 2,
          "triggers": [
            "kinds"
          ],
          "description": "[KI] Explain what a bug is"
        },
        {
          "number": 3,
          "triggers": [
            "continue"
          ],
          "description": "Resume the last run"
        },
        {
          "number": 4,
          "triggers": [
            "bye"
          ],
          "description": "Leave"
        }
      ]
    }
    "#);
    assert!(!project.path(".aiwf").exists(), "a menu is no conversation");
}

#[test]
fn a_number_that_is_not_on_the_menu_asks_which_one() {
    let project = project();
    assert_snapshot!(project.run(&format!("agent {BUG_TRIAGE} support --input 7")), @"
    --- stdout
      1. [TR] Triage a report (triage, report)
      2. [KI] Explain what a bug is (kinds)
      3. Resume the last run (continue)
      4. Leave (bye)
    --- stderr
    which one? give its number with `--input`
    --- exit code 3
    ");
}

#[test]
fn an_empty_line_shows_the_menu_of_an_agent() {
    let project = project();
    let menu = project.run(&format!("agent {BUG_TRIAGE} support --input /menu")).success().stdout_text();
    for input in ["''", "' '"] {
        let shown = project.run(&format!("agent {BUG_TRIAGE} support --input {input}")).success();
        assert_eq!(shown.stdout_text(), menu, "{input}");
    }
    let piped = project.run_with_input(&format!("agent {BUG_TRIAGE} support"), "\n").success();
    assert_eq!(piped.stdout_text(), menu);
}

#[test]
fn a_run_whose_package_cannot_be_unpacked_has_not_begun() {
    let project = project();
    // A file where packages are unpacked to.
    project.write(project.cache().join("aiwf/packages").to_str().unwrap(), "in the way");
    let run = format!("workflow run {BUG_TRIAGE} --provider claude-code --input hello --json");
    let refused = project.command(&run).run();
    assert_eq!(refused.exit_code(), 1, "{refused}");
    let runs = json(&project.run("list --flow package --json"));
    assert_eq!(runs["sessions"].as_array().map(Vec::len), Some(0), "{runs:#}\n{refused}");
}
