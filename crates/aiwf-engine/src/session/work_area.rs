//! The worktree of a session: where agents write and checks run.
//!
//! It is in the user's cache directory and derived: a missing worktree is rebuilt from the project and the approved
//! files. The changes of an agent become part of the session when its reply arrives.

use std::path::{Path, PathBuf};

use aiwf_session::{FileHash, Gives, Phase, PhaseSpec};
use aiwf_store::sha256_hex;
use aiwf_worktree::{
    Change, ChangeKind, CreateOptions, FileContent, LeftOutReason, PlannedFile, RefusedReason, Worktree,
};

use super::changes::{ChangedFile, ProjectChanges};
use super::open_session::OpenSession;
use super::perform::Performed;
use crate::Engine;
use crate::ask::providers;
use crate::session::session_error::SessionError;

/// The number of digits of the project path's hash in the name of its worktree directory.
const PROJECT_HASH_CHARS: usize = 16;

impl Engine {
    /// Where the worktree of a session is, whether it exists or not.
    pub(crate) fn worktree_path(&self, session_id: &str) -> Result<PathBuf, SessionError> {
        let settings = self.settings();
        let cache = settings.cache_dir.as_ref().ok_or(SessionError::NoCacheDirectory)?;
        let root = settings.project_root.canonicalize().unwrap_or_else(|_| settings.project_root.clone());
        let hash = sha256_hex(root.as_os_str().as_encoded_bytes());
        let project = hash.get(..PROJECT_HASH_CHARS).unwrap_or(&hash).to_owned();
        Ok(cache.join("worktrees").join(project).join(session_id))
    }

    /// Where commits for branches of a session are made.
    pub(super) fn scratch_path(&self, session_id: &str) -> Result<PathBuf, SessionError> {
        self.worktree_path(&format!("{session_id}.branch"))
    }

    /// Removes the worktree of a session, if any.
    pub(crate) fn remove_worktree(&self, session_id: &str) -> Result<(), SessionError> {
        match self.worktree_path(session_id) {
            // Most sessions have none.
            Ok(path) if path.parent().is_some_and(std::path::Path::is_dir) => Ok(Worktree::remove(&path)?),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Removes everything that a session has in the user's cache directory, also what a crash left there.
    pub(crate) fn remove_work_area(&self, session_id: &str) -> Result<(), SessionError> {
        self.remove_worktree(session_id)?;
        match self.scratch_path(session_id) {
            Ok(scratch) => Ok(aiwf_store::remove_tree(&scratch)?),
            Err(_) => Ok(()),
        }
    }
}

impl OpenSession<'_> {
    /// Whether the agent of a phase works in a worktree, instead of replying with edits.
    pub(crate) fn works_in_worktree(&self, phase: Phase) -> Result<bool, SessionError> {
        let gives_edits = self.state.flow.spec(phase).is_some_and(|spec| spec.gives == Gives::Edits);
        let writes = providers::writes_files(self.state.provider(phase), self.config());
        Ok(gives_edits && writes && !self.setup()?.may_write_project(&self.state.flow, phase))
    }

    /// The worktree of this session, created if needed.
    pub(super) fn worktree(&self) -> Result<Worktree, SessionError> {
        let at = self.engine.worktree_path(&self.ledger.id)?;
        if let Some(worktree) = Worktree::open(&at)? {
            return Ok(worktree);
        }
        let config = self.config();
        let paths = |setting: &Option<aiwf_config::Sourced<Vec<String>>>| {
            setting.as_ref().map(|paths| paths.value.clone()).unwrap_or_default()
        };
        let options =
            CreateOptions { copy: paths(&config.worktree.copy), link: paths(&config.worktree.link) };
        let root = &self.engine.settings().project_root;
        let worktree = Worktree::create(root, &at, &options, &self.engine.call_context().stop)?;
        if let Some(message) = left_out(&worktree, &options) {
            self.notify(&Performed::Noted { message });
        }
        Ok(worktree)
    }

    /// Resets the worktree to the last approved files.
    pub(super) fn reset_worktree(&self, worktree: &Worktree) -> Result<(), SessionError> {
        let changes = self.approved_changes()?;
        let is_executable = |path: &str, file: &ChangedFile| {
            file.executable.unwrap_or_else(|| worktree.base_is_executable(path).unwrap_or(false))
        };
        let files: Vec<PlannedFile> = changes
            .iter()
            .map(|(path, file)| PlannedFile {
                path: path.to_owned(),
                content: file
                    .content
                    .clone()
                    .map(|bytes| FileContent { bytes, is_executable: is_executable(path, file) }),
            })
            .collect();
        Ok(worktree.reset_to(&files, &self.engine.call_context().stop)?)
    }

    /// The directory that the agent of the current phase works in, reset to what was approved; `None` for the project.
    pub(super) fn prepare_directory(&mut self) -> Result<Option<PathBuf>, SessionError> {
        let phase = self.state.phase;
        let gives_changes = self.works_in_worktree(phase)?;
        if !gives_changes && !self.reads_worktree(phase)? {
            return Ok(None);
        }
        // A worktree from before a person decided may lack what happened in the project since.
        if gives_changes && !self.is_worktree_fresh && self.approved_changes()?.is_empty() {
            self.engine.remove_worktree(&self.ledger.id)?;
        }
        let worktree = self.worktree()?;
        self.is_worktree_fresh = true;
        self.reset_worktree(&worktree)?;
        Ok(Some(worktree.root().to_owned()))
    }

    /// Whether the agent of a phase that changes nothing still works in the worktree.
    ///
    /// After files were approved, so that a reviewer finds them on disk. Before, if nothing keeps the agent from writing.
    fn reads_worktree(&self, phase: Phase) -> Result<bool, SessionError> {
        let (flow, setup) = (&self.state.flow, self.setup()?);
        let is_in_place = |spec: &PhaseSpec| setup.may_write_project(flow, spec.name);
        let has_worktree = flow.phases.iter().any(|spec| spec.gives == Gives::Edits && !is_in_place(spec));
        let provider = self.state.provider(phase);
        Ok(has_worktree
            && providers::writes_files(provider, self.config())
            && (!providers::is_confined(provider, self.config()) || !self.approved_changes()?.is_empty()))
    }

    /// Stores the changes of an agent in its worktree as a file of the session; returns it with notes.
    pub(super) fn take_worktree(&self) -> Result<(FileHash, Vec<String>), SessionError> {
        let stop = &self.engine.call_context().stop;
        let worktree = self.worktree()?;
        let found = worktree.changes(stop)?;
        let mut changes = ProjectChanges::default();
        let mut notes = Vec::new();
        // One read for the whole set: the base may be in a git repository.
        let changed_paths: Vec<&str> = found.changes.iter().filter_map(base_path).collect();
        for old in worktree.bases(&changed_paths, stop)?.into_iter().flatten() {
            self.ledger.keep(&old.bytes)?;
        }
        for change in &found.changes {
            if let ChangeKind::Renamed { from } = &change.kind {
                let removed = ChangedFile {
                    content: None,
                    before: change.before.clone(),
                    executable: None,
                    renamed_to: Some(change.path.clone()),
                };
                changes.insert(from.clone(), removed);
            }
            let is_here = matches!(change.kind, ChangeKind::Changed | ChangeKind::Deleted);
            let content = worktree.content(change)?;
            // Nothing is known about a file that did not exist under this name.
            let was_executable = is_here && change.was_executable;
            let executable =
                (change.is_executable != was_executable && content.is_some()).then_some(change.is_executable);
            changes.insert(
                change.path.clone(),
                ChangedFile {
                    content: content.map(|content| content.bytes),
                    before: change.before.clone().filter(|_| is_here),
                    executable,
                    renamed_to: None,
                },
            );
        }
        changes.refused = found
            .refused
            .iter()
            .map(|refused| format!("`{}` {}", refused.path, why(refused.reason)))
            .collect();
        let n_ignored = found.ignored.len() + found.n_more_ignored;
        if n_ignored > 0 {
            notes.push(format!("ignored files that stay in the worktree: {n_ignored}"));
        }
        let file = self.state.flow.spec(self.state.phase).map_or("reply", |spec| spec.file.as_str());
        let path = format!("iteration-{}/{file}-changes.json", self.state.iteration);
        Ok((self.write_changes(&path, &changes)?, notes))
    }
}

/// Where the content of a changed file was before; `None` for a new file.
fn base_path(change: &Change) -> Option<&str> {
    match &change.kind {
        ChangeKind::Added => None,
        ChangeKind::Changed | ChangeKind::Deleted => Some(&change.path),
        ChangeKind::Renamed { from } => Some(from),
    }
}

/// What the worktree lacks of the project, in words; `None` if it is complete.
fn left_out(worktree: &Worktree, brought: &CreateOptions) -> Option<String> {
    let below = worktree.root().strip_prefix(worktree.top()).unwrap_or(Path::new(""));
    // Paths of a repository; settings are relative to the project.
    let in_project = |path: &'_ str| Path::new(path).strip_prefix(below).ok().map(Path::to_owned);
    let is_brought = |path: &str| {
        let mut directories = brought.copy.iter().chain(&brought.link);
        in_project(path).is_some_and(|path| directories.any(|directory| path.starts_with(directory)))
    };
    let left_out: Vec<_> =
        worktree.left_out().iter().filter(|left_out| !is_brought(&left_out.path)).collect();
    let first = left_out.first()?;
    let why = match first.reason {
        LeftOutReason::TooLarge => "is too large",
        LeftOutReason::Unreadable => "cannot be read",
        LeftOutReason::Submodule | LeftOutReason::Repository => "is a repository of its own",
        LeftOutReason::LinkOutside => "is a link that may lead outside the project",
        LeftOutReason::Sparse => "is excluded by a sparse checkout",
        LeftOutReason::Special => "is not a regular file",
        LeftOutReason::NotUtf8 => "has a name that is not UTF-8",
    };
    let more = match left_out.len() {
        1 => String::new(),
        n => format!(", and {} more", n - 1),
    };
    let hint = match first.reason {
        LeftOutReason::Submodule | LeftOutReason::Repository => {
            in_project(&first.path).map_or_else(String::new, |path| {
                format!("; `copy = [\"{}\"]` in `[worktree]` of .aiwf/config.toml brings it", path.display())
            })
        }
        LeftOutReason::TooLarge
        | LeftOutReason::Unreadable
        | LeftOutReason::LinkOutside
        | LeftOutReason::Sparse
        | LeftOutReason::Special
        | LeftOutReason::NotUtf8 => String::new(),
    };
    Some(format!("the worktree lacks `{}`, which {why}{more}{hint}", first.path))
}

/// Why a change of an agent is not copied back.
fn why(reason: RefusedReason) -> &'static str {
    match reason {
        RefusedReason::Link => "is a symbolic link that was created or changed",
        RefusedReason::Repository => "is a repository inside the worktree",
        RefusedReason::Special => "is not a regular file",
        RefusedReason::NotUtf8 => "has a name that is not UTF-8",
        RefusedReason::TooLarge { .. } => "is too large",
        RefusedReason::Reserved => "is in `.git` or `.aiwf`",
        RefusedReason::Outside => "is outside the project",
        RefusedReason::LeftOut => "exists in the project and was not in the worktree",
        RefusedReason::Unreadable => "cannot be read",
    }
}
