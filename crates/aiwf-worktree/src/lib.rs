//! Isolated copies of a project and the git around them.
//!
//! A [`Worktree`] is a directory outside of the project for an agent to write in: the files of the project as they are
//! now, with a repository of its own. Its [`Changes`] are what became different since. A [`Repository`] is the user's
//! own: it is looked at without starting any of its programs, and gets commits through git itself, hooks included.
//! Knows no session and no model.

#![warn(missing_docs)]

mod error;

mod git;
mod tree;

mod base_repository;
mod changes;
mod commit;
mod copy;
mod export;
mod first_commit;
mod listing;
mod manifest;
mod repository;
mod scan;
mod worktree;

mod merge;
mod slug;

#[cfg(test)]
mod testing;

pub use changes::{Change, ChangeKind, Changes, Refused, RefusedReason};
pub use commit::{BranchCommit, Committed};
pub use error::WorktreeError;
pub use listing::unlisted_path;
pub use merge::{Merged, merge};

pub use repository::Repository;
pub use slug::{branch_slug, default_branch};
pub use worktree::{CreateOptions, FileContent, LeftOut, LeftOutReason, PlannedFile, Worktree};
