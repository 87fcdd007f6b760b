//! Records, in the user's state directory, of the ledgers this user worked on.
//!
//! In: the id and journal of a ledger. Out: whether this user worked on it, and whether the journal still contains the
//! last line seen. A checkout cannot write here, so a record tells a ledger of the user's own from one that came with a
//! directory, and a truncated journal from a short one. There is one file per ledger, found by name; no command scans
//! the directory to check a ledger.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic::{Durability, StoreError, create_dir, remove, write_atomic};
use crate::journal::Line;

/// Size limit; aiwf never writes a larger record.
const MAX_BYTES: u64 = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRecord {
    /// The id of a session, change or run.
    pub id: String,
    /// SHA-256 of the first line of the journal; together with the id it identifies the ledger even if the project
    /// moves.
    pub first_sha256: String,
    /// The number of the last line seen.
    pub last_seq: u64,
    pub last_sha256: String,
    /// The project directory at that time, for display.
    pub project: String,
    /// Whether the user adopted the ledger rather than creating it.
    #[serde(default)]
    pub is_adopted: bool,
}

/// The result of comparing a journal with its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordMatch {
    /// It contains the last line seen.
    Known(LedgerRecord),
    /// There is no record.
    Foreign,
    /// It is shorter than it was.
    Short(LedgerRecord),
    /// It is long enough, but its content differs.
    Different(LedgerRecord),
}

/// The records of one kind of ledger.
#[derive(Clone, Debug)]
pub struct LedgerRecords {
    directory: PathBuf,
}

impl LedgerRecords {
    /// The records in a directory, which is created with the first one.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Compares a journal with its record; an empty journal is foreign.
    pub fn standing<E>(&self, id: &str, lines: &[Line<E>]) -> RecordMatch {
        let record = lines.first().and_then(|first| self.get(id, &first.sha256));
        let Some(record) = record else { return RecordMatch::Foreign };
        let seen = usize::try_from(record.last_seq).ok().and_then(|seq| lines.get(seq.checked_sub(1)?));
        match seen {
            None => RecordMatch::Short(record),
            Some(line) if line.sha256 == record.last_sha256 => RecordMatch::Known(record),
            Some(_) => RecordMatch::Different(record),
        }
    }

    /// The record of a ledger; an unreadable one counts as none.
    pub fn get(&self, id: &str, first_sha256: &str) -> Option<LedgerRecord> {
        let record = read(&self.path(id, first_sha256))?;
        (record.id == id && record.first_sha256 == first_sha256).then_some(record)
    }

    /// Records the current state of a journal. A power failure may lose the latest record, which is safe.
    pub fn remember<E>(
        &self,
        id: &str,
        lines: &[Line<E>],
        project: &Path,
        is_adopted: bool,
    ) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return Ok(()) };
        let record = LedgerRecord {
            id: id.to_owned(),
            first_sha256: first.sha256.clone(),
            last_seq: last.seq,
            last_sha256: last.sha256.clone(),
            project: project.to_string_lossy().into_owned(),
            is_adopted,
        };
        create_dir(&self.directory)?;
        write_atomic(&self.path(id, &first.sha256), Durability::Process, |out| {
            serde_json::to_writer(&mut *out, &record)?;
            out.write_all(b"\n")
        })
    }

    pub fn forget(&self, id: &str, first_sha256: &str) -> Result<(), StoreError> {
        remove(&self.path(id, first_sha256))
    }

    /// Every record, sorted by id. Scans the whole directory, so use it only for lists.
    pub fn all(&self) -> Vec<LedgerRecord> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().filter_map(Result::ok);
        let mut records: Vec<LedgerRecord> = entries.filter_map(|entry| read(&entry.path())).collect();
        records.sort_by(|a, b| a.id.cmp(&b.id).then_with(|| a.first_sha256.cmp(&b.first_sha256)));
        records
    }

    fn path(&self, id: &str, first_sha256: &str) -> PathBuf {
        // Ids are directory names and therefore single names; anything else has no record.
        let id = if id.contains(['/', '\0']) { "unnamed" } else { id };
        self.directory.join(format!("{id}-{}.json", first_sha256.get(..12).unwrap_or(first_sha256)))
    }
}

fn read(path: &Path) -> Option<LedgerRecord> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha256_hex;

    fn line(seq: u64, text: &str) -> Line<String> {
        Line { seq, at: String::new(), sha256: sha256_hex(text.as_bytes()), event: text.to_owned() }
    }

    #[test]
    fn a_journal_is_known_while_it_contains_what_was_seen_last() {
        let directory = tempfile::tempdir().unwrap();
        let records = LedgerRecords::at(directory.path().join("state/sessions"));
        let mut lines = vec![line(1, "a"), line(2, "b")];
        assert_eq!(records.standing("one", &lines), RecordMatch::Foreign);
        records.remember("one", &lines, Path::new("/project"), false).unwrap();
        assert!(matches!(records.standing("one", &lines), RecordMatch::Known(_)));
        assert_eq!(records.standing("two", &lines), RecordMatch::Foreign);
        lines.push(line(3, "c"));
        assert!(matches!(records.standing("one", &lines), RecordMatch::Known(_)));
        assert!(matches!(records.standing("one", &lines[..1]), RecordMatch::Short(_)));
        assert!(matches!(records.standing("one", &[line(1, "a"), line(2, "x")]), RecordMatch::Different(_)));
        assert_eq!(records.standing("one", &[line(1, "x"), line(2, "b")]), RecordMatch::Foreign);
        assert_eq!(records.standing::<String>("one", &[]), RecordMatch::Foreign);
    }

    #[test]
    fn a_record_that_cannot_be_read_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let records = LedgerRecords::at(directory.path());
        let lines = [line(1, "a")];
        records.remember("one", &lines, Path::new("/p"), false).unwrap();
        let path = records.path("one", &lines[0].sha256);
        write_atomic(&path, Durability::Process, |_| Ok(())).unwrap();
        assert_eq!(records.standing("one", &lines), RecordMatch::Foreign);
        assert_eq!(records.all(), Vec::new());
    }

    #[test]
    fn an_id_never_leads_out_of_the_directory() {
        let records = LedgerRecords::at("/state");
        assert_eq!(records.path("../../x", &"0".repeat(64)), Path::new("/state/unnamed-000000000000.json"));
    }

    #[test]
    fn a_forgotten_ledger_is_foreign_again() {
        let directory = tempfile::tempdir().unwrap();
        let records = LedgerRecords::at(directory.path().join("state"));
        let lines = [line(1, "a"), line(2, "b")];
        records.remember("one", &lines, directory.path(), true).unwrap();
        let all = records.all();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].last_seq, all[0].is_adopted), (2, true));
        records.forget("one", &lines[0].sha256).unwrap();
        assert_eq!(records.all(), Vec::new());
    }
}
