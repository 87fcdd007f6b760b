//! Finds and reads the files that patterns match.
//!
//! In: patterns. Out: text files sorted by path, and skipped files. A plain path means exactly that file. A pattern
//! skips hidden and git-ignored files, and follows no link out of the directory it starts in. A pattern that the user
//! did not type stays in the project, with links resolved.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use aiwf_prompt::{LeftOutSource, Problem, Source, Text, WhyLeftOut};
use aiwf_worktree::unlisted_path;
use globset::{GlobBuilder, GlobMatcher};

use super::{Progress, link_target, shown_path};
use crate::error::EngineError;
use crate::prompt::read::{MAX_BYTES, is_link, resolve_below};
use crate::prompt::read_many::{Content, NotText, read_many};

/// What to do about a pattern that matches no file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingFiles {
    /// An error: the user has just typed it.
    #[default]
    Refused,
    /// A warning: the files existed when the pattern was given.
    LeftOut,
}

/// A pattern with its limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern<'a> {
    pub(super) text: &'a str,
    /// The directory it must stay in, with links resolved; `None` for one that the user typed.
    pub(super) stays_in: Option<&'a Path>,
}

impl Pattern<'_> {
    /// Whether the pattern may match a path.
    fn reaches(self, path: &Path) -> bool {
        self.stays_in.is_none_or(|root| matches!(resolve_below(root, path), Ok(Some(_))))
    }

    /// Whether the pattern, as written, leads outside its directory.
    fn is_written_outside(self) -> bool {
        self.stays_in.is_some()
            && (self.text.starts_with('/') || self.text.split('/').any(|part| part == ".."))
    }
}

/// The result of expanding a pattern.
enum Expanded {
    /// Matching files, read or skipped.
    Files,
    Nothing,
    /// Something outside its directory; not looked at.
    Outside,
}

/// Why a file is skipped.
struct Skipped {
    message: String,
    left_out: LeftOutSource,
}

impl Skipped {
    fn new(why: WhyLeftOut, bytes: Option<u64>, message: impl Into<String>) -> Self {
        Self { message: message.into(), left_out: LeftOutSource { why, bytes } }
    }

    fn problem(self, name: String) -> Problem {
        Problem { source: Source::File(name), message: self.message, left_out: Some(self.left_out) }
    }

    fn missing(message: &str) -> Self {
        Self::new(WhyLeftOut::Missing, None, format!("skipped: {message}"))
    }

    fn unreadable(error: &io::Error) -> Self {
        let message = format!("skipped: {}", reason(error));
        let is_gone = error.kind() == io::ErrorKind::NotFound;
        Self::new(if is_gone { WhyLeftOut::Missing } else { WhyLeftOut::Unreadable }, None, message)
    }
}

/// A project file with its text.
pub(super) struct FoundFile {
    pub(super) name: String,
    pub(super) text: Text,
}

/// Reads every text file that a pattern matches, sorted by path.
pub(super) fn find(
    base: &Path,
    patterns: &[Pattern<'_>],
    missing: MissingFiles,
    problems: &mut Vec<Problem>,
    on_progress: &dyn Fn(Progress),
) -> Result<Vec<FoundFile>, EngineError> {
    let mut paths = BTreeMap::new();
    let mut skipped = BTreeMap::new();
    for pattern in patterns {
        let text = pattern.text.to_owned();
        match (expand(base, *pattern, &mut paths, &mut skipped)?, missing) {
            (Expanded::Files, _) => {}
            (Expanded::Nothing, MissingFiles::LeftOut) => {
                skipped.insert(text, Skipped::missing("the file no longer exists"));
            }
            (Expanded::Outside, MissingFiles::LeftOut) => {
                let message =
                    "skipped: outside the project, where only files that you named yourself are read";
                skipped.insert(text, Skipped::new(WhyLeftOut::Unreadable, None, message));
            }
            (Expanded::Nothing, MissingFiles::Refused) => {
                return Err(EngineError::NothingMatches { pattern: text, searched: base.to_owned() });
            }
            (Expanded::Outside, MissingFiles::Refused) => {
                return Err(EngineError::OutsideProject { pattern: text });
            }
        }
    }
    // A file that one pattern must not show may be shown by another.
    skipped.retain(|name, _| !paths.contains_key(name));
    let paths: Vec<(String, PathBuf)> = paths.into_iter().collect();
    let files = read_all(paths, &mut skipped, on_progress)?;
    problems.extend(skipped.into_iter().map(|(name, skipped)| skipped.problem(name)));
    Ok(files)
}

/// How much patterns may bring together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileLimits {
    pub(crate) max_files: usize,
    pub(crate) max_bytes: u64,
}

/// What patterns name in a project.
#[derive(Debug)]
pub(crate) enum ProjectFiles {
    /// The text files by path, sorted, and what was left out.
    Found(Vec<(String, String)>, Vec<Problem>),
    TooMany(usize),
    /// The number of bytes of all files.
    TooLarge(u64),
}

/// Reads the text files of a project that patterns name; nothing is read if there are too many.
pub(crate) fn find_in_project(
    root: &Path,
    patterns: &[String],
    limits: FileLimits,
) -> Result<ProjectFiles, EngineError> {
    let (mut paths, mut skipped) = (BTreeMap::new(), BTreeMap::new());
    for text in patterns {
        // Shells and editors complete whole paths.
        let below = Path::new(text).strip_prefix(root).ok().and_then(Path::to_str);
        let pattern = Pattern { text: below.unwrap_or(text), stays_in: Some(root) };
        match expand(root, pattern, &mut paths, &mut skipped)? {
            Expanded::Files => {}
            Expanded::Nothing => {
                return Err(EngineError::NothingMatches { pattern: text.clone(), searched: root.to_owned() });
            }
            Expanded::Outside => return Err(EngineError::OutsideProject { pattern: text.clone() }),
        }
        if paths.len() > limits.max_files {
            return Ok(ProjectFiles::TooMany(paths.len()));
        }
    }
    let n_bytes: u64 =
        paths.values().filter_map(|path| std::fs::metadata(path).ok()).map(|metadata| metadata.len()).sum();
    if n_bytes > limits.max_bytes {
        return Ok(ProjectFiles::TooLarge(n_bytes));
    }
    let found = read_all(paths.into_iter().collect(), &mut skipped, &|_| ())?;
    let problems = skipped.into_iter().map(|(name, skipped)| skipped.problem(name)).collect();
    Ok(ProjectFiles::Found(
        found.into_iter().map(|file| (file.name, file.text.to_string())).collect(),
        problems,
    ))
}

/// Adds the files of a pattern; returns whether it matched any.
fn expand(
    base: &Path,
    given: Pattern<'_>,
    paths: &mut BTreeMap<String, PathBuf>,
    skipped: &mut BTreeMap<String, Skipped>,
) -> Result<Expanded, EngineError> {
    let pattern = given.text;
    if pattern.is_empty() {
        let message = "it is empty".to_owned();
        return Err(EngineError::BadPattern { pattern: String::new(), message });
    }
    if given.is_written_outside() {
        return Ok(Expanded::Outside);
    }
    let literal = clean(&base.join(pattern));
    if literal.is_file() {
        if !given.reaches(&literal) {
            return Ok(Expanded::Outside);
        }
        // A plain path: no filter applies.
        paths.insert(name_of(base, pattern, &literal), literal);
        return Ok(Expanded::Files);
    }
    let (start, matcher) = if literal.is_dir() { (literal, None) } else { compile(base, pattern)? };
    if !start.is_dir() {
        return Ok(Expanded::Nothing);
    }
    if !given.reaches(&start) {
        return Ok(Expanded::Outside);
    }
    let mut has_match = false;
    for entry in walk_below(base, &start, matcher.is_some()) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let name = unlisted_path(&error)
                    .map_or_else(|| pattern.to_owned(), |path| name_of(base, pattern, path));
                let why = error.io_error().map_or_else(
                    || Skipped::new(WhyLeftOut::Unreadable, None, format!("skipped: {error}")),
                    Skipped::unreadable,
                );
                skipped.insert(name, why);
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
            let message = "skipped: its name is not UTF-8 text";
            skipped.insert(name, Skipped::new(WhyLeftOut::Encoding, None, message));
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
                    skipped.insert(name, Skipped::new(WhyLeftOut::Unreadable, None, message));
                }
            }
        }
    }
    Ok(if has_match { Expanded::Files } else { Expanded::Nothing })
}

/// The display path of a matching file: relative to the base, unless the pattern is absolute and leads elsewhere.
fn name_of(base: &Path, pattern: &str, path: &Path) -> String {
    if path.starts_with(base) || pattern.starts_with('/') {
        return shown_path(base, path);
    }
    let n_shared = base.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let n_up = base.components().count() - n_shared;
    let down: PathBuf = path.components().skip(n_shared).collect();
    format!("{}{}", "../".repeat(n_up), shown_path(base, &down))
}

/// Walks the files below `root` that are neither hidden nor git-ignored.
pub(super) fn walk_builder(root: &Path) -> ignore::WalkBuilder {
    let mut builder = ignore::WalkBuilder::new(root);
    builder.require_git(false).filter_entry(|entry| entry.file_name() != ".git");
    builder
}

/// The files below `start`.
///
/// A pattern is walked from the base, so that `.gitignore` also applies to the directories in the pattern. A directory
/// given as a plain path is included even if it is ignored.
fn walk_below(base: &Path, start: &Path, is_pattern: bool) -> ignore::Walk {
    // A walk does not follow links, but may start at one.
    let has_link = || start.ancestors().take_while(|path| *path != base).any(is_link);
    if !is_pattern || !start.starts_with(base) || has_link() {
        return walk_builder(start).build();
    }
    let mut builder = walk_builder(base);
    let start = start.to_owned();
    builder.hidden(false).filter_entry(move |entry| {
        // A directory above the start is entered even if it is hidden.
        let is_hidden = || entry.file_name().as_encoded_bytes().starts_with(b".");
        start.starts_with(entry.path())
            || (entry.path().starts_with(&start) && entry.file_name() != ".git" && !is_hidden())
    });
    builder.build()
}

/// The directory that a pattern starts in, and the matcher for paths relative to it.
///
/// The start is literal, or is an existing directory: `app/[slug]/*` means the directory `[slug]` if there is one.
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

/// Normalizes a path: removes `.`, and `..` where the directory exists.
///
/// The system resolves `..`, because the part before it may be a link.
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
    paths: Vec<(String, PathBuf)>,
    skipped: &mut BTreeMap<String, Skipped>,
    on_progress: &dyn Fn(Progress),
) -> Result<Vec<FoundFile>, EngineError> {
    let (names, paths): (Vec<String>, Vec<PathBuf>) = paths.into_iter().unzip();
    let mut files = Vec::with_capacity(paths.len());
    let contents = read_many(&paths, &why_left_out, on_progress);
    for ((name, path), content) in names.into_iter().zip(&paths).zip(contents) {
        let why = match content {
            Ok(Content::Text(text)) => {
                files.push(FoundFile { name, text });
                continue;
            }
            Ok(Content::LeftOut(why)) => {
                Skipped::new(WhyLeftOut::Encoding, Some(why.bytes), format!("skipped: {}", why.message))
            }
            Err(error @ EngineError::FilesTooLarge { .. }) => return Err(error),
            Err(EngineError::TooLarge { .. }) => {
                let message = format!("skipped: larger than {} MiB", MAX_BYTES / (1024 * 1024));
                let bytes = std::fs::metadata(path).ok().map(|metadata| metadata.len());
                Skipped::new(WhyLeftOut::SizeCap, bytes, message)
            }
            Err(EngineError::Unreadable { source, .. }) => Skipped::unreadable(&source),
            Err(error) => Skipped::new(WhyLeftOut::Unreadable, None, format!("skipped: {error}")),
        };
        skipped.insert(name, why);
    }
    Ok(files)
}

fn why_left_out(content: Result<&str, &[u8]>) -> Option<NotText> {
    let bytes = content.map_or_else(|bytes| bytes, str::as_bytes);
    let head = bytes.get(..8192).unwrap_or(bytes);
    let not_text = |message: String| NotText { bytes: bytes.len() as u64, message };
    if memchr::memchr(0, head).is_some() {
        return Some(not_text(format!("binary ({} bytes)", bytes.len())));
    }
    content.is_err().then(|| not_text(format!("not UTF-8 text ({} bytes)", bytes.len())))
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
