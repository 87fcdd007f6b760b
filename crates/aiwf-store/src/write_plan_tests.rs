#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use proptest::prelude::*;

use std::fs;

use super::*;

fn check(paths: &[&str]) -> String {
    let files = paths.iter().map(|path| ((*path).to_owned(), b"x".to_vec()));
    match WritePlan::check(files) {
        Ok(plan) => plan.files().flat_map(|(path, _)| [path, "\n"]).collect(),
        Err(problems) => problems.iter().flat_map(|problem| [problem.to_string(), "\n".to_owned()]).collect(),
    }
}

#[test]
fn names_and_relative_paths_are_fine() {
    assert_eq!(check(&["b/C.java", "A.java"]), "A.java\nb/C.java\n");
}

#[test]
fn dotfiles_are_ordinary_files() {
    assert_eq!(
        check(&[".gitignore", ".github/workflows/ci.yml", "web/.env.example", ".gitattributes", "git/a"]),
        ".gitattributes\n.github/workflows/ci.yml\n.gitignore\ngit/a\nweb/.env.example\n"
    );
}

#[test]
fn git_and_aiwf_are_never_written_in_any_case_at_any_depth() {
    for path in [
        ".git",
        ".git/config",
        ".GIT/hooks/pre-commit",
        ".Git\u{200c}/config",
        "a/b/.giT/config",
        "git~1/config",
        "A/GIT~1/config",
        ".aiwf/config.toml",
        "web/.AIWF/config.toml",
        "aiwf~1/x",
        ".ｇit/config",
    ] {
        let refused = check(&[path]);
        assert!(refused.contains("in `.git` or `.aiwf`"), "{refused}");
    }
    // Names that the engine removes after a crash cannot be files of a reply.
    assert!(check(&["a/.TMP-1-code"]).contains("reserved"));
}

#[test]
fn every_problem_is_listed_at_once() {
    insta::assert_snapshot!(check(&[
        "/etc/passwd", "C:\\x", "c:x", "\\\\server\\share", "../up", "a/../b", "./a", "a//b", "a/", "", "a\0b",
        "a/.git/config", "session.json", "x/Journal.JSONL", "A.java", "A.java", "a.JAVA", "dir", "dir/file", "nul.txt", "end.",
    ]), @r"
    `/etc/passwd` is absolute: give a path relative to the code
    `C:\\x` contains a backslash: write `/` between directories
    `c:x` contains a colon, which names a drive or a stream on some systems
    `\\\\server\\share` contains a backslash: write `/` between directories
    `../up` contains `.` or `..`: give the path itself
    `a/../b` contains `.` or `..`: give the path itself
    `./a` contains `.` or `..`: give the path itself
    `a//b` has an empty part between slashes
    `a/` has an empty part between slashes
    `` is empty
    `a\0b` contains a control character
    `a/.git/config` is in `.git` or `.aiwf`, where only git and aiwf may write
    `session.json` is reserved for aiwf
    `x/Journal.JSONL` is reserved for aiwf
    `A.java` occurs twice
    `a.JAVA` differs from `A.java` only in case
    `nul.txt` is a device name on some systems
    `end.` has a name that starts with a space, or ends with a space or a dot
    `dir/file` needs a directory, but `dir` is a file
    ");
}

#[test]
fn all_files_are_written_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let (temporary, target) = (directory.path().join(".tmp-1-code"), directory.path().join("code"));
    let plan = WritePlan::check([("a/b.txt".to_owned(), b"1".to_vec()), ("c.txt".to_owned(), b"2".to_vec())])
        .unwrap();
    plan.write(&temporary, &target).unwrap();
    assert_eq!(fs::read(target.join("a/b.txt")).unwrap(), b"1");
    assert!(!temporary.exists());
    // A second plan takes the place of the first.
    let plan = WritePlan::check([("c.txt".to_owned(), b"3".to_vec())]).unwrap();
    plan.write(&temporary, &target).unwrap();
    assert!(!target.join("a").exists());
    assert_eq!(fs::read(target.join("c.txt")).unwrap(), b"3");
}

#[test]
fn leftovers_of_an_earlier_attempt_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let (temporary, target) = (directory.path().join(".tmp-1-code"), directory.path().join("code"));
    for left in [&temporary, &directory.path().join(".tmp-1-code.old"), &target] {
        fs::create_dir_all(left.join("half")).unwrap();
    }
    WritePlan::check([("c.txt".to_owned(), b"3".to_vec())]).unwrap().write(&temporary, &target).unwrap();
    let names = |path: &Path| -> Vec<_> {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(names(directory.path()), ["code"]);
    assert_eq!(names(&target), ["c.txt"]);
}

#[test]
fn a_link_at_the_target_is_replaced_and_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "x").unwrap();
    let target = directory.path().join("code");
    std::os::unix::fs::symlink(outside.path(), &target).unwrap();
    let plan = WritePlan::check([("a.txt".to_owned(), b"1".to_vec())]).unwrap();
    plan.write(&directory.path().join(".tmp-1-code"), &target).unwrap();
    assert!(outside.path().join("precious").exists());
    assert!(!outside.path().join("a.txt").exists());
}

mod properties {
    use super::*;

    /// Nearly valid paths, and every known way to escape.
    fn path() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            4 => "[a-c]{1,3}",
            2 => prop::sample::select(vec!["..", ".", "", " ", "~", "C:", "code", ".git", ".GiT", "x/.aiwf", ".a", "/", "‥", "\\", "..\\.."])
                .prop_map(str::to_owned),
            1 => "\\PC{1,4}",
        ];
        prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"))
    }

    proptest! {
        #[test]
        fn a_checked_plan_never_leaves_its_directory(paths in prop::collection::vec(path(), 1..3)) {
            let directory = aiwf_testkit::scratch_dir();
            let root = directory.path().join("root");
            fs::create_dir(&root).unwrap();
            if let Ok(plan) = WritePlan::check(paths.into_iter().map(|path| (path, Vec::new()))) {
                for (path, _) in plan.files() {
                    let mut parts = Path::new(path).components();
                    prop_assert!(parts.all(|part| matches!(part, std::path::Component::Normal(_))), "{}", path);
                    prop_assert!(!path.split('/').any(crate::name::is_reserved_dir), "{}", path);
                }
                plan.write(&root.join(".tmp"), &root.join("code")).unwrap();
                let n_above = fs::read_dir(directory.path()).unwrap().count();
                let n_beside = fs::read_dir(&root).unwrap().count();
                prop_assert_eq!((n_above, n_beside), (1, 1));
                for (path, _) in plan.files() {
                    prop_assert!(root.join("code").join(path).is_file());
                }
            }
        }
    }
}

#[test]
fn a_plan_of_many_deep_files_is_fast() {
    let directory = tempfile::tempdir().unwrap();
    // Folding every prefix of every path anew would fold half a kilobyte a quarter of a million times.
    let deep = |n: usize| format!("{}f{n}.txt", "d/".repeat(500));
    let plan = WritePlan::check((0..500).map(|n| (deep(n), b"x".to_vec()))).unwrap();
    plan.write(&directory.path().join(".tmp"), &directory.path().join("code")).unwrap();
    assert!(directory.path().join("code").join(deep(499)).is_file());
}
