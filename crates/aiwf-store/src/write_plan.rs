//! What a reply wants written: checked as a whole, then written as a whole.
//!
//! In: names and contents. Out: every problem, or a plan that can be written into one directory. A name can be a
//! file name or a relative path; it cannot leave the directory, be in `.git` or `.aiwf`, or take
//! the place of another.

#![expect(clippy::disallowed_methods, reason = "this crate is where files are written")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::atomic::{StoreError, remove_any};
use crate::name::{folded, is_reserved_dir, name_fault};
use crate::objects::sha256_hex;

/// What is wrong with one name of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {problem}", path.escape_debug())]
pub struct PlanProblem {
    /// The name.
    pub path: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Files that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePlan {
    files: BTreeMap<String, Vec<u8>>,
}

/// Names that belong to the engine.
const PROTECTED: [&str; 3] = ["session.json", "journal.jsonl", "standards-bundle.md"];
/// The longest path.
const MAX_PATH_BYTES: usize = 1024;

impl WritePlan {
    /// Checks every name; all problems, or a plan.
    pub fn check(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<Self, Vec<PlanProblem>> {
        let mut checked: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut problems = Vec::new();
        // Names that differ only in case are one file on some systems.
        let mut by_fold: BTreeMap<String, String> = BTreeMap::new();
        for (path, content) in files {
            let mut problem = |problem: &str| {
                problems.push(PlanProblem { path: path.clone(), problem: problem.to_owned() });
            };
            if let Some(fault) = fault(&path) {
                problem(fault);
                continue;
            }
            match by_fold.get(&folded(&path)) {
                Some(earlier) if *earlier == path => problem("is there twice"),
                Some(earlier) => problem(&format!("differs from `{earlier}` only in case")),
                None => {
                    by_fold.insert(folded(&path), path.clone());
                    checked.insert(path, content);
                }
            }
        }
        for path in checked.keys() {
            for (position, _) in path.match_indices('/') {
                let above = path.get(..position).unwrap_or_default();
                if let Some(file) = by_fold.get(&folded(above)) {
                    problems.push(PlanProblem {
                        path: path.clone(),
                        problem: format!("needs a directory where `{file}` is a file"),
                    });
                }
            }
        }
        if problems.is_empty() { Ok(Self { files: checked }) } else { Err(problems) }
    }

    /// The names and hashes of the files, sorted by name.
    pub fn hashes(&self) -> impl Iterator<Item = (&str, String)> {
        self.files.iter().map(|(path, content)| (path.as_str(), sha256_hex(content)))
    }

    /// The names and contents of the files, sorted by name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// Writes every file into a new directory and moves it into place: all of them, or none.
    ///
    /// `temporary` lies beside `target`; what an earlier attempt left there is removed. A `target` that exists is
    /// replaced: the caller has made sure that it holds nothing of a person. It is moved aside first, so that nobody
    /// ever finds half of it.
    pub fn write(&self, temporary: &Path, target: &Path) -> Result<(), StoreError> {
        let mut aside = temporary.as_os_str().to_owned();
        aside.push(".old");
        let written = self.write_new(temporary).and_then(|()| replace(temporary, target, Path::new(&aside)));
        written.map_err(|source| {
            drop(remove_any(temporary));
            StoreError { path: target.to_owned(), source }
        })
    }

    fn write_new(&self, directory: &Path) -> io::Result<()> {
        remove_any(directory)?;
        fs::create_dir_all(directory)?;
        for (name, content) in &self.files {
            let path = directory.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            let mut file = File::options().write(true).create_new(true).open(&path)?;
            file.write_all(content)?;
            file.sync_all()?;
        }
        File::open(directory)?.sync_all()
    }
}

/// Gives `new` the name `target`; what has that name is moved aside, and back when that does not work.
fn replace(new: &Path, target: &Path, aside: &Path) -> io::Result<()> {
    remove_any(aside)?;
    match fs::rename(target, aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(new, target).inspect_err(|_| drop(fs::rename(aside, target)))?;
    sync_above(target)?;
    // What is left of the old one bears a temporary name: it is in nobody's way.
    drop(remove_any(aside));
    Ok(())
}

fn sync_above(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}

fn fault(path: &str) -> Option<&'static str> {
    if path.trim().is_empty() {
        return Some("is empty");
    }
    if path.len() > MAX_PATH_BYTES {
        return Some("is longer than a path can be");
    }
    if path.starts_with('/') {
        return Some("is absolute: give a path relative to the code");
    }
    if path.contains('\\') {
        return Some("holds a backslash: write `/` between directories");
    }
    path.split('/').find_map(part_fault)
}

fn part_fault(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("has an empty part between slashes"),
        "." | ".." => Some("holds `.` or `..`: give the path itself"),
        _ if is_reserved_dir(part) => Some("is in `.git` or `.aiwf`, where only git and aiwf write"),
        _ if folded(part).starts_with(".tmp-") => Some("is a name of the engine's own"),
        _ if PROTECTED.iter().any(|name| folded(part) == *name) => Some("is a name of the engine's own"),
        _ => name_fault(part),
    }
}

#[cfg(test)]
#[path = "write_plan_tests.rs"]
mod tests;
