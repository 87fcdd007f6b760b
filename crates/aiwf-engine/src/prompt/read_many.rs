//! Reads many files on all cores, with their texts in a few large buffers.
//!
//! In: paths. Out: their contents in the same order. One allocation for each of a thousand small files costs more than
//! reading them: several threads ask the system for memory and wait for its lock.

use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aiwf_prompt::Text;

use crate::error::EngineError;
use crate::prompt::every_core::on_every_core;
use crate::prompt::gather::Progress;
use crate::prompt::read::{BoundedFile, MAX_BYTES, open_bounded};

/// Maximum total size.
const MAX_TOTAL_BYTES: u64 = 1024 * 1024 * 1024;
/// Texts share a buffer of this size; a larger file gets its own.
const BUFFER_BYTES: usize = 512 * 1024;

/// The content of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text(Text),
    /// The file is skipped, for this reason.
    LeftOut(NotText),
}

/// A file that is not text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotText {
    pub(crate) bytes: u64,
    pub(crate) message: String,
}

/// Decides whether a file is skipped: by its text, or by its bytes if it is not text.
pub(crate) type Judge<'a> = &'a (dyn Fn(Result<&str, &[u8]>) -> Option<NotText> + Sync);

/// Reads whole files. Limits the size of each and the total size.
pub(crate) fn read_many<P: AsRef<Path> + Sync>(
    paths: &[P],
    judge: Judge<'_>,
    on_progress: &dyn Fn(Progress),
) -> Vec<Result<Content, EngineError>> {
    let n_bytes = AtomicU64::new(0);
    let on_taken = |n_done| on_progress(Progress { n_done, n_total: paths.len() });
    let outcomes = on_every_core(paths.len(), &on_taken, |take| {
        let mut reader = Reader::default();
        let mut found = Vec::new();
        while let Some(number) = take() {
            let Some(path) = paths.get(number) else { break };
            found.push((number, reader.read(path.as_ref(), judge, &n_bytes)));
        }
        reader.finish(found)
    });
    on_taken(paths.len());
    outcomes
}

/// The work of one thread.
#[derive(Default)]
struct Reader {
    full: Vec<String>,
    current: String,
}

/// The position of a text until its buffer is full.
enum Found {
    Part { buffer: usize, range: Range<usize> },
    Whole(Text),
    LeftOut(NotText),
}

impl Reader {
    fn read(&mut self, path: &Path, judge: Judge<'_>, n_bytes: &AtomicU64) -> Result<Found, EngineError> {
        if n_bytes.load(Ordering::Relaxed) > MAX_TOTAL_BYTES {
            return Err(EngineError::FilesTooLarge { limit: MAX_TOTAL_BYTES });
        }
        let file = open_bounded(path)?;
        if file.n_expected >= BUFFER_BYTES {
            // A file that would fill a buffer gets its own: if skipped, it would otherwise stay in memory with its
            // neighbours.
            let mut own = String::with_capacity(file.n_expected + 1);
            return Ok(match append(file, path, &mut own, judge, n_bytes)? {
                Some(why) => Found::LeftOut(why),
                None => Found::Whole(Text::from(own)),
            });
        }
        let start = self.make_room(file.n_expected);
        let appended = append(file, path, &mut self.current, judge, n_bytes);
        if !matches!(appended, Ok(None)) {
            self.current.truncate(start);
        }
        let buffer = self.full.len();
        Ok(appended?.map_or(Found::Part { buffer, range: start..self.current.len() }, Found::LeftOut))
    }

    /// The start of the next text, with enough room for it.
    fn make_room(&mut self, n_bytes: usize) -> usize {
        // One extra byte, so that the end of the file is seen without growing.
        let needed = n_bytes + 1;
        if self.current.capacity() - self.current.len() < needed {
            let empty = String::with_capacity(needed.max(BUFFER_BYTES));
            let full = std::mem::replace(&mut self.current, empty);
            self.full.push(full);
        }
        self.current.len()
    }

    fn finish(
        self,
        found: Vec<(usize, Result<Found, EngineError>)>,
    ) -> Vec<(usize, Result<Content, EngineError>)> {
        let buffers: Vec<Arc<String>> =
            self.full.into_iter().chain(std::iter::once(self.current)).map(Arc::new).collect();
        let content = |found| match found {
            Found::Whole(text) => Content::Text(text),
            Found::Part { buffer, range } => {
                Content::Text(buffers.get(buffer).map(|buffer| Text::part(buffer, range)).unwrap_or_default())
            }
            Found::LeftOut(why) => Content::LeftOut(why),
        };
        found.into_iter().map(|(index, outcome)| (index, outcome.map(content))).collect()
    }
}

/// Appends a file to the buffer. Returns the reason if it is skipped; the caller then truncates the buffer.
fn append(
    mut file: BoundedFile,
    path: &Path,
    text: &mut String,
    judge: Judge<'_>,
    n_bytes: &AtomicU64,
) -> Result<Option<NotText>, EngineError> {
    let start = text.len();
    match file.content.read_to_string(text) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let bytes = file.read_again(path)?;
            return Ok(Some(judge(Err(&bytes)).unwrap_or_else(|| NotText {
                bytes: bytes.len() as u64,
                message: "not UTF-8 text".to_owned(),
            })));
        }
        Err(source) => return Err(EngineError::Unreadable { path: path.to_owned(), source }),
    }
    let text = text.get(start..).unwrap_or_default();
    let n_text = text.len() as u64;
    if n_text > MAX_BYTES {
        return Err(EngineError::TooLarge { path: path.to_owned(), limit: MAX_BYTES });
    }
    if let Some(why) = judge(Ok(text)) {
        return Ok(Some(why));
    }
    if n_bytes.fetch_add(n_text, Ordering::Relaxed) + n_text > MAX_TOTAL_BYTES {
        return Err(EngineError::FilesTooLarge { limit: MAX_TOTAL_BYTES });
    }
    Ok(None)
}

#[cfg(test)]
#[path = "read_many_tests.rs"]
mod tests;
