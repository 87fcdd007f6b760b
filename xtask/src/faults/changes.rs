//! Changes in a repository by `aiwf do`, disturbed: worktree, checks, comments, revise, apply, branch, commit, undo, removal.
//!
//! The agent is a program that edits files in its worktree, and the check is a command that writes nothing. Git's own
//! calls are disturbed like those of aiwf. How things stand is what a person sees: the session, the files, and every
//! branch with its files and its number of commits. In the end the session is removed, and nothing may be left of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{
    Act, Case, World, collect, expect_done_or_waiting, expect_same, expect_success, run_again, write,
};
use crate::failure::Failure;
use crate::workspace;

/// How many faults a case gets, unless every call is asked for.
pub(super) const MAX_FAULTS: usize = 36;

const CONFIG: &str = "[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"exec sh \\\"$HOME/agent.sh\\\"\"]\nwrite = true\n";
/// Stops at whatever fails, so that a disturbed agent is one that failed.
const AGENT: &str = r#"set -e
prompt=$(cat)
case $prompt in
*"You implement"*)
    printf 'print("json")\n' > list.py
    printf 'new\n' > new.py
    rm -f old.py
    echo 'Done.';;
*"<review>"*) echo '<review>PASS</review>';;
*) echo '# Plan';;
esac
"#;
const GIT_CONFIG: &str = "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n";

/// Stops before every reply is approved.
const BEGIN: &[&str] = &["do", "Print JSON", "--agent", "agent", "--check", "test -e list.py"];
const APPROVE: &[&str] = &["approve", "latest"];
const APPLY: &[&str] = &["apply", "latest"];
const BRANCH: &[&str] = &["apply", "latest", "--branch=json"];
const COMMIT: &[&str] = &["apply", "latest", "--commit"];
const UNDO: &[&str] = &["undo", "latest"];

const COMMENT: &[&str] = &["comment", "latest", "list.py:1", "Why?"];
const RESOLVE: &[&str] = &["comment", "resolve", "latest", "1"];
/// The agent is asked again, in a new worktree.
const REVISE: &[&str] = &["revise", "latest", "implementation", "--reason", "smaller"];

use Act::{Do, Repository};

const PLANNED: &[Act] = &[Repository, Do(BEGIN)];
const IMPLEMENTED: &[Act] = &[Repository, Do(BEGIN), Do(APPROVE)];
const COMMENTED: &[Act] = &[Repository, Do(BEGIN), Do(APPROVE), Do(COMMENT)];
const REVIEWED: &[Act] = &[Repository, Do(BEGIN), Do(APPROVE), Do(APPROVE)];
const COMPLETE: &[Act] = &[Repository, Do(BEGIN), Do(APPROVE), Do(APPROVE), Do(APPROVE)];
const APPLIED: &[Act] = &[Repository, Do(BEGIN), Do(APPROVE), Do(APPROVE), Do(APPROVE), Do(APPLY)];
const ON_BRANCH: &[Act] = &[Repository, Do(BEGIN), Do(APPROVE), Do(APPROVE), Do(APPROVE), Do(BRANCH)];
const COMMITTED: &[Act] = &[Repository, Do(BEGIN), Do(APPROVE), Do(APPROVE), Do(APPROVE), Do(COMMIT)];
/// A session that was cancelled while it had a worktree.
const CANCELLED: &[Act] = &[Repository, Do(BEGIN), Do(APPROVE), Do(&["cancel", "latest"])];

pub(super) const CASES: &[Case] = &[
    Case { name: "do", before: &[Repository], words: BEGIN, stdin: "" },
    Case { name: "do: worktree and agent", before: PLANNED, words: APPROVE, stdin: "" },
    Case { name: "do: checks and review", before: IMPLEMENTED, words: APPROVE, stdin: "" },
    Case { name: "do: apply", before: COMPLETE, words: APPLY, stdin: "" },
    Case { name: "do: apply to a branch", before: COMPLETE, words: BRANCH, stdin: "" },
    Case { name: "do: apply and commit", before: COMPLETE, words: COMMIT, stdin: "" },
    Case { name: "do: undo", before: APPLIED, words: UNDO, stdin: "" },
    Case { name: "do: undo a branch", before: ON_BRANCH, words: UNDO, stdin: "" },
    Case { name: "do: undo a commit", before: COMMITTED, words: UNDO, stdin: "" },
    Case { name: "do: comment on a changed file", before: IMPLEMENTED, words: COMMENT, stdin: "" },
    Case { name: "do: resolve a comment on a changed file", before: COMMENTED, words: RESOLVE, stdin: "" },
    Case { name: "do: revise", before: REVIEWED, words: REVISE, stdin: "" },
    Case { name: "do: cancel", before: IMPLEMENTED, words: &["cancel", "latest"], stdin: "" },
    Case { name: "do: rm", before: CANCELLED, words: &["rm", "latest", "--yes"], stdin: "" },
];

/// Makes the project a repository with one commit, and gives its user an agent.
pub(super) fn lay_out(world: &World) -> Result<(), Failure> {
    let users = world.home().join(".aiwf");
    fs::create_dir_all(&users).map_err(|error| Failure::io("make a directory", &error))?;
    write(&users.join("config.toml"), CONFIG)?;
    write(&world.home().join("agent.sh"), AGENT)?;
    write(&world.home().join(".gitconfig"), GIT_CONFIG)?;
    write(&world.project().join("list.py"), "print(\"text\")\n")?;
    write(&world.project().join("old.py"), "old\n")?;
    for words in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "First"]] {
        workspace::run(git(world).args(words))?;
    }
    Ok(())
}

fn git(world: &World) -> Command {
    let mut git = Command::new("git");
    git.current_dir(world.project()).env_clear().env("HOME", world.home());
    git.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    git
}

fn asked(world: &World, words: &[&str]) -> Result<String, Failure> {
    let output = git(world).args(words).output().map_err(|error| Failure::io("ask git", &error))?;
    expect_success(&output, &format!("`git {}` after a fault", words.join(" ")))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How everything stands, without what differs from run to run.
pub(super) fn standing(world: &World) -> Result<String, Failure> {
    let list = world.report(&["list", "--json"])?;
    let mut text = String::new();
    for session in list.get("sessions").and_then(Value::as_array).into_iter().flatten() {
        let Some(id) = session.get("session_id").and_then(Value::as_str) else { continue };
        let status = world.report(&["status", id, "--json"])?;
        // Writing to a string does not fail.
        for key in ["flow", "phase", "stage", "status", "iteration", "waits_for", "applied", "open_comments"]
        {
            let _ = writeln!(text, "{key}: {}", status.get(key).unwrap_or(&Value::Null));
        }
        for version in status.get("versions").and_then(Value::as_array).into_iter().flatten() {
            let field = |key| version.get(key).unwrap_or(&Value::Null);
            let _ = writeln!(text, "version: {} {}", field("name"), field("outcome"));
        }
        for check in status.get("checks").and_then(Value::as_array).into_iter().flatten() {
            let field = |key| check.get(key).unwrap_or(&Value::Null);
            let _ = writeln!(text, "check: {} {}", field("name"), field("passed"));
        }
        let commits = status.get("commits").and_then(Value::as_array);
        let _ = writeln!(text, "commits: {}", commits.map_or(0, Vec::len));
    }
    let mut files = BTreeMap::new();
    collect(&world.project(), &world.project(), &mut files);
    files.retain(|path, _| !path.starts_with(".git/") && !path.starts_with(".aiwf/"));
    let _ = writeln!(text, "{files:#?}");
    text.push_str(&asked(world, &["symbolic-ref", "HEAD"])?);
    text.push_str(&asked(world, &["status", "--porcelain", "--untracked-files=all", "--", ":!.aiwf"])?);
    let branches = asked(world, &["for-each-ref", "--format=%(refname)", "refs/heads"])?;
    for branch in branches.lines() {
        let n_commits = asked(world, &["rev-list", "--count", branch])?;
        let files = asked(world, &["ls-tree", "-r", branch])?;
        let _ = write!(text, "{branch}: {n_commits}{files}");
    }
    Ok(text)
}

/// After a fault the session is whole, the next command gets it where it was going, and `rm` leaves nothing.
pub(super) fn survive(world: &World, case: &Case, expected: &str) -> Result<(), Failure> {
    unlock(&world.project().join(".git"));
    let begins = case.name == "do";
    let exists = world.aiwf(&["status", "latest"], "")?.status.success();
    if exists {
        expect_success(&world.aiwf(&["verify", "latest"], "")?, "`verify` after a fault")?;
        // Whatever needs no decision is finished first.
        world.aiwf(&["run", "latest"], "")?;
    }
    if standing(world)? != expected {
        if (begins && exists) || was_reopened(world, case)? {
            // The session is there, or reopened: its call failed or was interrupted, and is made again.
            expect_done_or_waiting(&world.aiwf(APPROVE, "")?, "making the call again")?;
        } else {
            run_again(world, case)?;
        }
        expect_same(expected, &standing(world)?)?;
    }
    remove(world)
}

/// Whether a disturbed `revise` was recorded before its call was disturbed.
fn was_reopened(world: &World, case: &Case) -> Result<bool, Failure> {
    let status =
        if case.words == REVISE { world.report(&["status", "latest", "--json"])? } else { Value::Null };
    Ok(status.get("phase").and_then(Value::as_str) == Some("implement"))
}

/// Removes what a killed git leaves, as its message asks for.
fn unlock(directory: &Path) {
    for path in entries(directory) {
        if path.is_dir() {
            unlock(&path);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            // What cannot be removed stops git, which says so.
            drop(fs::remove_file(&path));
        }
    }
}

/// Where the worktrees of all projects are.
fn worktrees(world: &World) -> PathBuf {
    world.home().join(".cache/aiwf/worktrees")
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path())
}

/// Makes the worktrees of a copied project those of the copy: their directory has the name of the project's path.
pub(super) fn adopt_worktrees(world: &World) -> Result<(), Failure> {
    let Some(copied) = entries(&worktrees(world)).next() else { return Ok(()) };
    let root = fs::canonicalize(world.project()).map_err(|error| Failure::io("find the project", &error))?;
    let script = "printf %s \"$1\" | sha256sum | cut -c1-16";
    let name = workspace::capture(Command::new("sh").args(["-c", script, "sh"]).arg(root))?;
    fs::rename(copied, worktrees(world).join(name.trim()))
        .map_err(|error| Failure::io("move worktrees", &error))
}

/// Ends and removes every session; nothing of them may be left in the cache, and the repository is whole.
fn remove(world: &World) -> Result<(), Failure> {
    if world.aiwf(&["status", "latest"], "")?.status.success() {
        world.aiwf(&["cancel", "latest"], "")?;
        expect_success(&world.aiwf(&["rm", "latest", "--yes"], "")?, "`rm` in the end")?;
    }
    let left: Vec<PathBuf> = entries(&worktrees(world)).flat_map(|project| entries(&project)).collect();
    if !left.is_empty() {
        return Err(Failure::new("`rm` left something in the cache").detail(format!("{left:#?}")));
    }
    asked(world, &["fsck", "--no-dangling", "--no-progress"]).map(drop)
}
