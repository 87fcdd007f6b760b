//! The journal: one JSON line per event, chained by hashes and synced before anything builds on it.
//!
//! A line is `{"sha256":"…","v":1,"seq":N,"prev":"…","at":"…","event":{…}}`; the hash covers the line without the hash
//! itself, byte for byte. A last line without its line end is torn: the process died while writing it, so the event
//! never happened. A complete line that does not check out was modified by someone else.

mod lines;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::atomic::StoreError;
use crate::confined::{ConfinedError, is_unsafe, remove_hint};
use crate::ledger::{DiskLedger, JOURNAL, Ledger};
use crate::ledger_dir::LedgerDir;
use crate::objects::sha256_hex;
use lines::Lines;

/// The version of the line format.
const VERSION: u32 = 1;
/// `prev` of the first line.
const NO_PREVIOUS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Size limit; aiwf never writes a larger journal.
const MAX_JOURNAL_BYTES: u64 = 256 * 1024 * 1024;
/// Size limit; aiwf never writes a longer line.
pub(crate) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// An event with its position in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<E> {
    /// The number of the line, from 1.
    pub seq: u64,
    pub at: String,
    pub sha256: String,
    pub event: E,
}

/// An incomplete last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    pub n_whole: u64,
    /// Number of bytes of the incomplete line.
    pub n_bytes: usize,
}

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("could not read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A line was modified.
    #[error("line {line} of the journal was modified: {problem}\n  file: `{}`; {}", path.display(), intact(line - 1))]
    Changed { path: PathBuf, line: u64, problem: String },
    /// A line is well-formed, but aiwf would never have written it.
    #[error("line {line} of the journal was not written by aiwf: {problem}\n  file: `{}`", path.display())]
    Refused { path: PathBuf, line: u64, problem: String },
    /// It is shorter than it was before.
    #[error("the end of the journal is missing: it has {found} bytes and had {expected}\n  file: `{}`", path.display())]
    Short {
        path: PathBuf,
        /// Size of the complete lines in bytes.
        found: u64,
        expected: u64,
    },
    /// A newer version wrote it.
    #[error("line {line} of the journal has format {found}, but this version reads up to {VERSION}\n  file: `{}`", path.display())]
    TooNew { path: PathBuf, line: u64, found: u64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Says how much of the journal is intact.
fn intact(n_lines: u64) -> String {
    match n_lines {
        0 => "it is the first line".to_owned(),
        1 => "the line before it is intact".to_owned(),
        n_lines => format!("the first {n_lines} lines are intact"),
    }
}

impl JournalError {
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, source } if is_unsafe(source) => remove_hint(path),
            Self::Refused { path, .. } => {
                let directory = path.parent().unwrap_or(path).display();
                format!("do not use it; remove `{directory}` if you do not know where it came from")
            }
            Self::Unreadable { path, .. } => format!("check that `{}` is readable", path.display()),
            Self::Changed { .. } | Self::Short { .. } => {
                "restore the journal from a backup; everything else is untouched".to_owned()
            }
            Self::TooNew { .. } => "use the version of aiwf that wrote it, or a newer one".to_owned(),
            Self::Store(error) => error.hint(),
        }
    }
}

#[derive(Serialize)]
struct NewLine<'a, E> {
    v: u32,
    seq: u64,
    prev: &'a str,
    at: &'a str,
    event: &'a E,
}

/// The journal of a session, read as a whole.
#[derive(Clone, Debug)]
pub struct Journal<E> {
    ledger: Arc<dyn Ledger>,
    path: PathBuf,
    lines: Vec<Line<E>>,
    torn: Option<Torn>,
    n_whole_bytes: u64,
}

impl<E: Serialize + DeserializeOwned + Send> Journal<E> {
    /// Reads the journal of a session or run and checks its chain; a missing journal is empty.
    pub fn open(ledger: &Arc<dyn Ledger>) -> Result<Self, JournalError> {
        let bytes = ledger.read_journal(MAX_JOURNAL_BYTES);
        let unreadable = |error: ConfinedError| JournalError::Unreadable {
            path: ledger.journal_path(),
            source: error.into(),
        };
        Self::read(Arc::clone(ledger), &bytes.map_err(unreadable)?)
    }

    /// Reads a journal by path; links in the path of its directory are followed.
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
        let mut whole: Vec<&[u8]> = Vec::new();
        let mut n_whole_bytes = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            whole.extend(bytes.get(n_whole_bytes..end));
            n_whole_bytes = end + 1;
        }
        let lines = Lines { path: &path, lines: &whole }.read()?;
        let n_bytes = bytes.len() - n_whole_bytes;
        let torn = (n_bytes > 0).then_some(Torn { n_whole: lines.len() as u64, n_bytes });
        Ok(Self { ledger, path, lines, torn, n_whole_bytes: n_whole_bytes as u64 })
    }

    /// Refuses a journal with an event that breaks the rules of the state machine.
    pub fn check(&self, mut fault: impl FnMut(&Line<E>) -> Option<String>) -> Result<(), JournalError> {
        match self.lines.iter().find_map(|line| Some((line.seq, fault(line)?))) {
            Some((line, problem)) => Err(JournalError::Refused { path: self.path.clone(), line, problem }),
            None => Ok(()),
        }
    }

    pub fn lines(&self) -> &[Line<E>] {
        &self.lines
    }

    /// Size of the complete lines in bytes.
    pub fn n_bytes(&self) -> u64 {
        self.n_whole_bytes
    }

    /// Refuses a journal that has lost its end. Hashes cannot detect that, so the expected size comes from outside.
    pub fn refuse_shorter(&self, n_bytes: Option<u64>) -> Result<(), JournalError> {
        let expected = n_bytes.unwrap_or_default().max(1);
        if self.n_whole_bytes >= expected {
            return Ok(());
        }
        Err(JournalError::Short { path: self.path.clone(), found: self.n_whole_bytes, expected })
    }

    /// The incomplete last line, if any.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    fn last_sha256(&self) -> &str {
        self.lines.last().map_or(NO_PREVIOUS, |line| &line.sha256)
    }

    /// Appends events and syncs them; once this returns, they have happened.
    ///
    /// The caller holds the session's lock. A torn line is cut off first, and a copy of it is kept. If writing fails,
    /// the journal is unchanged.
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
            let body = serde_json::to_string(&NewLine { v: VERSION, seq, prev, at, event: &event })
                .map_err(|error| self.failed(error.into()))?;
            // A line that is too long to be read back is not written.
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
