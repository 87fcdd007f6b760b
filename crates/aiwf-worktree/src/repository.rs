//! The user's repository.

use std::path::Path;

use aiwf_process::Stop;

use crate::error::WorktreeError;
use crate::worktree::{CreateOptions, PlannedFile};

/// The repository that a project is in.
#[derive(Debug)]
pub struct Repository {}

/// A commit for a new branch.
#[derive(Clone, Copy, Debug)]
pub struct BranchCommit<'a> {
    /// The branch, which must not exist.
    pub branch: &'a str,
    /// The message.
    pub message: &'a str,
    /// What it changes, relative to the project.
    pub files: &'a [PlannedFile],
    /// A directory for the clone in which it is made; removed before and after.
    pub scratch: &'a Path,
    /// What hooks need beside the files of the commit.
    pub options: &'a CreateOptions,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its id.
    pub commit: String,
    /// The files it changes, relative to the top of the repository.
    pub files: Vec<String>,
}

impl Repository {
    /// Finds the repository of a project; nothing where there is none.
    pub fn find(project_root: &Path, stop: &Stop) -> Result<Option<Self>, WorktreeError> {
        todo!()
    }

    /// The commit that is checked out; nothing before the first.
    pub fn head(&self) -> Result<Option<String>, WorktreeError> {
        todo!()
    }

    /// The branch that is checked out; nothing when none is.
    pub fn branch(&self) -> Result<Option<String>, WorktreeError> {
        todo!()
    }

    /// The commit a branch points to; nothing when there is no such branch.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<String>, WorktreeError> {
        todo!()
    }

    /// The message of a commit.
    pub fn message(&self, commit: &str) -> Result<String, WorktreeError> {
        todo!()
    }

    /// Those of the paths that have changes which are not committed, untracked files among them.
    pub fn dirty(&self, paths: &[&str]) -> Result<Vec<String>, WorktreeError> {
        todo!()
    }

    /// Commits files on a new branch, from HEAD; the user's checkout stays as it is.
    pub fn commit_on_branch(&self, commit: &BranchCommit<'_>) -> Result<Committed, WorktreeError> {
        todo!()
    }

    /// Commits files of the user's checkout as they are on disk, and nothing else that is staged.
    pub fn commit_in_place(&self, paths: &[&str], message: &str) -> Result<Committed, WorktreeError> {
        todo!()
    }

    /// Undoes a commit of the branch that is checked out, with a commit, if its files are unchanged since.
    pub fn revert_in_place(&self, commit: &str, message: &str) -> Result<Committed, WorktreeError> {
        todo!()
    }

    /// Undoes a commit of a branch that is not checked out, with a commit on it, if its files are unchanged since.
    pub fn revert_on_branch(
        &self,
        branch: &str,
        commit: &str,
        message: &str,
        scratch: &Path,
    ) -> Result<Committed, WorktreeError> {
        todo!()
    }
}
