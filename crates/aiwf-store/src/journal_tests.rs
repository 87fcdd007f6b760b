#![expect(clippy::disallowed_methods, reason = "tests damage journals")]

use std::fs;

use proptest::prelude::*;

use super::*;

type Events = Journal<serde_json::Value>;

struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("journal.jsonl")
    }

    fn open(&self) -> Result<Events, JournalError> {
        Events::open_path(&self.path())
    }

    fn append(&self, names: &[&str]) {
        let events = names.iter().map(|name| serde_json::json!({ "event": name })).collect();
        self.open().unwrap().append("2026-01-02T03:04:05Z", events).unwrap();
    }

    fn error(&self) -> String {
        let error = self.open().unwrap_err();
        format!("{error}\n{}", error.hint()).replace(&self.directory.path().display().to_string(), "[dir]")
    }
}

#[test]
fn what_was_appended_is_read_back_in_order() {
    let world = World::new();
    assert!(world.open().unwrap().lines().is_empty());
    world.append(&["a", "b"]);
    world.append(&["c"]);
    let journal = world.open().unwrap();
    let seen: Vec<_> = journal.lines().iter().map(|line| (line.seq, line.event["event"].clone())).collect();
    assert_eq!(seen, [(1, "a".into()), (2, "b".into()), (3, "c".into())]);
}

#[test]
fn the_format_of_a_line_is_fixed() {
    let world = World::new();
    world.append(&["a"]);
    insta::assert_snapshot!(fs::read_to_string(world.path()).unwrap(), @r#"{"sha256":"ab1fbcd62b98785f1d9a296d7bc91b7dc026c5253d69e580da84a0ea9ab25578","v":1,"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","at":"2026-01-02T03:04:05Z","event":{"event":"a"}}"#);
}

#[test]
fn a_torn_last_line_never_happened_and_a_copy_of_it_is_kept() {
    let world = World::new();
    world.append(&["a", "b"]);
    let whole = fs::read(world.path()).unwrap();
    fs::write(world.path(), whole.get(..whole.len() - 10).unwrap()).unwrap();
    let journal = world.open().unwrap();
    assert_eq!(journal.lines().len(), 1);
    assert_eq!(journal.torn().unwrap().n_whole, 1);
    world.append(&["c"]);
    let journal = world.open().unwrap();
    assert_eq!(journal.lines().len(), 2);
    assert!(journal.torn().is_none());
    assert!(world.directory.path().join("journal.torn-2.txt").is_file());
}

#[test]
fn a_changed_line_is_found_and_named() {
    let world = World::new();
    world.append(&["a", "b", "c"]);
    let text = fs::read_to_string(world.path()).unwrap().replace("\"b\"", "\"x\"");
    fs::write(world.path(), text).unwrap();
    insta::assert_snapshot!(world.error(), @"
    line 2 of the journal was modified: its hash does not match
      file: `[dir]/journal.jsonl`; the line before it is intact
    restore the journal from a backup; everything else is untouched
    ");
}

#[test]
fn a_removed_line_breaks_the_chain() {
    let world = World::new();
    world.append(&["a", "b", "c"]);
    let text = fs::read_to_string(world.path()).unwrap();
    let without_second: String =
        text.lines().enumerate().filter(|(i, _)| *i != 1).flat_map(|(_, line)| [line, "\n"]).collect();
    fs::write(world.path(), without_second).unwrap();
    assert!(world.error().contains("its number is out of order"));
}

#[test]
fn a_journal_that_grew_meanwhile_is_not_appended_to() {
    let world = World::new();
    world.append(&["a"]);
    let mut first = world.open().unwrap();
    world.append(&["b"]);
    let error = first.append("t", vec![serde_json::json!({})]).unwrap_err();
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(world.open().unwrap().lines().len(), 2);
}

#[test]
fn the_first_bad_line_of_a_long_journal_is_named_wherever_it_is() {
    const N_LINES: usize = 3_000;
    let world = World::new();
    let text = "x".repeat(100);
    let events = (0..N_LINES).map(|number| serde_json::json!({ "event": number, "text": text })).collect();
    world.open().unwrap().append("2026-01-02T03:04:05Z", events).unwrap();
    let whole = fs::read_to_string(world.path()).unwrap();
    assert!(whole.len() > 512 * 1024, "several threads read it");
    let journal = world.open().unwrap();
    let seen = journal.lines().iter().map(|line| (line.seq, line.event["event"].as_u64().unwrap() + 1));
    assert!(seen.eq((1..=N_LINES as u64).map(|seq| (seq, seq))));
    for changed in [&[1][..], &[N_LINES / 2], &[N_LINES / 2 + 1], &[N_LINES], &[N_LINES - 1, 10, N_LINES / 2]]
    {
        let change = |(idx, line): (usize, &str)| {
            if changed.contains(&(idx + 1)) { line.replace("xxx", "xyx") } else { line.to_owned() }
        };
        fs::write(world.path(), whole.split_inclusive('\n').enumerate().map(change).collect::<String>())
            .unwrap();
        let first = changed.iter().min().unwrap();
        assert!(world.error().starts_with(&format!("line {first} of the journal was modified")), "{first}");
    }
    // Without the first line of the second half, the line after it is the first that does not follow.
    let cut = N_LINES / 2;
    let without = whole.split_inclusive('\n').enumerate().filter(|(idx, _)| *idx != cut);
    fs::write(world.path(), without.map(|(_, line)| line).collect::<String>()).unwrap();
    assert!(world.error().contains(&format!("line {} of the journal was modified: its number", cut + 1)));
}

mod properties {
    use super::*;

    /// Reads bytes as a journal; its directory is never accessed.
    fn read(bytes: &[u8]) -> Result<Events, JournalError> {
        static HERE: std::sync::LazyLock<Arc<dyn Ledger>> =
            std::sync::LazyLock::new(|| Arc::new(DiskLedger::of(LedgerDir::at(Path::new(".")).unwrap())));
        Events::read(Arc::clone(&HERE), bytes)
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_and_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            drop(read(&bytes));
        }
    }

    /// The bytes of a journal with two events, written once so that the cases do not wait for the disk.
    static WHOLE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
        let world = World::new();
        world.append(&["a", "b"]);
        fs::read(world.path()).unwrap()
    });

    proptest! {
        #[test]
        fn any_single_changed_byte_is_detected(byte in any::<u8>(), position in any::<prop::sample::Index>()) {
            let position = position.index(WHOLE.len());
            let mut bytes = WHOLE.clone();
            bytes[position] = byte;
            let is_whole = read(&bytes)
                .is_ok_and(|journal| journal.lines().len() == 2 && journal.torn().is_none());
            prop_assert_eq!(is_whole, WHOLE[position] == byte, "at {}", position);
        }
    }

    #[test]
    fn a_change_at_any_position_is_noticed() {
        for position in 0..WHOLE.len() {
            let mut bytes = WHOLE.clone();
            bytes[position] ^= 1;
            let is_whole =
                read(&bytes).is_ok_and(|journal| journal.lines().len() == 2 && journal.torn().is_none());
            assert!(!is_whole, "at {position}");
        }
    }
}
