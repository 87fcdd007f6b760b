#![allow(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;
use crate::touched::Touched;

/// Files by path: their text, and whether they can be executed.
type Tree = BTreeMap<String, (String, bool)>;

fn tree(files: &[(&str, &str, bool)]) -> Tree {
    files.iter().map(|(path, text, is)| ((*path).to_owned(), ((*text).to_owned(), *is))).collect()
}

/// Makes a directory hold exactly these files.
fn set(root: &Path, tree: &Tree) {
    for path in files_of(root).keys().filter(|path| !tree.contains_key(*path)) {
        fs::remove_file(root.join(path)).unwrap();
    }
    for (path, (text, is_executable)) in tree {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = if *is_executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn files_of(root: &Path) -> Tree {
    fn walk(directory: &Path, root: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                walk(&path, root, tree);
            } else if entry.file_type().unwrap().is_file() {
                let is_executable = path.metadata().unwrap().permissions().mode() & 0o100 != 0;
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                tree.insert(name, (fs::read_to_string(&path).unwrap(), is_executable));
            }
        }
    }
    let mut tree = Tree::new();
    walk(root, root, &mut tree);
    tree
}

/// A directory in which a call was recorded, and one to replay it in.
struct World {
    root: tempfile::TempDir,
    before: Tree,
}

impl World {
    fn new(before: Tree) -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["recorded", "replayed", "cassette"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        set(&root.path().join("recorded"), &before);
        set(&root.path().join("replayed"), &before);
        Self { root, before }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Records what an agent does to the files.
    fn record(&self, agent: impl FnOnce(&Path)) -> Result<Vec<RecordedFile>, StoreError> {
        let directory = self.path("recorded");
        let touched = Touched::before_with_hashes(&directory, &[]);
        agent(&directory);
        let files = touched.after().touched;
        record(&self.path("cassette"), ChangedFiles { directory: &directory, files: &files })
    }

    fn replay(&self, files: &[RecordedFile]) -> Result<(), String> {
        let replayed = replay(&self.path("cassette"), "implement-1", files, &self.path("replayed"));
        replayed.map_err(|error| error.to_string().replace(self.root.path().to_str().unwrap(), "ROOT"))
    }

    fn replayed(&self) -> Tree {
        files_of(&self.path("replayed"))
    }
}

fn before() -> Tree {
    tree(&[
        ("a.txt", "a", false),
        ("src/b.py", "b", false),
        ("run.sh", "echo", false),
        ("old.txt", "o", false),
    ])
}

fn file(path: &str, before: Option<&str>, after: Option<&str>) -> RecordedFile {
    let hash = |text: Option<&str>| text.map(|text| sha256_hex(text.as_bytes()));
    RecordedFile { path: path.to_owned(), before: hash(before), after: hash(after), executable: false }
}

#[test]
fn a_replay_makes_the_changes_that_were_recorded() {
    let world = World::new(before());
    let after = tree(&[
        ("a.txt", "a", false),
        ("src/b.py", "changed", false),
        ("src/deep/new.py", "new", false),
        ("run.sh", "echo", true),
        ("tool", "#!/bin/sh\n", true),
    ]);
    let files = world.record(|directory| set(directory, &after)).unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["old.txt", "run.sh", "src/b.py", "src/deep/new.py", "tool"]);
    world.replay(&files).unwrap();
    assert_eq!(world.replayed(), after);
    // A call that was interrupted is made again.
    world.replay(&files).unwrap();
    assert_eq!(world.replayed(), after);
}

#[test]
fn a_call_that_was_interrupted_between_two_files_is_finished() {
    let world = World::new(before());
    let files = world
        .record(|directory| {
            fs::write(directory.join("a.txt"), "1").unwrap();
            fs::write(directory.join("run.sh"), "2").unwrap();
        })
        .unwrap();
    world.replay(&files[..1]).unwrap();
    world.replay(&files).unwrap();
    assert_eq!(world.replayed(), files_of(&world.path("recorded")));
}

#[test]
fn a_differing_file_stops_the_replay_without_changes() {
    let world = World::new(before());
    let files = world
        .record(|directory| {
            fs::write(directory.join("a.txt"), "1").unwrap();
            fs::write(directory.join("run.sh"), "2").unwrap();
            fs::write(directory.join("new.txt"), "3").unwrap();
        })
        .unwrap();
    for (path, text) in [("run.sh", "mine"), ("new.txt", "mine")] {
        let mut mine = world.before.clone();
        mine.insert(path.to_owned(), (text.to_owned(), false));
        set(&world.path("replayed"), &mine);
        let expected =
            format!("recording `implement-1` changes `{path}`, which differs from the recorded file");
        assert_eq!(world.replay(&files), Err(expected));
        assert_eq!(world.replayed(), mine);
    }
}

#[test]
fn no_path_leaves_the_directory() {
    let world = World::new(before());
    let outside = world.path("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, world.path("replayed/link")).unwrap();
    let record = |directory: &Path| fs::write(directory.join("x"), "x").unwrap();
    world.record(record).unwrap();
    let long = "x/".repeat(600);
    for (path, expected) in [
        ("../outside/x", "is not the path of a file in the project"),
        ("/outside/x", "is not the path of a file in the project"),
        ("a//x", "is not the path of a file in the project"),
        ("", "is not the path of a file"),
        (&long, "is not the path of a file"),
        (".git/config", "belongs to git or to aiwf"),
        ("src/.AIWF/x", "belongs to git or to aiwf"),
        ("link/x", "which differs from the recorded file"),
        ("src", "which differs from the recorded file"),
        ("a\nb", "contains a control character"),
    ] {
        let error = world.replay(&[file("new.txt", None, Some("x")), file(path, None, Some("x"))]);
        let error = error.unwrap_err();
        assert!(error.ends_with(expected), "{error}");
        assert_eq!(world.replayed(), world.before, "{path}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn contents_that_are_gone_or_changed_are_refused() {
    let world = World::new(before());
    let files = world.record(|directory| fs::write(directory.join("new.txt"), "new").unwrap()).unwrap();
    let content = world.path("cassette/files").join(sha256_hex(b"new"));
    fs::write(&content, "other").unwrap();
    let error = world.replay(&files).unwrap_err();
    assert!(error.ends_with("` was changed"), "{error}");
    fs::remove_file(&content).unwrap();
    let error = world.replay(&files).unwrap_err();
    assert!(error.ends_with("there is no such file or directory"), "{error}");
    let wrong = RecordedFile { after: Some("../../outside".to_owned()), ..files[0].clone() };
    let error = world.replay(&[wrong]).unwrap_err();
    assert!(error.ends_with("`../../outside` is not a SHA-256"), "{error}");
    assert_eq!(world.replayed(), world.before);
}

#[test]
fn what_cannot_be_kept_fails_the_recording() {
    let world = World::new(before());
    let error = world.record(|directory| symlink("a.txt", directory.join("link")).unwrap()).unwrap_err();
    assert_eq!(error.path, Path::new("link"));
    assert_eq!(error.source.to_string(), "it is a link, or reached through one");
    let error = world.record(|directory| fs::write(directory.join("a:b"), "x").unwrap()).unwrap_err();
    assert_eq!(
        (error.path.to_str(), error.source.to_string().as_str()),
        (Some("a:b"), "it is not a valid file name")
    );
}

#[test]
fn what_belongs_to_git_and_to_aiwf_is_not_recorded() {
    let world = World::new(before());
    let files = world.record(|directory| {
        for path in [".git/hooks/post-commit", ".aiwf/config.toml", "sub/.git/config"] {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    });
    assert_eq!(files.unwrap(), []);
}

mod properties {
    use super::*;

    fn any_tree() -> impl Strategy<Value = Tree> {
        let path = prop::sample::select(vec!["a", "b.txt", "src/a", "src/b/c", "src/b/d", ".env", "é/f"]);
        let file = (prop::sample::select(vec!["", "1", "2\n"]), any::<bool>());
        prop::collection::btree_map(
            path.prop_map(str::to_owned),
            file.prop_map(|(text, is)| (text.to_owned(), is)),
            0..7,
        )
    }

    /// What differs, as [`Touched`] finds it.
    fn changed(before: &Tree, after: &Tree) -> Vec<TouchedFile> {
        let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let differs = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
        let hash = |file: Option<&(String, bool)>| file.map(|(text, _)| sha256_hex(text.as_bytes()));
        differs
            .map(|path| TouchedFile {
                path: path.into(),
                change: match (before.get(path), after.get(path)) {
                    (None, _) => Change::Added,
                    (Some(_), Some(_)) => Change::Changed,
                    (Some(_), None) => Change::Removed,
                },
                before: hash(before.get(path)),
                after: hash(after.get(path)),
            })
            .collect()
    }

    proptest! {
        #[test]
        fn any_change_is_replayed_as_it_was(before in any_tree(), after in any_tree()) {
            let changed = changed(&before, &after);
            let world = World::new(before);
            let directory = world.path("recorded");
            set(&directory, &after);
            let changed = ChangedFiles { directory: &directory, files: &changed };
            let files = record(&world.path("cassette"), changed).unwrap();
            world.replay(&files).unwrap();
            prop_assert_eq!(world.replayed(), after);
        }
    }
}
