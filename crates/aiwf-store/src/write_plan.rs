//! The files a reply wants to write, checked as a whole and written as a whole.
//!
//! In: names and contents. Out: every problem, or a plan that can be written into one directory. A name may be a file
//! name or a relative path; it cannot leave the directory, be in `.git` or `.aiwf`, or collide with another.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use crate::atomic::{StoreError, create_dir};
use crate::confined::{ConfinedDir, ConfinedError};
use crate::name::{folded, is_reserved_dir, name_fault};
use crate::objects::sha256_hex;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {problem}", path.escape_debug())]
pub struct PlanProblem {
    pub path: String,
    pub problem: String,
}

/// Files that passed the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePlan {
    files: BTreeMap<String, Vec<u8>>,
}

/// Names reserved for the engine.
const PROTECTED: [&str; 3] = ["session.json", "journal.jsonl", "standards-bundle.md"];
const MAX_PATH_BYTES: usize = 1024;

impl WritePlan {
    /// Checks every name; returns all problems or a plan.
    pub fn check(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<Self, Vec<PlanProblem>> {
        let mut checked: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut problems = Vec::new();
        // Names that differ only in case are the same file on some systems.
        let mut by_fold: BTreeMap<String, String> = BTreeMap::new();
        for (path, content) in files {
            let mut problem = |problem: &str| {
                problems.push(PlanProblem { path: path.clone(), problem: problem.to_owned() });
            };
            if let Some(fault) = fault(&path) {
                problem(fault);
                continue;
            }
            let fold = folded_path(&path);
            match by_fold.get(&fold) {
                Some(earlier) if *earlier == path => problem("occurs twice"),
                Some(earlier) => problem(&format!("differs from `{earlier}` only in case")),
                None => {
                    by_fold.insert(fold, path.clone());
                    checked.insert(path, content);
                }
            }
        }
        for (fold, path) in &by_fold {
            // Prefixes of a folded path are folded already.
            for (position, _) in fold.match_indices('/') {
                if let Some(file) = fold.get(..position).and_then(|above| by_fold.get(above)) {
                    problems.push(PlanProblem {
                        path: path.clone(),
                        problem: format!("needs a directory, but `{file}` is a file"),
                    });
                }
            }
        }
        if problems.is_empty() { Ok(Self { files: checked }) } else { Err(problems) }
    }

    pub fn hashes(&self) -> impl Iterator<Item = (&str, String)> {
        self.files.iter().map(|(path, content)| (path.as_str(), sha256_hex(content)))
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// Writes every file into a new directory and moves it into place: all of them or none.
    ///
    /// `temporary` and `target` are names in `parent`; leftovers of an earlier attempt are removed. An existing
    /// `target` is replaced: the caller has made sure that it contains nothing of the user's. It is moved aside first,
    /// so that no reader sees a partial directory. No link is followed.
    pub fn write_in(&self, parent: &ConfinedDir, temporary: &str, target: &str) -> Result<(), ConfinedError> {
        let aside = format!("{temporary}.old");
        let written =
            self.write_new(parent, temporary).and_then(|()| replace(parent, temporary, target, &aside));
        written.inspect_err(|_| drop(parent.remove(temporary)))
    }

    /// The same for a directory that the engine chose, by path.
    pub fn write(&self, temporary: &Path, target: &Path) -> Result<(), StoreError> {
        let name =
            |path: &Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let parent = target.parent().unwrap_or(Path::new("."));
        let written = create_dir(parent).map_err(|error| error.source).and_then(|()| {
            let parent = ConfinedDir::open(parent)?;
            Ok(self.write_in(&parent, &name(temporary), &name(target))?)
        });
        written.map_err(|source| StoreError { path: target.to_owned(), source })
    }

    fn write_new(&self, parent: &ConfinedDir, temporary: &str) -> Result<(), ConfinedError> {
        parent.remove(temporary)?;
        let root = parent.create_directory(temporary)?;
        // Files are sorted, so those of one directory are adjacent.
        let mut last: Option<(&str, ConfinedDir)> = None;
        for (path, content) in &self.files {
            let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
            let directory = match last.take() {
                Some((known, directory)) if known == above => directory,
                _ if above.is_empty() => root.try_clone()?,
                _ => above
                    .split('/')
                    .try_fold(root.try_clone()?, |directory, part| directory.create_directory(part))?,
            };
            let mut file = directory.create_file(name, 0o666)?;
            file.write_all(content)?;
            file.sync_all()?;
            last = Some((above, directory));
        }
        root.sync();
        Ok(())
    }
}

/// Renames `new` to `target`; an existing `target` is moved aside, and back if the rename fails.
fn replace(parent: &ConfinedDir, new: &str, target: &str, aside: &str) -> Result<(), ConfinedError> {
    parent.remove(aside)?;
    match parent.rename(target, parent, aside) {
        Ok(()) | Err(ConfinedError::Missing) => {}
        Err(error) => return Err(error),
    }
    parent.rename(new, parent, target).inspect_err(|_| drop(parent.rename(aside, parent, target)))?;
    parent.sync();
    // The rest of the old directory has a temporary name and does no harm.
    drop(parent.remove(aside));
    Ok(())
}

/// A path as the most lenient file system sees it.
fn folded_path(path: &str) -> String {
    path.split('/').map(folded).collect::<Vec<_>>().join("/")
}

fn fault(path: &str) -> Option<&'static str> {
    if path.trim().is_empty() {
        return Some("is empty");
    }
    if path.len() > MAX_PATH_BYTES {
        return Some("is too long");
    }
    if path.starts_with('/') {
        return Some("is absolute: give a path relative to the code");
    }
    if path.contains('\\') {
        return Some("contains a backslash: write `/` between directories");
    }
    path.split('/').find_map(part_fault)
}

fn part_fault(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("has an empty part between slashes"),
        "." | ".." => Some("contains `.` or `..`: give the path itself"),
        _ if is_reserved_dir(part) => Some("is in `.git` or `.aiwf`, where only git and aiwf may write"),
        _ if folded(part).starts_with(".tmp-") => Some("is reserved for aiwf"),
        _ if PROTECTED.iter().any(|name| folded(part) == *name) => Some("is reserved for aiwf"),
        _ => name_fault(part),
    }
}

#[cfg(test)]
#[path = "write_plan_tests.rs"]
mod tests;
