#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

struct World {
    root: tempfile::TempDir,
    store: DiskLedgerStore,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let store = DiskLedgerStore::at(root.path(), ".aiwf/sessions");
        Self { root, store }
    }

    fn create(&self, id: &str) {
        let _lock = self.store.lock().unwrap();
        let ledger = self.store.begin(id).unwrap();
        ledger.append_journal(0, b"{}\n").unwrap();
        self.store.publish(id).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.path().join(".aiwf/sessions")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_session_is_visible_once_it_is_published() {
    let world = World::new();
    let lock = world.store.lock().unwrap();
    let ledger = world.store.begin("one").unwrap();
    ledger.append_journal(0, b"{}\n").unwrap();
    assert!(matches!(world.store.open("one"), Err(ConfinedError::Missing)));
    world.store.publish("one").unwrap();
    drop(lock);
    assert_eq!(world.store.open("one").unwrap().read_journal(100).unwrap(), b"{}\n");
}

#[test]
fn the_next_process_removes_what_a_killed_one_left() {
    let world = World::new();
    let lock = world.store.lock().unwrap();
    world.store.begin("one").unwrap();
    drop(lock);
    world.create("two");
    assert_eq!(world.names(), [".lock", "two"]);
}

#[test]
fn lines_are_appended_only_at_the_length_that_was_seen() {
    let world = World::new();
    world.create("one");
    let ledger = world.store.open("one").unwrap();
    assert!(ledger.append_journal(0, b"other\n").is_err());
    ledger.append_journal(3, b"more\n").unwrap();
    assert_eq!(ledger.read_journal(100).unwrap(), b"{}\nmore\n");
    assert_eq!(ledger.n_journal_bytes().unwrap(), Some(8));
}

#[test]
fn a_removed_session_is_gone_and_no_link_is_followed() {
    let world = World::new();
    let outside = world.root.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "x").unwrap();
    world.create("one");
    symlink(&outside, world.root.path().join(".aiwf/sessions/one/code")).unwrap();
    symlink(&outside, world.root.path().join(".aiwf/sessions/linked")).unwrap();
    world.store.remove("one").unwrap();
    world.store.remove("linked").unwrap();
    assert_eq!(world.names(), [".lock"]);
    assert!(outside.join("precious").is_file());
}

#[test]
fn the_next_process_finishes_an_interrupted_removal() {
    let world = World::new();
    world.create("one");
    let place = world.root.path().join(".aiwf/sessions");
    fs::rename(place.join("one"), place.join(".tmp-one")).unwrap();
    assert!(matches!(world.store.open("one"), Err(ConfinedError::Missing)));
    drop(world.store.lock().unwrap());
    assert_eq!(world.names(), [".lock"]);
}
