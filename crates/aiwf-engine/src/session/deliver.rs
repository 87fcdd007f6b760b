//! Puts the result of a session on a branch or into a commit, and undoes an apply.
//!
//! Git makes the commits and runs the hooks of the user's repository. A branch is made in an isolated clone, so the
//! user's checkout is not switched. Undo refuses files that changed since.

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

const MAX_SUBJECT_CHARS: usize = 72;

/// The result of an undo.
#[derive(Clone, Debug, Serialize)]
pub struct UndoReport {
    pub session_id: String,
    /// Restored files, relative to the project.
    pub files: Vec<String>,
    /// The commit that reverts an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

impl Engine {
    /// Whether the project is in a git repository.
    pub fn has_repository(&self) -> bool {
        let found = Repository::find(&self.settings().project_root, &self.call_context().stop);
        found.is_ok_and(|repository| repository.is_some())
    }

    /// Creates a git repository with a first commit of these files; returns whether git is available.
    ///
    /// For projects that the program has just written, such as a sample.
    pub fn create_repository(&self, files: &[&str], message: &str) -> Result<bool, SessionError> {
        let root = &self.settings().project_root;
        match Repository::create(root, files, message, &self.call_context().stop) {
            Ok(_) => Ok(true),
            Err(WorktreeError::NoGit) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses a branch or commit that cannot be made, before any work is done for it.
    pub(super) fn refuse_delivery(&self, delivery: &Delivery, request: &str) -> Result<(), SessionError> {
        if delivery.branch.is_none() && !delivery.commits {
            return Ok(());
        }
        let repository = self.repository()?;
        if let Some(branch) = &delivery.branch {
            let branch = if branch.is_empty() { default_branch(title_of(request)) } else { branch.clone() };
            let tip = repository.branch_tip(&branch)?;
            if repository.head()?.is_none() {
                return Err(WorktreeError::NoCommit.into());
            }
            if tip.is_some() {
                return Err(WorktreeError::BranchExists { branch }.into());
            }
        }
        Ok(repository.check_identity()?)
    }

    /// Refuses a commit that git would refuse for lack of a name and an address.
    pub(super) fn refuse_without_identity(&self) -> Result<(), SessionError> {
        Ok(self.repository()?.check_identity()?)
    }

    fn repository(&self) -> Result<Repository, SessionError> {
        let root = &self.settings().project_root;
        let found = Repository::find(root, &self.call_context().stop)?;
        let missing = || WorktreeError::NotARepository { path: root.clone() };
        Ok(found.ok_or_else(missing)?)
    }

    /// Undoes the last apply of a session, unless its files changed since.
    pub fn undo<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<UndoReport, SessionError> {
        let mut session = OpenSession::open(self, journal::find_applied(self.settings(), given)?)?;
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

impl SessionError {
    /// A refusal by git of a result that is complete: the user fixes the reason and applies again.
    pub(super) fn keeping_the_result(self, is_written: bool, flag: Option<&'static str>) -> Self {
        if let Self::Worktree(
            error @ (WorktreeError::Uncommitted { .. }
            | WorktreeError::CommitRefused { .. }
            | WorktreeError::NoIdentity),
        ) = self
        {
            return Self::NotCommitted { error, is_written, flag };
        }
        self
    }
}

/// The first line of a request that says something.
fn title_of(request: &str) -> &str {
    request.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("change")
}

impl OpenSession<'_> {
    /// Where the result goes: as the command says, or as set when the session started.
    pub(super) fn delivery(&self, options: &ApplyOptions) -> Result<Delivery, SessionError> {
        let begun = self.setup()?.change.as_ref().map(|change| change.delivery.clone()).unwrap_or_default();
        let wanted = Delivery {
            branch: options.branch.clone().or(begun.branch).filter(|_| options.to.is_none()),
            commits: (options.commits || begun.commits) && options.to.is_none(),
        };
        let named = |branch: String| if branch.is_empty() { default_branch(&self.title()) } else { branch };
        Ok(Delivery { branch: wanted.branch.map(named), ..wanted })
    }

    /// The flag that the user repeats after a refusal; `None` if the session says where its result goes.
    pub(super) fn flag_to_repeat(
        &self,
        options: &ApplyOptions,
    ) -> Result<Option<&'static str>, SessionError> {
        let begun = self.setup()?.change.as_ref().map(|change| change.delivery.clone()).unwrap_or_default();
        Ok(match (&options.branch, &begun.branch) {
            (Some(_), None) => Some("--branch"),
            _ if options.commits && !begun.commits => Some("--commit"),
            _ => None,
        })
    }

    /// What the session was asked for, as far as it is known in words.
    fn request(&self) -> &str {
        let Some(setup) = &self.state.setup else { return "" };
        let given = || setup.context.get("request").and_then(serde_json::Value::as_str);
        setup.change.as_ref().map(|change| change.request.as_str()).or_else(given).unwrap_or_default()
    }

    /// The title of the session in one line.
    fn title(&self) -> String {
        title_of(self.request()).to_owned()
    }

    /// A commit message with the session and its plan.
    fn commit_message(&self) -> String {
        let title = self.title();
        let subject: String = if title.chars().count() > MAX_SUBJECT_CHARS {
            title.chars().take(MAX_SUBJECT_CHARS - 1).chain(['…']).collect()
        } else {
            title.clone()
        };
        let request = self.request().trim();
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
        let repository = self.engine.repository()?;
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
        let scratch = self.engine.scratch_path(&self.ledger.id)?;
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

    /// Whether a project file is executable now.
    pub(super) fn is_executable(&self, path: &str) -> bool {
        use std::os::unix::fs::PermissionsExt as _;

        let metadata = std::fs::symlink_metadata(self.engine.settings().project_root.join(path));
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    }

    /// Refuses to commit a file that has other uncommitted changes: they would be part of the commit, and `undo` would
    /// take them back with it.
    pub(super) fn refuse_uncommitted(&self, planned: &[Planned]) -> Result<(), SessionError> {
        let changing = planned.iter().filter(|file| file.is_changing());
        let paths: Vec<&str> = changing.map(|file| file.report.target.as_str()).collect();
        let dirty = self.engine.repository()?.dirty(&paths)?;
        if dirty.is_empty() { Ok(()) } else { Err(WorktreeError::Uncommitted { paths: dirty }.into()) }
    }

    /// Commits the files that were applied; returns the commit.
    pub(super) fn commit_in_place(&mut self, planned: &[Planned]) -> Result<String, SessionError> {
        let repository = self.engine.repository()?;
        let message = self.commit_message();
        let paths: Vec<&str> = planned.iter().map(|file| file.report.target.as_str()).collect();
        let made = repository.commit_in_place(&paths, &message)?;
        let commit = Commit { id: made.commit.clone(), branch: None, is_revert: false };
        self.commit(Command::RecordCommit(commit))?;
        Ok(made.commit)
    }

    fn revert(&mut self, commit: &Commit) -> Result<UndoReport, SessionError> {
        let repository = self.engine.repository()?;
        let message = format!("Revert \"{}\"\n\nAiwf-Session: {}\n", self.title(), self.ledger.id);
        let made = match &commit.branch {
            None => repository.revert_in_place(&commit.id, &message)?,
            Some(branch) => {
                let scratch = self.engine.scratch_path(&self.ledger.id)?;
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

    /// Plans how one file is restored.
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
