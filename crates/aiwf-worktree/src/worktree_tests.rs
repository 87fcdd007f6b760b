#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use aiwf_store::sha256_hex;

use super::*;
use crate::changes::Refused;
use crate::testing::{Project, files, git_in, without_git, write};

/// Changes as text, one line each.
fn shown(changes: &Changes) -> Vec<String> {
    let mode = |is_executable| if is_executable { "x" } else { "-" };
    let change = |change: &Change| {
        let kind = match &change.kind {
            ChangeKind::Added => "added".to_owned(),
            ChangeKind::Changed => "changed".to_owned(),
            ChangeKind::Deleted => "deleted".to_owned(),
            ChangeKind::Renamed { from } => format!("renamed from {from}"),
        };
        format!("{} {kind} {}{}", change.path, mode(change.was_executable), mode(change.is_executable))
    };
    let refused = |refused: &Refused| format!("{} refused: {:?}", refused.path, refused.reason);
    changes.changes.iter().map(change).chain(changes.refused.iter().map(refused)).collect()
}

fn changes(worktree: &Worktree) -> Vec<String> {
    shown(&worktree.changes(&Stop::default()).unwrap())
}

fn left_out(worktree: &Worktree) -> Vec<String> {
    worktree.left_out().iter().map(|left_out| format!("{}: {:?}", left_out.path, left_out.reason)).collect()
}

fn text(path: &str, text: &str) -> PlannedFile {
    let content = FileContent { bytes: text.as_bytes().to_vec(), is_executable: false };
    PlannedFile { path: path.to_owned(), content: Some(content) }
}

#[test]
fn a_worktree_has_the_files_as_they_are_now() {
    let project = Project::with(&[
        ("kept", "kept"),
        ("changed", "before"),
        ("staged", "before"),
        ("gone", "gone"),
        ("dir/run.sh", "run"),
        (".gitignore", "ignored\n/build/\n"),
    ]);
    project.write("changed", "after");
    project.write("staged", "after");
    project.git(&["add", "staged"]);
    project.write("staged", "later");
    fs::remove_file(project.root.join("gone")).unwrap();
    project.write("new/file", "new");
    project.write("ignored", "secret");
    project.write("build/out", "out");
    project.write(".aiwf/config.toml", "");
    project.script("dir/run.sh", "run");
    symlink("dir/run.sh", project.root.join("inside")).unwrap();
    symlink("/etc/passwd", project.root.join("outside")).unwrap();
    let before = project.git(&["status", "--porcelain"]);
    let worktree = project.worktree();
    assert_eq!(
        files(worktree.root()),
        [
            ".gitignore: ignored\n/build/\n",
            "changed: after",
            "dir/run.sh: #!/bin/sh\nrun\n",
            "inside -> dir/run.sh",
            "kept: kept",
            "new/file: new",
            "staged: later",
        ]
    );
    assert_eq!(left_out(&worktree), ["outside: LinkOutside"]);
    assert_eq!(fs::metadata(worktree.root().join("dir/run.sh")).unwrap().permissions().mode() & 0o111, 0o111);
    assert_eq!(worktree.root(), project.at().join("tree/project"));
    assert_eq!(worktree.head(), Some(project.git(&["rev-parse", "HEAD"]).as_str()));
    assert_eq!(changes(&worktree), <[String; 0]>::default());
    // For the agent's git everything is committed, on top of the project's history.
    let git = |args: &[&str]| git_in(worktree.root(), args);
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["log", "--format=%s"]), "Changes of the project that are not committed\nfirst");
    assert_eq!(git(&["branch", "--show-current"]), "main");
    assert_eq!(git(&["remote"]), "");
    git(&["fsck", "--strict"]);
    assert_eq!(project.git(&["status", "--porcelain"]), before);
    assert_eq!(project.git(&["for-each-ref"]).lines().count(), 1);
}

#[test]
fn changes_are_found_even_after_git_commands_in_the_worktree() {
    let project = Project::with(&[
        ("changed", "before"),
        ("deleted", "deleted"),
        ("moved", "the same bytes"),
        ("run.sh", "run"),
        ("kept", "kept"),
        ("hidden", "before"),
    ]);
    let worktree = project.worktree();
    let root = worktree.root();
    write(&root.join("changed"), "after");
    fs::remove_file(root.join("deleted")).unwrap();
    fs::create_dir(root.join("dir")).unwrap();
    fs::rename(root.join("moved"), root.join("dir/moved")).unwrap();
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    write(&root.join("new"), "new");
    write(&root.join("hidden"), "after");
    write(&root.join(".gitignore"), "hidden\n");
    let expected = [
        ".gitignore added --",
        "changed changed --",
        "deleted deleted --",
        "dir/moved renamed from moved --",
        "hidden changed --",
        "new added --",
        "run.sh changed -x",
    ];
    assert_eq!(changes(&worktree), expected);
    let git = |args: &[&str]| git_in(root, args);
    git(&["add", "-A"]);
    git(&["-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "-m", "all"]);
    assert_eq!(changes(&worktree), expected);
    git(&["config", "core.worktree", "/"]);
    git(&["config", "core.excludesFile", "/dev/null"]);
    write(&root.join(".git/info/exclude"), "*\n");
    assert_eq!(changes(&worktree), expected);
    fs::remove_dir_all(root.join(".git")).unwrap();
    assert_eq!(changes(&worktree), expected);

    let found = worktree.changes(&Stop::default()).unwrap();
    let change = |path: &str| found.changes.iter().find(|change| change.path == path).unwrap();
    assert_eq!(change("changed").before, Some(sha256_hex(b"before")));
    assert_eq!(change("changed").after, Some(sha256_hex(b"after")));
    assert_eq!(change("deleted").before, Some(sha256_hex(b"deleted")));
    assert_eq!(change("dir/moved").before, Some(sha256_hex(b"the same bytes")));
    assert_eq!(worktree.content(change("changed")).unwrap().unwrap().bytes, b"after");
    assert!(worktree.content(change("run.sh")).unwrap().unwrap().is_executable);
    assert_eq!(worktree.content(change("deleted")).unwrap(), None);
    write(&root.join("changed"), "later");
    assert!(matches!(worktree.content(change("changed")), Err(WorktreeError::Io { action: "read", .. })));
    let base = |path| worktree.base(path, &Stop::default()).unwrap().map(|content| content.bytes);
    assert_eq!(base("changed"), Some(b"before".to_vec()));
    assert_eq!(base("moved"), Some(b"the same bytes".to_vec()));
    assert_eq!(base("new"), None);
}

#[test]
fn a_change_of_the_same_size_with_its_old_time_is_found() {
    let project = Project::with(&[("file", "before")]);
    let worktree = project.worktree();
    let path = worktree.root().join("file");
    let modified_at = fs::metadata(&path).unwrap().modified().unwrap();
    write(&path, "after!");
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified_at).unwrap();
    assert_eq!(changes(&worktree), ["file changed --"]);
}

#[test]
fn what_is_only_touched_is_no_change() {
    let project = Project::with(&[("file", "text")]);
    let worktree = project.worktree();
    write(&worktree.root().join("file"), "text");
    git_in(worktree.root(), &["checkout", "-q", "--", "."]);
    fs::create_dir_all(worktree.root().join("empty/dir")).unwrap();
    assert_eq!(changes(&worktree), <[String; 0]>::default());
}

#[test]
fn links_repositories_and_other_odd_things_are_refused() {
    let project = Project::with(&[("dir/file", "text"), ("link-target", "x"), ("a/b", "x")]);
    symlink("link-target", project.root.join("link")).unwrap();
    let worktree = project.worktree();
    let root = worktree.root();
    fs::remove_file(root.join("link")).unwrap();
    symlink("dir/file", root.join("link")).unwrap();
    symlink("/etc/passwd", root.join("new-link")).unwrap();
    write(&root.join(".aiwf/config.toml"), "x");
    write(&root.join("a/.GIT/hooks/pre-commit"), "x");
    write(&root.join("nested/file"), "x");
    git_in(&root.join("nested"), &["init", "-q"]);
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"odd-\xff");
    write(&root.join(odd), "x");
    fs::File::create(root.join("large")).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    let too_large = format!("large refused: {:?}", RefusedReason::TooLarge { limit: MAX_FILE_BYTES });
    assert_eq!(
        changes(&worktree),
        [
            ".aiwf refused: Reserved",
            "a/.GIT refused: Reserved",
            &too_large,
            "link refused: Link",
            "nested refused: Repository",
            "new-link refused: Link",
            "odd-\u{fffd} refused: NotUtf8",
            "pipe refused: Special",
        ]
    );
}

#[test]
fn nothing_is_read_through_a_link_in_the_place_of_a_directory() {
    let project = Project::with(&[("dir/file", "text")]);
    let outside = project.path("outside");
    write(&outside.join("file"), "secret");
    let worktree = project.worktree();
    fs::remove_dir_all(worktree.root().join("dir")).unwrap();
    symlink(&outside, worktree.root().join("dir")).unwrap();
    assert_eq!(changes(&worktree), ["dir/file deleted --", "dir refused: Link"]);
    worktree.reset_to(&[text("dir/file", "new")], &Stop::default()).unwrap();
    assert_eq!(files(worktree.root()), ["dir/file: new"]);
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "secret");
}

#[test]
fn a_file_in_the_place_of_a_directory_and_the_other_way_round_are_found() {
    let project = Project::with(&[("dir/file", "text"), ("file", "text of a file")]);
    let worktree = project.worktree();
    let root = worktree.root();
    fs::remove_dir_all(root.join("dir")).unwrap();
    write(&root.join("dir"), "now a file");
    fs::remove_file(root.join("file")).unwrap();
    write(&root.join("file/below"), "now a directory");
    let expected = ["dir added --", "dir/file deleted --", "file deleted --", "file/below added --"];
    assert_eq!(changes(&worktree), expected);
    worktree.reset_to(&[], &Stop::default()).unwrap();
    assert_eq!(files(worktree.root()), ["dir/file: text", "file: text of a file"]);
}

#[test]
fn ignored_files_are_listed_apart_by_the_rules_as_they_are_now() {
    let project = Project::with(&[("a", "a"), (".gitignore", "*.log\n"), ("tracked.log", "tracked")]);
    project.git(&["add", "-f", "tracked.log"]);
    project.commit("tracked although ignored");
    project.write(".git/info/exclude", "/local\n");
    let worktree = project.worktree();
    let root = worktree.root();
    write(&root.join("target/debug/out"), "x");
    write(&root.join("one.log"), "x");
    write(&root.join("local"), "x");
    write(&root.join("tracked.log"), "changed");
    write(&root.join(".gitignore"), "*.log\n/target/\n!two.log\n");
    write(&root.join("two.log"), "x");
    let found = worktree.changes(&Stop::default()).unwrap();
    assert_eq!(shown(&found), [".gitignore changed --", "tracked.log changed --", "two.log added --"]);
    assert_eq!(found.ignored, ["local", "one.log", "target/"]);
    assert_eq!(found.n_more_ignored, 0);
    assert_eq!(git_in(root, &["status", "--porcelain"]).lines().count(), 3);
}

#[test]
fn a_project_in_a_directory_of_its_repository_gets_the_whole_repository() {
    let mut project = Project::with(&[
        ("app/main", "main"),
        ("lib/lib", "lib"),
        ("other", "other"),
        (".gitignore", "/app/out\n"),
    ]);
    project.write("lib/untracked", "not the project's");
    project.write("app/new", "new");
    project.root = project.root.join("app");
    let worktree = project.worktree();
    assert_eq!(worktree.root(), worktree.top().join("app"));
    assert_eq!(files(worktree.root()), ["main: main", "new: new"]);
    assert_eq!(files(&worktree.top().join("lib")), ["lib: lib"]);
    write(&worktree.root().join("main"), "changed");
    write(&worktree.root().join("out"), "ignored");
    fs::rename(worktree.top().join("other"), worktree.root().join("other")).unwrap();
    write(&worktree.top().join("lib/lib"), "changed");
    let found = worktree.changes(&Stop::default()).unwrap();
    assert_eq!(
        shown(&found),
        ["main changed --", "other added --", "../lib/lib refused: Outside", "../other refused: Outside"]
    );
    assert_eq!(found.ignored, ["out"]);
    assert_eq!(worktree.base("main", &Stop::default()).unwrap().unwrap().bytes, b"main");
    worktree.reset_to(&[text("main", "round 2")], &Stop::default()).unwrap();
    assert_eq!(changes(&worktree), ["main changed --"]);
    assert_eq!(fs::read_to_string(worktree.top().join("lib/lib")).unwrap(), "lib");
}

#[test]
fn a_directory_that_its_repository_ignores_is_a_project_of_its_own() {
    let mut project = Project::with(&[(".gitignore", "/scratch/\n"), ("file", "file")]);
    project.write("scratch/idea", "idea");
    project.root = project.root.join("scratch");
    let worktree = project.worktree();
    assert_eq!(files(worktree.top()), ["idea: idea"]);
    assert_eq!(worktree.head(), None);
    project.write("deep/er/idea", "idea");
    project.root = project.root.join("deep/er");
    assert!(Repository::find(&project.root, &Stop::default()).unwrap().is_none());
}

#[test]
fn a_repository_without_a_commit_or_a_branch_has_worktrees() {
    let project = Project::unborn();
    project.write("file", "text");
    let worktree = project.worktree();
    assert_eq!(files(worktree.root()), ["file: text"]);
    assert_eq!((worktree.head(), git_in(worktree.root(), &["status", "--porcelain"])), (None, String::new()));
    Worktree::remove(&project.at()).unwrap();

    project.commit("first");
    project.git(&["checkout", "-q", "--detach"]);
    let worktree = project.worktree();
    assert_eq!(git_in(worktree.root(), &["log", "--format=%s"]), "first");
    assert_eq!(git_in(worktree.root(), &["branch", "--show-current"]), "main");
}

#[test]
fn a_linked_worktree_of_git_is_a_project_like_any_other() {
    let mut project = Project::with(&[("file", "text")]);
    let linked = project.path("linked");
    project.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    project.root = linked;
    project.write("file", "changed");
    let worktree = project.worktree();
    assert_eq!(files(worktree.root()), ["file: changed"]);
    assert_eq!(git_in(worktree.root(), &["branch", "--show-current"]), "side");
}

#[test]
fn submodules_and_nested_repositories_are_skipped_and_reported() {
    let inner = Project::with(&[("inner", "inner")]);
    let project = Project::with(&[("file", "text")]);
    let url = inner.root.to_str().unwrap();
    project.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    project.commit("submodule");
    project.write("vendor/lib/file", "x");
    git_in(&project.root.join("vendor/lib"), &["init", "-q"]);
    git_in(&project.root.join("vendor/lib"), &["add", "-A"]);
    let worktree = project.worktree();
    assert_eq!(left_out(&worktree), ["sub: Submodule", "vendor/lib: Repository"]);
    assert!(!worktree.root().join("sub").exists() && !worktree.root().join("vendor").exists());
    assert_eq!(git_in(worktree.root(), &["status", "--porcelain"]), "");
    write(&worktree.root().join("sub/file"), "x");
    assert_eq!(changes(&worktree), ["sub/file refused: LeftOut"]);
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    let project = Project::with(&[("in/file", "in"), ("out/file", "out"), ("top", "top")]);
    project.git(&["sparse-checkout", "set", "in"]);
    let worktree = project.worktree();
    assert_eq!(files(worktree.root()), ["in/file: in", "top: top"]);
    assert_eq!(left_out(&worktree), ["out/file: Sparse"]);
    write(&worktree.root().join("out/file"), "new");
    assert_eq!(changes(&worktree), ["out/file refused: LeftOut"]);
}

#[test]
fn repositories_of_every_kind_have_worktrees() {
    let check = |project: &Project| {
        project.write("file", "changed");
        let worktree = project.worktree();
        assert_eq!(files(worktree.root()), ["dir/other: other", "file: changed"]);
        assert_eq!(changes(&worktree), <[String; 0]>::default());
        assert_eq!(git_in(worktree.root(), &["status", "--porcelain"]), "");
        git_in(worktree.root(), &["fsck"]);
        assert_eq!(worktree.base("dir/other", &Stop::default()).unwrap().unwrap().bytes, b"other");
        assert_eq!(project.repository().dirty(&["file", "dir/other"]).unwrap(), ["file"]);
    };
    let content = [("file", "text"), ("dir/other", "other")];
    let project = Project::with(&content);
    project.git(&["update-index", "--split-index", "--untracked-cache"]);
    check(&project);
    let project = Project::with(&content);
    project.git(&["update-index", "--index-version", "4"]);
    check(&project);
    // Its objects are those of another repository, too.
    let mut borrower = Project::plain();
    borrower.git(&["clone", "-q", "--shared", project.root.to_str().unwrap(), "clone"]);
    borrower.root = borrower.root.join("clone");
    check(&borrower);
    let project = Project::plain();
    project.git(&["init", "-q", "--object-format=sha256", "--ref-format=reftable"]);
    for (path, text) in content {
        project.write(path, text);
    }
    project.git(&["config", "user.email", "a"]);
    project.git(&["config", "user.name", "b"]);
    project.commit("first");
    check(&project);
    // In the middle of a merge.
    let project = Project::with(&content);
    project.git(&["checkout", "-q", "-b", "side"]);
    project.write("file", "side");
    project.commit("side");
    project.git(&["checkout", "-q", "main"]);
    project.write("file", "main");
    project.commit("main");
    project.git(&["-c", "alias.m=!git merge side || true", "m"]);
    check(&project);
}

#[test]
fn a_shallow_clone_has_worktrees_with_its_history() {
    let origin = Project::with(&[("file", "1")]);
    origin.write("file", "2");
    origin.commit("second");
    let mut project = Project::plain();
    let url = format!("file://{}", origin.root.display());
    project.git(&["clone", "-q", "--depth=1", &url, "shallow"]);
    project.root = project.root.join("shallow");
    let worktree = project.worktree();
    assert_eq!(git_in(worktree.root(), &["log", "--format=%s"]), "second");
}

#[test]
fn bytes_are_those_of_the_project_whatever_git_converts() {
    let project = Project::unborn();
    project.git(&["config", "filter.shout.clean", "tr A-Z a-z"]);
    project.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    project.write(".gitattributes", "*.crlf text eol=crlf\n*.shout filter=shout\n*.id ident\n");
    project.write("lines.crlf", "1\r\n2\r\n");
    project.write("word.shout", "WORD");
    project.write("file.id", "$Id$");
    project.commit("first");
    fs::remove_file(project.root.join("file.id")).unwrap();
    project.git(&["checkout", "-q", "--", "."]);
    let worktree = project.worktree();
    assert_eq!(files(worktree.root()), files(&project.root));
    assert_eq!(git_in(worktree.root(), &["status", "--porcelain"]), "");
    write(&worktree.root().join("word.shout"), "OTHER");
    write(&worktree.root().join("lines.crlf"), "1\r\n");
    let found = worktree.changes(&Stop::default()).unwrap();
    assert_eq!(shown(&found), ["lines.crlf changed --", "word.shout changed --"]);
    assert_eq!(found.changes[0].before, Some(sha256_hex(b"1\r\n2\r\n")));
    assert_eq!(worktree.base("word.shout", &Stop::default()).unwrap().unwrap().bytes, b"WORD");
}

#[test]
fn a_project_in_no_repository_is_copied_by_its_ignore_rules() {
    for has_git in [true, false] {
        let project = Project::plain();
        project.write("file", "text");
        project.write("dir/.gitignore", "out\n");
        project.write("dir/out", "ignored");
        project.write("dir/in", "in");
        project.write(".aiwf/config.toml", "x");
        symlink("file", project.root.join("link")).unwrap();
        if !has_git {
            without_git();
        }
        let worktree = project.worktree();
        assert_eq!(
            files(worktree.root()),
            ["dir/.gitignore: out\n", "dir/in: in", "file: text", "link -> file"]
        );
        assert_eq!(worktree.root().join(".git").exists(), has_git);
        write(&worktree.root().join("file"), "changed");
        write(&worktree.root().join("new"), "new");
        fs::remove_file(worktree.root().join("dir/in")).unwrap();
        assert_eq!(changes(&worktree), ["dir/in deleted --", "file changed --", "new added --"]);
        assert_eq!(worktree.base("file", &Stop::default()).unwrap().unwrap().bytes, b"text");
        worktree.reset_to(&[text("new", "2")], &Stop::default()).unwrap();
        assert_eq!(changes(&worktree), ["new added --"]);
        if has_git {
            git_in(worktree.root(), &["reset", "-q", "--hard"]);
        }
    }
}

#[test]
fn ignored_directories_are_brought_and_are_no_changes() {
    let project = Project::with(&[(".gitignore", "node_modules/\n.venv\nshared/\n"), ("file", "x")]);
    project.write("node_modules/lib/index.js", "js");
    project.script("node_modules/lib/cli.js", "js");
    fs::create_dir(project.root.join("node_modules/.bin")).unwrap();
    symlink("../lib/cli.js", project.root.join("node_modules/.bin/cli")).unwrap();
    symlink(project.root.join("file"), project.root.join("node_modules/own")).unwrap();
    project.write(".venv/python", "python");
    project.write("shared/data", "data");
    let options = CreateOptions {
        copy: vec!["node_modules/".to_owned(), ".venv".to_owned(), "no/such".to_owned()],
        link: vec!["shared".to_owned()],
    };
    let worktree = project.worktree_with(&options);
    let own = format!("node_modules/own -> {}", worktree.root().join("file").display());
    let shared = format!("shared -> {}", project.root.join("shared").display());
    assert_eq!(
        files(worktree.root()),
        [
            ".gitignore: node_modules/\n.venv\nshared/\n",
            ".venv/python: python",
            "file: x",
            "node_modules/.bin/cli -> ../lib/cli.js",
            "node_modules/lib/cli.js: #!/bin/sh\njs\n",
            "node_modules/lib/index.js: js",
            &own,
            &shared,
        ]
    );
    write(&worktree.root().join("node_modules/lib/index.js"), "patched");
    write(&worktree.root().join("node_modules/new"), "new");
    assert_eq!(changes(&worktree), <[String; 0]>::default());
    assert_eq!(git_in(worktree.root(), &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(project.root.join("node_modules/lib/index.js")).unwrap(), "js");
}

#[test]
fn only_directories_of_the_project_can_be_brought() {
    let project = Project::with(&[("dir/file", "x"), ("file", "x")]);
    symlink("/etc", project.root.join("etc")).unwrap();
    let create = |copy: &[&str], link: &[&str]| {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let options = CreateOptions { copy: owned(copy), link: owned(link) };
        Worktree::create(&project.root, &project.at(), &options, &Stop::default()).unwrap_err().to_string()
    };
    for path in ["../x", "/etc", "", ".", "a//b", ".git", "a/.aiwf", "etc", "file"] {
        let error = create(&[path], &[]);
        assert!(error.contains("cannot be copied into a worktree"), "{path}: {error}");
    }
    assert!(create(&[], &["dir"]).ends_with("it has files that are not ignored, so it cannot be a link"));
    assert_eq!(fs::read_dir(project.path("cache")).unwrap().count(), 0);
}

#[test]
fn half_made_and_half_removed_worktrees_are_cleaned_up() {
    let project = Project::with(&[("file", "x")]);
    let half_made = project.path("cache/worktree.tmp");
    write(&half_made.join("tree/project/file"), "x");
    assert!(Worktree::open(&project.at()).unwrap().is_none());
    assert!(!half_made.exists());
    write(&half_made.join("tree/project/file"), "x");
    project.worktree();
    assert!(!half_made.exists());
    let error = Worktree::create(&project.root, &project.at(), &CreateOptions::default(), &Stop::default());
    assert!(matches!(error, Err(WorktreeError::Exists { .. })));
    assert_eq!(files(Worktree::open(&project.at()).unwrap().unwrap().root()), ["file: x"]);
    // Something that empties caches was here.
    fs::remove_file(project.at().join("base/manifest.json")).unwrap();
    assert!(Worktree::open(&project.at()).unwrap().is_none());
    assert!(!project.at().exists());
    Worktree::remove(&project.at()).unwrap();
}

#[test]
fn a_directory_that_is_no_worktree_is_never_removed() {
    let project = Project::with(&[("file", "x")]);
    let opened = Worktree::open(&project.root).unwrap_err();
    assert!(matches!(opened, WorktreeError::Damaged { .. }));
    Worktree::remove(&project.root).unwrap_err();
    assert_eq!(files(&project.root), ["file: x"]);
    let worktree = project.worktree();
    let manifest = project.at().join("base/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replacen("\"format\":1", "\"format\":2", 1)).unwrap();
    let error = Worktree::open(&project.at()).unwrap_err().to_string();
    assert!(error.ends_with("another version of aiwf created it"), "{error}");
    assert!(worktree.root().exists());
}

#[test]
fn a_stop_leaves_nothing_behind() {
    let project = Project::with(&[("file", "x")]);
    let stop = Stop::default();
    stop.raise();
    let created = Worktree::create(&project.root, &project.at(), &CreateOptions::default(), &stop);
    assert!(matches!(created, Err(WorktreeError::Stopped)));
    assert_eq!(fs::read_dir(project.path("cache")).unwrap().count(), 0);
}

#[test]
fn a_worktree_that_lost_bytes_with_the_power_is_made_again() {
    let project = Project::with(&[("file", "x"), ("other", "y")]);
    project.worktree();
    let manifest = project.at().join("base/manifest.json");
    let restart = |damage: &dyn Fn(&mut Manifest)| {
        let mut changed = Manifest::read(&manifest, &project.at()).unwrap().unwrap();
        changed.boot = "another start".to_owned();
        damage(&mut changed);
        changed.write(&manifest).unwrap();
        Worktree::open(&project.at()).unwrap()
    };
    // All is well; then what an agent wrote is no damage.
    write(&restart(&|_| {}).unwrap().root().join("other"), "changed");
    let worktree = restart(&|_| {}).unwrap();
    assert_eq!(changes(&worktree), ["other changed --"]);
    assert!(!Manifest::read(&manifest, &project.at()).unwrap().unwrap().is_from_before_a_restart());
    // The file looks untouched and has other bytes than were written.
    let lost = restart(&|manifest| manifest.files.get_mut("file").unwrap().sha256 = sha256_hex(b"z"));
    assert!(lost.is_none() && !project.at().exists());

    // The same with an object of the base, and with the manifest.
    project.write("file", "not committed");
    project.worktree();
    let objects = project.at().join("base/git/objects");
    let object = git_in(&project.at().join("base/git"), &["rev-parse", ":file"]);
    let (directory, name) = object.split_at(2);
    let path = objects.join(directory).join(name);
    fs::remove_file(&path).unwrap();
    write(&path, "");
    assert!(restart(&|_| {}).is_none());
    project.worktree();
    fs::write(&manifest, "").unwrap();
    assert!(Worktree::open(&project.at()).unwrap().is_none());
    project.worktree();
}

#[test]
fn a_worktree_is_put_back_to_an_earlier_round() {
    let project = Project::with(&[("a", "a"), ("b", "b"), ("c/d", "d"), (".gitignore", "*.log\n")]);
    symlink("a", project.root.join("link")).unwrap();
    let worktree = project.worktree();
    let root = worktree.root();
    let deleted = PlannedFile { path: "b".to_owned(), content: None };
    let script = FileContent { bytes: b"run".to_vec(), is_executable: true };
    let script = PlannedFile { path: "e/run.sh".to_owned(), content: Some(script) };
    let round = [text("a", "1"), deleted, script];
    worktree.reset_to(&round, &Stop::default()).unwrap();
    let expected = ["a changed --", "b deleted --", "e/run.sh added -x"];
    assert_eq!(changes(&worktree), expected);

    write(&root.join("a"), "2");
    write(&root.join("b/new"), "2");
    write(&root.join("kept.log"), "2");
    fs::remove_dir_all(root.join("c")).unwrap();
    fs::rename(root.join("e/run.sh"), root.join("moved.sh")).unwrap();
    fs::remove_file(root.join("link")).unwrap();
    write(&root.join("nested/file"), "x");
    git_in(&root.join("nested"), &["init", "-q"]);
    fs::create_dir(root.join("c")).unwrap();
    git_in(&root.join("c"), &["init", "-q"]);
    worktree.reset_to(&round, &Stop::default()).unwrap();
    assert_eq!(changes(&worktree), expected);
    assert_eq!(
        files(root),
        [".gitignore: *.log\n", "a: 1", "c/d: d", "e/run.sh: run", "kept.log: 2", "link -> a"]
    );
}

#[test]
fn worktrees_of_one_project_do_not_disturb_each_other() {
    let project = Project::with(&[("file", "base"), ("other", "x")]);
    let head = project.git(&["rev-parse", "HEAD"]);
    let env = project.path("home");
    let worktrees: Vec<Worktree> = std::thread::scope(|scope| {
        let create = |number: usize| {
            let at = project.path(&format!("cache/{number}"));
            let root = project.root.clone();
            assert!(env.exists());
            scope.spawn(move || {
                Worktree::create(&root, &at, &CreateOptions::default(), &Stop::default()).unwrap()
            })
        };
        let started: Vec<_> = (0..4).map(create).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, worktree) in worktrees.iter().enumerate() {
        write(&worktree.root().join("file"), format!("{number}"));
        let git = |args: &[&str]| git_in(worktree.root(), args);
        git(&["-c", "user.name=a", "-c", "user.email=b", "commit", "-qam", "agent"]);
        git(&["gc", "-q", "--prune=now"]);
    }
    for (number, worktree) in worktrees.iter().enumerate() {
        assert_eq!(changes(worktree), ["file changed --"]);
        assert_eq!(fs::read_to_string(worktree.root().join("file")).unwrap(), format!("{number}"));
        assert_eq!(worktree.base("file", &Stop::default()).unwrap().unwrap().bytes, b"base");
    }
    assert_eq!(project.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    project.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(project.git(&["count-objects"]), "4 objects, 16 kilobytes");
}

#[test]
fn a_base_without_its_objects_is_reported() {
    let project = Project::with(&[("file", "before")]);
    let worktree = project.worktree();
    fs::remove_dir_all(project.root.join(".git")).unwrap();
    write(&worktree.root().join("file"), "after");
    assert_eq!(changes(&worktree), ["file changed --"]);
    let error = worktree.base("file", &Stop::default()).unwrap_err();
    assert!(
        matches!(&error, WorktreeError::Damaged { message, .. } if message == "the base of `file` is gone"),
        "{error}"
    );
}
