//! The journal: one JSON line for each event, chained by hashes, synced before anybody hears of it.
//!
//! A line is `{"sha256":"…","v":1,"seq":N,"prev":"…","at":"…","event":{…}}`; the hash is that of the line without it,
//! byte for byte. A last line without its end is torn: the process died while writing it, so it never happened. A line
//! that is whole and wrong was changed by somebody.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::atomic::StoreError;
use crate::confined::{ConfinedError, is_unsafe, remove_hint};
use crate::ledger::{DiskLedger, JOURNAL, Ledger};
use crate::ledger_dir::LedgerDir;
use crate::objects::{hex, sha256_hex};

/// The version of the line format.
const VERSION: u32 = 1;
/// What the first line's `prev` holds.
const NO_PREVIOUS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// A journal larger than this is not one of ours.
const MAX_JOURNAL_BYTES: u64 = 256 * 1024 * 1024;
/// A line larger than this is not one of ours.
pub(crate) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// An event with its place in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<E> {
    /// Its number, from 1.
    pub seq: u64,
    /// When it happened.
    pub at: String,
    /// SHA-256 of the line.
    pub sha256: String,
    /// What happened.
    pub event: E,
}

/// A last line that was never finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// How many lines are whole.
    pub n_whole: u64,
    /// How many bytes of the next one were written.
    pub n_bytes: usize,
}

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read.
    #[error("could not read `{}`", path.display())]
    Unreadable {
        /// The journal.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A line is not what it was.
    #[error("line {line} of the journal is not what was written: {problem}\n  file: `{}`; {}", path.display(), intact(line - 1))]
    Changed {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A line is whole, but says what no aiwf would have written.
    #[error("line {line} of the journal was not written by aiwf: {problem}\n  file: `{}`", path.display())]
    Refused {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// It is shorter than it was.
    #[error("the journal has lost its end: {found} bytes of it are there, and there were {expected}\n  file: `{}`", path.display())]
    Short {
        /// The journal.
        path: PathBuf,
        /// How many bytes its whole lines have.
        found: u64,
        /// How many they had.
        expected: u64,
    },
    /// A newer program wrote it.
    #[error("line {line} of the journal has format {found}, this program reads up to {VERSION}\n  file: `{}`", path.display())]
    TooNew {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The version found.
        found: u64,
    },
    /// It cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How much of a journal is what was written.
fn intact(n_lines: u64) -> String {
    match n_lines {
        0 => "it is the first line".to_owned(),
        1 => "the line before it is intact".to_owned(),
        n_lines => format!("the first {n_lines} lines are intact"),
    }
}

impl JournalError {
    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, source } if is_unsafe(source) => remove_hint(path),
            Self::Refused { path, .. } => {
                let directory = path.parent().unwrap_or(path).display();
                format!("do not work with it; remove `{directory}` if you do not know where it came from")
            }
            Self::Unreadable { path, .. } => format!("check that `{}` can be read", path.display()),
            Self::Changed { .. } | Self::Short { .. } => {
                "bring the journal back from a copy; everything else is untouched".to_owned()
            }
            Self::TooNew { .. } => "use the version of aiwf that wrote it, or a newer one".to_owned(),
            Self::Store(error) => error.hint(),
        }
    }
}

#[derive(Serialize)]
struct Written<'a, E> {
    v: u32,
    seq: u64,
    prev: &'a str,
    at: &'a str,
    event: &'a E,
}

/// A line without its event.
#[derive(Deserialize)]
struct Head {
    v: u64,
    seq: u64,
    prev: String,
    at: String,
}

/// A line with its event.
#[derive(Deserialize)]
struct Whole<E> {
    v: u64,
    seq: u64,
    prev: String,
    at: String,
    event: E,
}

/// A session's journal, read as a whole.
#[derive(Debug)]
pub struct Journal<E> {
    ledger: Arc<dyn Ledger>,
    path: PathBuf,
    lines: Vec<Line<E>>,
    torn: Option<Torn>,
    n_whole_bytes: u64,
}

impl<E: Serialize + DeserializeOwned> Journal<E> {
    /// Reads the journal of a session or run and checks its chain; one that does not exist is empty.
    pub fn open(ledger: &Arc<dyn Ledger>) -> Result<Self, JournalError> {
        let bytes = ledger.read_journal(MAX_JOURNAL_BYTES);
        let unreadable = |error: ConfinedError| JournalError::Unreadable {
            path: ledger.journal_path(),
            source: error.into(),
        };
        Self::read(Arc::clone(ledger), &bytes.map_err(unreadable)?)
    }

    /// Reads a journal by its path; links on the way to its directory are followed.
    pub fn open_path(path: &Path) -> Result<Self, JournalError> {
        let unreadable = |source| JournalError::Unreadable { path: path.to_owned(), source };
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(JOURNAL);
        let files = LedgerDir::at(path.parent().unwrap_or(Path::new(".")));
        let files = files.map_err(|error| unreadable(error.into()))?;
        let ledger: Arc<dyn Ledger> = Arc::new(DiskLedger::with_journal(files, name));
        Self::open(&ledger)
    }

    /// Reads the bytes of a journal and checks its chain.
    fn read(ledger: Arc<dyn Ledger>, bytes: &[u8]) -> Result<Self, JournalError> {
        let path = ledger.journal_path();
        let mut journal = Self { ledger, path, lines: Vec::new(), torn: None, n_whole_bytes: 0 };
        for bytes in bytes.split_inclusive(|byte| *byte == b'\n') {
            let n_whole = journal.lines.len() as u64;
            let Some(line) = bytes.strip_suffix(b"\n") else {
                journal.torn = Some(Torn { n_whole, n_bytes: bytes.len() });
                break;
            };
            let line = journal.read_line(line, n_whole + 1)?;
            journal.lines.push(line);
            journal.n_whole_bytes += bytes.len() as u64;
        }
        Ok(journal)
    }

    fn read_line(&self, line: &[u8], number: u64) -> Result<Line<E>, JournalError> {
        let changed = |problem: &str| JournalError::Changed {
            path: self.path.clone(),
            line: number,
            problem: problem.to_owned(),
        };
        if line.len() > MAX_LINE_BYTES {
            return Err(changed("it is larger than any event"));
        }
        let text = std::str::from_utf8(line).map_err(|_not_text| changed("it is not text"))?;
        let (sha256, rest) = text
            .strip_prefix("{\"sha256\":\"")
            .and_then(|rest| rest.split_at_checked(64))
            .and_then(|(sha256, rest)| Some((sha256, rest.strip_prefix("\",")?)))
            .ok_or_else(|| changed("it does not begin with its hash"))?;
        let hasher = Sha256::new_with_prefix("{").chain_update(rest);
        if hex(&hasher.finalize()) != sha256 {
            return Err(changed("its hash does not fit"));
        }
        // Nearly every line is one of ours, so the event is read with the rest; what the rest says comes first. The hash
        // before it is a field that nobody asks for.
        let (head, event) = match serde_json::from_str::<Whole<E>>(text) {
            Ok(Whole { v, seq, prev, at, event }) => (Head { v, seq, prev, at }, Ok(event)),
            Err(error) => {
                let head = serde_json::from_str(text).map_err(|_not_json| changed("it is not an event"))?;
                (head, Err(error))
            }
        };
        if head.v > u64::from(VERSION) {
            return Err(JournalError::TooNew { path: self.path.clone(), line: number, found: head.v });
        }
        if head.seq != number {
            return Err(changed("its number does not follow"));
        }
        if head.prev != self.last_sha256() {
            return Err(changed("it does not follow the line before it"));
        }
        let event = event.map_err(|error| changed(&format!("its event cannot be read ({error})")))?;
        Ok(Line { seq: head.seq, at: head.at, sha256: sha256.to_owned(), event })
    }

    /// Refuses a journal with a line that nobody would have written who decided by the rules.
    pub fn check(&self, mut fault: impl FnMut(&Line<E>) -> Option<String>) -> Result<(), JournalError> {
        match self.lines.iter().find_map(|line| Some((line.seq, fault(line)?))) {
            Some((line, problem)) => Err(JournalError::Refused { path: self.path.clone(), line, problem }),
            None => Ok(()),
        }
    }

    /// The lines, oldest first.
    pub fn lines(&self) -> &[Line<E>] {
        &self.lines
    }

    /// How many bytes the whole lines take.
    pub fn n_bytes(&self) -> u64 {
        self.n_whole_bytes
    }

    /// Refuses a journal that has lost its end, which no chain of hashes can tell; an empty one has lost everything.
    pub fn refuse_shorter(&self, n_bytes: Option<u64>) -> Result<(), JournalError> {
        let expected = n_bytes.unwrap_or_default().max(1);
        if self.n_whole_bytes >= expected {
            return Ok(());
        }
        Err(JournalError::Short { path: self.path.clone(), found: self.n_whole_bytes, expected })
    }

    /// A last line that was never finished.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    fn last_sha256(&self) -> &str {
        self.lines.last().map_or(NO_PREVIOUS, |line| &line.sha256)
    }

    /// Appends events and syncs them: when this returns, they have happened.
    ///
    /// The caller holds the session's lock. A torn line is cut off first and a copy of it kept. When writing fails,
    /// the journal is as it was.
    pub fn append(&mut self, at: &str, events: Vec<E>) -> Result<(), JournalError> {
        if events.is_empty() {
            return Ok(());
        }
        self.drop_torn_line()?;
        let mut text = String::new();
        let mut added: Vec<Line<E>> = Vec::new();
        for event in events {
            let seq = (self.lines.len() + added.len()) as u64 + 1;
            let prev = added.last().map_or(self.last_sha256(), |line| &line.sha256);
            let body = serde_json::to_string(&Written { v: VERSION, seq, prev, at, event: &event })
                .map_err(|error| self.failed(error.into()))?;
            // What could not be read again is not written.
            if body.len() > MAX_LINE_BYTES - 128 {
                return Err(self.failed(io::Error::new(io::ErrorKind::FileTooLarge, "an event is too large")));
            }
            let sha256 = sha256_hex(body.as_bytes());
            let rest = body.strip_prefix('{').unwrap_or(&body);
            if self.n_whole_bytes + (text.len() + body.len()) as u64 > MAX_JOURNAL_BYTES - 4_096 {
                return Err(self.failed(io::Error::new(io::ErrorKind::FileTooLarge, "the journal is full")));
            }
            text.push_str("{\"sha256\":\"");
            text.push_str(&sha256);
            text.push_str("\",");
            text.push_str(rest);
            text.push('\n');
            added.push(Line { seq, at: at.to_owned(), sha256, event });
        }
        let appended = self.ledger.append_journal(self.n_whole_bytes, text.as_bytes());
        appended.map_err(|source| self.failed(source))?;
        self.n_whole_bytes += text.len() as u64;
        self.lines.extend(added);
        Ok(())
    }

    fn drop_torn_line(&mut self) -> Result<(), JournalError> {
        let Some(torn) = self.torn.take() else { return Ok(()) };
        let read = self.ledger.read_journal(MAX_JOURNAL_BYTES);
        let read = read.map_err(|error| self.failed(error.into()))?;
        let whole = usize::try_from(self.n_whole_bytes).unwrap_or(usize::MAX);
        let partial = read.get(whole..).unwrap_or_default();
        let copy = format!("journal.torn-{}.txt", torn.n_whole + 1);
        Ok(self.ledger.cut_torn_line(self.n_whole_bytes, partial, &copy)?)
    }

    fn failed(&self, source: io::Error) -> JournalError {
        StoreError { path: self.path.clone(), source }.into()
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
