//! The transition table, made from the machine itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Map;

use crate::change::{Artifact, Flow, Follows, PhaseChoice, Task, TaskStatus, Verdict};
use crate::command::{Command, decide};
use crate::event::{Actor, FileHash, Outcome, Person};
use crate::phase::Phase;
use crate::refusal::situation;
use crate::setup::Setup;
use crate::state::{Pause, State, Step};

/// Later rounds do what the second does.
const MAX_ROUND: u32 = 2;

/// What each command does in a session where it is possible, as a Markdown table; what is not listed is refused.
pub fn transition_table() -> String {
    table(Flow::Session)
}

/// The same for a change.
pub fn change_transition_table() -> String {
    table(Flow::Change)
}

fn table(flow: Flow) -> String {
    let mut table =
        format!("| where the {} stands | command | where it stands then |\n|---|---|---|\n", flow.as_str());
    let mut seen: Vec<(String, u32, &'static str)> = Vec::new();
    let mut open = vec![State::default()];
    while let Some(state) = open.pop() {
        for command in commands(flow, &state) {
            let name = label(&command, &state);
            let from = situation(&state);
            if state.round > MAX_ROUND || seen.contains(&(from.clone(), state.round, name)) {
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

fn label(command: &Command, state: &State) -> &'static str {
    let is_last = state.setup.as_ref().is_some_and(|setup| state.round >= setup.max_iterations);
    if let Command::ApproveResponse { outcome: Outcome::Artifact(artifact), .. } = command {
        return match artifact.verdict.map(|verdict| (verdict, verdict.follows())) {
            None => "approve",
            Some((_, Follows::GoOn)) => "approve (verdict PASS)",
            Some((_, Follows::OnceMore)) if is_last => "approve (it needs another round, the last is over)",
            Some((_, Follows::OnceMore)) => "approve (verdict NEEDS_REVISION or NEEDS_CHANGES)",
            Some((_, Follows::Stop)) => "approve (verdict REJECTED or MAJOR_ISSUES)",
        };
    }
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
fn commands(flow: Flow, state: &State) -> Vec<Command> {
    let by = Actor::Person(Person { name: "you".to_owned(), surface: None });
    let file = |path: &str| FileHash { path: path.to_owned(), sha256: "0".repeat(64) };
    let response = file(&state.phase.response_path(state.iteration).unwrap_or_default());
    let prompt = file(&state.phase.prompt_path(state.iteration).unwrap_or_default());
    let outcome = |outcome| Command::ApproveResponse { by: by.clone(), response: response.clone(), outcome };
    let outcomes: Vec<Command> = match flow {
        Flow::Session => vec![
            outcome(Outcome::Plan { plan: file("plan.md") }),
            outcome(Outcome::Code { files: Vec::new() }),
            outcome(Outcome::Pass),
            outcome(Outcome::Fail),
        ],
        Flow::Change => [None, Some(Verdict::Pass), Some(Verdict::NeedsRevision), Some(Verdict::Rejected)]
            .into_iter()
            .map(|verdict| outcome(Outcome::Artifact(Box::new(sample_artifact(state.phase, verdict)))))
            .collect(),
    };
    let phases = Phase::CHANGE.map(|phase| Command::BeginPhase {
        by: by.clone(),
        phase,
        choice: Box::new(PhaseChoice { instructions: Some("more".to_owned()), ..PhaseChoice::default() }),
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
        Command::RecordReply { response: response.clone(), call: None },
        Command::RecordFailure { message: "no answer".to_owned(), call: None },
        Command::RefuseReply { response: response.clone(), problems: vec!["a problem".to_owned()] },
    ];
    commands.extend(outcomes);
    commands.extend([
        Command::RejectResponse { by: by.clone(), feedback: "no".to_owned(), kept: Vec::new() },
        Command::Retry { by: by.clone(), kept: Vec::new() },
        Command::PauseForBudget { message: "too much".to_owned() },
        Command::RaiseBudget,
        Command::RaiseCap { max_iterations: state.round + 1 },
        Command::Accept { by: by.clone() },
        Command::Cancel { by },
    ]);
    if flow == Flow::Change && state.step == Step::Paused(Pause::Verdict) {
        commands.extend(phases);
    }
    commands
}

fn sample_artifact(phase: Phase, verdict: Option<Verdict>) -> Artifact {
    let name = phase.artifact().unwrap_or_default();
    let file = FileHash { path: name.to_owned(), sha256: String::new() };
    let tasks = match phase {
        Phase::Implement => vec![Task { id: "1.1".to_owned(), status: TaskStatus::Completed }],
        Phase::Initialized
        | Phase::Planning
        | Phase::Generating
        | Phase::Reviewing
        | Phase::Revising
        | Phase::Plan
        | Phase::Challenge
        | Phase::Review
        | Phase::Archive
        | Phase::Complete
        | Phase::Cancelled => Vec::new(),
    };
    Artifact {
        copy: file.clone(),
        file,
        verdict,
        tasks,
        files: Vec::new(),
        edited: Vec::new(),
        notes: Vec::new(),
    }
}

fn sample_setup(flow: Flow) -> Setup {
    Setup {
        session_id: "sample".to_owned(),
        name: None,
        profile: "sample".to_owned(),
        profile_sha256: String::new(),
        context: Map::new(),
        roles: BTreeMap::new(),
        gates: BTreeMap::new(),
        max_iterations: 2,
        hash_prompts: true,
        standards: None,
        inputs: Vec::new(),
        change: (flow == Flow::Change).then(Box::default),
    }
}

#[cfg(test)]
#[path = "transitions_tests.rs"]
mod tests;
