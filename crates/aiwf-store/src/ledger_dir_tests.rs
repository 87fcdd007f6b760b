#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, mkfifoat};

use super::*;
use crate::{Journal, JournalError, Lock, LockError, Objects};

struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("project/.aiwf/sessions/one")).unwrap();
        fs::write(directory.path().join("secret"), "secret").unwrap();
        Self { directory }
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn session(&self) -> PathBuf {
        self.root().join(".aiwf/sessions/one")
    }

    fn open(&self) -> Result<LedgerDir, ConfinedError> {
        LedgerDir::open(&self.root(), Path::new(".aiwf/sessions"), "one")
    }

    fn secret(&self) -> String {
        fs::read_to_string(self.directory.path().join("secret")).unwrap()
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    result.unwrap_err().source.to_string()
}

#[test]
fn a_link_instead_of_any_file_is_neither_read_nor_written_through() {
    let world = World::new();
    let outside = world.directory.path().join("secret");
    let ledger = Arc::new(world.open().unwrap());
    for name in ["session.json", "journal.jsonl", ".lock", "plan.md"] {
        symlink(&outside, world.session().join(name)).unwrap();
        assert!(matches!(ledger.read(name), Err(ConfinedError::Link)), "{name}");
        assert!(matches!(ledger.sha256(name), Err(ConfinedError::Link)), "{name}");
        assert_eq!(
            refusal(ledger.write(name, b"x", Durability::Process)),
            "it is a link, or reached through one"
        );
    }
    let journal =
        Journal::<serde_json::Value>::open_path(&world.session().join("journal.jsonl")).unwrap_err();
    assert!(matches!(journal, JournalError::Unreadable { .. }), "{journal}");
    assert!(matches!(Lock::take(&ledger), Err(LockError::Unusable { .. })));
    symlink(world.directory.path(), world.session().join("objects")).unwrap();
    assert!(Objects::of(Arc::clone(&ledger)).keep(b"x").is_err());
    symlink(world.directory.path(), world.session().join("iteration-1")).unwrap();
    assert!(ledger.write("iteration-1/secret", b"x", Durability::Process).is_err());
    assert!(matches!(ledger.refuse_links("iteration-1/none"), Err(ConfinedError::Link)));
    assert_eq!(world.secret(), "secret");
}

#[test]
fn the_session_and_its_path_stay_in_the_project() {
    let world = World::new();
    let sessions = world.root().join(".aiwf/sessions");
    symlink("one", sessions.join("two")).unwrap();
    let two = LedgerDir::open(&world.root(), Path::new(".aiwf/sessions"), "two");
    assert!(matches!(two, Err(ConfinedError::Link)));
    // A link in the path is fine if it stays in the project.
    fs::rename(&sessions, world.root().join("kept")).unwrap();
    symlink("../kept", &sessions).unwrap();
    world.open().unwrap();
    fs::rename(world.root().join("kept"), world.directory.path().join("kept")).unwrap();
    fs::remove_file(&sessions).unwrap();
    symlink(world.directory.path().join("kept"), &sessions).unwrap();
    assert!(matches!(world.open(), Err(ConfinedError::Outside)));
    let made = LedgerDir::create_place(&world.root(), Path::new(".aiwf/sessions"));
    assert!(matches!(made, Err(ConfinedError::Outside)));
    fs::remove_file(&sessions).unwrap();
    symlink(world.directory.path().join("nowhere"), &sessions).unwrap();
    assert!(LedgerDir::create_place(&world.root(), Path::new(".aiwf/sessions")).is_err());
    assert!(!world.directory.path().join("nowhere").exists());
}

#[test]
fn a_streamed_file_is_new_and_not_behind_a_link() {
    let world = World::new();
    let ledger = world.open().unwrap();
    ledger.create_file("iteration-1/reply.partial-1.md").unwrap().write_all(b"half").unwrap();
    assert_eq!(ledger.read("iteration-1/reply.partial-1.md").unwrap(), Some(b"half".to_vec()));
    assert!(ledger.create_file("iteration-1/reply.partial-1.md").is_err());
    symlink(world.directory.path().join("made"), world.session().join("reply")).unwrap();
    assert!(ledger.create_file("reply").is_err());
    symlink(world.directory.path(), world.session().join("iteration-2")).unwrap();
    assert!(matches!(ledger.create_file("iteration-2/made"), Err(ConfinedError::Link)));
    assert!(!world.directory.path().join("made").exists());
    // Only a temporary directory is private.
    let mode = |file: File| file.metadata().unwrap().permissions().mode() & 0o777;
    let private = LedgerDir::at_private(&world.session()).unwrap();
    assert_eq!(mode(private.create_file("private").unwrap()), 0o600);
}

#[test]
fn pipes_are_refused_at_once() {
    let world = World::new();
    let ledger = Arc::new(world.open().unwrap());
    for name in ["session.json", "journal.jsonl", ".lock"] {
        mkfifoat(CWD, world.session().join(name), Mode::from_raw_mode(0o600)).unwrap();
        assert!(matches!(ledger.read(name), Err(ConfinedError::Special)), "{name}");
        assert_eq!(refusal(ledger.write(name, b"x", Durability::Process)), "it is not a regular file");
    }
    assert!(Journal::<serde_json::Value>::open_path(&world.session().join("journal.jsonl")).is_err());
    assert!(matches!(Lock::take(&ledger), Err(LockError::Unusable { .. })));
    assert!(!Lock::is_taken(&ledger));
}

#[test]
fn a_file_with_other_hard_links_is_refused() {
    let world = World::new();
    let ledger = Arc::new(world.open().unwrap());
    for name in ["session.json", "journal.jsonl", ".lock"] {
        fs::hard_link(world.directory.path().join("secret"), world.session().join(name)).unwrap();
        assert!(matches!(ledger.read(name), Err(ConfinedError::HardLinks { .. })), "{name}");
    }
    assert!(Journal::<serde_json::Value>::open_path(&world.session().join("journal.jsonl")).is_err());
    assert!(Lock::take(&ledger).is_err());
    assert!(ledger.write("session.json", b"x", Durability::Process).is_err());
    assert_eq!(world.secret(), "secret");
}

#[test]
fn an_endless_file_is_not_read_to_the_end() {
    let world = World::new();
    let sparse = fs::File::create(world.session().join("session.json")).unwrap();
    sparse.set_len(MAX_LEDGER_FILE_BYTES + 1).unwrap();
    let read = world.open().unwrap().read("session.json");
    assert!(matches!(read, Err(ConfinedError::TooLarge { .. })));
    assert!(matches!(crate::read_regular(Path::new("/dev/zero"), 10), Err(ConfinedError::Special)));
}

#[test]
fn leftovers_are_removed_without_following_links() {
    let world = World::new();
    fs::create_dir_all(world.directory.path().join("outside/inner")).unwrap();
    fs::write(world.directory.path().join("outside/.tmp-x"), "").unwrap();
    symlink(world.directory.path().join("outside"), world.session().join(".tmp-link")).unwrap();
    symlink(world.directory.path().join("outside"), world.session().join("iteration-1")).unwrap();
    fs::create_dir_all(world.session().join(".tmp-1-code/deep/er")).unwrap();
    world.open().unwrap().remove_leftovers_below();
    let left: Vec<_> = world.open().unwrap().handle().entries().unwrap();
    assert_eq!(left.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["iteration-1"]);
    assert!(world.directory.path().join("outside/.tmp-x").exists());
    assert!(world.directory.path().join("outside/inner").exists());
}

#[test]
fn a_file_is_replaced_only_while_it_has_the_expected_content() {
    let world = World::new();
    let session = world.open().unwrap();
    let handle = session.handle();
    handle.write_if_unchanged("a", None, b"one").unwrap();
    assert!(matches!(handle.write_if_unchanged("a", None, b"two"), Err(ConfinedError::Changed)));
    let one = crate::sha256_hex(b"one");
    handle.write_if_unchanged("a", Some(&one), b"two").unwrap();
    assert!(matches!(handle.write_if_unchanged("a", Some(&one), b"three"), Err(ConfinedError::Changed)));
    assert_eq!(session.read("a").unwrap().unwrap(), b"two");
    assert_eq!(handle.entries().unwrap().len(), 1);
}
