//! What a report says about a change beside what it says about every session.

use std::collections::BTreeMap;

use aiwf_session::{
    Agent, ChangeSetup, NewFile, Phase, PhaseSpec, RemovedFile, State, Task, TouchedFile, Verdict,
};
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
    pub agents: BTreeMap<Phase, Agent>,
    /// What phases gave.
    pub artifacts: Vec<ArtifactReport>,
    /// The last verdict of each phase that gives one.
    pub verdicts: BTreeMap<Phase, Verdict>,
    /// What became of the tasks of the last implementation.
    pub tasks: Vec<Task>,
    /// The files of the last implementation, to be put in place.
    pub files: Vec<NewFile>,
    /// The files of the project that are to be deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RemovedFile>,
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
    pub phase: Phase,
    /// The file, relative to the project.
    pub path: String,
    /// SHA-256 of what was approved.
    pub sha256: String,
}

impl ChangeReport {
    /// Whether it gave anything to put into the project.
    pub fn has_changes(&self) -> bool {
        !self.files.is_empty() || !self.removed.is_empty()
    }

    /// The paths of the project that change.
    pub fn changed_paths(&self) -> Vec<&str> {
        let written = self.files.iter().map(|file| file.path.as_str());
        written.chain(self.removed.iter().map(|file| file.path.as_str())).collect()
    }

    pub(super) fn of(ledger: &SessionLedger, state: &State, setup: &ChangeSetup) -> Self {
        let change = &state.change;
        let artifact = |spec: &PhaseSpec| {
            let file = spec.artifact_file();
            let sha256 = state.bound.get(&file)?.sha256.clone();
            Some(ArtifactReport { phase: spec.name, path: ledger.shown(&file), sha256 })
        };
        Self {
            name: ledger.label().to_owned(),
            request: setup.request.clone(),
            round: state.round,
            max_rounds: state.max_rounds(),
            agents: setup.agents.clone(),
            artifacts: state.flow.phases.iter().filter_map(artifact).collect(),
            verdicts: change.verdicts.clone(),
            tasks: change.tasks.clone(),
            files: change.files.clone(),
            removed: change.removed.clone(),
            edited: change.edited.clone(),
            may_write: setup.may_write,
            applied: state.is_applied,
            notes: change.notes.clone(),
        }
    }
}
