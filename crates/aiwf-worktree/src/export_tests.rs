#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;

use super::*;
use crate::testing::{Project, files};

fn exported(project: &Project, revision: &str) -> Vec<String> {
    let repository = project.repository();
    let commit = repository.commit_of(revision).unwrap().unwrap();
    let to = project.path("cache/export");
    repository.export(&commit, &to).unwrap();
    files(&to)
}

#[test]
fn the_files_are_those_of_the_commit_whatever_is_in_the_project_now() {
    let project = Project::with(&[("a.txt", "old"), ("dir/b.txt", "two\n"), ("empty", "")]);
    project.write("a.txt", "new");
    project.commit("second");
    project.write("a.txt", "not committed");
    assert_eq!(exported(&project, "HEAD~1"), ["a.txt: old", "dir/b.txt: two\n", "empty: "]);
}

#[test]
fn a_project_below_the_top_gets_only_its_own_files() {
    let project = Project::with(&[("top.txt", "top"), ("sub/a.txt", "a")]);
    let repository =
        Repository::find(&project.root.join("sub"), &aiwf_process::Stop::default()).unwrap().unwrap();
    let commit = repository.commit_of("main").unwrap().unwrap();
    let to = project.path("cache/export");
    repository.export(&commit, &to).unwrap();
    assert_eq!(files(&to), ["a.txt: a"]);
}

#[test]
fn a_link_becomes_a_copy_of_the_file_it_leads_to_in_the_commit() {
    let project = Project::with(&[("AGENTS.md", "rules"), ("dir/a", "a")]);
    for (link, target) in [
        ("CLAUDE.md", "AGENTS.md"),
        ("dir/up", "../CLAUDE.md"),
        ("out", "/etc/passwd"),
        ("above", "../home"),
        ("loop", "loop"),
    ] {
        std::os::unix::fs::symlink(target, project.root.join(link)).unwrap();
    }
    project.commit("links");
    assert_eq!(
        exported(&project, "HEAD"),
        ["AGENTS.md: rules", "CLAUDE.md: rules", "dir/a: a", "dir/up: rules"]
    );
}

#[test]
fn a_file_that_a_partial_clone_left_behind_is_an_error() {
    let project = Project::with(&[("a.txt", "old"), ("b.txt", "two")]);
    let id = project.git(&["rev-parse", "HEAD:a.txt"]);
    let (directory, name) = id.trim().split_at(2);
    fs::remove_file(project.root.join(".git/objects").join(directory).join(name)).unwrap();
    let repository = project.repository();
    let commit = repository.commit_of("HEAD").unwrap().unwrap();
    let error = repository.export(&commit, &project.path("cache/export")).unwrap_err();
    assert!(error.to_string().contains("does not have the content of `a.txt`"), "{error}");
}

#[test]
fn what_names_no_commit_is_none() {
    let project = Project::with(&[("a", "a")]);
    let repository = project.repository();
    for revision in ["nothing", "--help", "HEAD~9", "HEAD:a", ""] {
        assert_eq!(repository.commit_of(revision).unwrap(), None, "{revision}");
    }
    assert!(repository.commit_of("main").unwrap().is_some());
}

#[test]
fn no_program_of_the_repository_is_started() {
    let project = Project::with(&[("a.evil", "text"), (".gitattributes", "*.evil filter=evil diff=evil\n")]);
    let witness = project.path("witness");
    let program = project.path("program");
    fs::write(&program, format!("#!/bin/sh\necho x >> '{}'\ncat\n", witness.display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for key in
        ["filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "core.fsmonitor", "core.pager"]
    {
        project.git(&["config", key, program]);
    }
    for hook in ["post-checkout", "post-index-change", "reference-transaction"] {
        let path = project.root.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(program, &path).unwrap();
    }
    drop(fs::remove_file(&witness));
    assert_eq!(
        exported(&project, "HEAD"),
        [".gitattributes: *.evil filter=evil diff=evil\n", "a.evil: text"]
    );
    assert!(!witness.exists());
}
