//! Which files of a project changed while an agent worked.
//!
//! Before a call every file is looked at but not read; after it only what looks different is read. What
//! `.gitignore` leaves out is left out, except below `.aiwf`, where an agent has no business.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use aiwf_prompt::Sha256Hex;
use ignore::WalkBuilder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// How many files are looked at; a larger project is looked at in part.
const MAX_FILES: usize = 200_000;

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
struct Look {
    bytes: u64,
    modified_at: (i64, i64),
    // Cannot be set back, unlike the time of the last change to the bytes.
    changed_at: (i64, i64),
    inode: u64,
    mode: u32,
}

impl Look {
    fn at(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Self {
            bytes: found.len(),
            modified_at: (found.mtime(), found.mtime_nsec()),
            changed_at: (found.ctime(), found.ctime_nsec()),
            inode: found.ino(),
            mode: found.mode(),
        })
    }
}

#[derive(Clone, Debug)]
struct Seen {
    look: Look,
    sha256: Option<String>,
}

/// The files of a project at one time.
#[derive(Clone, Debug)]
pub struct Touched {
    root: PathBuf,
    ignored: Vec<PathBuf>,
    max_files: usize,
    seen: BTreeMap<PathBuf, Seen>,
    is_complete: bool,
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
        let (looks, is_complete) = looks(root, &ignored, max_files);
        let seen = looks.into_iter().map(|(path, look)| (path, Seen { look, sha256: None })).collect();
        Self { root: root.to_owned(), ignored, max_files, seen, is_complete }
    }

    /// Whether every file was looked at; of a very large project only a part is, and files added elsewhere in it
    /// are not found.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The files that are not what they were, by path.
    pub fn after(&self) -> Vec<TouchedFile> {
        let (mut looks, _) = looks(&self.root, &self.ignored, self.max_files);
        let mut touched = Vec::new();
        for (path, seen) in &self.seen {
            // A file that only an ignore rule hides now is still there.
            let look = looks.remove(path).or_else(|| Look::at(&self.root.join(path)));
            touched.extend(self.changed(path, seen, look.as_ref()));
        }
        if self.is_complete {
            let added = looks.into_keys().map(|path| {
                let after = sha256_of(&self.root.join(&path));
                TouchedFile { path, change: Change::Added, before: None, after }
            });
            touched.extend(added);
        }
        touched.sort_by(|a, b| a.path.cmp(&b.path));
        touched
    }

    fn changed(&self, path: &Path, seen: &Seen, look: Option<&Look>) -> Option<TouchedFile> {
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

/// What every file looks like, and whether that is every file.
fn looks(root: &Path, ignored: &[PathBuf], max_files: usize) -> (BTreeMap<PathBuf, Look>, bool) {
    let mut project = WalkBuilder::new(root);
    // What an agent can change to hide a file does not count; what the project itself ignores does.
    project.hidden(false).ignore(false).require_git(false).git_exclude(false).git_global(false);
    // Hooks and settings of git are code that runs.
    let unfiltered = [".aiwf", ".git/hooks", ".git/config", ".git/info"].map(|place| {
        let mut walk = WalkBuilder::new(root.join(place));
        walk.standard_filters(false);
        walk
    });
    let mut looks = BTreeMap::new();
    for mut walk in std::iter::once(project).chain(unfiltered) {
        let (base, skipped) = (root.to_owned(), ignored.to_owned());
        walk.filter_entry(move |entry| {
            let inside = entry.path().strip_prefix(&base).unwrap_or(entry.path());
            entry.file_name() != ".git" && !skipped.iter().any(|path| inside.starts_with(path))
        });
        for entry in walk.build().filter_map(Result::ok) {
            let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            let inside = entry.path().strip_prefix(root).ok();
            let (true, Some(inside)) = (is_file, inside) else { continue };
            if looks.len() >= max_files && !looks.contains_key(inside) {
                return (looks, false);
            }
            if let Some(look) = Look::at(entry.path()) {
                looks.insert(inside.to_owned(), look);
            }
        }
    }
    (looks, true)
}

/// SHA-256 of a file's bytes, or of where a link leads; nothing for what is neither or cannot be read.
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
