//! Puts what a session made on a branch or into a commit, and takes an apply back.
//!
//! Git makes the commits, with the hooks of the user's repository. A branch is made in an isolated clone, so the user's
//! checkout is never switched. What was applied is taken back only where nobody changed it since.

use std::fmt::Write as _;
use std::path::Path;

use aiwf_session::{AppliedFile, Command, Commit, Delivery, decide};
use aiwf_store::sha256_hex;
use aiwf_worktree::{
    BranchCommit, CreateOptions, FileContent, PlannedFile, Repository, WorktreeError, default_branch,
};
use serde::Serialize;

use super::apply::{ApplyChange, ApplyFile, ApplyOptions, Planned, read_target};
use super::diff::unified;
use super::journal;
use super::open_session::OpenSession;
use crate::Engine;
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

/// The longest first line of a commit message.
const MAX_SUBJECT_CHARS: usize = 72;

/// What was taken back.
#[derive(Clone, Debug, Serialize)]
pub struct UndoReport {
    /// The session.
    pub session_id: String,
    /// The files that were put back, relative to the project.
    pub files: Vec<String>,
    /// The commit that takes back an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

impl Engine {
    /// Whether the project is in a Git repository, so that a result can go to a branch or a commit.
    pub fn has_repository(&self) -> bool {
        let found = Repository::find(&self.settings().project_root, &self.call_context().stop);
        found.is_ok_and(|repository| repository.is_some())
    }

    /// Makes the project a git repository with a first commit of these files; says whether git is there to do it.
    ///
    /// For a project that the program has just written itself, such as a sample.
    pub fn create_repository(&self, files: &[&str], message: &str) -> Result<bool, SessionError> {
        let root = &self.settings().project_root;
        match Repository::create(root, files, message, &self.call_context().stop) {
            Ok(_) => Ok(true),
            Err(WorktreeError::NoGit) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes back what the last apply of a session changed, if nobody changed it since.
    pub fn undo<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<UndoReport, SessionError> {
        let mut session = OpenSession::open(self, journal::find_any(self.settings(), given)?)?;
        if session.state.applying.is_some() {
            session.settle_apply(None)?;
        }
        decide(&session.state, Command::IntendUndo { files: Vec::new() })?;
        let last = session.state.commits.last().filter(|commit| !commit.is_revert).cloned();
        match last {
            Some(commit) => session.revert(&commit),
            None => session.undo_files(),
        }
    }
}

impl OpenSession<'_> {
    /// Where the result goes: as the command says, else as the session was begun.
    pub(super) fn delivery(&self, options: &ApplyOptions) -> Result<Delivery, SessionError> {
        let begun = self.setup()?.change.as_ref().map(|change| change.delivery.clone()).unwrap_or_default();
        let wanted = Delivery {
            branch: options.branch.clone().or(begun.branch).filter(|_| options.to.is_none()),
            commits: (options.commits || begun.commits) && options.to.is_none(),
        };
        let named = |branch: String| if branch.is_empty() { default_branch(&self.title()) } else { branch };
        Ok(Delivery { branch: wanted.branch.map(named), ..wanted })
    }

    /// What the session is about, in one line.
    fn title(&self) -> String {
        let request = self.state.setup.as_ref().and_then(|setup| setup.change.as_ref());
        let request = request.map(|change| change.request.as_str()).unwrap_or_default();
        request.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("change").to_owned()
    }

    fn repository(&self) -> Result<Repository, SessionError> {
        let root = &self.engine.settings().project_root;
        let found = Repository::find(root, &self.engine.call_context().stop)?;
        let missing = || WorktreeError::NotARepository { path: root.clone() };
        Ok(found.ok_or_else(missing)?)
    }

    /// A message that names the session and the plan it follows.
    fn commit_message(&self) -> String {
        let title = self.title();
        let subject: String = if title.chars().count() > MAX_SUBJECT_CHARS {
            title.chars().take(MAX_SUBJECT_CHARS - 1).chain(['…']).collect()
        } else {
            title.clone()
        };
        let request = self.state.setup.as_ref().and_then(|setup| setup.change.as_ref());
        let request = request.map(|change| change.request.trim()).unwrap_or_default();
        let mut message = subject.clone();
        if request != subject {
            message.push_str("\n\n");
            message.push_str(request);
        }
        // Writing to a string does not fail.
        let _ = write!(message, "\n\nAiwf-Session: {}\n", self.ledger.id);
        let plan =
            self.state.flow.phases.first().and_then(|spec| self.state.bound.get(&spec.artifact_file()));
        if let Some(plan) = plan {
            let _ = writeln!(message, "Aiwf-Plan-Sha256: {}", plan.sha256);
        }
        message
    }

    /// Commits the approved changes on a new branch; returns the commit.
    pub(super) fn put_on_branch(&mut self, branch: &str) -> Result<String, SessionError> {
        let repository = self.repository()?;
        let files: Vec<PlannedFile> = self
            .approved_changes()?
            .iter()
            .map(|(path, file)| PlannedFile {
                path: path.to_owned(),
                content: file.content.clone().map(|bytes| FileContent {
                    is_executable: file.executable.unwrap_or_else(|| self.is_executable(path)),
                    bytes,
                }),
            })
            .collect();
        let message = self.commit_message();
        let scratch = self.engine.worktree_path(&format!("{}.branch", self.ledger.id))?;
        let options = CreateOptions::default();
        let made = repository.commit_on_branch(&BranchCommit {
            branch,
            message: &message,
            files: &files,
            scratch: &scratch,
            options: &options,
        })?;
        let commit = Commit { id: made.commit.clone(), branch: Some(branch.to_owned()), is_revert: false };
        self.commit(Command::RecordCommit(commit))?;
        Ok(made.commit)
    }

    /// Whether a file of the project can be run now.
    fn is_executable(&self, path: &str) -> bool {
        use std::os::unix::fs::PermissionsExt as _;

        let metadata = std::fs::symlink_metadata(self.engine.settings().project_root.join(path));
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    }

    /// Commits what was written into the project; returns the commit.
    pub(super) fn commit_in_place(&mut self, planned: &[Planned]) -> Result<String, SessionError> {
        let repository = self.repository()?;
        let message = self.commit_message();
        let paths: Vec<&str> = planned.iter().map(|file| file.report.target.as_str()).collect();
        let made = repository.commit_in_place(&paths, &message)?;
        let commit = Commit { id: made.commit.clone(), branch: None, is_revert: false };
        self.commit(Command::RecordCommit(commit))?;
        Ok(made.commit)
    }

    fn revert(&mut self, commit: &Commit) -> Result<UndoReport, SessionError> {
        let repository = self.repository()?;
        let message = format!("Revert \"{}\"\n\nAiwf-Session: {}\n", self.title(), self.ledger.id);
        let made = match &commit.branch {
            None => repository.revert_in_place(&commit.id, &message)?,
            Some(branch) => {
                let scratch = self.engine.worktree_path(&format!("{}.branch", self.ledger.id))?;
                repository.revert_on_branch(branch, &commit.id, &message, &scratch)?
            }
        };
        let branch = commit.branch.clone();
        let revert = Commit { id: made.commit.clone(), branch: branch.clone(), is_revert: true };
        self.commit(Command::RecordCommit(revert))?;
        Ok(UndoReport {
            session_id: self.ledger.id.clone(),
            files: made.files,
            commit: Some(made.commit),
            branch,
        })
    }

    fn undo_files(&mut self) -> Result<UndoReport, SessionError> {
        let root = self.engine.settings().project_root.clone();
        let mut planned = Vec::new();
        let mut changed = Vec::new();
        for file in self.state.applied.clone() {
            let found = read_target(&root, &file.target, &root.join(&file.target))?;
            if found.as_deref().map(sha256_hex) == file.after {
                planned.push(self.taken_back(file, found)?);
            } else {
                changed.push(file.target);
            }
        }
        if !changed.is_empty() {
            return Err(SessionError::ChangedSinceApply { files: changed });
        }
        let files: Vec<AppliedFile> = planned.iter().map(|(file, _)| file.clone()).collect();
        self.commit(Command::IntendUndo { files })?;
        let planned: Vec<Planned> = planned.into_iter().map(|(_, planned)| planned).collect();
        self.write_intended(&planned, Path::new(&root), None, &|_| ())?;
        Ok(UndoReport {
            session_id: self.ledger.id.clone(),
            files: planned.into_iter().map(|file| file.report.target).collect(),
            commit: None,
            branch: None,
        })
    }

    /// The way back of one file.
    fn taken_back(
        &self,
        file: AppliedFile,
        found: Option<Vec<u8>>,
    ) -> Result<(AppliedFile, Planned), SessionError> {
        let lost = || SessionError::NothingApproved { path: file.target.clone() };
        let content = match &file.before {
            Some(before) => Some(self.ledger.kept(before).ok_or_else(lost)?),
            None => None,
        };
        let executable = file.executable.map(|executable| !executable).filter(|_| content.is_some());
        let change = match (&found, &content) {
            (_, None) => ApplyChange::Deleted,
            (None, Some(_)) => ApplyChange::New,
            (Some(_), Some(_)) => ApplyChange::Changed,
        };
        let report = ApplyFile {
            name: file.target.clone(),
            target: file.target.clone(),
            change,
            run_by: aiwf_store::run_by(&file.target),
            diff: unified(&file.target, found.as_deref(), content.as_deref()),
        };
        let back =
            AppliedFile { target: file.target.clone(), before: file.after, after: file.before, executable };
        Ok((back, Planned { report, below: file.target, content, before: found, executable }))
    }
}
