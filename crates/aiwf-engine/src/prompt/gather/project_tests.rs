#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs;

use super::*;

#[test]
fn a_large_project_is_listed_as_far_as_it_fits() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..MAX_LISTED + 7 {
        fs::write(root.path().join(format!("{number:04}.rs")), "").unwrap();
    }
    let listed = structure(root.path(), &[]);
    assert_eq!(listed.lines().count(), MAX_LISTED + 1);
    assert_eq!(listed.lines().next(), Some("0000.rs"));
    assert_eq!(listed.lines().last(), Some("… and 7 more files"));
}

#[test]
fn a_project_without_end_is_not_walked_to_its_end() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..MAX_LISTED + 7 {
        fs::write(root.path().join(format!("{number:04}.rs")), "").unwrap();
    }
    let listed = structure_up_to(root.path(), &[], MAX_LISTED + 2);
    assert_eq!(listed.lines().nth(MAX_LISTED - 1), Some("0399.rs"));
    assert_eq!(listed.lines().last(), Some("… and 2 or more other files"));
}

#[test]
fn what_git_ignores_is_not_listed() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join(".gitignore"), "target/\n").unwrap();
    fs::create_dir_all(root.path().join("target")).unwrap();
    fs::write(root.path().join("target/a.o"), "").unwrap();
    fs::write(root.path().join("a.rs"), "").unwrap();
    assert_eq!(structure(root.path(), &[]), "a.rs");
}
