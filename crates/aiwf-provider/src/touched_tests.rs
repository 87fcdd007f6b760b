#![allow(clippy::disallowed_methods, reason = "tests make the files they look at")]

use aiwf_store::sha256_hex;

use super::*;

fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    let root = project.path();
    for (path, text) in [
        (".gitignore", "target/\n.aiwf/\n"),
        ("src/a.rs", "a"),
        ("src/b.rs", "b"),
        ("target/out", "o"),
        (".hidden", "h"),
        (".git/HEAD", "ref"),
        (".aiwf/config.toml", "c"),
        (".aiwf/sessions/s/response.md", "r"),
    ] {
        put(root, path, text);
    }
    project
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn shown(touched: &[TouchedFile]) -> Vec<String> {
    let hash = |hash: &Option<String>| match hash.as_deref() {
        None => "?".to_owned(),
        Some(hash) => ["", "a", "b", "n", "new", "gone"]
            .iter()
            .find(|text| sha256_hex(text.as_bytes()) == hash)
            .map_or_else(|| hash.to_owned(), |text| format!("sha({text})")),
    };
    let line = |file: &TouchedFile| {
        format!("{:?} {} {} {}", file.change, file.path.display(), hash(&file.before), hash(&file.after))
    };
    touched.iter().map(line).collect()
}

#[test]
fn an_untouched_project_is_not_touched() {
    let project = project();
    let touched = Touched::before(project.path(), &[]);
    assert!(touched.is_complete());
    assert_eq!(shown(&touched.after().touched), Vec::<String>::new());
}

#[test]
fn added_changed_and_removed_files_are_listed_with_hashes() {
    let project = project();
    let root = project.path();
    let (without, with) = (Touched::before(root, &[]), Touched::before_with_hashes(root, &[]));
    put(root, "src/a.rs", "new");
    put(root, "src/n.rs", "n");
    put(root, "target/out", "changed");
    put(root, ".git/HEAD", "changed");
    fs::remove_file(root.join("src/b.rs")).unwrap();
    let expected = |a: &str, b: &str| {
        [
            format!("Changed src/a.rs {a} sha(new)"),
            format!("Removed src/b.rs {b} ?"),
            "Added src/n.rs ? sha(n)".to_owned(),
        ]
    };
    assert_eq!(shown(&without.after().touched), expected("?", "?"));
    assert_eq!(shown(&with.after().touched), expected("sha(a)", "sha(b)"));
}

#[test]
fn our_own_directory_is_looked_at_even_when_ignored() {
    let project = project();
    let root = project.path();
    let response = root.join(".aiwf/sessions/s/response.md");
    let touched = Touched::before(root, &[&response, Path::new(".aiwf/cache")]);
    put(root, ".aiwf/sessions/s/response.md", "new");
    put(root, ".aiwf/cache/x", "new");
    put(root, ".aiwf/config.toml", "new");
    assert_eq!(shown(&touched.after().touched), ["Changed .aiwf/config.toml ? sha(new)"]);
}

#[test]
fn a_file_written_again_as_it_was_is_not_touched_when_its_hash_is_known() {
    let project = project();
    let root = project.path();
    let (without, with) = (Touched::before(root, &[]), Touched::before_with_hashes(root, &[]));
    fs::remove_file(root.join("src/a.rs")).unwrap();
    put(root, "src/a.rs", "a");
    assert_eq!(shown(&with.after().touched), Vec::<String>::new());
    assert_eq!(shown(&without.after().touched), ["Changed src/a.rs ? sha(a)"]);
}

#[test]
fn a_change_that_sets_the_time_back_is_seen() {
    let project = project();
    let root = project.path();
    let path = root.join("src/a.rs");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let touched = Touched::before(root, &[]);
    fs::write(&path, "n").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(shown(&touched.after().touched), ["Changed src/a.rs ? sha(n)"]);
}

#[test]
fn a_file_that_an_ignore_rule_hides_afterwards_is_not_gone() {
    let project = project();
    let root = project.path();
    let touched = Touched::before(root, &[]);
    put(root, ".gitignore", "target\nsrc\n");
    put(root, "src/b.rs", "new");
    let after = shown(&touched.after().touched);
    assert_eq!(after.len(), 2, "{after:?}");
    assert_eq!(after[1], "Changed src/b.rs ? sha(new)");
}

#[test]
fn links_and_pipes_are_looked_at_and_not_followed() {
    let project = project();
    let root = project.path();
    let touched = Touched::before(root, &[]);
    std::os::unix::fs::symlink("gone", root.join("link")).unwrap();
    std::os::unix::fs::symlink("/", root.join("root")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    assert!(made.success());
    let after = shown(&touched.after().touched);
    assert_eq!(after[..2], ["Added link ? sha(gone)", "Added pipe ? ?"]);
    assert_eq!(after.len(), 3);
}

#[test]
fn a_project_that_is_too_large_is_looked_at_in_part() {
    let project = project();
    let root = project.path();
    let touched = Touched::bounded(root, &[], 3);
    assert!(!touched.is_complete());
    put(root, "new", "new");
    assert_eq!(shown(&touched.after().touched), Vec::<String>::new());
}

#[test]
fn ignored_files_are_listed_apart_and_many_are_counted() {
    let project = project();
    let root = project.path();
    put(root, ".gitignore", "target/\n.env\nnode_modules/\n");
    put(root, ".env", "KEY=1");
    let touched = Touched::before(root, &[]);
    put(root, ".env", "KEY=2 and more");
    put(root, "target/out", "changed");
    put(root, "target/new", "new");
    for number in 0..30 {
        put(root, &format!("node_modules/{number}.js"), "x");
    }
    let found = touched.after();
    assert_eq!(shown(&found.touched), Vec::<String>::new());
    assert_eq!(found.ignored, [".env", "node_modules/ (30 files)", "target/new", "target/out"]);
    assert!(found.unreadable.is_empty());
}

#[test]
fn what_cannot_be_looked_at_is_no_change() {
    let project = project();
    let mut touched = Touched::before(project.path(), &[]);
    // No system takes such a name, whoever asks.
    let (odd, look) = (PathBuf::from("src/\0"), touched.seen[Path::new("src/a.rs")].look.clone());
    touched.seen.insert(odd.clone(), Seen { look: look.clone(), sha256: None });
    touched.seen_ignored.insert(PathBuf::from("target/\0"), look);
    touched.unreadable.insert(PathBuf::from("locked"));
    put(project.path(), "locked/a", "there all the time");
    let found = touched.after();
    assert_eq!(shown(&found.touched), Vec::<String>::new());
    assert_eq!(found.ignored, Vec::<String>::new());
    assert_eq!(found.unreadable, [PathBuf::from("locked"), odd, PathBuf::from("target/\0")]);
}
