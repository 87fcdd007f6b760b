//! The description of the project for templates: its files.

use std::path::{Path, PathBuf};

use super::files::walk_builder;
use super::shown_path;

/// Maximum number of files in the overview.
const MAX_LISTED: usize = 400;
/// Maximum number of files visited: the project may be a home directory.
const MAX_SEEN: usize = 20_000;

/// The project's files, one per line, up to the limit, without the skipped directories.
pub(super) fn structure(root: &Path, left_out: &[PathBuf]) -> String {
    structure_up_to(root, left_out, MAX_SEEN)
}

fn structure_up_to(root: &Path, left_out: &[PathBuf], max_seen: usize) -> String {
    // Sorted by name, so that the limit always selects the same files.
    let mut files: Vec<String> = walk_builder(root)
        .sort_by_file_name(std::cmp::Ord::cmp)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter(|entry| !left_out.iter().any(|directory| entry.path().starts_with(directory)))
        .map(|entry| shown_path(root, entry.path()))
        .take(max_seen)
        .collect();
    if files.is_empty() {
        return "(The project has no files yet.)".to_owned();
    }
    files.sort();
    let n_files = files.len();
    files.truncate(MAX_LISTED);
    if n_files == max_seen {
        files.push(format!("… and {} or more other files", n_files - MAX_LISTED));
    } else if n_files > MAX_LISTED {
        files.push(format!("… and {} more files", n_files - MAX_LISTED));
    }
    files.join("\n")
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
