//! What a session has that began with a request: the request, its agents, and what its phases gave.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::call::TouchedFile;
use crate::event::FileHash;
use crate::flow::PhaseSpec;
use crate::phase::Phase;
use crate::verdict::Verdict;

/// What became of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskStatus {
    /// It was done.
    Completed,
    /// It was not done.
    Failed,
}

/// A task and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id, such as `1.2`.
    pub id: String,
    /// What became of it.
    pub status: TaskStatus,
}

/// Who does a phase's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The provider that is asked.
    pub provider: String,
    /// The agent whose system template is used; nothing for the common one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

/// What a change is set up with, beside what every session has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSetup {
    /// What to change.
    pub request: String,
    /// Patterns of files that every phase is shown, as the user gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Patterns that the project's configuration gave; they lead to nothing outside the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub project_files: Vec<String>,
    /// Who does the work of each phase.
    #[serde(default)]
    pub agents: BTreeMap<Phase, Agent>,
    /// What was said for single phases.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instructions: BTreeMap<Phase, Vec<String>>,
    /// Patterns of files that single phases are shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phase_files: BTreeMap<Phase, Vec<String>>,
    /// Whether the agent that implements may edit the project itself.
    #[serde(default)]
    pub may_write: bool,
    /// Check commands that the user typed for this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Where the result goes when the session is applied.
    #[serde(default, skip_serializing_if = "Delivery::is_working_tree")]
    pub delivery: Delivery,
}

/// Where the result of a session goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// A branch of this name is made for it; an empty name stands for one made from the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// It is committed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commits: bool,
}

impl Delivery {
    fn is_working_tree(&self) -> bool {
        *self == Self::default()
    }
}

impl ChangeSetup {
    /// Patterns of files that the user gave for a phase, those of the change first.
    pub fn files_of(&self, phase: Phase) -> Vec<String> {
        let mut files = self.files.clone();
        for pattern in self.phase_files.get(&phase).into_iter().flatten() {
            if !files.contains(pattern) {
                files.push(pattern.clone());
            }
        }
        files
    }

    /// What was said for a phase.
    pub fn instructions_of(&self, phase: Phase) -> &[String] {
        self.instructions.get(&phase).map(Vec::as_slice).unwrap_or_default()
    }
}

/// What somebody says when a phase begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseChoice {
    /// Who does the work.
    pub agent: Option<Agent>,
    /// What else to do.
    pub instructions: Option<String>,
    /// Patterns of files to show.
    pub files: Vec<String>,
    /// Whether the agent may edit the project itself.
    pub may_write: bool,
    /// Whether nobody has to say yes in this phase.
    pub opens_gates: bool,
}

/// A file that an implementation gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFile {
    /// Its path, relative to the project.
    pub path: String,
    /// SHA-256 of what it is to hold.
    pub sha256: String,
    /// SHA-256 of what the project held when the implementation was made; nothing when nothing was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether it is to be a program that can be run; nothing when that stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
}

/// A file that an implementation deletes or renames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedFile {
    /// Its path, relative to the project.
    pub path: String,
    /// SHA-256 of what the project held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its new path, when it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_to: Option<String>,
}

/// What a phase of a change gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The artifact, as the next phases read it.
    pub file: FileHash,
    /// The same under the name that the next round does not write over.
    pub copy: FileHash,
    /// The verdict of a challenge or a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What became of the tasks of an implementation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// The files of an implementation, to be put in place later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<NewFile>,
    /// The files of the project that are to be deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RemovedFile>,
    /// The files that the agent edited in the project itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<TouchedFile>,
    /// Things worth saying about the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a change came to, beside what every session has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeState {
    /// The last verdict of each phase that gives one.
    pub verdicts: BTreeMap<Phase, Verdict>,
    /// What became of the tasks of the last implementation.
    pub tasks: Vec<Task>,
    /// The files of the last implementation that are to be put in place.
    pub files: Vec<NewFile>,
    /// The files of the project that the last implementation deletes.
    pub removed: Vec<RemovedFile>,
    /// The files that agents edited in the project itself: as they were before the first, and after the last of them.
    pub edited: Vec<TouchedFile>,
    /// The files of the project that the current prompt shows.
    pub seen: Vec<FileHash>,
    /// Things worth saying about the last reply.
    pub notes: Vec<String>,
}

impl ChangeState {
    /// Adds files that an agent edited.
    pub(crate) fn edit(&mut self, touched: &[TouchedFile]) {
        for file in touched {
            match self.edited.iter_mut().find(|known| known.path == file.path) {
                Some(known) => known.after.clone_from(&file.after),
                None => self.edited.push(file.clone()),
            }
        }
    }

    pub(crate) fn take_over(&mut self, spec: Option<&PhaseSpec>, artifact: &Artifact) {
        self.notes.clone_from(&artifact.notes);
        if spec.is_some_and(|spec| spec.gives.changes_files()) {
            self.tasks.clone_from(&artifact.tasks);
            self.files.clone_from(&artifact.files);
            self.removed.clone_from(&artifact.removed);
            self.edit(&artifact.edited);
        }
    }
}
