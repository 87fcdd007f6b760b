//! What a report says about a change beside what it says about every session.

use std::collections::BTreeMap;

use aiwf_session::{Agent, ChangeSetup, NewFile, Pause, Phase, State, Step, Task, TouchedFile, Verdict};
use serde::Serialize;

use crate::ledger::SessionLedger;

/// What a change is about and came to.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeReport {
    /// Its name.
    pub name: String,
    /// What to change.
    pub request: String,
    /// The round of the current loop.
    pub round: u32,
    /// How many rounds a loop may take.
    pub max_rounds: u32,
    /// Who does the work of each phase.
    pub agents: BTreeMap<&'static str, Agent>,
    /// What phases gave.
    pub artifacts: Vec<ArtifactReport>,
    /// The last verdict of each phase that gives one.
    pub verdicts: BTreeMap<&'static str, Verdict>,
    /// What became of the tasks of the last implementation.
    pub tasks: Vec<Task>,
    /// The files of the last implementation, to be put in place.
    pub files: Vec<NewFile>,
    /// The files that agents edited in the project itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<TouchedFile>,
    /// Whether the agent that implements may edit the project itself.
    pub may_write: bool,
    /// Whether the files were put in place.
    pub applied: bool,
    /// Things worth saying about the last reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a phase gave.
#[derive(Clone, Debug, Serialize)]
pub struct ArtifactReport {
    /// The phase.
    pub phase: &'static str,
    /// The file, relative to the project.
    pub path: String,
    /// SHA-256 of what was approved.
    pub sha256: String,
}

impl ChangeReport {
    pub(super) fn of(directory: &SessionLedger, state: &State, setup: &ChangeSetup, cap: u32) -> Self {
        let change = &state.change;
        let artifact = |phase: Phase| {
            let file = phase.artifact()?;
            let sha256 = state.bound.get(file)?.sha256.clone();
            Some(ArtifactReport { phase: phase.as_str(), path: directory.shown(file), sha256 })
        };
        Self {
            name: directory.label().to_owned(),
            request: setup.request.clone(),
            round: state.round,
            max_rounds: cap,
            agents: setup.agents.iter().map(|(phase, agent)| (phase.as_str(), agent.clone())).collect(),
            artifacts: Phase::CHANGE.into_iter().filter_map(artifact).collect(),
            verdicts: change.verdicts.iter().map(|(phase, verdict)| (phase.as_str(), *verdict)).collect(),
            tasks: change.tasks.clone(),
            files: change.files.clone(),
            edited: change.edited.clone(),
            may_write: setup.may_write,
            applied: state.is_applied,
            notes: change.notes.clone(),
        }
    }
}

/// What to type next.
pub(super) fn next(name: &str, state: &State, is_stale: bool) -> String {
    let aiwf = "aiwf change";
    if is_stale && state.phase != Phase::Cancelled {
        return format!("{aiwf} restore {name} FILE, or {aiwf} approve {name} --rebind");
    }
    let phase = state.phase.as_str();
    let accept = if state.phase == Phase::Review {
        format!(", or {aiwf} approve {name} --accept")
    } else {
        String::new()
    };
    match &state.step {
        Step::Unborn => format!("{aiwf} new {name} TEXT"),
        Step::PromptWanted { .. } => format!("{aiwf} {phase} {name}, or {aiwf} run {name}"),
        Step::AskWanted => format!("{aiwf} {phase} {name}"),
        Step::PromptReady => format!("{aiwf} approve {name}"),
        Step::Asked { is_free: true } => format!("save the reply, then {aiwf} approve {name}"),
        Step::Asked { is_free: false } | Step::AskFailed { .. } => format!("{aiwf} retry {name}"),
        Step::ReplyReady { problems } if problems.is_empty() => format!("{aiwf} approve {name}"),
        Step::ReplyReady { .. } => {
            format!("edit the reply and {aiwf} approve {name}, or {aiwf} reject {name} --feedback TEXT")
        }
        Step::Paused(Pause::Budget) => {
            format!("raise `[budget]` in .aiwf/config.toml, then {aiwf} run {name}")
        }
        Step::Paused(Pause::IterationCap) => format!("{aiwf} approve {name} --max-rounds N{accept}"),
        Step::Paused(Pause::Verdict) => {
            format!("read why, then {aiwf} plan {name} --instructions TEXT{accept}, or {aiwf} cancel {name}")
        }
        Step::Ended if state.can_apply() && !state.is_applied && !state.change.files.is_empty() => {
            format!("{aiwf} apply {name}")
        }
        Step::Ended => format!("{aiwf} verify {name}"),
    }
}
