#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use super::*;
use crate::testing::{Project, git_in, write};
use crate::worktree::{CreateOptions, Worktree};

/// Settings that name a program; `PROGRAM` stands for it.
const HOSTILE: &[(&str, &str)] = &[
    ("core.fsmonitor", "PROGRAM fsmonitor"),
    ("core.pager", "PROGRAM pager"),
    ("core.editor", "PROGRAM editor"),
    ("core.sshCommand", "PROGRAM ssh"),
    ("core.askPass", "PROGRAM"),
    ("core.gitProxy", "PROGRAM"),
    ("core.alternateRefsCommand", "PROGRAM refs"),
    ("credential.helper", "!PROGRAM credential"),
    ("diff.external", "PROGRAM external"),
    ("diff.evil.command", "PROGRAM diff"),
    ("diff.evil.textconv", "PROGRAM textconv"),
    ("filter.evil.clean", "PROGRAM clean"),
    ("filter.evil.smudge", "PROGRAM smudge"),
    ("filter.evil.required", "true"),
    ("filter.long.process", "PROGRAM process"),
    ("merge.evil.driver", "PROGRAM merge"),
    ("gpg.program", "PROGRAM"),
    ("commit.gpgSign", "true"),
    ("log.showSignature", "true"),
    ("alias.status", "!PROGRAM alias"),
    ("alias.ls-files", "!PROGRAM alias"),
    ("pager.status", "PROGRAM pager"),
    ("interactive.diffFilter", "PROGRAM interactive"),
    ("submodule.sub.update", "!PROGRAM update"),
    ("uploadpack.packObjectsHook", "PROGRAM pack"),
    ("remote.origin.promisor", "true"),
    ("remote.origin.url", "ext::PROGRAM remote"),
    ("remote.origin.vcs", "ext"),
    ("extensions.partialClone", "origin"),
    ("protocol.ext.allow", "always"),
];

/// A repository in which everything that can name a program names one that leaves a mark.
fn hostile() -> (Project, PathBuf) {
    let files =
        [("evil.txt", "evil"), ("long.txt", "long"), ("plain.txt", "plain"), ("changed.txt", "before")];
    let project = Project::with(&files);
    let witness = project.path("witness");
    let program = project.path("program");
    write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", witness.display()));
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for (key, value) in HOSTILE {
        project.git(&["config", key, &value.replace("PROGRAM", program)]);
    }
    let hooks = project.root.join(".git/evil-hooks");
    for hook in
        ["pre-commit", "post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"]
    {
        write(&hooks.join(hook), fs::read(program).unwrap());
        fs::set_permissions(hooks.join(hook), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    project.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
    project.write(
        ".gitattributes",
        "evil.txt filter=evil diff=evil merge=evil\nlong.txt filter=long diff=evil\n",
    );
    project.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::evil\n");
    // So that git has to read them again.
    for (path, text) in files {
        project.write(path, text);
    }
    project.write("changed.txt", "after");
    drop(fs::remove_file(&witness));
    (project, witness)
}

#[test]
fn looking_at_a_hostile_repository_starts_none_of_its_programs() {
    let (project, witness) = hostile();
    let repository = project.repository();
    let head = repository.head().unwrap().unwrap();
    assert_eq!(repository.branch().unwrap().as_deref(), Some("main"));
    assert_eq!(repository.branch_tip("main").unwrap(), Some(head.clone()));
    assert_eq!(repository.message(&head).unwrap(), "first");
    let dirty =
        repository.dirty(&["evil.txt", "long.txt", "plain.txt", "changed.txt", ".gitattributes"]).unwrap();
    assert_eq!(dirty, [".gitattributes", "changed.txt"]);
    let worktree = project.worktree();
    write(&worktree.root().join("evil.txt"), "changed");
    write(&worktree.root().join("long.txt"), "changed");
    let changes = worktree.changes(&Stop::default()).unwrap();
    assert_eq!(changes.changes.len(), 2);
    assert_eq!(worktree.base("evil.txt", &Stop::default()).unwrap().unwrap().bytes, b"evil");
    worktree.reset_to(&[], &Stop::default()).unwrap();
    // The agent's repository has nothing of it, either.
    git_in(worktree.root(), &["status"]);
    git_in(worktree.root(), &["diff", "HEAD"]);
    assert!(!witness.exists(), "{}", fs::read_to_string(&witness).unwrap());
}

/// Without this the test above could pass because nothing is hostile.
#[test]
fn git_itself_starts_programs_of_a_hostile_repository() {
    let (project, witness) = hostile();
    project.git(&["add", "evil.txt"]);
    project.git(&["diff", "--no-color", "HEAD"]);
    let started = fs::read_to_string(witness).unwrap();
    for program in ["fsmonitor", "clean", "post-index-change", "external"] {
        assert!(started.contains(program), "{program}: {started}");
    }
}

#[test]
fn user_filters_apply_and_repository_filters_do_not() {
    let project = Project::with(&[("file", "a")]);
    let witness = project.path("witness");
    let clean = format!("sh -c 'touch {}; tr a-z A-Z'", witness.display());
    project.git(&["config", "--global", "filter.upper.clean", "tr a-z A-Z"]);
    project.git(&["config", "filter.upper.clean", &clean]);
    project.write(".gitattributes", "file filter=upper\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "upper"]);
    fs::remove_file(&witness).unwrap();
    let dirty = || project.repository().dirty(&["file"]).unwrap();
    project.write("file", "A");
    assert_eq!(dirty(), <[String; 0]>::default());
    project.write("file", "b");
    assert_eq!(dirty(), ["file"]);
    assert!(!witness.exists());
    project.git(&["config", "filter.a=b.clean", &clean]);
    let error = project.repository().dirty(&["file"]).unwrap_err().to_string();
    assert!(error.ends_with("its configuration has a filter with the name `a=b`"), "{error}");
}

#[test]
fn a_configuration_cannot_name_another_directory_as_the_project() {
    let project = Project::with(&[("file", "x")]);
    write(&project.path("home/secret"), "secret");
    project.git(&["config", "core.worktree", project.path("home").to_str().unwrap()]);
    let worktree = project.worktree();
    assert_eq!(crate::testing::files(worktree.root()), ["file: x"]);
    let error = project.repository().commit_in_place(&["file"], "message").unwrap_err().to_string();
    assert!(error.contains("core.worktree"), "{error}");
}

#[test]
fn changes_that_are_not_committed_are_found_by_path() {
    let project =
        Project::with(&[("clean", "x"), ("changed", "x"), ("staged", "x"), ("gone", "x"), ("a b", "x")]);
    project.write(".gitignore", "ignored/\n");
    project.commit("ignore");
    project.write("changed", "y");
    project.write("staged", "y");
    project.git(&["add", "staged"]);
    project.write("staged", "x");
    project.write("a b", "y");
    fs::remove_file(project.root.join("gone")).unwrap();
    project.write("new/file", "x");
    project.write("ignored/file", "x");
    let all = ["clean", "changed", "staged", "gone", "a b", "new/file", "ignored/file", "nothing", "*"];
    let dirty = project.repository().dirty(&all).unwrap();
    assert_eq!(dirty, ["a b", "changed", "gone", "ignored/file", "new/file", "staged"]);
    assert_eq!(project.repository().dirty(&["clean", "nothing"]).unwrap(), <[String; 0]>::default());
    // Looking changes nothing, not even the index.
    assert!(project.git(&["status", "--porcelain"]).contains("MM staged"));
}

#[test]
fn more_paths_than_fit_on_a_command_line_are_compared() {
    let project = Project::with(&[("clean", "x")]);
    let names: Vec<String> =
        (0..1_200).map(|number| format!("{}/{number}", "directory".repeat(20))).collect();
    for name in &names {
        project.write(name, "x");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(project.repository().dirty(&names).unwrap().len(), 1_200);
}

#[test]
fn a_project_is_in_the_repository_above_it_or_in_none() {
    let project = Project::with(&[("app/file", "x")]);
    fs::create_dir_all(project.root.join("app/.git")).unwrap();
    let found = Repository::find(&project.root.join("app"), &Stop::default()).unwrap().unwrap();
    assert_eq!((found.top(), found.below.as_str()), (project.root.as_path(), "app/"));
    let plain = Project::plain();
    assert!(Repository::find(&plain.root, &Stop::default()).unwrap().is_none());
    crate::testing::without_git();
    let error = Repository::find(&project.root, &Stop::default()).unwrap_err();
    assert!(matches!(error, WorktreeError::NoGit));
    assert!(matches!(
        Repository::find(&project.path("nowhere"), &Stop::default()),
        Err(WorktreeError::Io { .. })
    ));
}

#[test]
fn a_repository_that_git_does_not_understand_is_refused_and_nothing_is_left() {
    let project = Project::with(&[("file", "x")]);
    project.git(&["config", "core.repositoryformatversion", "1"]);
    project.git(&["config", "extensions.fromTheFuture", "true"]);
    let created = Worktree::create(&project.root, &project.at(), &CreateOptions::default(), &Stop::default());
    let error = created.unwrap_err().to_string();
    assert!(error.starts_with("git could not find the repository: "), "{error}");
    assert_eq!(fs::read_dir(project.path("cache")).unwrap().count(), 0);
}

#[test]
fn entries_of_git_status_are_read() {
    let id = "0".repeat(40);
    let cases = [
        (format!("1 .M N... 100644 100644 100644 {id} {id} a b/c"), Some("a b/c")),
        (format!("u UU N... 100644 100644 100644 100644 {id} {id} {id} a"), Some("a")),
        ("? new file".to_owned(), Some("new file")),
        ("! ignored/".to_owned(), Some("ignored/")),
        ("# branch.head main".to_owned(), None),
        (String::new(), None),
    ];
    for (entry, path) in cases {
        assert_eq!(changed_path(&entry), path, "{entry}");
    }
}
