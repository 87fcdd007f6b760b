#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::error::Error;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::config::Config;
use crate::flags::Flags;
use crate::layer_reader;

struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for directory in ["home/.aiwf", "project/.aiwf"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        Self { root }
    }

    fn with(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        fs::write(self.root.path().join(path), bytes).unwrap();
        self
    }

    fn with_link(self, path: &str, target: &str) -> Self {
        symlink(self.root.path().join(target), self.root.path().join(path)).unwrap();
        self
    }

    fn settings(&self) -> Settings {
        let project_root = self.root.path().join("project");
        let home = Some(self.root.path().join("home"));
        let current_dir = project_root.clone();
        Settings {
            current_dir,
            shell_dir: None,
            project_root,
            home,
            cache_dir: None,
            user: None,
            embedded_providers: std::collections::BTreeSet::new(),
            max_cost_micros: None,
            models: std::collections::BTreeMap::new(),
        }
    }

    /// The origins of the settings, or the error with cause and hint.
    fn check(&self) -> String {
        check(&self.settings())
    }
}

fn check(settings: &Settings) -> String {
    match Config::load(settings, &Flags::default()) {
        Ok(config) => config.session.max_iterations.origin.to_string(),
        Err(error) => {
            let cause = error.source().map(|cause| format!("\n  caused by: {cause}")).unwrap_or_default();
            error.with_hint().replacen("\nhint:", &format!("{cause}\nhint:"), 1)
        }
    }
}

const USER: &str = "home/.aiwf/config.toml";
const PROJECT: &str = "project/.aiwf/config.toml";
const SET: &str = "[session]\nmax_iterations = 2\n";

#[test]
fn both_files_may_be_missing() {
    assert_eq!(World::new().check(), "default");
    let settings = Settings { home: None, ..World::new().settings() };
    assert_eq!(check(&settings), "default");
}

#[test]
fn the_projects_file_takes_precedence() {
    assert_eq!(World::new().with(USER, SET).check(), "~/.aiwf/config.toml:2");
    assert_eq!(World::new().with(USER, SET).with(PROJECT, SET).check(), ".aiwf/config.toml:2");
}

#[test]
fn a_file_in_the_home_is_the_users_even_if_it_is_the_project() {
    let world = World::new().with(USER, SET).with_link("linked-home", "home");
    let home = world.root.path().join("home");
    assert_eq!(check(&Settings { project_root: home, ..world.settings() }), "~/.aiwf/config.toml:2");
    let linked = world.root.path().join("linked-home");
    assert_eq!(check(&Settings { project_root: linked, ..world.settings() }), "~/.aiwf/config.toml:2");
}

#[test]
fn the_problems_of_both_files_are_reported_together() {
    let world = World::new().with(USER, "[sesion]\n").with(PROJECT, "[roles]\nplaner = \"a\"\n");
    assert_snapshot!(world.check(), @"
    error: configuration has 2 problems
      ~/.aiwf/config.toml:1:2: unknown key `sesion` (did you mean `session`?)
      .aiwf/config.toml:2:1: unknown key `planer` in `[roles]` (did you mean `planner`?)
    hint: start with the first: did you mean `session`? known: `roles`, `gates`, `session`, `standards`, `context`, `change`, `workflow`, `checks`, `worktree`, `notify`, `budget`, `prices`, `defaults`, `providers`, `mcp`, `tools`, `trust`
    ");
}

#[test]
fn a_link_that_leaves_the_project_is_refused() {
    let world = World::new().with("outside.toml", SET).with_link(PROJECT, "outside.toml");
    assert_snapshot!(world.check(), @"
    error: `.aiwf/config.toml` is a link to a file outside the project
    hint: replace the link with a file; your own settings belong in `~/.aiwf/config.toml`
    ");
}

#[test]
fn a_folder_that_leaves_the_project_is_refused() {
    let world = World::new().with(USER, SET);
    fs::remove_dir_all(world.root.path().join("project/.aiwf")).unwrap();
    let world = world.with_link("project/.aiwf", "home/.aiwf");
    assert!(world.check().contains("outside the project"));
}

#[test]
fn a_link_inside_the_project_is_followed() {
    let world = World::new().with("project/shared.toml", SET).with_link(PROJECT, "project/shared.toml");
    assert_eq!(world.check(), ".aiwf/config.toml:2");
}

#[test]
fn the_users_file_may_be_a_link_to_anywhere() {
    let world = World::new().with("dotfiles.toml", SET).with_link(USER, "dotfiles.toml");
    assert_eq!(world.check(), "~/.aiwf/config.toml:2");
}

#[test]
fn a_broken_link_is_an_error() {
    assert_snapshot!(World::new().with_link(PROJECT, "nowhere").check(), @"
    error: could not read `.aiwf/config.toml`
      caused by: the link is broken
    hint: make `.aiwf/config.toml` readable, or remove it to use the defaults
    ");
}

#[test]
fn a_file_that_is_not_text_is_refused() {
    assert_snapshot!(World::new().with(PROJECT, b"[session]\n# \xff\n").check(), @"
    error: `.aiwf/config.toml` is not UTF-8 text
     --> .aiwf/config.toml:2
    hint: `.aiwf/config.toml` must be a TOML file; move it away to use the defaults
    ");
}

#[test]
fn a_file_over_one_mebibyte_is_refused() {
    let comment = |size: usize| format!("#{}", "x".repeat(size - 1));
    assert_eq!(World::new().with(USER, comment(1024 * 1024)).check(), "default");
    assert_snapshot!(World::new().with(USER, comment(1024 * 1024 + 1)).check(), @"
    error: `~/.aiwf/config.toml` is larger than 1 MiB
    hint: `~/.aiwf/config.toml` must be a TOML file; move it away to use the defaults
    ");
}

#[test]
fn a_directory_is_not_a_file() {
    let world = World::new();
    fs::create_dir(world.root.path().join(USER)).unwrap();
    assert_snapshot!(world.check(), @"
    error: `~/.aiwf/config.toml` is not a file
    hint: replace `~/.aiwf/config.toml` with a TOML file, or remove it
    ");
}

#[test]
fn a_file_where_the_folder_should_be_is_an_error() {
    let world = World::new();
    fs::remove_dir_all(world.root.path().join("home/.aiwf")).unwrap();
    assert!(world.with("home/.aiwf", "").check().starts_with("error: could not read `~/.aiwf/config.toml`"));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in any::<Vec<u8>>()) {
        if let Ok(text) = into_text(ConfigFile::Project, bytes) {
            layer_reader::read(ConfigFile::Project, Path::new("/project"), &text);
        }
    }
}
