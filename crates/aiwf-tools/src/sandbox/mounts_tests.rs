#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use aiwf_store::Durability;
use proptest::prelude::*;

use super::*;

/// A project, a package and a state directory, next to a secret file.
pub(in super::super) struct World {
    pub(in super::super) directory: tempfile::TempDir,
    pub(in super::super) mounts: Mounts,
}

impl World {
    pub(in super::super) fn new() -> Self {
        let directory = aiwf_testkit::scratch_dir();
        let mut mounts = Mounts::default();
        for (mount, name) in
            [(Mount::Project, "project"), (Mount::Package, "package"), (Mount::State, "state")]
        {
            std::fs::create_dir(directory.path().join(name)).unwrap();
            mounts.mount(mount, &directory.path().join(name)).unwrap();
        }
        std::fs::write(directory.path().join("secret"), "secret").unwrap();
        Self { directory, mounts }
    }

    pub(in super::super) fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    pub(in super::super) fn file(self, relative: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(in super::super) fn text(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap()
    }
}

fn alias(text: &str) -> AliasPath {
    AliasPath::parse(text).unwrap()
}

#[track_caller]
fn check_violation<T: std::fmt::Debug>(result: Result<T, ToolError>) {
    let error = result.unwrap_err();
    assert_eq!(error.code, ErrorCode::SandboxViolation, "{error:?}");
}

#[test]
fn the_package_and_logs_are_read_only() {
    let world = World::new().file("package/a.md", "a").file("state/logs/execution.jsonl", "{}\n");
    assert!(world.mounts.has_file(&alias("@pkg/a.md")));
    check_violation(world.mounts.write(&alias("@pkg/a.md"), b"x", Durability::Process));
    check_violation(world.mounts.write(&alias("@pkg/new.md"), b"x", Durability::Process));
    assert!(world.mounts.has_file(&alias("@state/logs/execution.jsonl")));
    check_violation(world.mounts.write(&alias("@state/logs/execution.jsonl"), b"x", Durability::Process));
    check_violation(world.mounts.write(&alias("@state/Logs/x"), b"x", Durability::Process));
    assert_eq!(world.text("package/a.md"), "a");
}

#[test]
fn a_missing_mount_is_refused() {
    let mounts = Mounts::default();
    check_violation(mounts.file(&alias("@state/workflow.md")));
    check_violation(mounts.directory(&alias("@project")));
}

#[test]
fn files_of_aiwf_and_git_are_protected() {
    let world = World::new()
        .file("project/.git/config", "x")
        .file("project/.aiwf/config.toml", "x")
        .file("project/sub/.git", "x");
    for path in [
        "@project/.git/config",
        "@project/.git",
        "@project/.GIT/config",
        "@project/．git/config",
        "@project/.aiwf/config.toml",
        "@project/.AIWF/runs/1/state/workflow.md",
        "@project/sub/.git",
        "@project/GIT~1/config",
    ] {
        check_violation(world.mounts.file(&alias(path)));
        check_violation(world.mounts.directory(&alias(path)));
        check_violation(world.mounts.write(&alias(path), b"x", Durability::Process));
    }
    assert!(world.mounts.write(&alias("@project/.gitignore"), b"x", Durability::Process).is_ok());
    assert_eq!(world.text("project/.git/config"), "x");
}

#[test]
fn links_are_refused_wherever_they_point() {
    let world = World::new().file("project/a.txt", "a");
    symlink("../secret", world.path("project/out")).unwrap();
    symlink("..", world.path("project/up")).unwrap();
    symlink("a.txt", world.path("project/in")).unwrap();
    symlink(".git", world.path("project/git")).unwrap();
    for path in ["@project/out", "@project/up/secret", "@project/in", "@project/git/config"] {
        check_violation(world.mounts.file(&alias(path)));
        check_violation(world.mounts.write(&alias(path), b"x", Durability::Process));
    }
    check_violation(world.mounts.write(&alias("@project/up/new/file"), b"x", Durability::Process));
    assert_eq!(world.text("secret"), "secret");
    assert!(!world.path("new").exists());
}

#[test]
fn a_write_creates_missing_directories_and_names_a_blocking_file() {
    let world = World::new().file("project/a.txt", "a");
    world.mounts.write(&alias("@project/artifacts/deep/x.md"), b"x", Durability::Process).unwrap();
    assert_eq!(world.text("project/artifacts/deep/x.md"), "x");
    let error = world.mounts.write(&alias("@project/a.txt/x"), b"x", Durability::Process).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgs);
    let error = world.mounts.file(&alias("@project/none/x")).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::NotFound, "`@project/none/x` does not exist: list the directory above it, or search")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_write_ever_leaves_a_mount(
        first in prop::sample::select(vec!["up", "a", "a/up", "out", ".", ".."]),
        parts in prop::collection::vec("(\\.\\.|\\.|up|out|loop|a|b|\\.git|/|~|C:|%2e%2e|‥)", 0..4),
        slash in "[/\\\\]",
    ) {
        let world = World::new().file("project/a/x", "x");
        symlink("..", world.path("project/up")).unwrap();
        symlink("../..", world.path("project/a/up")).unwrap();
        symlink("../secret", world.path("project/out")).unwrap();
        symlink("loop", world.path("project/loop")).unwrap();
        let text = format!("@project{slash}{first}{slash}{}", parts.join(&slash));
        if let Ok(path) = AliasPath::parse(&text) {
            drop(world.mounts.write(&path, b"written", Durability::Process));
        }
        let mut names: Vec<_> = std::fs::read_dir(world.directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        prop_assert_eq!(names, ["package", "project", "secret", "state"]);
        prop_assert_eq!(world.text("secret"), "secret");
        prop_assert!(!world.path("project/.git").exists());
    }
}
