//! Failures of worktrees, branches and commits.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_engine::{ApplyChange, ApplyFile, ApplyReport, SessionError, WorktreeError};

use super::{Failure, Sample, text, texts};

pub(super) fn worktree_errors() -> Vec<Sample> {
    let shown = |error: WorktreeError| Failure::from(SessionError::from(error));
    let at = || PathBuf::from("/home/ann/.cache/aiwf/worktrees/shop/20260102-030405-0001");
    every_variant!(WorktreeError, shown, {
        NoGit => [WorktreeError::NoGit],
        NotARepository => [WorktreeError::NotARepository { path: PathBuf::from("/srv/shop") }],
        Git => [WorktreeError::Git { action: "list the files", message: text("fatal: bad object HEAD") }],
        TimedOut => [WorktreeError::TimedOut { action: "commit", after: Duration::from_mins(10) }],
        TooLarge => [WorktreeError::TooLarge { action: "list the files", limit: 1_000_000_000 }],
        Stopped => [WorktreeError::Stopped],
        Io => [WorktreeError::Io {
            action: "copy",
            path: PathBuf::from("src/list.py"),
            source: io::Error::from(io::ErrorKind::PermissionDenied),
        }],
        BadPath => [WorktreeError::BadPath { path: text("../venv"), problem: "it leaves the project" }],
        Exists => [WorktreeError::Exists { at: at() }],
        Damaged => [WorktreeError::Damaged { at: at(), message: text("its base is gone") }],
        NoCommit => [WorktreeError::NoCommit],
        BranchExists => [WorktreeError::BranchExists { branch: text("aiwf/add-login") }],
        BadBranch => [WorktreeError::BadBranch { branch: text("a..b") }],
        BranchInUse => [WorktreeError::BranchInUse { branch: text("main") }],
        BranchMoved => [WorktreeError::BranchMoved { branch: text("main"), problem: "is gone" }],
        Uncommitted => [WorktreeError::Uncommitted { paths: texts(["src/list.py"]) }],
        ChangedSince => [WorktreeError::ChangedSince { paths: texts(["src/list.py", "src/cli.py"]) }],
        NothingToCommit => [WorktreeError::NothingToCommit],
        NoIdentity => [WorktreeError::NoIdentity],
        CommitRefused => [WorktreeError::CommitRefused { message: text("pre-commit: lint failed") }],
    })
}

/// Files that are in the way of an apply.
pub(super) fn conflicts(is_mergeable: bool) -> SessionError {
    SessionError::Conflicts {
        is_mergeable,
        report: Box::new(ApplyReport {
            session_id: text("2026-01-02-app"),
            files: vec![ApplyFile {
                name: text("App.tsx"),
                target: text("src/App.tsx"),
                change: ApplyChange::Conflict,
                run_by: None,
                diff: String::new(),
            }],
            applied: false,
            branch: None,
            commit: None,
            outdated: Vec::new(),
            overlaps: Vec::new(),
        }),
    }
}

/// A complete result whose commit a hook refuses.
pub(super) fn refused_by_a_hook(is_written: bool, flag: Option<&'static str>) -> SessionError {
    let error = WorktreeError::CommitRefused { message: text("lint failed") };
    SessionError::NotCommitted { error, is_written, flag }
}
