//! What templates say about the project: its own notes and its files.

use std::path::{Path, PathBuf};

use super::files::walk_builder;
use super::shown_path;
use crate::error::EngineError;
use crate::prompt::read::{Root, read_text_below};

/// The files that hold a project's own notes, the first that exists.
const NOTES: [&str; 4] = [".aiwf/project.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"];

/// The project's own notes, or a notice that there are none.
pub(super) fn context(root: &Path) -> Result<String, EngineError> {
    Ok(notes(root)?.map_or_else(
        || "(No project context is given: there is no `.aiwf/project.md`, `AGENTS.md`, `CLAUDE.md` or `GEMINI.md`.)".to_owned(),
        |(_, text)| text,
    ))
}

/// The project's own notes, with the file they stand in.
pub(super) fn notes(root: &Path) -> Result<Option<(&'static str, String)>, EngineError> {
    for name in NOTES {
        let path = root.join(name);
        // Looked at before it is opened: opening a pipe would wait for a writer.
        if path.exists() && !path.is_file() {
            let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(EngineError::Unreadable { path: name.into(), source });
        }
        if let Some(text) = read_text_below(Root::project(root), &path).map_err(|error| error.about(name))?
            && !text.trim().is_empty()
        {
            return Ok(Some((name, text.trim_end().to_owned())));
        }
    }
    Ok(None)
}

/// How many files the overview lists.
const MAX_LISTED: usize = 400;
/// How many are looked at: a home directory is a project too when a command runs there.
const MAX_SEEN: usize = 20_000;

/// The project's files, one a line, as far as they fit; what lies below a directory that is left out is none of them.
pub(super) fn structure(root: &Path, left_out: &[PathBuf]) -> String {
    structure_up_to(root, left_out, MAX_SEEN)
}

fn structure_up_to(root: &Path, left_out: &[PathBuf], max_seen: usize) -> String {
    // In the order of names, so that the same files are seen every time.
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
