#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::cell::Cell;
use std::fs;

use super::*;

struct Tree(tempfile::TempDir);

fn typed(text: &str) -> Pattern<'_> {
    Pattern { text, stays_in: None }
}

impl Tree {
    fn new(files: &[&str]) -> Self {
        let tree = tempfile::tempdir().unwrap();
        for file in files {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("this is {file}\n")).unwrap();
        }
        Self(tree)
    }

    fn base(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn find(&self, below: &str, patterns: &[&str]) -> Vec<String> {
        let patterns: Vec<Pattern<'_>> = patterns.iter().map(|text| typed(text)).collect();
        let files =
            find(&self.base().join(below), &patterns, MissingFiles::Refused, &mut Vec::new(), &|_| {})
                .unwrap();
        files.into_iter().map(|file| file.name).collect()
    }
}

#[test]
fn no_pattern_brings_no_file() {
    assert_eq!(Tree::new(&["a.rs"]).find("", &[]), [""; 0]);
}

#[test]
fn a_file_outside_is_named_from_the_base() {
    let tree = Tree::new(&["top.md", "docs/a.md", "src/deep/b.rs"]);
    assert_eq!(tree.find("src/deep", &["../../top.md"]), ["../../top.md"]);
    assert_eq!(tree.find("src/deep", &["../../docs/*.md", "*.rs"]), ["../../docs/a.md", "b.rs"]);
    assert_eq!(tree.find("src/deep", &["../.."]), ["../../docs/a.md", "../../top.md", "b.rs"]);
    let absolute = tree.base().join("docs/*.md").display().to_string();
    assert_eq!(tree.find("src", &[&absolute]), [tree.base().join("docs/a.md").display().to_string()]);
}

#[test]
fn a_pattern_with_an_escaped_character_means_that_character() {
    let tree = Tree::new(&["a[1].rs", "a1.rs", "b*.rs"]);
    assert_eq!(tree.find("", &["a\\[*.rs"]), ["a[1].rs"]);
    assert_eq!(tree.find("", &["b[*].rs"]), ["b*.rs"]);
    assert_eq!(tree.find("", &["a[1].rs"]), ["a[1].rs"]);
}

#[test]
fn progress_ends_with_every_file_whether_they_are_few_or_many() {
    for n_files in [3, 200] {
        let names: Vec<String> = (0..n_files).map(|number| format!("{number}.rs")).collect();
        let tree = Tree::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let last = Cell::new(None);
        let files =
            find(&tree.base(), &[typed("*.rs")], MissingFiles::Refused, &mut Vec::new(), &|progress| {
                last.set(Some(progress));
            });
        assert_eq!(files.unwrap().len(), n_files);
        assert_eq!(last.get(), Some(Progress { n_done: n_files, n_total: n_files }));
    }
}

#[test]
fn files_read_side_by_side_keep_their_own_text() {
    let names: Vec<String> = (0..500).map(|number| format!("{number:03}.rs")).collect();
    let tree = Tree::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let files = find(&tree.base(), &[typed("**")], MissingFiles::Refused, &mut Vec::new(), &|_| {}).unwrap();
    assert!(files.iter().all(|file| file.text.as_str() == format!("this is {}\n", file.name)));
}

#[test]
fn a_file_too_large_for_any_prompt_is_skipped_unread() {
    let tree = Tree::new(&["a.rs"]);
    fs::File::create(tree.base().join("dump.txt")).unwrap().set_len(MAX_BYTES + 1).unwrap();
    let mut problems = Vec::new();
    let files = find(&tree.base(), &[typed("*")], MissingFiles::Refused, &mut problems, &|_| {}).unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(problems[0].message, "skipped: larger than 64 MiB");
}

#[test]
fn a_file_name_that_is_not_utf8_is_skipped_and_reported() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = Tree::new(&["a.rs"]);
    for name in [b"\xff.rs", b"\xfe.rs"] {
        fs::write(tree.base().join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let mut problems = Vec::new();
    let files = find(&tree.base(), &[typed("*.rs")], MissingFiles::Refused, &mut problems, &|_| {}).unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(problems[0].message, "skipped: its name is not UTF-8 text");
}

#[test]
fn the_same_problem_is_reported_once() {
    let tree = Tree::new(&["a.rs"]);
    fs::write(tree.base().join("b.bin"), [0; 4]).unwrap();
    let mut problems = Vec::new();
    let patterns = ["b.bin", "b*", "**"].map(typed);
    find(&tree.base(), &patterns, MissingFiles::Refused, &mut problems, &|_| {}).unwrap();
    assert_eq!(problems.len(), 1);
}
