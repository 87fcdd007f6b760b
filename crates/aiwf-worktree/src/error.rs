//! Why a worktree or a commit could not be made.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_advice::Advice;
use aiwf_store::StoreError;

/// Why a worktree or a commit could not be made; nothing of the user's was changed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// git is needed and not installed.
    #[error("git is not installed")]
    NoGit,
    /// The project is in no repository.
    #[error("`{}` is not in a git repository", path.display())]
    NotARepository {
        /// The project.
        path: PathBuf,
    },
    /// git said no.
    #[error("git could not {action}: {message}")]
    Git {
        /// What it was asked to do: `list the files`.
        action: &'static str,
        /// The end of what it said.
        message: String,
    },
    /// git, or a hook, took too long.
    #[error("git could not {action} within {} s", after.as_secs())]
    TimedOut {
        /// What it was asked to do.
        action: &'static str,
        /// How long it had.
        after: Duration,
    },
    /// git printed more than is read.
    #[error("the repository is too large: git printed more than {limit} bytes to {action}")]
    TooLarge {
        /// What it was asked to do.
        action: &'static str,
        /// How much is read.
        limit: u64,
    },
    /// Somebody asked for an end.
    #[error("work on the worktree was interrupted")]
    Stopped,
    /// A file or directory cannot be read or written.
    #[error("could not {action} `{}`", path.display())]
    Io {
        /// What was tried: `copy`, `read`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A setting names a directory that cannot be copied or linked.
    #[error("`{path}` cannot be copied into a worktree: {problem}")]
    BadPath {
        /// The path as it was given.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// There is a worktree already.
    #[error("a worktree already exists at `{}`", at.display())]
    Exists {
        /// Where it is.
        at: PathBuf,
    },
    /// What is known about the worktree's base is gone or makes no sense.
    #[error("the worktree at `{}` is damaged: {message}", at.display())]
    Damaged {
        /// Where it is.
        at: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The repository has no commit.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// The name of a branch is taken.
    #[error("branch `{branch}` already exists")]
    BranchExists {
        /// The branch.
        branch: String,
    },
    /// Git takes no branch of that name.
    #[error("`{branch}` is not a valid branch name")]
    BadBranch {
        /// The name.
        branch: String,
    },
    /// The branch is checked out, so its files would have to change as well.
    #[error("branch `{branch}` is checked out")]
    BranchInUse {
        /// The branch.
        branch: String,
    },
    /// The branch is not where it was.
    #[error("branch `{branch}` {problem}")]
    BranchMoved {
        /// The branch.
        branch: String,
        /// What is wrong: `is gone`.
        problem: &'static str,
    },
    /// Files of the plan are not as they were committed.
    #[error("{} uncommitted changes: {}", counted(paths.len(), "file has", "files have"), listed(paths))]
    Uncommitted {
        /// The files, relative to the project.
        paths: Vec<String>,
    },
    /// Files have changed since the commit that is to be reverted.
    #[error("{} changed since the commit: {}", counted(paths.len(), "file has", "files have"), listed(paths))]
    ChangedSince {
        /// The files, relative to the project.
        paths: Vec<String>,
    },
    /// The files are as they were committed.
    #[error("there is nothing to commit")]
    NothingToCommit,
    /// The user has no name or address for commits.
    #[error("git does not know your name and email address, which a commit needs")]
    NoIdentity,
    /// A hook, or git, refused the commit.
    #[error("git refused the commit: {message}")]
    CommitRefused {
        /// The end of what git and its hooks printed.
        message: String,
    },
}

impl From<StoreError> for WorktreeError {
    fn from(error: StoreError) -> Self {
        Self::Io { action: "write", path: error.path, source: error.source }
    }
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The first of them, by name.
fn listed(paths: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = paths.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    if paths.len() > SHOWN {
        names.push(format!("and {} more", paths.len() - SHOWN));
    }
    names.join(", ")
}

impl WorktreeError {
    /// One thing to do about it.
    pub fn advice(&self) -> Advice {
        match self {
            Self::NoGit => "install git, or omit `--branch` and `--commit`".into(),
            Self::NotARepository { .. } => {
                "run `git init` and commit once, or omit `--branch` and `--commit`".into()
            }
            Self::Git { .. } => "run `git status` in the project and fix what it reports".into(),
            Self::TimedOut { .. } => {
                "run `git status` and the hooks of the repository yourself to see what is slow".into()
            }
            Self::TooLarge { .. } => {
                "work in a smaller project, such as a directory with a repository of its own".into()
            }
            Self::Stopped => "run it again when you are ready".into(),
            Self::Io { action, path, .. } => format!(
                "check that you may {action} `{}` and that the disk is not full, then run it again",
                path.display()
            )
            .into(),
            Self::BadPath { .. } => {
                "name directories inside the project that git ignores, such as `node_modules`".into()
            }
            Self::Exists { at } => format!("use it, or remove `{}`", at.display()).into(),
            Self::Damaged { at, .. } => {
                format!("remove `{}`; the next command creates it again", at.display()).into()
            }
            Self::NoCommit => "commit once, then run it again".into(),
            Self::BranchExists { .. } => "choose another name, or delete that branch".into(),
            Self::BadBranch { .. } => "use letters, digits, `-` and `/`".into(),
            Self::BranchInUse { .. } => "switch to another branch, then run it again".into(),
            Self::BranchMoved { .. } => "check the branch with `git log`, then run it again".into(),
            Self::Uncommitted { .. } => "commit or stash these changes, then run it again".into(),
            Self::ChangedSince { .. } => "revert the commit by hand with `git revert`".into(),
            Self::NothingToCommit => "check the plan: its files are committed already".into(),
            Self::NoIdentity => {
                "run `git config --global user.name NAME` and `git config --global user.email ADDRESS`".into()
            }
            Self::CommitRefused { .. } => "fix what it reports, then run it again".into(),
        }
    }
}
