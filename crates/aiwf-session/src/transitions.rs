//! The transition table of a flow, made from the machine itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Map;

use crate::change::{Artifact, ChangeSetup, PhaseChoice, Task, TaskStatus};
use crate::checks::{CheckEnd, CheckResult};
use crate::command::{Command, decide};
use crate::event::{Actor, FileHash, Outcome, Person};
use crate::flow::{Flow, Gives, PhaseRecipe};
use crate::refusal::situation;
use crate::setup::Setup;
use crate::state::State;
use crate::step::{Pause, Step};
use crate::verdict::Verdict;

/// Later rounds do what the second does.
const MAX_ROUND: u32 = 2;

/// What each command does where it is possible, as a Markdown table; what is not listed is refused.
pub fn transition_table(flow: &Flow) -> String {
    let mut table =
        String::from("| where the session stands | command | where it stands then |\n|---|---|---|\n");
    let flow = flow.clone().capped(MAX_ROUND);
    let mut seen: Vec<(String, u32, String)> = Vec::new();
    let mut open = vec![State::default()];
    while let Some(state) = open.pop() {
        for command in commands(&flow, &state) {
            let name = label(&command);
            let from = situation(&state);
            if state.round > MAX_ROUND || seen.contains(&(from.clone(), state.round, name.clone())) {
                continue;
            }
            let Ok(events) = decide(&state, command) else { continue };
            let next = events.iter().fold(state.clone(), State::evolve);
            if !seen.iter().any(|(situation, _, label)| *situation == from && *label == name) {
                let _ = writeln!(table, "| {from} | {name} | {} |", situation(&next));
            }
            seen.push((from, state.round, name));
            open.push(next);
        }
    }
    table
}

fn label(command: &Command) -> String {
    let verdict = if let Command::ApproveResponse { outcome, .. } = command {
        match outcome {
            Outcome::Artifact(artifact) => artifact.verdict,
            Outcome::Pass => Some(Verdict::Pass),
            Outcome::Fail => Some(Verdict::Fail),
            Outcome::Plan { .. } | Outcome::Code { .. } => None,
        }
    } else {
        None
    };
    if let Some(verdict) = verdict {
        return format!("approve (verdict {})", verdict.as_str());
    }
    if matches!(command, Command::RecordCheck(_)) {
        return "record a check that failed".to_owned();
    }
    if matches!(command, Command::HoldChecks { .. }) {
        return "hold checks for consent".to_owned();
    }
    if let Command::RecordSent { is_free: true, .. } = command {
        return "ask (a person or a recording)".to_owned();
    }
    command.name().to_owned()
}

/// Commands that make sense somewhere, with made-up contents that fit the state.
fn commands(flow: &Flow, state: &State) -> Vec<Command> {
    let by = Actor::Person(Person { name: "you".to_owned(), surface: None });
    let file = |path: &str| FileHash { path: path.to_owned(), sha256: "0".repeat(64) };
    let response = file(&state.response_path().unwrap_or_default());
    let prompt = file(&state.prompt_path().unwrap_or_default());
    let outcomes = outcomes(state).into_iter().map(|outcome| Command::ApproveResponse {
        by: by.clone(),
        response: response.clone(),
        outcome,
        has_checks: true,
    });
    let mut commands = vec![
        Command::Create(Box::new(sample_setup(flow))),
        Command::RecordPrompt {
            prompt,
            system_prompt: None,
            seen: Vec::new(),
            fs_ability: None,
            left_out: Vec::new(),
        },
        Command::ApprovePrompt { by: by.clone(), files: state.written.clone(), is_checked: None },
        Command::RejectPrompt { by: by.clone(), feedback: "no".to_owned(), kept: Vec::new() },
        Command::RecordSent { provider: "p".to_owned(), payload_sha256: String::new(), is_free: true },
        Command::RecordSent { provider: "p".to_owned(), payload_sha256: String::new(), is_free: false },
        Command::RecordReply { response: response.clone(), call: None, changes: None },
        Command::RecordFailure { message: "no answer".to_owned(), call: None, limit_until: None },
        Command::RefuseReply { response: response.clone(), problems: vec!["a problem".to_owned()] },
    ];
    commands.extend(outcomes);
    commands.extend([
        Command::RejectResponse { by: by.clone(), feedback: "no".to_owned(), kept: Vec::new() },
        Command::RecordCheck(Box::new(sample_check(1))),
        Command::FinishChecks,
        Command::HoldChecks { names: vec!["tests".to_owned()] },
        Command::Retry { by: by.clone(), kept: Vec::new() },
        Command::PauseForBudget { message: "too much".to_owned() },
        Command::RaiseBudget,
        Command::RaiseCap { max_iterations: state.round + 1 },
        Command::Accept { by: by.clone() },
        Command::Cancel { by: by.clone(), reason: None },
    ]);
    if matches!(state.step, Step::Paused(Pause::Verdict | Pause::NoTarget)) {
        let choice = PhaseChoice { instructions: Some("more".to_owned()), ..PhaseChoice::default() };
        let choice = Box::new(choice);
        commands.extend(flow.names().map(|phase| Command::BeginPhase {
            by: by.clone(),
            phase,
            choice: choice.clone(),
        }));
    }
    commands
}

/// What the current phase can give.
pub(crate) fn outcomes(state: &State) -> Vec<Outcome> {
    let file = |path: &str| FileHash { path: path.to_owned(), sha256: "0".repeat(64) };
    let Some(spec) = state.flow.spec(state.phase) else { return Vec::new() };
    let code = format!("iteration-{}/code/a", state.iteration);
    match (spec.recipe, spec.gives) {
        (PhaseRecipe::Session, Gives::Text) => vec![Outcome::Plan { plan: file("plan.md") }],
        (PhaseRecipe::Session, Gives::Files | Gives::Edits) => {
            vec![Outcome::Code { files: vec![file(&code)] }]
        }
        (PhaseRecipe::Session, Gives::Verdict) => vec![Outcome::Pass, Outcome::Fail],
        (PhaseRecipe::Change, gives) => {
            let verdicts: Vec<Option<Verdict>> = if gives == Gives::Verdict {
                Verdict::ALL.into_iter().rev().filter(|word| *word != Verdict::Fail).map(Some).collect()
            } else {
                vec![None]
            };
            let task = Task { id: "1.1".to_owned(), status: TaskStatus::Completed };
            let artifact = |verdict| Artifact {
                file: file(&spec.artifact_file()),
                copy: file(&format!("iteration-{}/{}", state.iteration, spec.artifact_file())),
                verdict,
                tasks: spec.reports_tasks().then(|| task.clone()).into_iter().collect(),
                files: Vec::new(),
                removed: Vec::new(),
                edited: Vec::new(),
                notes: Vec::new(),
            };
            verdicts.into_iter().map(|verdict| Outcome::Artifact(Box::new(artifact(verdict)))).collect()
        }
    }
}

/// A check that ended with that exit code.
pub(crate) fn sample_check(exit_code: i32) -> CheckResult {
    CheckResult {
        name: "tests".to_owned(),
        command: "make test".to_owned(),
        ended: CheckEnd::Exited,
        exit_code: Some(exit_code),
        signal: None,
        reason: None,
        millis: 1,
        output: FileHash { path: "iteration-1/checks/01-tests.txt".to_owned(), sha256: "0".repeat(64) },
        n_bytes: 0,
        notes: Vec::new(),
    }
}

pub(crate) fn sample_setup(flow: &Flow) -> Setup {
    Setup {
        session_id: "sample".to_owned(),
        name: None,
        flow: Some(Box::new(flow.clone())),
        profile: "sample".to_owned(),
        profile_sha256: String::new(),
        context: Map::new(),
        roles: BTreeMap::new(),
        agents: BTreeMap::new(),
        gates: BTreeMap::new(),
        max_iterations: MAX_ROUND,
        hash_prompts: true,
        standards: None,
        inputs: Vec::new(),
        change: (!flow.needs_profile()).then(|| Box::new(ChangeSetup::default())),
    }
}

#[cfg(test)]
#[path = "transitions_tests.rs"]
mod tests;
