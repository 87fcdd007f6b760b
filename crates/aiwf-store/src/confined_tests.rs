#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use super::*;

fn world() -> (tempfile::TempDir, ConfinedDir) {
    let world = tempfile::tempdir().unwrap();
    let inside = world.path().join("inside");
    std::fs::create_dir_all(inside.join("sub")).unwrap();
    std::fs::write(inside.join("a.txt"), "a").unwrap();
    std::fs::write(world.path().join("secret"), "secret").unwrap();
    let directory = ConfinedDir::open(&inside).unwrap();
    (world, directory)
}

#[test]
fn names_that_are_paths_are_refused() {
    let (_world, directory) = world();
    for name in ["", ".", "..", "../secret", "sub/..", "/etc", "a\0"] {
        assert!(matches!(directory.file(name), Err(ConfinedError::NotAName)), "{name:?}");
        assert!(matches!(directory.write(name, b"", Durability::Process), Err(ConfinedError::NotAName)));
    }
}

#[test]
fn links_are_never_followed() {
    let (world, directory) = world();
    let inside = world.path().join("inside");
    symlink("../secret", inside.join("out")).unwrap();
    symlink("a.txt", inside.join("in")).unwrap();
    symlink("..", inside.join("up")).unwrap();
    assert!(matches!(directory.file("out"), Err(ConfinedError::Link)));
    assert!(matches!(directory.file("in"), Err(ConfinedError::Link)));
    assert!(matches!(directory.directory("up"), Err(ConfinedError::Link)));
    assert!(matches!(directory.create_directory("up"), Err(ConfinedError::Link)));
    assert!(matches!(directory.write("out", b"x", Durability::Process), Err(ConfinedError::Link)));
    assert_eq!(std::fs::read(world.path().join("secret")).unwrap(), b"secret");
}

#[test]
fn a_pipe_is_refused_at_once() {
    let (world, directory) = world();
    let pipe = world.path().join("inside/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::from_raw_mode(0o600)).unwrap();
    assert!(matches!(directory.file("pipe"), Err(ConfinedError::Special)));
    assert!(matches!(directory.write("pipe", b"x", Durability::Process), Err(ConfinedError::Special)));
}

#[test]
fn a_write_replaces_the_file_and_leaves_nothing_else() {
    let (world, directory) = world();
    directory.write("a.txt", b"new", Durability::PowerLoss).unwrap();
    directory.create_directory("deep").unwrap().write("b.txt", b"b", Durability::Process).unwrap();
    assert_eq!(std::fs::read(world.path().join("inside/a.txt")).unwrap(), b"new");
    let names: Vec<_> = directory.entries().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["a.txt", "deep", "sub"]);
    assert!(matches!(directory.write("sub", b"", Durability::Process), Err(ConfinedError::IsADirectory)));
}

#[test]
fn a_directory_that_keeps_turning_into_a_link_is_never_escaped() {
    let (world, directory) = world();
    let inside = world.path().join("inside");
    std::fs::create_dir(world.path().join("outside")).unwrap();
    std::fs::write(world.path().join("outside/name"), "secret").unwrap();
    std::fs::write(inside.join("sub/name"), "fine").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(inside.join("sub"), inside.join("kept")).unwrap();
                symlink("../outside", inside.join("sub")).unwrap();
                std::fs::remove_file(inside.join("sub")).unwrap();
                std::fs::rename(inside.join("kept"), inside.join("sub")).unwrap();
            }
        }
    });
    for _ in 0..2_000 {
        if let Ok(sub) = directory.directory("sub") {
            if let Ok(file) = sub.file("name") {
                assert_eq!(io::read_to_string(file).unwrap(), "fine");
            }
            drop(sub.write("written", b"x", Durability::Process));
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(!world.path().join("outside/written").exists());
}

#[test]
fn an_executable_file_is_executable_by_all_readers() {
    let (world, directory) = world();
    let path = world.path().join("inside/tool");
    std::fs::write(&path, "x").unwrap();
    let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
    for (before, executable, plain) in [(0o644, 0o755, 0o644), (0o600, 0o700, 0o600), (0o751, 0o751, 0o640)] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(before)).unwrap();
        directory.set_executable("tool", true).unwrap();
        assert_eq!(mode(), executable);
        directory.set_executable("tool", false).unwrap();
        assert_eq!(mode(), plain);
    }
    symlink("tool", world.path().join("inside/link")).unwrap();
    assert!(matches!(directory.set_executable("link", true), Err(ConfinedError::Link)));
    assert_eq!(mode(), 0o640);
}
