//! Reads the complete lines of a journal and checks their chain, a long journal on every core.
//!
//! In: the bytes of each line. Out: its event, or the first line that does not check out. A line starts with its own
//! hash and names that of the line before it. So each line is checked by itself, against the hash that the line before
//! it claims: if that claim is wrong, the line before it is the first bad one.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::{JournalError, Line, MAX_LINE_BYTES, NO_PREVIOUS, VERSION};

/// With fewer bytes, a second thread costs more than it saves.
const PARALLEL_BYTES: usize = 256 * 1024;
const MAX_THREADS: usize = 8;

/// A line without its event.
#[derive(Deserialize)]
struct LineHeader<'a> {
    v: u64,
    seq: u64,
    #[serde(borrow)]
    prev: Cow<'a, str>,
    at: String,
}

/// A line with its event.
#[derive(Deserialize)]
#[serde(bound(deserialize = "E: Deserialize<'de>"))]
struct FullLine<'a, E> {
    v: u64,
    seq: u64,
    #[serde(borrow)]
    prev: Cow<'a, str>,
    at: String,
    event: E,
}

/// The complete lines of a journal, without their line ends.
pub(super) struct Lines<'a> {
    pub(super) path: &'a Path,
    pub(super) lines: &'a [&'a [u8]],
}

impl Lines<'_> {
    /// Reads all lines; the error is about the first bad one.
    pub(super) fn read<E: DeserializeOwned + Send>(&self) -> Result<Vec<Line<E>>, JournalError> {
        let n_bytes: usize = self.lines.iter().map(|line| line.len()).sum();
        let n_threads = if n_bytes < PARALLEL_BYTES {
            1
        } else {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_THREADS)
        };
        let n_each = self.lines.len().div_ceil(n_threads).max(1);
        let part = |number: usize| number * n_each..((number + 1) * n_each).min(self.lines.len());
        if n_threads == 1 {
            return self.read_part(part(0));
        }
        std::thread::scope(|scope| {
            // This thread reads the first part. If the system provides no other thread, it reads all of them.
            let others: Vec<_> = (1..n_threads)
                .map(|number| {
                    let spawned =
                        std::thread::Builder::new().spawn_scoped(scope, move || self.read_part(part(number)));
                    (number, spawned.ok())
                })
                .collect();
            let mut read = self.read_part(part(0))?;
            read.reserve(self.lines.len() - read.len());
            for (number, other) in others {
                let lines = match other {
                    Some(other) => other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                    None => self.read_part(part(number)),
                };
                read.extend(lines?);
            }
            Ok(read)
        })
    }

    fn read_part<E: DeserializeOwned>(&self, part: Range<usize>) -> Result<Vec<Line<E>>, JournalError> {
        let before = part.start.checked_sub(1).and_then(|last| self.lines.get(last));
        let mut claimed = before.map_or(Some(NO_PREVIOUS), |line| claimed_hash(line));
        let mut read = Vec::with_capacity(part.len());
        for (idx, line) in part.clone().zip(self.lines.get(part).unwrap_or_default()) {
            read.push(self.read_line(line, idx as u64 + 1, claimed)?);
            claimed = claimed_hash(line);
        }
        Ok(read)
    }

    /// Reads a line; `previous` is the hash that the line before it starts with.
    fn read_line<E: DeserializeOwned>(
        &self,
        line: &[u8],
        number: u64,
        previous: Option<&str>,
    ) -> Result<Line<E>, JournalError> {
        let changed = |problem: &str| JournalError::Changed {
            path: self.path.to_owned(),
            line: number,
            problem: problem.to_owned(),
        };
        if line.len() > MAX_LINE_BYTES {
            return Err(changed("it is too long"));
        }
        let text = std::str::from_utf8(line).map_err(|_not_text| changed("it is not UTF-8"))?;
        let (sha256, rest) = split_hash(text).ok_or_else(|| changed("it does not start with its hash"))?;
        let hash = Sha256::new_with_prefix("{").chain_update(rest).finalize();
        if !is_hex_of(sha256.as_bytes(), &hash) {
            return Err(changed("its hash does not match"));
        }
        // Nearly every line is valid, so the event is parsed together with the header; problems in the header are
        // reported first. The hash in front is an unknown field that serde skips.
        let (head, event) = match serde_json::from_str::<FullLine<'_, E>>(text) {
            Ok(FullLine { v, seq, prev, at, event }) => (LineHeader { v, seq, prev, at }, Ok(event)),
            Err(error) => {
                let head = serde_json::from_str(text).map_err(|_not_json| changed("it is not an event"))?;
                (head, Err(error))
            }
        };
        if head.v > u64::from(VERSION) {
            return Err(JournalError::TooNew { path: self.path.to_owned(), line: number, found: head.v });
        }
        if head.seq != number {
            return Err(changed("its number is out of order"));
        }
        if Some(head.prev.as_ref()) != previous {
            return Err(changed("it does not follow the line before it"));
        }
        let event = event.map_err(|error| changed(&format!("its event is invalid ({error})")))?;
        Ok(Line { seq: head.seq, at: head.at, sha256: sha256.to_owned(), event })
    }
}

/// The hash that a line starts with, and the rest that it covers.
fn split_hash(text: &str) -> Option<(&str, &str)> {
    let (sha256, rest) = text.strip_prefix("{\"sha256\":\"")?.split_at_checked(64)?;
    Some((sha256, rest.strip_prefix("\",")?))
}

/// The hash that a line starts with, true or not.
fn claimed_hash(line: &[u8]) -> Option<&str> {
    let head = line.get(..line.len().min(128))?;
    // Only the start matters, and cutting may have split a character after it.
    let head = head.utf8_chunks().next()?.valid();
    split_hash(head).map(|(sha256, _)| sha256)
}

/// Whether `digits` are `bytes` in lower-case hex.
fn is_hex_of(digits: &[u8], bytes: &[u8]) -> bool {
    let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
    let (pairs, rest) = digits.as_chunks::<2>();
    let is_pair = |(pair, byte): (&[u8; 2], &u8)| *pair == [digit(byte >> 4), digit(byte & 0xf)];
    rest.is_empty() && pairs.len() == bytes.len() && pairs.iter().zip(bytes).all(is_pair)
}
