//! Where runs live, what they are called, and how one is found by a part of its name.

use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_store::{Journal, Objects};

use super::event::{RunEvent, RunKind};
use crate::run_error::RunError;
use crate::session::{Meant, is_one_in, is_temporary, meant_by, names_in, new_id};

/// A run's directory and the files in it.
#[derive(Clone, Debug)]
pub(crate) struct RunDirectory {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
}

impl RunDirectory {
    pub(crate) fn new(settings: &Settings, id: &str) -> Self {
        Self { id: id.to_owned(), path: runs_root(settings).join(id) }
    }

    /// A new one: its name sorts by time, and says what it is when it is no run.
    pub(crate) fn fresh(settings: &Settings, kind: RunKind) -> Self {
        let prefix = match kind {
            RunKind::Run => "",
            RunKind::Agent => "agent-",
            RunKind::Chat => "chat-",
        };
        Self::new(settings, &new_id(&runs_root(settings), prefix))
    }

    /// The same run while it is being created, under a name that nobody looks at.
    pub(crate) fn unfinished(&self) -> Self {
        let name = format!(".tmp-{}", self.id);
        Self { id: self.id.clone(), path: self.path.with_file_name(name) }
    }

    pub(crate) fn lock_path(&self) -> PathBuf {
        self.path.join(".lock")
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    pub(crate) fn snapshot_path(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// What the model sees as `@state`.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.path.join("state")
    }

    pub(crate) fn state_path(&self) -> PathBuf {
        self.state_dir().join("workflow.md")
    }

    pub(crate) fn logs_dir(&self) -> PathBuf {
        self.state_dir().join("logs")
    }

    pub(crate) fn exec_log_path(&self) -> PathBuf {
        self.logs_dir().join("execution.jsonl")
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects::in_directory(self.path.join("objects"))
    }

    /// A path of the run as a person in the project's root sees it.
    pub(crate) fn shown(&self, relative: &str) -> String {
        let relative = if relative.is_empty() { String::new() } else { format!("/{relative}") };
        format!(".aiwf/runs/{}{relative}", self.id)
    }

    pub(crate) fn journal(&self) -> Result<Journal<RunEvent>, RunError> {
        Ok(Journal::open(&self.journal_path())?)
    }
}

pub(crate) fn runs_root(settings: &Settings) -> PathBuf {
    settings.project_dir().join("runs")
}

/// The names of all runs and conversations, sorted by time.
pub(crate) fn all_ids(settings: &Settings) -> Result<Vec<String>, RunError> {
    let mut ids = names_in(runs_root(settings))?;
    ids.sort_by(|a, b| stamp(a).cmp(stamp(b)));
    Ok(ids)
}

/// The part of a name that sorts by time.
fn stamp(id: &str) -> &str {
    id.strip_prefix("agent-").or_else(|| id.strip_prefix("chat-")).unwrap_or(id)
}

/// The run that a name, a unique beginning of one, or `latest` means.
pub(crate) fn find(settings: &Settings, given: &str) -> Result<RunDirectory, RunError> {
    if is_one_in(&runs_root(settings), given) {
        return Ok(RunDirectory::new(settings, given));
    }
    let ids = all_ids(settings)?;
    match meant_by(given, &ids) {
        Meant::One(id) => Ok(RunDirectory::new(settings, id)),
        Meant::Nothing => Err(RunError::NoRun { given: given.to_owned() }),
        Meant::Several(matching) => Err(RunError::AmbiguousRun { given: given.to_owned(), matching }),
    }
}

/// Files that a process left half done are ours alone.
pub(crate) fn remove_leftovers(directory: &Path) {
    for place in [directory.to_owned(), directory.join("state"), directory.join("state/logs")] {
        let entries = std::fs::read_dir(&place).into_iter().flatten().filter_map(Result::ok);
        for path in entries.map(|entry| entry.path()).filter(|path| is_temporary(path)) {
            drop(aiwf_store::remove(&path));
        }
    }
}
