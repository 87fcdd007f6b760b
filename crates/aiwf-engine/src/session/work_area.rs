//! The worktree of a session: where an agent writes and where checks run.
//!
//! It lies in the user's cache directory and is derived: a worktree that is gone is made again from the project and what
//! the session approved. What an agent did in it becomes part of the session when its reply arrives.

use std::path::PathBuf;

use aiwf_session::{FileHash, Gives, Phase};
use aiwf_store::sha256_hex;
use aiwf_worktree::{
    ChangeKind, CreateOptions, FileContent, LeftOutReason, PlannedFile, RefusedReason, Worktree,
};

use super::changes::{ChangedFile, ProjectChanges};
use super::open_session::OpenSession;
use super::perform::Performed;
use crate::Engine;
use crate::ask::providers;
use crate::session::session_error::SessionError;

/// How much of the hash of a project's path names its directory of worktrees.
const PROJECT_HASH_CHARS: usize = 16;

impl Engine {
    /// Where the worktree of a session is, whether it was made or not.
    pub(crate) fn worktree_path(&self, session_id: &str) -> Result<PathBuf, SessionError> {
        let settings = self.settings();
        let cache = settings.cache_dir.as_ref().ok_or(SessionError::NoCacheDirectory)?;
        let root = settings.project_root.canonicalize().unwrap_or_else(|_| settings.project_root.clone());
        let hash = sha256_hex(root.as_os_str().as_encoded_bytes());
        let project = hash.get(..PROJECT_HASH_CHARS).unwrap_or(&hash).to_owned();
        Ok(cache.join("worktrees").join(project).join(session_id))
    }

    /// Removes the worktree of a session; nothing there is fine.
    pub(crate) fn remove_worktree(&self, session_id: &str) -> Result<(), SessionError> {
        match self.worktree_path(session_id) {
            // Most sessions have none, and most projects neither.
            Ok(path) if path.parent().is_some_and(std::path::Path::is_dir) => Ok(Worktree::remove(&path)?),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

impl OpenSession<'_> {
    /// Whether the agent of a phase works in a worktree, rather than giving edits in its reply.
    pub(crate) fn works_in_worktree(&self, phase: Phase) -> Result<bool, SessionError> {
        let gives_edits = self.state.flow.spec(phase).is_some_and(|spec| spec.gives == Gives::Edits);
        let writes = providers::writes_files(self.state.provider(phase), self.config());
        Ok(gives_edits && writes && !self.setup()?.may_write_project(&self.state.flow, phase))
    }

    /// The worktree of this session; made when it is not there.
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
        if let Some(message) = left_out(&worktree) {
            self.notify(&Performed::Noted { message });
        }
        Ok(worktree)
    }

    /// Puts the worktree to what the session approved last.
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

    /// The directory that the agent of the current phase gets, as approved; the project where it gets none.
    pub(super) fn prepare_directory(&self) -> Result<Option<PathBuf>, SessionError> {
        if !self.works_in_worktree(self.state.phase)? {
            return Ok(None);
        }
        let worktree = self.worktree()?;
        self.reset_worktree(&worktree)?;
        Ok(Some(worktree.root().to_owned()))
    }

    /// What an agent did in its worktree, as a file of the session, with things worth saying about it.
    pub(super) fn take_worktree(&self) -> Result<(FileHash, Vec<String>), SessionError> {
        let stop = &self.engine.call_context().stop;
        let worktree = self.worktree()?;
        let found = worktree.changes(stop)?;
        let mut changes = ProjectChanges::default();
        let mut notes = Vec::new();
        for change in &found.changes {
            if let ChangeKind::Renamed { from } = &change.kind {
                if let Some(old) = worktree.base(from, stop)? {
                    self.ledger.keep(&old.bytes)?;
                }
                let removed = ChangedFile {
                    content: None,
                    before: change.before.clone(),
                    executable: None,
                    renamed_to: Some(change.path.clone()),
                };
                changes.insert(from.clone(), removed);
            }
            let is_here = matches!(change.kind, ChangeKind::Changed | ChangeKind::Deleted);
            if is_here && let Some(old) = worktree.base(&change.path, stop)? {
                self.ledger.keep(&old.bytes)?;
            }
            let content = worktree.content(change)?;
            // Nothing is known of a file that was not there under this name.
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
            notes.push(format!("files that ignore rules leave out stay in the worktree: {n_ignored}"));
        }
        let file = self.state.flow.spec(self.state.phase).map_or("reply", |spec| spec.file.as_str());
        let path = format!("iteration-{}/{file}-changes.json", self.state.iteration);
        Ok((self.write_changes(&path, &changes)?, notes))
    }
}

/// What a worktree lacks of the project, for people; nothing when it has all of it.
fn left_out(worktree: &Worktree) -> Option<String> {
    let left_out = worktree.left_out();
    let first = left_out.first()?;
    let why = match first.reason {
        LeftOutReason::TooLarge => "is too large",
        LeftOutReason::Unreadable => "cannot be read",
        _ => "cannot be copied",
    };
    let more = match left_out.len() {
        1 => String::new(),
        n => format!(", and {} more", n - 1),
    };
    Some(format!("the worktree lacks `{}`, which {why}{more}", first.path))
}

/// Why something that an agent made is not taken over.
fn why(reason: RefusedReason) -> &'static str {
    match reason {
        RefusedReason::Link => "is a symbolic link that was made or changed",
        RefusedReason::Repository => "is a repository inside the worktree",
        RefusedReason::Special => "is no regular file",
        RefusedReason::NotUtf8 => "has a name that is not UTF-8",
        RefusedReason::TooLarge { .. } => "is too large",
        RefusedReason::Reserved => "is in `.git` or `.aiwf`",
        RefusedReason::Outside => "is outside the project",
        RefusedReason::LeftOut => "exists in the project and was not in the worktree",
        RefusedReason::Unreadable => "cannot be read",
    }
}
