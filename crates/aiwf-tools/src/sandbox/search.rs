//! `fs.search`: text in the files below a directory, found with ripgrep's searcher.
//!
//! The walk uses handles, in the order of names, and skips hidden files, links, devices and `node_modules`. A pattern
//! between slashes (`/todo|fixme/i`) is a regular expression, any other is plain text.

use std::io;

use aiwf_store::{ConfinedDir, EntryKind};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::FsLimits;
use super::alias_path::AliasPath;
use super::mounts::{Mounts, is_protected};
use super::tool_error::{ErrorCode, ToolError};

/// Maximum depth of searched directories.
const MAX_DEPTH: usize = 64;
/// Maximum number of context lines.
const MAX_AROUND: u64 = 50;
/// Maximum number of matches.
const MAX_MATCHES: u64 = 1_000;
/// The longest line held in memory.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// A directory that is never searched.
const SKIPPED: &str = "node_modules";

/// The arguments of `fs.search`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SearchArgs {
    /// A directory, or one file.
    pub path: String,
    /// Plain text, or `/expression/`, with `i` for any case.
    pub pattern: String,
    /// Number of lines before a match.
    #[serde(default = "one")]
    pub before: u64,
    /// Number of lines after a match.
    #[serde(default = "one")]
    pub after: u64,
    #[serde(default = "fifty")]
    pub max_matches: u64,
}

fn one() -> u64 {
    1
}

fn fifty() -> u64 {
    50
}

/// The matches with their context, in the order of paths.
pub fn search(mounts: &Mounts, limits: FsLimits, args: &SearchArgs) -> Result<Value, ToolError> {
    let path = AliasPath::parse(&args.path)?;
    let matcher = matcher(&args.pattern)?;
    if args.max_matches == 0 {
        return Err(ToolError::new(ErrorCode::InvalidArgs, "maxMatches is 0: set it to 1 or more"));
    }
    let around = |n: u64| usize::try_from(n.min(MAX_AROUND)).unwrap_or_default();
    let mut walk = Walk {
        matcher,
        searcher: SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(around(args.before))
            .after_context(around(args.after))
            .heap_limit(Some(MAX_LINE_BYTES))
            .build(),
        found: Found {
            max_matches: usize::try_from(args.max_matches.min(MAX_MATCHES)).unwrap_or(usize::MAX),
            room: limits.max_read_bytes,
            ..Found::default()
        },
        n_files: 0,
    };
    match mounts.directory(&path) {
        Ok(directory) => walk.directory(&directory, &path, 0),
        // A path to a single file can be searched too.
        Err(error) if error.code == ErrorCode::InvalidArgs => walk.file(&mounts.file(&path)?, &path),
        Err(error) => return Err(error),
    }
    let Found { matches, is_full, .. } = walk.found;
    let n_matches = matches.len();
    Ok(json!({
        "ok": true,
        "matches": matches,
        "truncated": is_full,
        "stats": { "filesScanned": walk.n_files, "matchesFound": n_matches },
    }))
}

fn matcher(pattern: &str) -> Result<RegexMatcher, ToolError> {
    let invalid = |message: String| ToolError::new(ErrorCode::InvalidArgs, message);
    if pattern.is_empty() {
        return Err(invalid("pattern is empty: use a text, or an expression like `/^use /`".to_owned()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.line_terminator(Some(b'\n')).size_limit(4 * 1024 * 1024).dfa_size_limit(8 * 1024 * 1024);
    let expression = pattern
        .strip_prefix('/')
        .and_then(|rest| rest.rsplit_once('/'))
        .filter(|(expression, flags)| !expression.is_empty() && flags.chars().all(|flag| flag == 'i'));
    let built = match expression {
        Some((expression, flags)) => builder.case_insensitive(!flags.is_empty()).build(expression),
        None => builder.fixed_strings(true).build(pattern),
    };
    built.map_err(|error| {
        invalid(format!("pattern is invalid ({}): correct it, or use plain text", one_line(&error)))
    })
}

/// The library's message about an expression, without its drawing.
fn one_line(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().trim_start_matches("error: ").to_owned()
}

struct Walk {
    matcher: RegexMatcher,
    searcher: Searcher,
    found: Found,
    n_files: u64,
}

impl Walk {
    fn directory(&mut self, directory: &ConfinedDir, path: &AliasPath, depth: usize) {
        // Unreadable directories are skipped, like all files that are not text.
        let Ok(entries) = directory.entries() else { return };
        for entry in entries {
            if self.found.is_full {
                return;
            }
            if entry.name.starts_with('.') || entry.name == SKIPPED || is_protected(path.mount(), &entry.name)
            {
                continue;
            }
            match entry.kind {
                EntryKind::File => {
                    if let Ok(file) = directory.file(&entry.name) {
                        self.file(&file, &path.join(&entry.name));
                    }
                }
                EntryKind::Directory if depth < MAX_DEPTH => {
                    if let Ok(below) = directory.directory(&entry.name) {
                        self.directory(&below, &path.join(&entry.name), depth + 1);
                    }
                }
                EntryKind::Directory | EntryKind::Link | EntryKind::Special => {}
            }
        }
    }

    fn file(&mut self, file: &std::fs::File, path: &AliasPath) {
        self.n_files += 1;
        let n_before = self.found.matches.len();
        let mut sink = Lines { found: &mut self.found, path, before: Vec::new() };
        // A file with a line that is too long ends only the search of that file.
        drop(self.searcher.search_file(&self.matcher, file, &mut sink));
        let is_binary = self.found.is_binary;
        self.found.is_binary = false;
        if is_binary {
            self.found.matches.truncate(n_before);
        }
    }
}

#[derive(Default)]
struct Found {
    matches: Vec<Value>,
    max_matches: usize,
    /// Number of bytes of text that may still be returned.
    room: u64,
    is_full: bool,
    is_binary: bool,
}

struct Lines<'a> {
    found: &'a mut Found,
    path: &'a AliasPath,
    before: Vec<String>,
}

impl Lines<'_> {
    /// The line as text, if it fits.
    fn take(&mut self, bytes: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(bytes);
        let text = shortened(text.trim_end_matches('\n').trim_end_matches('\r'));
        let Some(room) = self.found.room.checked_sub(text.len() as u64) else {
            self.found.is_full = true;
            return None;
        };
        self.found.room = room;
        Some(text)
    }
}

/// The longest part of a line to show, so that one line cannot use up the space of all others.
const MAX_SHOWN_BYTES: usize = 4_000;

fn shortened(line: &str) -> String {
    if line.len() <= MAX_SHOWN_BYTES {
        return line.to_owned();
    }
    let end = (0..=MAX_SHOWN_BYTES).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
    format!("{}… ({} bytes)", line.get(..end).unwrap_or_default(), line.len())
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.found.matches.len() >= self.found.max_matches {
            self.found.is_full = true;
            return Ok(false);
        }
        let Some(text) = self.take(found.bytes()) else { return Ok(false) };
        let mut entry = Map::new();
        entry.insert("path".to_owned(), self.path.to_string().into());
        entry.insert("line".to_owned(), found.line_number().unwrap_or_default().into());
        entry.insert("text".to_owned(), text.into());
        entry.insert("before".to_owned(), std::mem::take(&mut self.before).into());
        entry.insert("after".to_owned(), Value::Array(Vec::new()));
        self.found.matches.push(Value::Object(entry));
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let Some(text) = self.take(context.bytes()) else { return Ok(false) };
        match context.kind() {
            SinkContextKind::Before => self.before.push(text),
            SinkContextKind::After | SinkContextKind::Other => {
                let last = self.found.matches.last_mut();
                if let Some(after) = last.and_then(|last| last.get_mut("after")).and_then(Value::as_array_mut)
                {
                    after.push(text.into());
                }
            }
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.before.clear();
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.found.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
