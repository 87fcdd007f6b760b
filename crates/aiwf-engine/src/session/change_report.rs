//! The part of a status report that only changes have.

use std::collections::BTreeMap;

use aiwf_session::{
    Agent, ChangeSetup, NewFile, Phase, PhaseSpec, RemovedFile, State, Task, TouchedFile, Verdict,
};
use serde::Serialize;

use crate::ledger::SessionLedger;

#[derive(Clone, Debug, Serialize)]
pub struct ChangeReport {
    pub name: String,
    pub request: String,
    /// The round of the current loop.
    pub round: u32,
    /// How many rounds a loop may take.
    pub max_rounds: u32,
    pub agents: BTreeMap<Phase, Agent>,
    pub artifacts: Vec<ArtifactReport>,
    /// The last verdict of each judging phase.
    pub verdicts: BTreeMap<Phase, Verdict>,
    pub tasks: Vec<Task>,
    /// Files to write when the change is applied.
    pub files: Vec<NewFile>,
    /// Project files to delete when the change is applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RemovedFile>,
    /// Files that agents edited in the project directly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<TouchedFile>,
    /// Whether the implementing agent may edit the project directly.
    pub may_write: bool,
    /// Whether the change was applied.
    pub applied: bool,
    /// Notes about the last reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The artifact of a phase.
#[derive(Clone, Debug, Serialize)]
pub struct ArtifactReport {
    pub phase: Phase,
    /// Relative to the project.
    pub path: String,
    /// SHA-256 of the approved bytes.
    pub sha256: String,
}

impl ChangeReport {
    /// Whether the change writes, deletes or renames any file.
    pub fn has_changes(&self) -> bool {
        !self.files.is_empty() || !self.removed.is_empty()
    }

    /// All project paths that change.
    pub fn changed_paths(&self) -> Vec<&str> {
        let written = self.files.iter().map(|file| file.path.as_str());
        written.chain(self.removed.iter().map(|file| file.path.as_str())).collect()
    }

    /// All project paths that change, and those that an agent edited in the project itself.
    pub fn touched_paths(&self) -> Vec<&str> {
        let mut paths = self.changed_paths();
        paths.extend(self.edited.iter().map(|file| file.path.as_str()));
        paths
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
