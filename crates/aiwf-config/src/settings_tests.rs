#![expect(clippy::disallowed_methods, reason = "tests make directories of their own")]

use std::fs;

use super::*;

struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new(directories: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for directory in directories {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        Self { root }
    }

    fn project_from(&self, current: &str) -> String {
        let environment = Environment {
            current_dir: self.root.path().join(current),
            home: Some(self.root.path().join("home")),

            ..Environment::default()
        };
        let settings = Settings::resolve(None, environment).unwrap();
        settings.project_root.strip_prefix(self.root.path()).unwrap().display().to_string()
    }
}

#[test]
fn the_project_is_the_nearest_directory_with_an_aiwf_folder() {
    let world = World::new(&["home/a/.aiwf", "home/a/b/c"]);
    assert_eq!(world.project_from("home/a/b/c"), "home/a");
}

#[test]
fn the_git_root_is_the_project_if_there_is_no_aiwf_folder() {
    let world = World::new(&["home/a/.git", "home/a/b"]);
    assert_eq!(world.project_from("home/a/b"), "home/a");
}

#[test]
fn the_users_own_folder_does_not_make_the_home_a_project() {
    let world = World::new(&["home/.aiwf", "home/a"]);
    assert_eq!(world.project_from("home/a"), "home/a");
}

#[test]
fn a_project_directory_that_does_not_exist_is_refused() {
    let error = Settings::resolve(Some(Path::new("nope")), Environment::default()).unwrap_err();
    assert_eq!(error.to_string(), "project directory `nope` does not exist");
}

#[test]
fn the_cache_is_in_the_system_location_or_in_the_home() {
    let home = Environment { home: Some("/h".into()), ..Environment::default() };
    let named = Environment { cache_home: Some("/c".into()), ..home.clone() };
    assert_eq!(Settings::resolve(None, home).unwrap().cache_dir, Some("/h/.cache/aiwf".into()));
    assert_eq!(Settings::resolve(None, named).unwrap().cache_dir, Some("/c/aiwf".into()));
}

#[test]
fn a_project_whose_path_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = tempfile::tempdir().unwrap();
    let odd = directory.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&odd).unwrap();
    let environment = Environment { current_dir: odd, ..Environment::default() };
    let error = Settings::resolve(None, environment).unwrap_err();
    assert!(error.to_string().starts_with("the project path is not UTF-8"), "{error}");
}
