//! Projects for tests: a directory, a home of their own, and git in both.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::cell::{Cell, RefCell};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use aiwf_process::Stop;

use crate::repository::Repository;
use crate::worktree::{CreateOptions, Worktree};

thread_local! {
    static HOME: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
    static PROGRAM: Cell<&'static str> = const { Cell::new("git") };
}

/// Variables for every git that this thread starts: the home of its project, and no configuration of the machine.
pub(crate) fn env() -> Vec<(String, String)> {
    let home = HOME.with_borrow(|home| home.as_ref().map(|home| home.to_string_lossy().into_owned()));
    let home = home.unwrap_or_else(|| "/nonexistent".to_owned());
    vec![
        ("XDG_CONFIG_HOME".to_owned(), format!("{home}/.config")),
        ("HOME".to_owned(), home),
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ("LC_ALL".to_owned(), "C".to_owned()),
    ]
}

/// What is started as git.
pub(crate) fn program() -> &'static str {
    PROGRAM.get()
}

/// From now on git is not installed for this thread.
pub(crate) fn without_git() {
    PROGRAM.set("aiwf-no-such-program");
}

/// A directory with a project in it, and room for worktrees.
pub(crate) struct Project {
    directory: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Project {
    /// A project that is in no repository.
    pub(crate) fn plain() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["home", "project", "cache"] {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        HOME.set(Some(base.join("home")));
        Self { directory, root: base.join("project") }
    }

    /// A project in a repository without a commit.
    pub(crate) fn unborn() -> Self {
        let project = Self::plain();
        project.git(&["init", "-q", "--initial-branch=main"]);
        // A user can have different addresses for different projects.
        project.git(&["config", "user.email", "local@example.org"]);
        project.git(&["config", "user.name", "A User"]);
        project
    }

    /// A project with these files committed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let project = Self::unborn();
        for (path, text) in files {
            project.write(path, text);
        }
        project.commit("first");
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.root.join(path), text);
    }

    pub(crate) fn script(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        write(&path, format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--no-verify", "-m", message]);
    }

    /// What git prints in the project.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git_in(&self.root, args)
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository::find(&self.root, &Stop::default()).unwrap().unwrap()
    }

    pub(crate) fn at(&self) -> PathBuf {
        self.path("cache/worktree")
    }

    pub(crate) fn worktree(&self) -> Worktree {
        self.worktree_with(&CreateOptions::default())
    }

    pub(crate) fn worktree_with(&self, options: &CreateOptions) -> Worktree {
        Worktree::create(&self.root, &self.at(), options, &Stop::default()).unwrap()
    }
}

/// What git prints in a directory.
pub(crate) fn git_in(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(directory).envs(env()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {message}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The files below a directory with their text, links with `->`; repositories left out.
pub(crate) fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(place) = left.pop() {
        for entry in std::fs::read_dir(place).unwrap() {
            let (entry, path) = entry.map(|entry| (entry.file_type().unwrap(), entry.path())).unwrap();
            let name = path.strip_prefix(directory).unwrap().to_string_lossy().into_owned();
            if name.split('/').any(|part| part == ".git") {
                continue;
            }
            if entry.is_dir() {
                left.push(path);
            } else if entry.is_symlink() {
                found.push(format!("{name} -> {}", std::fs::read_link(path).unwrap().display()));
            } else {
                found.push(format!("{name}: {}", std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
