use std::fs;
use std::path::Path;

use super::{check_out, git, resolve};
use crate::workspace;

fn run_git(dir: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    workspace::capture(git(dir).args(identity).args(args)).unwrap()
}

fn commit(dir: &Path, text: &str) {
    fs::write(dir.join("a.txt"), text).unwrap();
    run_git(dir, &["add", "a.txt"]);
    run_git(dir, &["commit", "--quiet", "-m", text]);
}

#[test]
fn the_checkout_follows_the_revision_and_survives_its_removal() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    run_git(root, &["init", "--quiet"]);
    commit(root, "first");
    run_git(root, &["tag", "v1"]);
    commit(root, "second");

    let source = root.join("target/bench-against/source");
    let check_out_at = |name: &str| {
        check_out(root, &source, &resolve(root, name).unwrap()).unwrap();
        fs::read_to_string(source.join("a.txt")).unwrap()
    };
    assert_eq!(check_out_at("v1"), "first");
    assert_eq!(check_out_at("HEAD"), "second");
    fs::remove_dir_all(root.join("target")).unwrap();
    assert_eq!(check_out_at("v1"), "first");
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "second");
}

#[test]
fn an_unknown_revision_is_named() {
    let dir = tempfile::tempdir().unwrap();
    run_git(dir.path(), &["init", "--quiet"]);
    assert_eq!(
        resolve(dir.path(), "no-such").unwrap_err().to_string(),
        "error: unknown revision `no-such`\n\nhint: name a commit, a branch or a tag; `git log --oneline` lists commits\n"
    );
}
