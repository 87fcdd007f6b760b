//! Sessions that start from a request: the request, its agents, and the results of its phases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::call::TouchedFile;
use crate::event::FileHash;
use crate::flow::PhaseSpec;
use crate::phase::Phase;
use crate::verdict::Verdict;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskStatus {
    Completed,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id, such as `1.2`.
    pub id: String,
    pub status: TaskStatus,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub provider: String,
    /// The agent whose system template is used; `None` for the common template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

/// What a session without a profile is set up with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSetup {
    pub request: String,
    /// Patterns of files that every phase sees, typed by the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Patterns from the project's configuration. They match only files inside the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub project_files: Vec<String>,
    /// Who does the work of each phase.
    #[serde(default)]
    pub agents: BTreeMap<Phase, Agent>,
    /// Additional instructions for single phases.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instructions: BTreeMap<Phase, Vec<String>>,
    /// Patterns of files that single phases see.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phase_files: BTreeMap<Phase, Vec<String>>,
    /// Whether the implementing agent may edit the project directly.
    #[serde(default)]
    pub may_write: bool,
    /// Check commands that the user typed for this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Where the result goes when the session is applied.
    #[serde(default, skip_serializing_if = "Delivery::is_working_tree")]
    pub delivery: Delivery,
}

/// Where the result of a session is applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The new branch; an empty name means one made from the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commits: bool,
}

impl Delivery {
    fn is_working_tree(&self) -> bool {
        *self == Self::default()
    }
}

impl ChangeSetup {
    /// Patterns typed for a phase, after those of the whole session.
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

/// Options given when a phase starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseChoice {
    pub agent: Option<Agent>,
    pub instructions: Option<String>,
    /// Patterns of files to show.
    pub files: Vec<String>,
    /// Whether the agent may edit the project directly.
    pub may_write: bool,
    /// Whether the gates of this phase are skipped.
    pub opens_gates: bool,
}

/// A file that an implementation writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFile {
    /// Relative to the project.
    pub path: String,
    /// SHA-256 of the new content.
    pub sha256: String,
    /// SHA-256 in the project when the implementation was made; `None` if the file did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Executable bit after; `None` if unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
}

/// A file that an implementation deletes or renames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedFile {
    /// Relative to the project.
    pub path: String,
    /// SHA-256 in the project when the implementation was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The new path, if the file is renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_to: Option<String>,
}

/// The result of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The file that later phases read.
    pub file: FileHash,
    /// A copy with a name that no later round overwrites.
    pub copy: FileHash,
    /// The verdict of a challenge or a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// Files to write when the result is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<NewFile>,
    /// Files of the project to delete when the result is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RemovedFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<TouchedFile>,
    /// Notes about the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeState {
    /// The last verdict of each judging phase.
    pub verdicts: BTreeMap<Phase, Verdict>,
    pub tasks: Vec<Task>,
    /// Files of the last implementation to write when it is applied.
    pub files: Vec<NewFile>,
    /// Files of the project that the last implementation deletes.
    pub removed: Vec<RemovedFile>,
    /// Files that agents edited in the project directly, with the content before the first and after the last edit.
    pub edited: Vec<TouchedFile>,
    /// Files of the project shown in the current prompt.
    pub seen: Vec<FileHash>,
    /// Notes about the last reply.
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
