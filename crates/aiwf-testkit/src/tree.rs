//! Everything below a directory, to see whether somebody changed it.

#![expect(clippy::disallowed_methods, reason = "tests put links in the place of files")]

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

/// A larger file is known by its size.
const MAX_HASHED_BYTES: u64 = 10_000_000;

/// Every path below some directories, with what is there. Links are not followed, and pipes are not opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    entries: BTreeMap<PathBuf, String>,
}

impl Tree {
    /// # Panics
    ///
    /// When a directory cannot be read.
    #[must_use]
    pub fn of(directories: &[PathBuf]) -> Self {
        let mut tree = Self::default();
        for directory in directories {
            tree.add(directory);
        }
        tree
    }

    /// The paths that are different in `other`, or in only one of the two.
    #[must_use]
    pub fn changed<'a>(&'a self, other: &'a Self) -> Vec<&'a Path> {
        let mut paths: Vec<&Path> = self
            .entries
            .keys()
            .chain(other.entries.keys())
            .filter(|path| self.entries.get(*path) != other.entries.get(*path))
            .map(PathBuf::as_path)
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }

    fn add(&mut self, path: &Path) {
        let meta = path.symlink_metadata().expect("a path that was just listed");
        let kind = meta.file_type();
        let entry = if kind.is_symlink() {
            format!("link to {}", path.read_link().expect("a readable link").display())
        } else if kind.is_dir() {
            "directory".to_owned()
        } else if kind.is_file() && meta.len() < MAX_HASHED_BYTES {
            let mut hasher = DefaultHasher::new();
            fs::read(path).expect("a readable file").hash(&mut hasher);
            format!("{:o} {} {:x}", meta.mode(), meta.len(), hasher.finish())
        } else {
            format!("special or large, {}", meta.len())
        };
        self.entries.insert(path.to_owned(), entry);
        if kind.is_dir() {
            for entry in fs::read_dir(path).expect("a readable directory").flatten() {
                self.add(&entry.path());
            }
        }
    }
}

/// Puts a link in the place of whatever is at a path.
///
/// # Panics
///
/// When that is not possible.
pub fn replace_with_link(target: impl AsRef<Path>, path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).expect("a directory that can be removed");
    } else {
        drop(fs::remove_file(path));
    }
    symlink(target, path).expect("a place for a link");
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
