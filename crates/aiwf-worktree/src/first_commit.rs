//! A new repository for a project that has none, with its first commit.
//!
//! Only for projects that aiwf itself has written, such as the demo's. Neither the user's nor the system's configuration
//! decides how commits are made there: a signing key or a global hook must not stand in the way of a sample.

use std::path::Path;

use aiwf_process::Stop;

use crate::base_repository::init;
use crate::error::WorktreeError;
use crate::git::{Config, Git, joined};
use crate::repository::Repository;

/// What later commits in the repository need, whoever makes them.
const CONFIG: &str = "[user]
\tname = aiwf
\temail = aiwf@localhost
[commit]
\tgpgSign = false
[core]
\thooksPath = .git/hooks
";

impl Repository {
    /// Makes a repository in a directory, with a first commit of these files on the branch `main`.
    pub fn create(root: &Path, files: &[&str], message: &str, stop: &Stop) -> Result<Self, WorktreeError> {
        let git = Git {
            directory: root,
            repository: None,
            work_tree: None,
            config: Config::Own,
            settings: &[],
            stop,
        };
        init(&git, None, &["--initial-branch=main"])?;
        let git_dir = root.join(".git");
        aiwf_store::append(&git_dir.join("config"), CONFIG.as_bytes())?;
        let git = Git { repository: Some(&git_dir), work_tree: Some(root), ..git };
        let action = "make the first commit";
        git.output(action, &["update-index", "--add", "-z", "--stdin"], joined(files.iter().copied()))?;
        git.output(action, &["commit", "-q", "-m", message], Vec::new())?;
        Self::find(root, stop)?.ok_or_else(|| WorktreeError::NotARepository { path: root.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Project, without_git};

    #[test]
    fn a_project_gets_a_repository_with_one_commit_of_the_named_files() {
        let project = Project::plain();
        project.write("todo.sh", "echo\n");
        project.write("docs/a b.md", "# Notes\n");
        project.write("private.txt", "not committed\n");
        let files = ["todo.sh", "docs/a b.md"];
        let repository = Repository::create(&project.root, &files, "A to-do list", &Stop::default()).unwrap();
        assert_eq!(repository.branch().unwrap().as_deref(), Some("main"));
        assert_eq!(project.git(&["log", "--format=%an %s"]), "aiwf A to-do list");
        assert_eq!(project.git(&["ls-files"]), "docs/a b.md\ntodo.sh");
        assert_eq!(project.git(&["status", "--short"]), "?? private.txt");
    }

    #[test]
    fn what_the_user_set_for_all_repositories_does_not_keep_later_commits_from_being_made() {
        let project = Project::plain();
        project.write("todo.sh", "echo\n");
        let home = project.path("home");
        project.script("../home/hooks/pre-commit", "exit 1");
        let hooks = home.join("hooks");
        let config = format!(
            "[core]\n\thooksPath = {}\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n",
            hooks.display()
        );
        crate::testing::write(&home.join(".gitconfig"), config);
        Repository::create(&project.root, &["todo.sh"], "first", &Stop::default()).unwrap();
        project.write("todo.sh", "echo more\n");
        project.git(&["commit", "-q", "-a", "-m", "second"]);
        assert_eq!(project.git(&["log", "--format=%s"]), "second\nfirst");
    }

    #[test]
    fn without_git_nothing_is_made() {
        let project = Project::plain();
        project.write("todo.sh", "echo\n");
        without_git();
        let error = Repository::create(&project.root, &["todo.sh"], "first", &Stop::default()).unwrap_err();
        assert!(matches!(error, WorktreeError::NoGit), "{error}");
        assert!(!project.root.join(".git").exists());
    }
}
