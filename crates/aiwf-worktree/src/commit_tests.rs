#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::os::unix::fs::{PermissionsExt as _, symlink};

use aiwf_process::Stop;

use super::*;
use crate::testing::{Project, git_in, write};
use crate::worktree::FileContent;

fn file(path: &str, text: &str) -> PlannedFile {
    let content = FileContent { bytes: text.as_bytes().to_vec(), is_executable: false };
    PlannedFile { path: path.to_owned(), content: Some(content) }
}

fn gone(path: &str) -> PlannedFile {
    PlannedFile { path: path.to_owned(), content: None }
}

const MESSAGE: &str = "add a list\n\nwhy\n\nAiwf-Session: 1\n";

impl Project {
    fn commit_on(&self, branch: &str, files: &[PlannedFile]) -> Result<Committed, WorktreeError> {
        self.commit_with(branch, files, &CreateOptions::default())
    }

    fn commit_with(
        &self,
        branch: &str,
        files: &[PlannedFile],
        options: &CreateOptions,
    ) -> Result<Committed, WorktreeError> {
        let scratch = self.path("cache/scratch");
        let commit = BranchCommit { branch, message: MESSAGE, files, scratch: &scratch, options };
        let committed = self.repository().commit_on_branch(&commit);
        assert!(!scratch.exists());
        committed
    }

    /// All that git says of the checkout and of the branches.
    fn state(&self) -> [String; 4] {
        [
            self.git(&["status", "--porcelain", "--branch"]),
            self.git(&["diff"]),
            self.git(&["diff", "--cached"]),
            self.git(&["for-each-ref"]),
        ]
    }
}

#[test]
fn a_commit_on_a_new_branch_has_the_planned_files_and_leaves_the_checkout_alone() {
    let project = Project::with(&[("a", "a"), ("b", "b"), ("c", "c"), ("run.sh", "run"), ("mine", "mine")]);
    project.write("mine", "my change");
    project.write("c", "staged");
    project.git(&["add", "c"]);
    project.write("untracked", "x");
    let [status, diff, staged, _] = project.state();
    let script = FileContent { bytes: b"run".to_vec(), is_executable: true };
    let script = PlannedFile { path: "run.sh".to_owned(), content: Some(script) };
    let files = [file("a", "1"), gone("b"), file("new/dir/file", "new"), script];
    let committed = project.commit_on("aiwf/list", &files).unwrap();
    assert_eq!(committed.files, ["a", "b", "new/dir/file", "run.sh"]);
    assert_eq!(
        project.git(&["rev-parse", "aiwf/list", "aiwf/list^"]),
        [committed.commit.as_str(), &project.git(&["rev-parse", "main"])].join("\n")
    );
    assert_eq!(
        project.git(&["log", "-1", "--format=%an <%ae>%n%B", "aiwf/list"]),
        format!("A User <local@example.org>\n{}", MESSAGE.trim_end())
    );
    assert_eq!(project.repository().message(&committed.commit).unwrap(), MESSAGE.trim_end());
    assert_eq!(
        project
            .git(&["diff", "--raw", "--abbrev=1", "--no-renames", "main", "aiwf/list"])
            .lines()
            .filter_map(|line| line.get(..14))
            .collect::<Vec<_>>(),
        [":100644 100644", ":100644 000000", ":000000 100644", ":100644 100755"]
    );
    assert_eq!(project.git(&["show", "aiwf/list:new/dir/file"]), "new");
    let after = project.state();
    assert_eq!([&after[0], &after[1], &after[2]], [&status, &diff, &staged]);
    assert_eq!(project.git(&["reflog", "show", "aiwf/list"]).lines().count(), 1);
    project.git(&["fsck", "--strict"]);
    assert!(!project.root.join(".git/FETCH_HEAD").exists());
}

#[test]
fn hooks_of_the_repository_run_on_a_branch_as_they_do_for_the_user() {
    let project = Project::with(&[("a", "a"), (".gitignore", "node_modules/\n")]);
    let log = project.path("log");
    let log = log.to_str().unwrap();
    project.script(
        ".git/hooks/pre-commit",
        &format!(
            "(pwd; git branch --show-current; cat a; ls node_modules) > {log}; echo formatted > a; git add a"
        ),
    );
    project.script(".git/hooks/commit-msg", "echo 'Checked-by: hook' >> \"$1\"");
    project.script(".git/hooks/post-checkout", &format!("echo post-checkout > {log}"));
    project.write("node_modules/tool", "x");
    let options = CreateOptions { copy: vec!["node_modules".to_owned()], link: Vec::new() };
    let committed = project.commit_with("side", &[file("a", "1\n"), file("b", "2\n")], &options).unwrap();
    let place = project.path("cache/scratch/project");
    assert_eq!(fs::read_to_string(log).unwrap(), format!("{}\nside\n1\ntool\n", place.display()));
    assert_eq!(project.git(&["show", "side:a"]), "formatted");
    assert_eq!(
        project.git(&["log", "-1", "--format=%(trailers)", "side"]),
        "Aiwf-Session: 1\nChecked-by: hook"
    );
    assert_eq!(committed.files, ["a", "b"]);
}

#[test]
fn hooks_in_an_untracked_directory_of_the_project_run_too() {
    let project =
        Project::with(&[("a", "a"), (".gitignore", ".husky/_/\n"), (".husky/pre-commit", "exit 1\n")]);
    project.script(".husky/_/pre-commit", "exec sh .husky/pre-commit");
    project.git(&["config", "core.hooksPath", ".husky/_"]);
    let error = project.commit_on("side", &[file("a", "1")]).unwrap_err();
    assert!(matches!(&error, WorktreeError::CommitRefused { .. }), "{error}");
    project.write(".husky/pre-commit", "exit 0\n");
    project.git(&["commit", "-q", "-am", "hook"]);
    project.commit_on("side", &[file("a", "1")]).unwrap();
}

#[test]
fn a_user_without_name_and_address_is_known_before_any_commit() {
    let project = Project::with(&[("list.py", "print(1)\n")]);
    assert!(project.repository().check_identity().is_ok());
    project.git(&["config", "--unset", "user.email"]);
    project.git(&["config", "user.useConfigOnly", "true"]);
    let error = project.repository().check_identity().unwrap_err();
    assert!(matches!(error, WorktreeError::NoIdentity), "{error}");
}

#[test]
fn a_refusing_hook_leaves_no_branch_and_its_message_is_reported() {
    let project = Project::with(&[("a", "a")]);
    project.script(".git/hooks/pre-commit", "echo out; echo 'line 3: tabs' >&2; exit 1");
    let before = project.state();
    let error = project.commit_on("side", &[file("a", "1")]).unwrap_err();
    assert_eq!(error.to_string(), "git refused the commit: out\nline 3: tabs");
    let error = project.repository().commit_in_place(&["a"], "x").unwrap_err();
    assert!(matches!(error, WorktreeError::NothingToCommit), "{error}");
    project.write("a", "1");
    project.write("new", "1");
    let with_change = project.state();
    let error = project.repository().commit_in_place(&["a", "new"], "x").unwrap_err();
    assert_eq!(error.to_string(), "git refused the commit: out\nline 3: tabs");
    assert_eq!(project.state(), with_change);
    assert_eq!(with_change[3], before[3]);
}

#[test]
fn filters_of_the_repository_run_when_its_user_commits() {
    let project = Project::unborn();
    project.git(&["config", "filter.shout.clean", "tr A-Z a-z"]);
    project.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    project.git(&["config", "filter.shout.required", "true"]);
    project.git(&["config", "core.autocrlf", "input"]);
    project.write(".gitattributes", "*.shout filter=shout\n");
    project.write("a.shout", "A");
    project.commit("first");
    let committed = project.commit_on("side", &[file("b.shout", "B\r\n")]).unwrap();
    assert_eq!(committed.files, ["b.shout"]);
    assert_eq!(project.git(&["cat-file", "blob", "side:b.shout"]), "b");
    let clean = project.git(&["diff", "--stat", "main", "side"]);
    assert!(clean.contains("1 file changed"), "{clean}");
}

#[test]
fn what_cannot_become_a_branch_is_refused() {
    let project = Project::with(&[("a", "a"), ("dir/b", "b")]);
    project.git(&["branch", "taken"]);
    let refused = |branch: &str| project.commit_on(branch, &[file("a", "1")]).unwrap_err();
    assert!(matches!(refused("taken"), WorktreeError::BranchExists { .. }));
    for branch in ["", "-f", "a..b", "a b", "HEAD", "a.lock", "/a", "@{1}"] {
        assert!(matches!(refused(branch), WorktreeError::BadBranch { .. }), "{branch}");
    }
    // A branch cannot be a directory of branches.
    let error = refused("taken/below");
    assert!(
        matches!(&error, WorktreeError::Git { message, .. } if message.contains("'refs/heads/taken' exists")),
        "{error}"
    );
    let error = project.commit_on("side", &[file("a", "a")]).unwrap_err();
    assert!(matches!(error, WorktreeError::NothingToCommit));
    project.write("a", "mine");
    project.write("new", "mine");
    let error =
        project.commit_on("side", &[file("a", "1"), file("new", "1"), file("dir/b", "1")]).unwrap_err();
    assert_eq!(error.to_string(), "2 files have uncommitted changes: `a`, `new`");
    project.git(&["checkout", "-q", "--", "a"]);
    symlink("/etc", project.root.join("link")).unwrap();
    project.git(&["add", "link"]);
    project.git(&["commit", "-q", "-m", "link"]);
    let error = project.commit_on("side", &[file("link/passwd", "1")]).unwrap_err();
    assert!(matches!(error, WorktreeError::Io { action: "write", .. }), "{error}");
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\ntaken");

    let unborn = Project::unborn();
    let error = unborn.commit_on("side", &[file("a", "1")]).unwrap_err();
    assert!(matches!(error, WorktreeError::NoCommit));
}

#[test]
fn a_call_that_was_killed_can_be_repeated() {
    let project = Project::with(&[("a", "a"), ("b", "b"), ("gone", "x")]);
    project.script(".git/hooks/commit-msg", "echo 'Checked-by: hook' >> \"$1\"");
    let repository = project.repository();
    let files = [file("a", "1"), file("new", "1")];
    let made = project.commit_on("side", &files).unwrap();
    assert_eq!(project.commit_on("side", &files).unwrap(), made);
    let other = [file("a", "2"), file("new", "1")];
    assert!(matches!(project.commit_on("side", &other), Err(WorktreeError::BranchExists { .. })));
    project.git(&["branch", "-q", "-f", "side", "main"]);
    assert!(matches!(project.commit_on("side", &files), Err(WorktreeError::BranchExists { .. })));

    project.write("a", "1");
    project.write("new", "1");
    fs::remove_file(project.root.join("gone")).unwrap();
    let paths = ["a", "gone", "new"];
    let made = repository.commit_in_place(&paths, MESSAGE).unwrap();
    assert_eq!(repository.commit_in_place(&paths, MESSAGE).unwrap(), made);
    let error = repository.commit_in_place(&paths, "another").unwrap_err();
    assert!(matches!(error, WorktreeError::NothingToCommit));

    // Killed while the files were put back, and after the commit. What somebody else changed is never overwritten.
    project.write("a", "mine");
    project.write("gone", "x");
    let error = repository.revert_in_place(&made.commit, "undo").unwrap_err();
    assert!(matches!(error, WorktreeError::Uncommitted { .. }), "{error}");
    assert_eq!(fs::read_to_string(project.root.join("a")).unwrap(), "mine");
    // Stopped in the middle of a file, by a full disk for example.
    project.write("a", "");
    project.write("gone", "");
    let reverted = repository.revert_in_place(&made.commit, "undo").unwrap();
    assert_eq!(reverted.files, paths);
    assert_eq!(fs::read_to_string(project.root.join("a")).unwrap(), "a");
    assert_eq!(fs::read_to_string(project.root.join("gone")).unwrap(), "x");
    assert_eq!(repository.revert_in_place(&made.commit, "undo").unwrap(), reverted);
    assert_eq!(project.git(&["status", "--porcelain"]), "");

    let scratch = project.path("cache/scratch");
    let made = project.commit_on("other", &files).unwrap();
    let revert = || repository.revert_on_branch("other", &made.commit, "undo", &scratch).unwrap();
    assert_eq!(revert(), revert());
}

#[test]
fn odd_names_are_paths_and_nothing_else() {
    let names = ["-f", ":(top)a", "*", "a b", "ü", "new\nline", "\"quoted\"", "#", "{u}"];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "before")).collect();
    let project = Project::with(&files);
    let planned: Vec<PlannedFile> = names.iter().map(|name| file(name, "after")).collect();
    let committed = project.commit_on("side", &planned).unwrap();
    assert_eq!(committed.files.len(), names.len());
    for name in &names {
        project.write(name, "after");
    }
    let worktree = project.worktree();
    assert_eq!(worktree.base("new\nline", &Stop::default()).unwrap().unwrap().bytes, b"after");
    let committed = project.repository().commit_in_place(&names, "change").unwrap();
    assert_eq!(committed.files.len(), names.len());
    let reverted = project.repository().revert_in_place(&committed.commit, "undo").unwrap();
    assert_eq!(reverted.files.len(), names.len());
    assert_eq!(project.git(&["diff", "HEAD~2", "HEAD"]), "");
}

#[test]
fn a_leftover_scratch_directory_does_no_harm() {
    let project = Project::with(&[("a", "a")]);
    write(&project.path("cache/scratch/project/.git/index.lock"), "x");
    project.commit_on("side", &[file("a", "1")]).unwrap();
}

#[test]
fn projects_in_directories_and_in_linked_worktrees_commit_on_branches() {
    let mut project = Project::with(&[("app/a", "a"), ("a", "top")]);
    let top = project.root.clone();
    project.root = top.join("app");
    let committed = project.commit_on("side", &[file("a", "1"), file("b", "2")]).unwrap();
    assert_eq!(committed.files, ["app/a", "app/b"]);
    project.root = top;
    let linked = project.path("linked");
    project.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
    project.root = linked;
    let committed = project.commit_on("linked", &[file("a", "1")]).unwrap();
    assert_eq!(committed.files, ["a"]);
    assert_eq!(project.git(&["show", "linked:app/a"]), "a");
}

#[test]
fn a_commit_in_place_has_these_files_and_what_else_is_staged_stays_staged() {
    let project =
        Project::with(&[("a", "a"), ("b", "b"), ("gone", "x"), ("mine", "mine"), (".gitignore", "*.log\n")]);
    project.write("mine", "staged");
    project.git(&["add", "mine"]);
    project.write("b", "not meant");
    project.write("a", "1");
    project.write("new/file", "new");
    project.write("new/other", "not meant");
    project.write("wanted.log", "ignored");
    fs::remove_file(project.root.join("gone")).unwrap();
    let paths = ["a", "new/file", "gone", "never/there", "wanted.log"];
    let committed = project.repository().commit_in_place(&paths, MESSAGE).unwrap();
    assert_eq!(committed.files, ["a", "gone", "new/file", "wanted.log"]);
    assert_eq!(committed.commit, project.git(&["rev-parse", "HEAD"]));
    assert_eq!(
        project.git(&["log", "-1", "--format=%ae%n%B"]),
        format!("local@example.org\n{}", MESSAGE.trim_end())
    );
    assert_eq!(project.git(&["status", "--porcelain", "-uall"]), " M b\nM  mine\n?? new/other");
}

#[test]
fn the_first_commit_can_be_made_in_place() {
    let project = Project::unborn();
    project.write("a", "1");
    let committed = project.repository().commit_in_place(&["a"], "first").unwrap();
    assert_eq!(committed.files, ["a"]);
    let reverted = project.repository().revert_in_place(&committed.commit, "no").unwrap();
    assert_eq!(reverted.files, ["a"]);
    assert!(!project.root.join("a").exists());
}

#[test]
fn a_commit_is_reverted_in_place_with_a_commit() {
    let project =
        Project::with(&[("a", "a"), ("gone", "x"), ("run.sh", "run"), ("mine", "mine"), ("staged", "x")]);
    project.write("a", "1");
    project.write("new/file", "new");
    fs::remove_file(project.root.join("gone")).unwrap();
    fs::set_permissions(project.root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let repository = project.repository();
    let committed = repository.commit_in_place(&["a", "gone", "new/file", "run.sh"], "change").unwrap();
    project.write("mine", "my change");
    project.write("staged", "y");
    project.git(&["add", "staged"]);
    project.script(".git/hooks/commit-msg", "echo 'Checked-by: hook' >> \"$1\"");
    let reverted = repository.revert_in_place(&committed.commit, "Revert \"change\"").unwrap();
    assert_eq!(reverted.files, committed.files);
    assert_eq!(project.git(&["diff", "HEAD~2", "HEAD"]), "");
    assert_eq!(project.git(&["status", "--porcelain"]), " M mine\nM  staged");
    assert!(!project.root.join("new/file").exists());
    assert_eq!(project.git(&["log", "-1", "--format=%B"]), "Revert \"change\"\nChecked-by: hook");
}

#[test]
fn a_commit_whose_files_changed_since_is_not_reverted() {
    let project = Project::with(&[("a", "a"), ("b", "b")]);
    let repository = project.repository();
    project.write("a", "1");
    project.write("b", "1");
    let committed = repository.commit_in_place(&["a", "b"], "change").unwrap();
    project.write("b", "mine");
    let error = repository.revert_in_place(&committed.commit, "no").unwrap_err();
    assert_eq!(error.to_string(), "1 file has uncommitted changes: `b`");
    project.commit("mine");
    let error = repository.revert_in_place(&committed.commit, "no").unwrap_err();
    assert_eq!(error.to_string(), "1 file has changed since the commit: `b`");
    let error = repository.revert_in_place("HEAD", "no").unwrap_err();
    assert_eq!(error.to_string(), "git could not read the commit: `HEAD` is not the id of a commit");
    project.write("b", "1");
    project.commit("as it was");
    project.script(".git/hooks/pre-commit", "exit 1");
    let before = project.state();
    let error = repository.revert_in_place(&committed.commit, "no").unwrap_err();
    assert!(matches!(error, WorktreeError::CommitRefused { .. }));
    assert_eq!(project.state(), before);
}

#[test]
fn a_commit_is_reverted_on_its_branch() {
    let project = Project::with(&[("a", "a"), ("b", "b")]);
    let committed = project.commit_on("side", &[file("a", "1"), gone("b"), file("c", "c")]).unwrap();
    let scratch = project.path("cache/scratch");
    let repository = project.repository();
    let revert = || repository.revert_on_branch("side", &committed.commit, "undo", &scratch);
    project.git(&["checkout", "-q", "side"]);
    let error = revert().unwrap_err();
    assert_eq!(error.to_string(), "branch `side` is checked out");
    project.git(&["checkout", "-q", "main"]);
    let before = project.git(&["status", "--porcelain", "--branch"]);
    let reverted = revert().unwrap();
    assert_eq!(reverted.files, ["a", "b", "c"]);
    assert_eq!(project.git(&["rev-parse", "side~1"]), committed.commit);
    assert_eq!(project.git(&["diff", "main", "side"]), "");
    assert_eq!(project.git(&["status", "--porcelain", "--branch"]), before);
    let again = repository.revert_on_branch("side", &committed.commit, "undo it again", &scratch);
    let error = again.unwrap_err();
    assert_eq!(error.to_string(), "3 files have changed since the commit: `a`, `b`, `c`");
    project.git(&["branch", "-q", "-D", "side"]);
    let error = revert().unwrap_err();
    assert_eq!(error.to_string(), "branch `side` is gone");
    assert!(!scratch.exists());
}

#[test]
fn a_commit_can_be_interrupted() {
    let project = Project::with(&[("a", "a")]);
    let stop = Stop::default();
    let repository = Repository::find(&project.root, &stop).unwrap().unwrap();
    stop.raise();
    let commit = BranchCommit {
        branch: "side",
        message: MESSAGE,
        files: &[file("a", "1")],
        scratch: &project.path("cache/scratch"),
        options: &CreateOptions::default(),
    };
    assert!(matches!(repository.commit_on_branch(&commit), Err(WorktreeError::Stopped)));
}

#[test]
fn settings_are_written_as_git_reads_them() {
    let project = Project::unborn();
    let values = ["plain", "with \"quotes\"", "back\\slash", "two\nlines", "tab\t#;", " blanks "];
    for (number, value) in values.iter().enumerate() {
        project.git(&["config", &format!("filter.a.\"b\\{number}.clean"), value]);
    }
    project.git(&["config", "user.signingkey", "key"]);
    project
        .write("no-value", "[core]\n\tignorecase\n[remote \"origin\"]\n\turl = x\n[core]\n\tworktree = /\n");
    project.git(&["config", "include.path", "../no-value"]);
    let carried = project.repository().carried_config().unwrap();
    project.write("carried", &carried);
    let list = |args: &[&str]| {
        let text = project.git(&[&["config", "--list", "-z"], args].concat());
        let entries: BTreeSet<String> = text.split('\0').map(str::to_owned).collect();
        entries
    };
    let read = list(&["--file", "carried"]);
    for entry in
        list(&["--local"]).iter().filter(|entry| entry.starts_with("filter.") || entry.starts_with("user."))
    {
        assert!(read.contains(entry), "{entry}");
    }
    assert!(read.contains("core.ignorecase"));
    assert!(
        !read.iter().any(|entry| entry.starts_with("remote.")
            || entry.contains("worktree")
            || entry.contains("bare"))
    );
    let hooks = format!("core.hookspath\n{}", project.root.join(".git/hooks").display());
    assert!(read.contains(&hooks), "{read:?}");
    assert_eq!(git_in(&project.root, &["config", "--file", "carried", "user.signingkey"]), "key");
}
