//! Finds and reads the files that patterns name.
//!
//! In: patterns. Out: text files sorted by path, and what was left out. A name stands for itself; a pattern
//! leaves out what `.gitignore` names and hidden files, and follows no link out of the directory it starts in.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use aiwf_prompt::{Problem, Source};
use globset::{GlobBuilder, GlobMatcher};

use super::{MAX_TOTAL_BYTES, Progress, failed_path, link_target, shown_path};
use crate::error::EngineError;
use crate::read::{MAX_BYTES, is_link, read_bytes};

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
    let mut skipped = BTreeMap::new();
    for pattern in patterns {
        if !expand(base, pattern, &mut paths, &mut skipped)? {
            return Err(EngineError::NothingMatches { pattern: pattern.clone(), searched: base.to_owned() });
        }
    }
    let paths: Vec<(String, PathBuf)> = paths.into_iter().collect();
    let files = read_all(&paths, &mut skipped, on_progress)?;
    problems
        .extend(skipped.into_iter().map(|(name, message)| Problem { source: Source::File(name), message }));
    Ok(files)
}

/// Adds the files of one pattern; says whether it named any.
fn expand(
    base: &Path,
    pattern: &str,
    paths: &mut BTreeMap<String, PathBuf>,
    skipped: &mut BTreeMap<String, String>,
) -> Result<bool, EngineError> {
    if pattern.is_empty() {
        let message = "it is empty".to_owned();
        return Err(EngineError::BadPattern { pattern: String::new(), message });
    }
    let literal = clean(&base.join(pattern));
    if literal.is_file() {
        // Named outright: no filter applies.
        paths.insert(name_of(base, pattern, &literal), literal);
        return Ok(true);
    }
    let (start, matcher) = if literal.is_dir() { (literal, None) } else { compile(base, pattern)? };
    if !start.is_dir() {
        return Ok(false);
    }
    let mut has_match = false;
    for entry in walk_below(base, &start, matcher.is_some()) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let name = failed_path(&error)
                    .map_or_else(|| pattern.to_owned(), |path| name_of(base, pattern, path));
                let cause = error.io_error().map_or_else(|| error.to_string(), reason);
                skipped.insert(name, format!("skipped: {cause}"));
                continue;
            }
        };
        let Ok(below) = entry.path().strip_prefix(&start) else { continue };
        if below.as_os_str().is_empty() {
            continue;
        }
        if matcher.as_ref().is_some_and(|matcher| !matcher.is_match(below)) {
            continue;
        }
        let name = name_of(base, pattern, entry.path());
        if entry.path().to_str().is_none() {
            // Two such names could look alike.
            has_match = true;
            skipped.insert(name, "skipped: its name is not UTF-8 text".to_owned());
            continue;
        }
        let Some(kind) = entry.file_type() else { continue };
        if kind.is_file() {
            has_match = true;
            paths.insert(name, entry.into_path());
        } else if kind.is_symlink() {
            has_match = true;
            match link_target(&start, entry.path()) {
                Ok(target) => {
                    paths.insert(name, target);
                }
                Err(message) => {
                    skipped.insert(name, message.to_owned());
                }
            }
        }
    }
    Ok(has_match)
}

/// The name of a file that a pattern brings: relative to the base, unless the pattern is not and leads elsewhere.
fn name_of(base: &Path, pattern: &str, path: &Path) -> String {
    if path.starts_with(base) || pattern.starts_with('/') {
        return shown_path(base, path);
    }
    let n_shared = base.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let n_up = base.components().count() - n_shared;
    let down: PathBuf = path.components().skip(n_shared).collect();
    format!("{}{}", "../".repeat(n_up), shown_path(base, &down))
}

/// A walk through the files below `root` that are not hidden and that `.gitignore` does not name.
pub(super) fn walk_builder(root: &Path) -> ignore::WalkBuilder {
    let mut builder = ignore::WalkBuilder::new(root);
    builder.require_git(false).filter_entry(|entry| entry.file_name() != ".git");
    builder
}

/// The files below `start`.
///
/// A pattern is walked from the base, so that `.gitignore` also decides about the directories it spells out. A
/// directory that was named outright is wanted whatever `.gitignore` says.
fn walk_below(base: &Path, start: &Path, is_pattern: bool) -> ignore::Walk {
    // A walk does not go through a link, but may start at one.
    let has_link = || start.ancestors().take_while(|path| *path != base).any(is_link);
    if !is_pattern || !start.starts_with(base) || has_link() {
        return walk_builder(start).build();
    }
    let mut builder = walk_builder(base);
    let start = start.to_owned();
    builder.hidden(false).filter_entry(move |entry| {
        // A directory above the start is on the way, hidden or not.
        let is_hidden = || entry.file_name().as_encoded_bytes().starts_with(b".");
        start.starts_with(entry.path())
            || (entry.path().starts_with(&start) && entry.file_name() != ".git" && !is_hidden())
    });
    builder.build()
}

/// The directory a pattern starts in, and the test for paths relative to it.
///
/// The start is spelled out, or has the name of a directory that is there: `app/[slug]/*` means what it looks like
/// to someone who has such a directory.
fn compile(base: &Path, pattern: &str) -> Result<(PathBuf, Option<GlobMatcher>), EngineError> {
    let mut start = if pattern.starts_with('/') { PathBuf::from("/") } else { base.to_owned() };
    let mut parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let is_spelled_out = |part: &str| !part.contains(['*', '?', '[', '{', '\\']);
    let mut n_literal = 0;
    while let Some(part) = parts.get(n_literal).filter(|_| n_literal + 1 < parts.len()) {
        let next = start.join(part);
        if !is_spelled_out(part) && !next.is_dir() {
            break;
        }
        start = next;
        n_literal += 1;
    }
    let rest = parts.split_off(n_literal).join("/");
    let glob = GlobBuilder::new(&rest).literal_separator(true).build().map_err(|error| {
        EngineError::BadPattern { pattern: pattern.to_owned(), message: error.kind().to_string() }
    })?;
    Ok((clean(&start), Some(glob.compile_matcher())))
}

/// A path without `.` parts, and without `..` parts where the directory exists.
///
/// `..` is resolved by the system, since a link may stand before it.
fn clean(path: &Path) -> PathBuf {
    let path: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    if !path.components().any(|part| part == Component::ParentDir) {
        return path;
    }
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.canonicalize().unwrap_or(path),
    }
}

fn read_all(
    paths: &[(String, PathBuf)],
    skipped: &mut BTreeMap<String, String>,
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
            Err(message) => {
                skipped.insert(name.clone(), message);
            }
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
    let bytes = read_bytes(path).map_err(|error| {
        if let EngineError::TooLarge { .. } = error {
            format!("skipped: larger than {} MiB", MAX_BYTES / (1024 * 1024))
        } else if let EngineError::Unreadable { source, .. } = error {
            format!("skipped: {}", reason(&source))
        } else {
            format!("skipped: {error}")
        }
    })?;
    let head = bytes.get(..8192).unwrap_or(&bytes);
    if memchr::memchr(0, head).is_some() {
        return Err(format!("skipped: binary ({} bytes)", bytes.len()));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("skipped: not UTF-8 text ({} bytes)", error.as_bytes().len()))
}

fn reason(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::PermissionDenied {
        "permission denied".to_owned()
    } else if error.kind() == io::ErrorKind::NotFound {
        "no longer there".to_owned()
    } else {
        error.to_string()
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
