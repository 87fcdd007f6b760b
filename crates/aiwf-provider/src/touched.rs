//! Which files of a project changed while an agent worked.
//!
//! Before a call every file is looked at but not read; after it only what looks different is read. What `.gitignore`
//! leaves out is listed apart and never read, except below `.aiwf`, where an agent has no business. What cannot be
//! looked at is listed apart, too: that is no change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use aiwf_prompt::Sha256Hex;
use ignore::WalkBuilder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// How many files are looked at; a larger project is looked at in part. The same again for files that git ignores.
const MAX_FILES: usize = 200_000;
/// How many ignored files of one top directory are named; of more only their number is told.
const MAX_IGNORED_NAMED: usize = 20;

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It was not there before.
    Added,
    /// It is not what it was.
    Changed,
    /// It is not there any more.
    Removed,
}

/// A file that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TouchedFile {
    /// Its path in the project.
    pub path: PathBuf,
    /// What happened to it.
    pub change: Change,
    /// SHA-256 of what it was; unknown unless hashes were taken before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// SHA-256 of what it is; unknown when it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What a file looks like without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStat {
    bytes: u64,
    modified_at: (i64, i64),
    // Cannot be set back, unlike the time of the last change to the bytes.
    changed_at: (i64, i64),
    inode: u64,
    mode: u32,
}

impl FileStat {
    /// What is there; `None` when nothing is.
    fn at(path: &Path) -> io::Result<Option<Self>> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        Ok(Some(Self {
            bytes: found.len(),
            modified_at: (found.mtime(), found.mtime_nsec()),
            changed_at: (found.ctime(), found.ctime_nsec()),
            inode: found.ino(),
            mode: found.mode(),
        }))
    }
}

#[derive(Clone, Debug)]
struct Seen {
    look: FileStat,
    sha256: Option<String>,
}

/// The files of a project at one time.
#[derive(Clone, Debug)]
pub struct Touched {
    root: PathBuf,
    ignored: Vec<PathBuf>,
    max_files: usize,
    seen: BTreeMap<PathBuf, Seen>,
    seen_ignored: BTreeMap<PathBuf, FileStat>,
    is_complete: bool,
    is_ignored_complete: bool,
    unreadable: BTreeSet<PathBuf>,
}

/// What was found after a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The files that are not what they were, by path.
    pub touched: Vec<TouchedFile>,
    /// The same of files that git ignores: paths, and `DIRECTORY/ (N files)` where there are many.
    pub ignored: Vec<String>,
    /// What could not be looked at, before or after.
    pub unreadable: Vec<PathBuf>,
}

/// What the files of a project look like.
#[derive(Debug, Default)]
struct Looks {
    tracked: BTreeMap<PathBuf, FileStat>,
    ignored: BTreeMap<PathBuf, FileStat>,
    is_complete: bool,
    is_ignored_complete: bool,
    unreadable: BTreeSet<PathBuf>,
}

impl Touched {
    /// Looks at every file of a project, those below the ignored paths left out; these are absolute, or relative to
    /// the root.
    pub fn before(root: &Path, ignored: &[&Path]) -> Self {
        Self::bounded(root, ignored, MAX_FILES)
    }

    /// Also reads every file, so that what was there is known by its hash.
    pub fn before_with_hashes(root: &Path, ignored: &[&Path]) -> Self {
        let mut touched = Self::before(root, ignored);
        for (path, seen) in &mut touched.seen {
            seen.sha256 = sha256_of(&root.join(path));
        }
        touched
    }

    fn bounded(root: &Path, ignored: &[&Path], max_files: usize) -> Self {
        let inside = |path: &&Path| path.strip_prefix(root).unwrap_or(path).to_owned();
        let ignored: Vec<PathBuf> = ignored.iter().map(inside).collect();
        let looks = looks(root, &ignored, max_files);
        let seen =
            looks.tracked.into_iter().map(|(path, look)| (path, Seen { look, sha256: None })).collect();
        Self {
            root: root.to_owned(),
            ignored,
            max_files,
            seen,
            seen_ignored: looks.ignored,
            is_complete: looks.is_complete,
            is_ignored_complete: looks.is_ignored_complete,
            unreadable: looks.unreadable,
        }
    }

    /// Whether every file was looked at; of a very large project only a part is, and files added elsewhere in it
    /// are not found.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Looks at the project again: what is not what it was.
    pub fn after(&self) -> Found {
        let mut looks = looks(&self.root, &self.ignored, self.max_files);
        let mut unreadable: BTreeSet<PathBuf> = self.unreadable.union(&looks.unreadable).cloned().collect();
        let mut touched = Vec::new();
        for (path, seen) in &self.seen {
            // A file that only an ignore rule hides now is still there.
            let known = looks.tracked.remove(path).or_else(|| looks.ignored.remove(path));
            match known.map_or_else(|| FileStat::at(&self.root.join(path)), |look| Ok(Some(look))) {
                Ok(look) => touched.extend(self.changed(path, seen, look.as_ref())),
                Err(_) => drop(unreadable.insert(path.clone())),
            }
        }
        let mut ignored = Vec::new();
        for (path, before) in &self.seen_ignored {
            let known = looks.ignored.remove(path).or_else(|| looks.tracked.remove(path));
            match known.map_or_else(|| FileStat::at(&self.root.join(path)), |look| Ok(Some(look))) {
                Ok(look) if look.as_ref() == Some(before) => {}
                Ok(_) => ignored.push(path.clone()),
                Err(_) => drop(unreadable.insert(path.clone())),
            }
        }
        // What is new to us below a place that could not be looked at may have been there before.
        let is_new = |path: &PathBuf| !unreadable.iter().any(|place| path.starts_with(place));
        if self.is_complete {
            let added = looks.tracked.into_keys().filter(is_new).map(|path| {
                let after = sha256_of(&self.root.join(&path));
                TouchedFile { path, change: Change::Added, before: None, after }
            });
            touched.extend(added);
        }
        if self.is_ignored_complete {
            ignored.extend(looks.ignored.into_keys().filter(is_new));
        }
        touched.sort_by(|a, b| a.path.cmp(&b.path));
        Found { touched, ignored: named(ignored), unreadable: unreadable.into_iter().collect() }
    }

    fn changed(&self, path: &Path, seen: &Seen, look: Option<&FileStat>) -> Option<TouchedFile> {
        let file =
            |change, after| TouchedFile { path: path.to_owned(), change, before: seen.sha256.clone(), after };
        let Some(look) = look else { return Some(file(Change::Removed, None)) };
        if *look == seen.look {
            return None;
        }
        let after = sha256_of(&self.root.join(path));
        let is_same = seen.sha256.is_some() && seen.sha256 == after && seen.look.mode == look.mode;
        (!is_same).then(|| file(Change::Changed, after))
    }
}

/// Ignored files by name, or by number where a directory has many: a build changes thousands.
fn named(paths: Vec<PathBuf>) -> Vec<String> {
    let mut groups: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in paths {
        let top = path.components().next().map(|top| PathBuf::from(top.as_os_str())).unwrap_or_default();
        groups.entry(top).or_default().push(path);
    }
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let mut names = Vec::new();
    for (top, mut paths) in groups {
        if paths.len() > MAX_IGNORED_NAMED {
            names.push(format!("{}/ ({} files)", shown(&top), paths.len()));
        } else {
            paths.sort();
            names.extend(paths.iter().map(|path| shown(path)));
        }
    }
    names
}

/// What every file looks like: first what git does not ignore, then the rest, each up to so many.
fn looks(root: &Path, skipped: &[PathBuf], max_files: usize) -> Looks {
    let mut project = WalkBuilder::new(root);
    // What an agent can change to hide a file does not count; what the project itself ignores does.
    project.hidden(false).ignore(false).require_git(false).git_exclude(false).git_global(false);
    // Hooks and settings of git are code that runs.
    let unfiltered = |place: &str| {
        let mut walk = WalkBuilder::new(root.join(place));
        walk.standard_filters(false);
        walk
    };
    let tracked = [".aiwf", ".git/hooks", ".git/config", ".git/info"].map(unfiltered);
    let mut looks = Looks { is_complete: true, is_ignored_complete: true, ..Looks::default() };
    for walk in std::iter::once(project).chain(tracked) {
        let unreadable = &mut looks.unreadable;
        looks.is_complete &=
            walk_into(&mut looks.tracked, unreadable, walk, root, skipped, max_files, |_| true);
    }
    let (known, unreadable) = (&looks.tracked, &mut looks.unreadable);
    let is_ignored = |path: &Path| !known.contains_key(path);
    looks.is_ignored_complete =
        walk_into(&mut looks.ignored, unreadable, unfiltered(""), root, skipped, max_files, is_ignored);
    looks
}

/// Adds what a walk finds; whether that was everything.
fn walk_into(
    found: &mut BTreeMap<PathBuf, FileStat>,
    unreadable: &mut BTreeSet<PathBuf>,
    mut walk: WalkBuilder,
    root: &Path,
    skipped: &[PathBuf],
    max_files: usize,
    is_wanted: impl Fn(&Path) -> bool,
) -> bool {
    let (base, skipped) = (root.to_owned(), skipped.to_owned());
    walk.filter_entry(move |entry| {
        let inside = entry.path().strip_prefix(&base).unwrap_or(entry.path());
        entry.file_name() != ".git" && !skipped.iter().any(|path| inside.starts_with(path))
    });
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                unreadable.extend(unreadable_place(&error, root));
                continue;
            }
        };
        let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
        let inside = entry.path().strip_prefix(root).ok();
        let (true, Some(inside)) = (is_file, inside) else { continue };
        if !is_wanted(inside) {
            continue;
        }
        if found.len() >= max_files && !found.contains_key(inside) {
            return false;
        }
        match FileStat::at(entry.path()) {
            Ok(Some(look)) => drop(found.insert(inside.to_owned(), look)),
            Ok(None) => {}
            Err(_) => drop(unreadable.insert(inside.to_owned())),
        }
    }
    true
}

/// The place that a walk could not look at; one that is not there is none.
fn unreadable_place(error: &ignore::Error, root: &Path) -> Option<PathBuf> {
    if error.io_error().is_none_or(|error| error.kind() == io::ErrorKind::NotFound) {
        return None;
    }
    let mut error = error;
    loop {
        error = match error {
            ignore::Error::WithPath { path, .. } => {
                return Some(path.strip_prefix(root).unwrap_or(path).to_owned());
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            ignore::Error::Partial(_)
            | ignore::Error::Loop { .. }
            | ignore::Error::Io(_)
            | ignore::Error::Glob { .. }
            | ignore::Error::UnrecognizedFileType(_)
            | ignore::Error::InvalidDefinition => return None,
        };
    }
}

/// SHA-256 of a file's bytes, or of where a link leads; `None` for what is neither or cannot be read.
fn sha256_of(path: &Path) -> Option<String> {
    let kind = fs::symlink_metadata(path).ok()?.file_type();
    let mut hash = Sha256::new();
    if kind.is_symlink() {
        hash.update(fs::read_link(path).ok()?.as_os_str().as_bytes());
    } else if kind.is_file() {
        let mut file = File::open(path).ok()?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer).ok()? {
                0 => break,
                n_read => hash.update(buffer.get(..n_read)?),
            }
        }
    } else {
        return None;
    }
    Some(Sha256Hex(hash.finalize().into()).to_string())
}

#[cfg(test)]
#[path = "touched_tests.rs"]
mod tests;
