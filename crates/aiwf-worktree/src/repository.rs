//! The user's repository, looked at.
//!
//! In: a project. Out: what git knows about it. Nothing in the repository is changed and none of its programs is
//! started: git is told where the repository is instead of looking for it, since a configuration can name another
//! directory as its files, and filters that only the repository's own configuration names count as not there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use aiwf_process::Stop;

use crate::error::WorktreeError;
use crate::git::{Config, Git, pieces};

/// How many paths git is given at once.
const MAX_PATHS: usize = 500;

/// The repository that a project is in.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(crate) top: PathBuf,
    /// The project in it, with `/` at the end; empty when it is the whole repository.
    pub(crate) below: String,
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
    pub(crate) objects_dir: PathBuf,
    pub(crate) object_format: String,
    pub(crate) stop: Stop,
}

/// A setting of the repository, and how far it can be trusted.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Whether the repository's own configuration has it, and not the user's or the system's.
    pub(crate) is_local: bool,
    pub(crate) key: String,
    /// Nothing when it has a key only.
    pub(crate) value: Option<String>,
}

impl Repository {
    /// Finds the repository of a project; `None` where there is none.
    ///
    /// A directory that its repository ignores is in none: nothing in it could be committed.
    pub fn find(project_root: &Path, stop: &Stop) -> Result<Option<Self>, WorktreeError> {
        let root = fs::canonicalize(project_root).map_err(|source| WorktreeError::Io {
            action: "read",
            path: project_root.to_owned(),
            source,
        })?;
        let Some(top) = root.ancestors().find(|directory| has_repository(directory)) else { return Ok(None) };
        let dot_git = top.join(".git");
        let git = Git {
            directory: top,
            repository: Some(&dot_git),
            work_tree: Some(top),
            config: Config::Looking,
            settings: &[],
            stop,
        };
        let action = "find the repository";
        let args =
            ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--git-path", "objects"];
        let args = [&args[..], &["--show-object-format"]].concat();
        let printed = git.output(action, &args, Vec::new())?;
        let lines: Vec<PathBuf> = printed.split(|byte| *byte == b'\n').map(path_of).collect();
        if printed.starts_with(b"--path-format") {
            return Err(WorktreeError::Git { action, message: "git 2.31 or newer is needed".to_owned() });
        }
        let [git_dir, common_dir, objects_dir, object_format, _] = lines.as_slice() else {
            return Err(WorktreeError::Git { action, message: "its path has a line break".to_owned() });
        };
        let below = root.strip_prefix(top).unwrap_or(Path::new(""));
        let below = below.to_str().ok_or_else(|| WorktreeError::Io {
            action: "use",
            path: root.clone(),
            source: io::Error::new(io::ErrorKind::InvalidInput, "the name is not UTF-8"),
        })?;
        let repository = Self {
            top: top.to_owned(),
            below: if below.is_empty() { String::new() } else { format!("{below}/") },
            git_dir: git_dir.clone(),
            common_dir: common_dir.clone(),
            objects_dir: objects_dir.clone(),
            object_format: object_format.to_string_lossy().into_owned(),
            stop: stop.clone(),
        };
        Ok(if repository.ignores_project()? { None } else { Some(repository) })
    }

    fn ignores_project(&self) -> Result<bool, WorktreeError> {
        if self.below.is_empty() {
            return Ok(false);
        }
        let git = self.looking(&[]);
        if !git.output("list the files", &["ls-files", "-z", "--", &self.below], Vec::new())?.is_empty() {
            return Ok(false);
        }
        let path = format!("./{}", self.below);
        let output = git.run("read the ignore rules", &["check-ignore", "-q", "--", &path], Vec::new())?;
        match output.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(output.failed("read the ignore rules")),
        }
    }

    /// The top directory of its files.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The commit that is checked out; `None` before the first.
    pub fn head(&self) -> Result<Option<String>, WorktreeError> {
        self.looking(&[]).line("read HEAD", &["rev-parse", "-q", "--verify", "HEAD^{commit}"])
    }

    /// The branch that is checked out; `None` when none is.
    pub fn branch(&self) -> Result<Option<String>, WorktreeError> {
        self.looking(&[]).line("read HEAD", &["symbolic-ref", "-q", "--short", "HEAD"])
    }

    /// The commit a branch points to; `None` when there is no such branch.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<String>, WorktreeError> {
        self.check_branch(branch)?;
        let name = format!("refs/heads/{branch}^{{commit}}");
        self.looking(&[]).line("read the branch", &["rev-parse", "-q", "--verify", &name])
    }

    /// Whether git takes a name for a branch.
    pub(crate) fn check_branch(&self, branch: &str) -> Result<(), WorktreeError> {
        let name = format!("refs/heads/{branch}");
        let output = self.looking(&[]).run("check the name", &["check-ref-format", &name], Vec::new())?;
        // `HEAD`, or a name that looks like a flag, is a reference that no command can name.
        let is_odd = branch.starts_with('-') || branch == "HEAD";
        if output.code == Some(0) && !is_odd {
            Ok(())
        } else {
            Err(WorktreeError::BadBranch { branch: branch.to_owned() })
        }
    }

    /// The message of a commit.
    pub fn message(&self, commit: &str) -> Result<String, WorktreeError> {
        check_id(commit)?;
        let args = ["log", "-1", "-s", "--no-show-signature", "--format=%B", commit];
        let message = self.looking(&[]).output("read the commit", &args, Vec::new())?;
        Ok(String::from_utf8_lossy(&message).trim_end().to_owned())
    }

    /// Those of the paths that have changes which are not committed, untracked and ignored files among them.
    pub fn dirty(&self, paths: &[&str]) -> Result<Vec<String>, WorktreeError> {
        let paths: Vec<String> = paths.iter().map(|path| format!("{}{path}", self.below)).collect();
        let found = self.dirty_at_top(&paths)?;
        Ok(found.iter().filter_map(|path| path.strip_prefix(&self.below)).map(str::to_owned).collect())
    }

    /// The same with paths from the top of the repository.
    pub(crate) fn dirty_at_top(&self, paths: &[String]) -> Result<Vec<String>, WorktreeError> {
        let settings = self.without_local_filters()?;
        let git = self.looking(&settings);
        let mut found = BTreeSet::new();
        for paths in paths.chunks(MAX_PATHS) {
            let mut args = vec!["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"];
            args.extend(["--ignored=matching", "--ignore-submodules=all", "--"]);
            args.extend(paths.iter().map(String::as_str));
            let printed = git.output("compare the files", &args, Vec::new())?;
            for entry in pieces(&printed) {
                let entry = String::from_utf8_lossy(entry);
                // An ignored directory stands for what is in it.
                let Some(changed) = changed_path(&entry) else { continue };
                let is_meant = |path: &&String| {
                    **path == changed || (changed.ends_with('/') && path.starts_with(changed))
                };
                found.extend(paths.iter().filter(is_meant).cloned());
            }
        }
        Ok(found.into_iter().collect())
    }

    /// git in this repository, without starting anything of it.
    pub(crate) fn looking<'a>(&'a self, settings: &'a [(String, String)]) -> Git<'a> {
        Git {
            directory: &self.top,
            repository: Some(&self.git_dir),
            work_tree: Some(&self.top),
            config: Config::Looking,
            settings,
            stop: &self.stop,
        }
    }

    /// Every setting that git sees here, the weakest first.
    pub(crate) fn settings(&self) -> Result<Vec<Setting>, WorktreeError> {
        let args = ["config", "--list", "--show-scope", "-z"];
        let printed = self.looking(&[]).output("read its configuration", &args, Vec::new())?;
        let mut pieces = printed.split(|byte| *byte == 0);
        let mut settings = Vec::new();
        while let (Some(scope), Some(entry)) = (pieces.next(), pieces.next()) {
            if scope == b"command" {
                continue;
            }
            let entry = String::from_utf8_lossy(entry);
            let (key, value) = match entry.split_once('\n') {
                Some((key, value)) => (key, Some(value.to_owned())),
                None => (&*entry, None),
            };
            let is_local = !matches!(scope, b"system" | b"global");
            settings.push(Setting { is_local, key: key.to_owned(), value });
        }
        Ok(settings)
    }

    /// Settings that bring every filter back to what the user and the system say of it.
    fn without_local_filters(&self) -> Result<Vec<(String, String)>, WorktreeError> {
        let settings = self.settings()?;
        let mut trusted: BTreeMap<&str, &str> = BTreeMap::new();
        let mut local: BTreeSet<&str> = BTreeSet::new();
        for setting in &settings {
            let Some(name) = filter_name(&setting.key) else { continue };
            if setting.is_local {
                local.insert(name);
            } else {
                trusted.insert(&setting.key, setting.value.as_deref().unwrap_or("true"));
            }
        }
        let mut overrides = Vec::new();
        for name in local {
            if name.contains('=') {
                let message = format!("its configuration has a filter with the name `{name}`");
                return Err(WorktreeError::Git { action: "compare the files", message });
            }
            for (key, fallback) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
                let key = format!("filter.{name}.{key}");
                let value = (*trusted.get(key.as_str()).unwrap_or(&fallback)).to_owned();
                overrides.push((key, value));
            }
        }
        Ok(overrides)
    }
}

/// Whether a directory has a repository, or the file that shows where it is.
fn has_repository(directory: &Path) -> bool {
    let dot_git = directory.join(".git");
    match fs::metadata(&dot_git) {
        Ok(metadata) if metadata.is_dir() => fs::symlink_metadata(dot_git.join("HEAD")).is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// The path in an entry of `git status`; `None` for a header.
fn changed_path(entry: &str) -> Option<&str> {
    // The path comes last and may have blanks.
    let n_fields = match entry.as_bytes().first()? {
        b'1' => 9,
        b'u' => 11,
        b'?' | b'!' => 2,
        _ => return None,
    };
    entry.splitn(n_fields, ' ').nth(n_fields - 1)
}

/// The name of the filter that a setting is about.
fn filter_name(key: &str) -> Option<&str> {
    key.strip_prefix("filter.")?.rsplit_once('.').map(|(name, _)| name)
}

fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Refuses what is not the id of a commit: it could be a flag, or a name that means another commit later.
pub(crate) fn check_id(commit: &str) -> Result<(), WorktreeError> {
    if matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(());
    }
    Err(WorktreeError::Git {
        action: "read the commit",
        message: format!("`{commit}` is not the id of a commit"),
    })
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
