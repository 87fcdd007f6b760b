//! The program as a user meets it: what it prints, what it says when something is wrong, how it ends.
//!
//! A file for each command or topic. Every test has a project and a home of its own.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "helper functions of tests stop at the first surprise"
)]

mod book;
mod book_agents;
mod bring;
mod change;
mod checks;
mod clipboard;
mod command_line;
mod comment;
mod completion;
mod demo;
mod detached;
mod dialogue;
mod do_agent;
mod do_endings;
mod errors;
mod everyday;
mod expected_gate;
mod fs_ability;
mod help;
mod hostile_checkout;
mod left_out;
mod mcp;
mod mcp_http;
mod package;
mod printing;
mod profiles;
mod prompt_build;
mod prompt_build_budget;
mod prompt_build_change;
mod prompt_build_documents;
mod prompt_build_files;
mod prompt_build_out;
mod prompt_build_providers;
mod prompt_build_session;
mod prompt_bytes;
mod prompt_diff;
mod prompt_preview;
mod prompt_recipes;
mod prompt_schema;
mod prompt_send;
mod provider_budget;
mod provider_command;
mod provider_faults;
mod provider_gates;
mod provider_hostile;
mod provider_http;
mod provider_keys;
mod provider_record;
mod providers;
mod real_agents;
mod real_mcp;
mod reference;
mod reply_parse;
mod rm;
mod scene;
mod session;
mod session_apply;
mod session_commands;
mod session_limits;
mod template;
mod template_memory;
mod terminal;
mod terminal_escapes;
mod test;
mod tool_loop;
mod tools;
mod trust;
mod typed_paths;
mod ui;
mod workflow_cli;
mod workflow_control;
mod workflow_crash;
mod workflow_limits;
mod workflow_mcp;
mod workflow_messages;
mod workflow_package;
mod workflow_runs;
mod workflow_tools;
mod workflow_walk;

use aiwf_testkit::{Outcome, TestProject};
use serde_json::Value;

/// An empty project for the program of this workspace.
fn project() -> TestProject {
    TestProject::new(env!("CARGO_BIN_EXE_aiwf"))
}

/// The one line of JSON a run printed.
#[track_caller]
fn json(outcome: &Outcome) -> Value {
    let text = outcome.stdout_text();
    assert_eq!(text.lines().count(), 1, "one line of JSON was expected:\n{outcome}");
    serde_json::from_str(&text).unwrap()
}

/// The one line of JSON a run printed, for people, with its exit code checked against the process's own.
#[track_caller]
fn pretty(outcome: &Outcome) -> String {
    let json = json(outcome);
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["exit_code"], outcome.exit_code());
    format!("{json:#}")
}
