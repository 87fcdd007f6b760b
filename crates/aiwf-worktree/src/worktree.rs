//! Makes, finds and removes worktrees.

use std::path::{Path, PathBuf};

use aiwf_process::Stop;

use crate::changes::{Change, Changes};
use crate::error::WorktreeError;

/// What a new worktree gets beside the files of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// Ignored directories that are copied in, such as `node_modules`; one that is not there is skipped.
    pub copy: Vec<String>,
    /// Ignored directories that become links to the project's own.
    pub link: Vec<String>,
}

/// A file to write or to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Its path in the project.
    pub path: String,
    /// What it is to be; nothing for a file that is to be gone.
    pub content: Option<FileContent>,
}

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it can be executed.
    pub is_executable: bool,
}

/// Something of the project that its worktree does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path in the repository, or in the project where there is none.
    pub path: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why something of the project is not in its worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// A submodule.
    Submodule,
    /// A repository in the project that is no submodule.
    Repository,
    /// A symbolic link that is absolute or could lead outside.
    LinkOutside,
    /// A sparse checkout leaves it out.
    Sparse,
    /// A pipe, a socket or a device.
    Special,
    /// A name that is not UTF-8.
    NotUtf8,
    /// A file that is not committed and larger than what is copied.
    TooLarge,
    /// It cannot be read.
    Unreadable,
}

/// An isolated copy of a project.
#[derive(Debug)]
pub struct Worktree {}

impl Worktree {
    /// Makes a worktree in the directory `at`, which must not be there; a half-made one is removed first.
    pub fn create(
        project_root: &Path,
        at: &Path,
        options: &CreateOptions,
        stop: &Stop,
    ) -> Result<Self, WorktreeError> {
        todo!()
    }

    /// Opens a worktree that was made completely; what is left of any other is removed.
    pub fn open(at: &Path) -> Result<Option<Self>, WorktreeError> {
        todo!()
    }

    /// Removes a worktree, or what is left of one; nothing there is fine.
    pub fn remove(at: &Path) -> Result<(), WorktreeError> {
        todo!()
    }

    /// Where the agent works: the copy of the project.
    pub fn root(&self) -> &Path {
        todo!()
    }

    /// The copy of the whole repository; the same as [`Self::root`] unless the project is a directory in it.
    pub fn top(&self) -> &Path {
        todo!()
    }

    /// The commit that was checked out in the project; nothing where there was none.
    pub fn head(&self) -> Option<&str> {
        todo!()
    }

    /// What of the project is not here.
    pub fn left_out(&self) -> &[LeftOut] {
        todo!()
    }

    /// Everything that differs from the base now, whatever was done to the repository inside.
    pub fn changes(&self, stop: &Stop) -> Result<Changes, WorktreeError> {
        todo!()
    }

    /// The bytes of a changed file; nothing for a deleted one. An error when it is not what [`Self::changes`] saw.
    pub fn content(&self, change: &Change) -> Result<Option<FileContent>, WorktreeError> {
        todo!()
    }

    /// What a file of the project was when the worktree was made.
    pub fn base(&self, path: &str, stop: &Stop) -> Result<Option<FileContent>, WorktreeError> {
        todo!()
    }

    /// Puts everything back to the base with these files on top; ignored files stay.
    pub fn reset_to(&self, files: &[PlannedFile], stop: &Stop) -> Result<(), WorktreeError> {
        todo!()
    }
}
