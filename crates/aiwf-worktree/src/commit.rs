//! Commits in the user's repository, made by git itself, with the user's configuration and hooks.
//!
//! In: files and a message. Out: a commit of exactly these files, on a new branch or in the user's checkout. A commit for
//! a branch is made in a clone that borrows the objects of the repository, and is brought over when it is complete; the
//! user's checkout and index stay as they are. Whatever is refused leaves everything as it was. A call that was killed
//! can be repeated: what it had done already is found and not done twice.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use aiwf_store::{ConfinedDir, remove_tree, sha256_hex};

use crate::base_repository::{borrowed_objects, info, init, write};
use crate::copy::bring_directory;
use crate::error::WorktreeError;
use crate::git::{Config, Git, joined, pieces};
use crate::repository::{Repository, Setting, check_id};
use crate::tree::{Tree, io_error};
use crate::worktree::{CreateOptions, IgnoredDirs, PlannedFile};

const COMMIT: &str = "commit";
/// How the files of a commit are named: on the standard input, each as it is.
const FROM_STDIN: [&str; 2] = ["--pathspec-from-file=-", "--pathspec-file-nul"];

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
    /// Directories that hooks need beside the files of the commit.
    pub options: &'a CreateOptions,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its id.
    pub commit: String,
    /// The files it changes, from the top of the repository; hooks may have added some.
    pub files: Vec<String>,
}

/// A clone that is removed with everything in it.
struct ScratchClone {
    scratch: PathBuf,
    top: PathBuf,
}

impl Drop for ScratchClone {
    fn drop(&mut self) {
        // The next commit with this directory removes what is left.
        drop(remove_tree(&self.scratch));
    }
}

impl Repository {
    /// Refuses commits where git has no name or address for them.
    pub fn check_identity(&self) -> Result<(), WorktreeError> {
        let git = self.looking(&[]);
        for who in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            if git.run("read your name", &["var", who], Vec::new())?.code != Some(0) {
                return Err(WorktreeError::NoIdentity);
            }
        }
        Ok(())
    }

    /// Commits files on a new branch, from HEAD; the user's checkout stays as it is.
    ///
    /// A branch that the same call made before, and that nobody moved since, is no error.
    pub fn commit_on_branch(&self, commit: &BranchCommit<'_>) -> Result<Committed, WorktreeError> {
        let BranchCommit { branch, message, files, scratch, options } = *commit;
        let tip = self.branch_tip(branch)?;
        let head = self.head()?.ok_or(WorktreeError::NoCommit)?;
        let origin = format!("aiwf: create {branch} from {}", fingerprint(&head, message, files));
        if let Some(commit) = tip {
            if self.last_move(branch)? == Some((commit.clone(), origin)) {
                return Ok(Committed { files: self.files_of(&commit)?, commit });
            }
            return Err(WorktreeError::BranchExists { branch: branch.to_owned() });
        }
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let dirty = self.dirty(&paths)?;
        if !dirty.is_empty() {
            return Err(WorktreeError::Uncommitted { paths: dirty });
        }
        let clone = self.clone_at(scratch, &head, branch, options)?;
        let put = Tree::open(&clone.top)?.put_all(&self.below, files);
        put.map_err(|(path, error)| io_error("write", &clone.top, &path, error))?;
        let paths: Vec<String> = paths.iter().map(|path| format!("{}{path}", self.below)).collect();
        let git = as_user(&clone.top, &[], self);
        let known = known(&git, &paths)?;
        let is_there = |path: &&String| known.contains(path.as_str()) || is_on_disk(&clone.top, path);
        let paths = joined(paths.iter().filter(is_there).map(String::as_str));
        git.output("add the files", &[&["add", "-A", "-f"], &FROM_STDIN[..]].concat(), paths)?;
        commit_staged(&git, message)?;
        self.bring_over(&clone, branch, None, &origin)
    }

    /// Where a branch was moved to last, and why, as its log has it; `None` where there is no log.
    fn last_move(&self, branch: &str) -> Result<Option<(String, String)>, WorktreeError> {
        let name = format!("refs/heads/{branch}");
        let args = ["log", "-g", "-1", "-s", "--no-show-signature", "--format=%H %gs", &name, "--"];
        let output = self.looking(&[]).run("read the branch", &args, Vec::new())?;
        let line = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        Ok(line.split_once(' ').map(|(commit, reason)| (commit.to_owned(), reason.to_owned())))
    }

    /// Commits files of the user's checkout as they are on disk, and nothing else that is staged.
    pub fn commit_in_place(&self, paths: &[&str], message: &str) -> Result<Committed, WorktreeError> {
        let paths: Vec<String> = paths.iter().map(|path| format!("{}{path}", self.below)).collect();
        self.commit_paths(&paths, message)
    }

    /// Undoes a commit of the branch that is checked out, with a commit, if its files are unchanged since.
    pub fn revert_in_place(&self, commit: &str, message: &str) -> Result<Committed, WorktreeError> {
        let head = self.head()?.ok_or(WorktreeError::NoCommit)?;
        let (files, before) = self.parts_of(commit)?;
        if let Some(reverted) = self.reverted_already(&head, &before, &files, message)? {
            return Ok(reverted);
        }
        self.check_unchanged(commit, &head, &files)?;
        let git = as_user(&self.top, &[], self);
        self.check_top(&git)?;
        let dirty = self.dirty_at_top(&files)?;
        // A call that was stopped has restored some of them already.
        if !self.was_restoring(&git, &before, &dirty)? {
            return Err(WorktreeError::Uncommitted { paths: dirty });
        }
        restore(&git, &before, &["--worktree"], &files)?;
        self.check_removed(&git, &before, &files)?;
        self.commit_paths(&files, message).inspect_err(|_| {
            // A hook refused it: the files go back to what they were.
            drop(restore(&git, &head, &["--worktree"], &files));
        })
    }

    /// Undoes a commit of a branch that is not checked out, with a commit on it, if its files are unchanged since.
    pub fn revert_on_branch(
        &self,
        branch: &str,
        commit: &str,
        message: &str,
        scratch: &Path,
    ) -> Result<Committed, WorktreeError> {
        let gone = || WorktreeError::BranchMoved { branch: branch.to_owned(), problem: "is gone" };
        let tip = self.branch_tip(branch)?.ok_or_else(gone)?;
        let name = format!("refs/heads/{branch}");
        let used = self.looking(&[]).output(
            "read the branch",
            &["for-each-ref", "--format=%(worktreepath)", &name],
            Vec::new(),
        )?;
        if !used.trim_ascii().is_empty() {
            return Err(WorktreeError::BranchInUse { branch: branch.to_owned() });
        }
        let (files, before) = self.parts_of(commit)?;
        if let Some(reverted) = self.reverted_already(&tip, &before, &files, message)? {
            return Ok(reverted);
        }
        self.check_unchanged(commit, &tip, &files)?;
        let clone = self.clone_at(scratch, &tip, branch, &CreateOptions::default())?;
        let git = as_user(&clone.top, &[], self);
        restore(&git, &before, &["--staged", "--worktree"], &files)?;
        commit_staged(&git, message)?;
        self.bring_over(&clone, branch, Some(&tip), &format!("aiwf: update {branch}"))
    }

    /// The files of a commit, and a commit or tree that has them as they were before it.
    fn parts_of(&self, commit: &str) -> Result<(Vec<String>, String), WorktreeError> {
        check_id(commit)?;
        let action = "read the commit";
        let git = self.looking(&[]);
        let files = self.files_of(commit)?;
        let parent = git.line(action, &["rev-parse", "-q", "--verify", &format!("{commit}^1^{{commit}}")])?;
        if let Some(parent) = parent {
            return Ok((files, parent));
        }
        // Before the first commit there was nothing.
        let empty = git.output(action, &["hash-object", "-t", "tree", "--stdin"], Vec::new())?;
        Ok((files, String::from_utf8_lossy(&empty).trim_end().to_owned()))
    }

    /// Those of the files that are not the same in both commits or trees.
    fn different(&self, a: &str, b: &str, files: &[String]) -> Result<Vec<String>, WorktreeError> {
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", a, b];
        let printed = self.looking(&[]).output("compare the commits", &args, Vec::new())?;
        let changed: BTreeSet<&[u8]> = pieces(&printed).collect();
        Ok(files.iter().filter(|path| changed.contains(path.as_bytes())).cloned().collect())
    }

    fn check_unchanged(&self, commit: &str, tip: &str, files: &[String]) -> Result<(), WorktreeError> {
        let paths = self.different(commit, tip, files)?;
        if paths.is_empty() { Ok(()) } else { Err(WorktreeError::ChangedSince { paths }) }
    }

    /// The commit with which a call that was killed has reverted these files.
    fn reverted_already(
        &self,
        tip: &str,
        before: &str,
        files: &[String],
        message: &str,
    ) -> Result<Option<Committed>, WorktreeError> {
        let is_same = self.is_message(tip, message)? && self.different(before, tip, files)?.is_empty();
        self.committed_if(is_same, tip)
    }

    /// The commit with which a call that was killed has committed these files.
    fn committed_already(&self, paths: &[String], message: &str) -> Result<Option<Committed>, WorktreeError> {
        let Some(head) = self.head()? else { return Ok(None) };
        let files = self.files_of(&head)?;
        let is_same = paths.iter().any(|path| files.contains(path)) && self.is_message(&head, message)?;
        self.committed_if(is_same, &head)
    }

    fn committed_if(&self, is_same: bool, commit: &str) -> Result<Option<Committed>, WorktreeError> {
        if !is_same {
            return Ok(None);
        }
        Ok(Some(Committed { files: self.files_of(commit)?, commit: commit.to_owned() }))
    }

    /// Whether a commit has a message; hooks may have added to it.
    fn is_message(&self, commit: &str, message: &str) -> Result<bool, WorktreeError> {
        Ok(self.message(commit)?.starts_with(message.trim_end()))
    }

    /// Whether files are as a stopped `restore` leaves them: as a commit or tree has them, removed to be written again,
    /// or written in part.
    ///
    /// Restoring such files loses nothing: all that they contain is in the commit.
    fn was_restoring(&self, git: &Git<'_>, commit: &str, files: &[String]) -> Result<bool, WorktreeError> {
        let action = "compare the files";
        let printed = git.output(action, &["ls-tree", "-r", "-z", commit], Vec::new())?;
        // Such as `100644 blob <id><tab>src/lib.rs`.
        let entries = pieces(&printed).filter_map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'\t')?;
            let (about, path) = entry.split_at(at);
            Some((path.get(1..)?, about.rsplit(|byte| *byte == b' ').next()?))
        });
        let entries: BTreeMap<&[u8], &[u8]> = entries.collect();
        let (there, gone): (Vec<&String>, Vec<&String>) =
            files.iter().partition(|path| entries.contains_key(path.as_bytes()));
        if gone.iter().any(|path| is_on_disk(&self.top, path)) || there.iter().any(|path| path.contains('\n'))
        {
            return Ok(false);
        }
        let there: Vec<&String> = there.into_iter().filter(|path| is_on_disk(&self.top, path)).collect();
        let names: String = there.iter().flat_map(|path| [path.as_str(), "\n"]).collect();
        let hashes = git.output(action, &["hash-object", "--stdin-paths"], names.into_bytes())?;
        let mut hashes = hashes.split(|byte| *byte == b'\n');
        for path in there {
            let is_whole = hashes.next() == entries.get(path.as_bytes()).copied();
            if !is_whole && !self.is_part_of(git, commit, path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Refuses to go on while a file is on disk that a commit or tree does not have: git only warns if it cannot remove
    /// one.
    fn check_removed(&self, git: &Git<'_>, commit: &str, files: &[String]) -> Result<(), WorktreeError> {
        let action = "remove the files";
        let kept = git.output(action, &["ls-tree", "-r", "-z", "--name-only", commit], Vec::new())?;
        let kept: BTreeSet<&[u8]> = pieces(&kept).collect();
        let left = files.iter().find(|path| !kept.contains(path.as_bytes()) && is_on_disk(&self.top, path));
        match left {
            Some(path) => Err(WorktreeError::Git { action, message: format!("`{path}` is still there") }),
            None => Ok(()),
        }
    }

    /// Whether a file on disk is the beginning of what a commit or tree has, or empty.
    fn is_part_of(&self, git: &Git<'_>, commit: &str, path: &str) -> Result<bool, WorktreeError> {
        let on_disk = self.top.join(path);
        let Ok(found) = on_disk.symlink_metadata() else { return Ok(false) };
        let object = format!("{commit}:{path}");
        let whole = git.output("compare the files", &["cat-file", "--filters", &object], Vec::new())?;
        if !found.is_file() || found.len() > whole.len() as u64 {
            return Ok(false);
        }
        Ok(fs::read(&on_disk).is_ok_and(|part| whole.starts_with(&part)))
    }

    /// The files that a commit changes.
    fn files_of(&self, commit: &str) -> Result<Vec<String>, WorktreeError> {
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            "--no-ext-diff",
            "--no-commit-id",
            "--root",
        ];
        let printed =
            self.looking(&[]).output("read the commit", &[&args[..], &[commit]].concat(), Vec::new())?;
        Ok(pieces(&printed).map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    fn commit_paths(&self, paths: &[String], message: &str) -> Result<Committed, WorktreeError> {
        let git = as_user(&self.top, &[], self);
        self.check_top(&git)?;
        if self.dirty_at_top(paths)?.is_empty() {
            return self.committed_already(paths, message)?.ok_or(WorktreeError::NothingToCommit);
        }
        let known = known(&git, paths)?;
        let (tracked, others): (Vec<&str>, Vec<&str>) =
            paths.iter().map(String::as_str).partition(|path| known.contains(*path));
        let new: Vec<&str> = others.into_iter().filter(|path| is_on_disk(&self.top, path)).collect();
        if !new.is_empty() {
            let paths = joined(new.iter().copied());
            git.output("add the files", &[&["add", "-f", "-N"], &FROM_STDIN[..]].concat(), paths)?;
        }
        let message_file = message_file(message)?;
        let mut args = commit_args(message_file.path());
        args.push("--only".into());
        args.extend(FROM_STDIN.map(OsString::from));
        let paths = joined(tracked.into_iter().chain(new.iter().copied()));
        let output = git.run_merged(COMMIT, &args, paths)?;
        if output.code != Some(0) {
            if !new.is_empty() {
                // They were not known before, so they are not now.
                let args = [&["rm", "-q", "-f", "--cached", "--ignore-unmatch"], &FROM_STDIN[..]].concat();
                drop(git.run("restore the index", &args, joined(new)));
            }
            return Err(WorktreeError::CommitRefused { message: output.message() });
        }
        let commit = self.head()?.ok_or(WorktreeError::NoCommit)?;
        Ok(Committed { files: self.files_of(&commit)?, commit })
    }

    /// Refuses a configuration that names another directory as the files of this repository.
    fn check_top(&self, git: &Git<'_>) -> Result<(), WorktreeError> {
        let action = "find the repository";
        let printed = git.output(action, &["rev-parse", "--show-toplevel"], Vec::new())?;
        if Path::new(OsStr::new(String::from_utf8_lossy(&printed).trim_end_matches('\n'))) == self.top {
            return Ok(());
        }
        let message = "its configuration has `core.worktree`, and names another directory".to_owned();
        Err(WorktreeError::Git { action, message })
    }

    /// A clone with the files of a commit, in which git works as it does in this repository.
    fn clone_at(
        &self,
        scratch: &Path,
        commit: &str,
        branch: &str,
        options: &CreateOptions,
    ) -> Result<ScratchClone, WorktreeError> {
        remove_tree(scratch)?;
        let name = self.top.file_name().unwrap_or(OsStr::new("project"));
        let clone = ScratchClone { scratch: scratch.to_owned(), top: scratch.join(name) };
        let top = &clone.top;
        let above = scratch.parent().unwrap_or(Path::new("/"));
        aiwf_store::create_dir(above)?;
        let scratch_name = scratch.file_name().and_then(OsStr::to_str).unwrap_or_default();
        // Files of the project may be for its owner only.
        ConfinedDir::open(above)
            .map_err(Into::into)
            .and_then(|above| above.create_private(scratch_name))
            .map_err(|error| io_error("make", above, scratch_name, error))?;
        aiwf_store::create_dir(top)?;
        let new = Git {
            directory: top,
            repository: None,
            work_tree: None,
            config: Config::Own,
            settings: &[],
            stop: &self.stop,
        };
        init(&new, Some(self), &["--initial-branch=aiwf"])?;
        let git_dir = top.join(".git");
        aiwf_store::create_dir(&git_dir.join("info"))?;
        write(&git_dir.join("objects/info/alternates"), &borrowed_objects(self))?;
        for name in ["shallow", "info/attributes", "info/exclude"] {
            if let Some(bytes) = info(self, name)? {
                write(&git_dir.join(name), &bytes)?;
            }
        }
        aiwf_store::append(&git_dir.join("config"), self.carried_config()?.as_bytes())?;

        // What runs after a checkout is about the user's own.
        let quiet = [("core.hooksPath".to_owned(), "/dev/null".to_owned())];
        let git = as_user(top, &quiet, self);
        let action = "check out the commit";
        git.output(action, &["checkout", "-q", "--no-track", "-b", branch, commit], Vec::new())?;
        let brought = IgnoredDirs::check(options, &self.below)?;
        for path in &brought.copied {
            bring_directory(&self.top, top, top, path, &BTreeMap::new(), &self.stop)?;
        }
        let mut tree = Tree::open(top)?;
        for path in brought.linked.iter().filter(|path| self.top.join(path).is_dir()) {
            let linked = tree
                .create_place(path)
                .and_then(|(directory, name)| directory.create_link(name, self.top.join(path).as_os_str()));
            linked.map_err(|error| io_error("link", top, path, error))?;
        }
        let exclude: String = brought.all().iter().flat_map(|path| ["\n/", path, "\n"]).collect();
        aiwf_store::append(&git_dir.join("info/exclude"), exclude.as_bytes())?;
        Ok(clone)
    }

    /// The settings of this repository that say how commits are made, as a clone's own.
    fn carried_config(&self) -> Result<String, WorktreeError> {
        let mut text = String::new();
        for setting in self.settings()?.iter().filter(|setting| setting.is_local && is_carried(&setting.key))
        {
            text.push_str(&setting_text(setting));
        }
        let hooks = as_user(&self.top, &[], self).output(
            "find the hooks",
            &["rev-parse", "--path-format=absolute", "--git-path", "hooks"],
            Vec::new(),
        )?;
        let hooks = String::from_utf8_lossy(&hooks).trim_end_matches('\n').to_owned();
        let mut set = |key: &str, value: String| {
            text.push_str(&setting_text(&Setting {
                is_local: true,
                key: key.to_owned(),
                value: Some(value),
            }));
        };
        set("core.hookspath", hooks);
        // Files that git keeps elsewhere for this repository are there and nowhere else.
        let large_files = self.common_dir.join("lfs");
        if large_files.is_dir() {
            set("lfs.storage", large_files.to_string_lossy().into_owned());
        }
        Ok(text)
    }

    /// Brings the commit of a clone over, as a branch that was at `before`, or was not there.
    fn bring_over(
        &self,
        clone: &ScratchClone,
        branch: &str,
        before: Option<&str>,
        reason: &str,
    ) -> Result<Committed, WorktreeError> {
        let action = "copy the commit";
        let cloned = as_user(&clone.top, &[], self);
        let commit = cloned.output(action, &["rev-parse", "--verify", "HEAD^{commit}"], Vec::new())?;
        let commit = String::from_utf8_lossy(&commit).trim_end().to_owned();
        let local = [("protocol.file.allow".to_owned(), "always".to_owned())];
        let mut args: Vec<OsString> =
            ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
                .map(OsString::from)
                .into();
        args.extend([
            OsString::from("--no-auto-maintenance"),
            clone.top.clone().into(),
            commit.clone().into(),
        ]);
        self.looking(&local).output(action, &args, Vec::new())?;
        let name = format!("refs/heads/{branch}");
        // An empty old value: the branch must not exist.
        let args =
            ["update-ref", "--create-reflog", "-m", reason, &name, &commit, before.unwrap_or_default()];
        let output = as_user(&self.top, &[], self).run(action, &args, Vec::new())?;
        if output.code != Some(0) {
            return Err(match (self.branch_tip(branch)?, before) {
                (Some(_), None) => WorktreeError::BranchExists { branch: branch.to_owned() },
                (tip, Some(before)) if tip.as_deref() != Some(before) => WorktreeError::BranchMoved {
                    branch: branch.to_owned(),
                    problem: "has moved in the meantime",
                },
                _ => output.failed(action),
            });
        }
        Ok(Committed { files: self.files_of(&commit)?, commit })
    }
}

/// Commits what is staged in a clone.
fn commit_staged(git: &Git<'_>, message: &str) -> Result<(), WorktreeError> {
    let staged = git.run(COMMIT, &["diff-index", "--cached", "--quiet", "HEAD"], Vec::new())?;
    if staged.code == Some(0) {
        return Err(WorktreeError::NothingToCommit);
    }
    let message_file = message_file(message)?;
    let output = git.run_merged(COMMIT, &commit_args(message_file.path()), Vec::new())?;
    if output.code == Some(0) {
        Ok(())
    } else {
        Err(WorktreeError::CommitRefused { message: output.message() })
    }
}

/// What a commit is made of, as a short text.
fn fingerprint(head: &str, message: &str, files: &[PlannedFile]) -> String {
    let file = |PlannedFile { path, content }: &PlannedFile| match content {
        Some(content) => {
            [path.as_str(), &sha256_hex(&content.bytes), if content.is_executable { "x" } else { "-" }]
                .join("\0")
        }
        None => path.clone(),
    };
    let parts = [head.to_owned(), message.to_owned()].into_iter().chain(files.iter().map(file));
    sha256_hex(parts.collect::<Vec<_>>().join("\0\0").as_bytes())
}

/// git in a directory, as if the user had typed the command there.
fn as_user<'a>(directory: &'a Path, settings: &'a [(String, String)], repository: &'a Repository) -> Git<'a> {
    Git {
        directory,
        repository: None,
        work_tree: None,
        config: Config::AsUser,
        settings,
        stop: &repository.stop,
    }
}

/// Those of the paths that are in the index.
fn known(git: &Git<'_>, paths: &[String]) -> Result<BTreeSet<String>, WorktreeError> {
    // All of them: they may be more than fit on a command line.
    let printed = git.output("list the files", &["ls-files", "-z"], Vec::new())?;
    let wanted: BTreeSet<&[u8]> = paths.iter().map(String::as_bytes).collect();
    let known = pieces(&printed).filter(|path| wanted.contains(path));
    Ok(known.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
}

fn is_on_disk(top: &Path, path: &str) -> bool {
    top.join(path).symlink_metadata().is_ok()
}

/// Gives files the content they have in a commit; one that it does not have is removed.
fn restore(git: &Git<'_>, commit: &str, places: &[&str], files: &[String]) -> Result<(), WorktreeError> {
    let source = format!("--source={commit}");
    let mut args = vec!["restore", "-q", &source];
    args.extend(places);
    args.extend(FROM_STDIN);
    git.output("restore the files", &args, joined(files.iter().map(String::as_str)))?;
    Ok(())
}

fn commit_args(message_file: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["commit", "-q", "--cleanup=whitespace", "-F"].map(OsString::from).into();
    args.push(message_file.into());
    args
}

fn message_file(message: &str) -> Result<tempfile::NamedTempFile, WorktreeError> {
    let written = tempfile::NamedTempFile::with_prefix("aiwf-message-").and_then(|mut file| {
        file.write_all(message.as_bytes())?;
        Ok(file)
    });
    written.map_err(|source| WorktreeError::Io { action: "write", path: PathBuf::from("message"), source })
}

/// Whether a setting says how commits are made, and not where files and other repositories are.
fn is_carried(key: &str) -> bool {
    const ELSEWHERE: [&str; 14] = [
        "branch.",
        "credential.",
        "extensions.",
        "fetch.",
        "gc.",
        "http.",
        "include.",
        "includeif.",
        "index.",
        "maintenance.",
        "pack.",
        "remote.",
        "submodule.",
        "url.",
    ];
    const OF_THE_CHECKOUT: [&str; 9] = [
        "core.bare",
        "core.fsmonitor",
        "core.hookspath",
        "core.repositoryformatversion",
        "core.sparsecheckout",
        "core.sparsecheckoutcone",
        "core.splitindex",
        "core.untrackedcache",
        "core.worktree",
    ];
    !ELSEWHERE.iter().any(|start| key.starts_with(start)) && !OF_THE_CHECKOUT.contains(&key)
}

/// A setting as git reads it from a file.
fn setting_text(setting: &Setting) -> String {
    let Some((section, rest)) = setting.key.split_once('.') else { return String::new() };
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let (header, name) = match rest.rsplit_once('.') {
        Some((sub, name)) => (format!("[{section} \"{}\"]", escaped(sub)), name),
        None => (format!("[{section}]"), rest),
    };
    match &setting.value {
        Some(value) => {
            let value = escaped(value).replace('\n', "\\n").replace('\t', "\\t");
            format!("{header}\n\t{name} = \"{value}\"\n")
        }
        None => format!("{header}\n\t{name}\n"),
    }
}

#[cfg(test)]
#[path = "commit_tests.rs"]
mod tests;
