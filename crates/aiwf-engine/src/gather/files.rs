//! Finds and reads the files that patterns name.
//!
//! In: patterns. Out: text files sorted by path, and what was left out. `.gitignore` is respected, hidden files
//! are left out, and nothing outside the directory a pattern starts in is followed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use aiwf_prompt::{Problem, Source};
use globset::{GlobBuilder, GlobMatcher};

use super::{Progress, shown_path};
use crate::error::EngineError;
use crate::read::{MAX_BYTES, read_bytes, resolve_below};

/// How much all files of a request may have together.
const MAX_TOTAL_BYTES: u64 = 1024 * 1024 * 1024;

/// A file of the project with its text.
pub(super) struct FoundFile {
    pub(super) name: String,
    pub(super) text: String,
}

/// Reads every text file that a pattern names, sorted by path.
pub(super) fn find(
    base: &Path,
    patterns: &[String],
    problems: &mut Vec<Problem>,
    on_progress: &dyn Fn(Progress),
) -> Result<Vec<FoundFile>, EngineError> {
    let mut paths = BTreeMap::new();
    for pattern in patterns {
        let n_before = paths.len();
        let matched = expand(base, pattern, &mut paths, problems)?;
        if !matched && paths.len() == n_before {
            return Err(EngineError::NothingMatches { pattern: pattern.clone(), searched: base.to_owned() });
        }
    }
    let paths: Vec<(String, PathBuf)> = paths.into_iter().collect();
    read_all(&paths, problems, on_progress)
}

/// Adds the files of one pattern; says whether it named any.
fn expand(
    base: &Path,
    pattern: &str,
    paths: &mut BTreeMap<String, PathBuf>,
    problems: &mut Vec<Problem>,
) -> Result<bool, EngineError> {
    let literal = base.join(pattern);
    if literal.is_file() {
        // Named outright: no filter applies.
        paths.insert(shown_path(base, &clean(&literal)), literal);
        return Ok(true);
    }
    let pattern =
        if literal.is_dir() { format!("{}/**", pattern.trim_end_matches('/')) } else { pattern.to_owned() };
    let pattern = pattern.trim_start_matches("./");
    let (start, matcher) = compile(pattern)?;
    let root = clean(&base.join(start));
    if !root.is_dir() {
        return Ok(false);
    }
    let mut matched = false;
    for entry in walk(&root) {
        let Ok(entry) = entry else { continue };
        let name = shown_path(base, entry.path());
        if !matcher.is_match(&name) {
            continue;
        }
        let kind = entry.file_type();
        if kind.is_some_and(|kind| kind.is_file()) {
            matched = true;
            paths.insert(name, entry.into_path());
        } else if kind.is_some_and(|kind| kind.is_symlink()) {
            matched = true;
            match resolve_below(&root, entry.path()) {
                Ok(Some(target)) if target.is_file() => {
                    paths.insert(name, target);
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => problems.push(Problem {
                    source: Source::File(name),
                    message: "skipped: a link that leaves the directory or leads nowhere".to_owned(),
                }),
            }
        }
    }
    Ok(matched)
}

/// The files below `root` that `.gitignore` does not name.
pub(super) fn walk(root: &Path) -> ignore::Walk {
    ignore::WalkBuilder::new(root)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
}

/// The directory a pattern starts in, and the test for paths relative to the base.
fn compile(pattern: &str) -> Result<(PathBuf, GlobMatcher), EngineError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        EngineError::BadPattern { pattern: pattern.to_owned(), message: error.kind().to_string() }
    })?;
    let is_literal = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
    let parts: Vec<&str> = pattern.split('/').collect();
    let n_literal = parts.iter().take_while(|part| is_literal(part)).count().min(parts.len() - 1);
    let start: String = parts.into_iter().take(n_literal).map(|part| format!("{part}/")).collect();
    Ok((PathBuf::from(start), glob.compile_matcher()))
}

/// A path without `.` parts; `..` stays, since a link may stand before it.
fn clean(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect()
}

fn read_all(
    paths: &[(String, PathBuf)],
    problems: &mut Vec<Problem>,
    on_progress: &dyn Fn(Progress),
) -> Result<Vec<FoundFile>, EngineError> {
    let mut files = Vec::with_capacity(paths.len());
    let mut n_bytes = 0u64;
    for (index, outcome) in read_in_parallel(paths, on_progress).into_iter().enumerate() {
        let Some((name, _)) = paths.get(index) else { continue };
        match outcome {
            Ok(text) => {
                n_bytes += text.len() as u64;
                files.push(FoundFile { name: name.clone(), text });
            }
            Err(message) => problems.push(Problem { source: Source::File(name.clone()), message }),
        }
    }
    if n_bytes > MAX_TOTAL_BYTES {
        return Err(EngineError::FilesTooLarge { limit: MAX_TOTAL_BYTES });
    }
    Ok(files)
}

/// Below this many files a second thread costs more than it saves.
const PARALLEL_FILES: usize = 64;

fn read_in_parallel(
    paths: &[(String, PathBuf)],
    on_progress: &dyn Fn(Progress),
) -> Vec<Result<String, String>> {
    let next = AtomicUsize::new(0);
    let n_read_bytes = std::sync::atomic::AtomicU64::new(0);
    let read_some = || {
        let mut read = Vec::new();
        while let Some((index, (_, path))) = take(&next, paths) {
            let outcome = if n_read_bytes.load(Ordering::Relaxed) > MAX_TOTAL_BYTES {
                Err("skipped: the files before it are too large together".to_owned())
            } else {
                text_of(path)
            };
            n_read_bytes.fetch_add(outcome.as_ref().map_or(0, |text| text.len() as u64), Ordering::Relaxed);
            read.push((index, outcome));
        }
        read
    };
    let n_workers = if paths.len() < PARALLEL_FILES {
        0
    } else {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get).clamp(1, 8)
    };
    let mut outcomes: Vec<(usize, Result<String, String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(read_some)).collect();
        if workers.is_empty() {
            return read_some();
        }
        while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            on_progress(Progress {
                n_done: next.load(Ordering::Relaxed).min(paths.len()),
                n_total: paths.len(),
            });
            std::thread::park_timeout(std::time::Duration::from_millis(1));
        }
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    on_progress(Progress { n_done: paths.len(), n_total: paths.len() });
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn take<'p, T>(next: &AtomicUsize, items: &'p [T]) -> Option<(usize, &'p T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    items.get(index).map(|item| (index, item))
}

/// The text of a file, or why it is left out.
fn text_of(path: &Path) -> Result<String, String> {
    let bytes = read_bytes(path).map_err(|error| match error {
        EngineError::TooLarge { .. } => format!("skipped: larger than {MAX_BYTES} bytes"),
        EngineError::Unreadable { source, .. } => format!("skipped: {}", reason(&source)),
        other => format!("skipped: {other}"),
    })?;
    let head = bytes.get(..8192).unwrap_or(&bytes);
    if memchr::memchr(0, head).is_some() {
        return Err(format!("skipped: binary ({} bytes)", bytes.len()));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("skipped: not UTF-8 text ({} bytes)", error.as_bytes().len()))
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotFound => "no longer there".to_owned(),
        _ => error.to_string(),
    }
}
