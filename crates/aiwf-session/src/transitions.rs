//! The transition table, made from the machine itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Map;

use crate::command::{Command, decide};
use crate::event::{Actor, FileHash, Outcome};
use crate::refusal::situation;
use crate::setup::Setup;
use crate::state::State;

/// Later iterations do what the second does.
const MAX_ITERATION: u32 = 2;

/// What each command does where it is possible, as a Markdown table; what is not listed is refused.
pub fn transition_table() -> String {
    let mut table =
        "| where the session stands | command | where it stands then |\n|---|---|---|\n".to_owned();
    let mut seen: Vec<(String, u32, &'static str)> = Vec::new();
    let mut open = vec![State::default()];
    while let Some(state) = open.pop() {
        for command in commands(&state) {
            let name = label(&command, &state);
            let from = situation(&state);
            if state.iteration > MAX_ITERATION || seen.contains(&(from.clone(), state.iteration, name)) {
                continue;
            }
            let Ok(events) = decide(&state, command) else { continue };
            let next = events.iter().fold(state.clone(), State::evolve);
            if !seen.iter().any(|(situation, _, label)| *situation == from && *label == name) {
                let _ = writeln!(table, "| {from} | {name} | {} |", situation(&next));
            }
            seen.push((from, state.iteration, name));
            open.push(next);
        }
    }
    table
}

fn label(command: &Command, state: &State) -> &'static str {
    let is_last = state.setup.as_ref().is_some_and(|setup| state.iteration >= setup.max_iterations);
    if let Command::ApproveResponse { outcome: Outcome::Pass, .. } = command {
        "approve (verdict PASS)"
    } else if let Command::ApproveResponse { outcome: Outcome::Fail, .. } = command {
        if is_last { "approve (verdict FAIL in the last iteration)" } else { "approve (verdict FAIL)" }
    } else if let Command::RecordSent { is_free: true, .. } = command {
        "ask (a person or a recording)"
    } else {
        command.name()
    }
}

/// Commands that make sense somewhere, with made-up contents that fit the state.
fn commands(state: &State) -> Vec<Command> {
    let by = Actor::Person("you".to_owned());
    let file = |path: &str| FileHash { path: path.to_owned(), sha256: "0".repeat(64) };
    let response = file(&state.phase.response_path(state.iteration).unwrap_or_default());
    let prompt = file(&state.phase.prompt_path(state.iteration).unwrap_or_default());
    let outcome = |outcome| Command::ApproveResponse { by: by.clone(), response: response.clone(), outcome };
    vec![
        Command::Create(Box::new(sample_setup())),
        Command::RecordPrompt { prompt, system_prompt: None },
        Command::ApprovePrompt { by: by.clone(), files: state.written.clone(), is_checked: None },
        Command::RejectPrompt { by: by.clone(), feedback: "no".to_owned(), kept: Vec::new() },
        Command::RecordSent { provider: "p".to_owned(), payload_sha256: String::new(), is_free: true },
        Command::RecordSent { provider: "p".to_owned(), payload_sha256: String::new(), is_free: false },
        Command::RecordReply { response: response.clone(), call: None },
        Command::RecordFailure { message: "no answer".to_owned(), call: None },
        Command::RefuseReply { response: response.clone(), problems: vec!["a problem".to_owned()] },
        outcome(Outcome::Plan { plan: file("plan.md") }),
        outcome(Outcome::Code { files: Vec::new() }),
        outcome(Outcome::Pass),
        outcome(Outcome::Fail),
        Command::RejectResponse { by: by.clone(), feedback: "no".to_owned(), kept: Vec::new() },
        Command::Retry { by: by.clone(), kept: Vec::new() },
        Command::PauseForBudget { message: "too much".to_owned() },
        Command::RaiseBudget,
        Command::RaiseCap { max_iterations: state.iteration + 1 },
        Command::Accept { by: by.clone() },
        Command::Cancel { by },
    ]
}

fn sample_setup() -> Setup {
    Setup {
        session_id: "sample".to_owned(),
        profile: "sample".to_owned(),
        profile_sha256: String::new(),
        context: Map::new(),
        roles: BTreeMap::new(),
        gates: BTreeMap::new(),
        max_iterations: 2,
        hash_prompts: true,
        standards: FileHash { path: "standards-bundle.md".to_owned(), sha256: String::new() },
        inputs: Vec::new(),
    }
}

#[cfg(test)]
#[path = "transitions_tests.rs"]
mod tests;
