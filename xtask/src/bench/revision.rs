//! The revision that `--against` names, checked out below the target directory with a target directory of its own.
//!
//! One checkout serves every revision, so the next one builds only what differs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::workspace::{self, Workspace};

/// A commit whose source is checked out and can be built.
#[derive(Debug)]
pub(super) struct Revision {
    /// What the user named, with the commit in short: `main (2d1caac)`.
    pub(super) name: String,
    pub(super) source_dir: PathBuf,
    pub(super) target_dir: PathBuf,
}

impl Revision {
    /// Finds the commit that `name` stands for and checks it out.
    pub(super) fn check_out(workspace: &Workspace, name: &str) -> Result<Self, Failure> {
        let commit = resolve(&workspace.root, name)?;
        let dir = workspace.target_dir()?.join("bench-against");
        let (source_dir, target_dir) = (dir.join("source"), dir.join("target"));
        eprintln!("== checking out {name} below `{}`", dir.display());
        check_out(&workspace.root, &source_dir, &commit)?;
        let short: String = commit.chars().take(12).collect();
        Ok(Self { name: format!("{name} ({short})"), source_dir, target_dir })
    }
}

fn git(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir);
    command
}

/// The full hash of the commit that `name` stands for.
fn resolve(root: &Path, name: &str) -> Result<String, Failure> {
    let wanted = format!("{name}^{{commit}}");
    let printed =
        workspace::capture(git(root).args(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]));
    printed.map(|commit| commit.trim().to_owned()).map_err(|_not_found| {
        Failure::usage(format!("unknown revision `{name}`"))
            .hint("name a commit, a branch or a tag; `git log --oneline` lists commits")
    })
}

/// Puts `commit` into `source_dir`, a detached worktree that is made the first time.
fn check_out(root: &Path, source_dir: &Path, commit: &str) -> Result<(), Failure> {
    if source_dir.join(".git").is_file() {
        let switch = ["checkout", "--quiet", "--force", "--detach", commit];
        return workspace::capture(git(source_dir).args(switch)).map(drop);
    }
    // The second `--force` covers a worktree that git remembers and `cargo clean` removed.
    let add = ["worktree", "add", "--quiet", "--force", "--force", "--detach"];
    workspace::capture(git(root).args(add).arg(source_dir).arg(commit)).map(drop)
}

#[cfg(test)]
#[path = "revision_tests.rs"]
mod tests;
