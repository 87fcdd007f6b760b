//! Which files of a project belong into its worktree.
//!
//! In: a project. Out: the paths of tracked files and of others that no ignore rule leaves out. `.git` and `.aiwf` are
//! never among them, nor what is in submodules and in repositories inside the project.

use std::collections::BTreeMap;
use std::path::Path;

use aiwf_store::is_reserved_dir;
use ignore::WalkBuilder;

use crate::error::WorktreeError;
use crate::git::pieces;
use crate::repository::Repository;
use crate::worktree::{LeftOut, LeftOutReason};

/// What git, or the disk, says about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// git tracks it.
    Tracked,
    /// git tracks it, and a sparse checkout may leave it out.
    Sparse,
    /// It is only on the disk.
    Untracked,
}

/// The files of a project, by path, and what is left out.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: BTreeMap<String, Known>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Listing {
    /// The files of a repository.
    ///
    /// Untracked files are those of the project only: a home directory can be a repository.
    pub(crate) fn of_repository(repository: &Repository) -> Result<Self, WorktreeError> {
        let mut listing = Self::default();
        let git = repository.looking(&[]);
        let action = "list the files";
        for entry in pieces(&git.output(action, &["ls-files", "-z", "-s", "-t"], Vec::new())?) {
            // Such as `H 100644 <id> 0<tab>src/lib.rs`.
            let mut parts = entry.splitn(2, |byte| *byte == b'\t');
            let (Some(about), Some(path)) = (parts.next(), parts.next()) else { continue };
            let known = if about.starts_with(b"S ") { Known::Sparse } else { Known::Tracked };
            let is_submodule = about.get(2..).is_some_and(|mode| mode.starts_with(b"160000 "));
            listing.add(path, known, is_submodule.then_some(LeftOutReason::Submodule));
        }
        let mut args = vec!["ls-files", "-z", "-o", "--exclude-standard", "--"];
        if !repository.below.is_empty() {
            args.push(&repository.below);
        }
        for path in pieces(&git.output(action, &args, Vec::new())?) {
            match path.strip_suffix(b"/") {
                Some(directory) => listing.add(directory, Known::Untracked, Some(LeftOutReason::Repository)),
                None => listing.add(path, Known::Untracked, None),
            }
        }
        Ok(listing)
    }

    /// The files of a directory that is in no repository.
    pub(crate) fn of_directory(root: &Path) -> Self {
        let mut listing = Self::default();
        let mut walk = WalkBuilder::new(root);
        walk.hidden(false).ignore(false).git_exclude(false).require_git(false).parents(false);
        walk.filter_entry(|entry| !entry.file_name().to_str().is_some_and(is_reserved_dir));
        for entry in walk.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    listing.left_out.extend(unreadable(&error, root));
                    continue;
                }
            };
            let Ok(path) = entry.path().strip_prefix(root) else { continue };
            let is_directory = entry.file_type().is_none_or(|kind| kind.is_dir());
            if !is_directory {
                listing.add(path.as_os_str().as_encoded_bytes(), Known::Untracked, None);
            }
        }
        listing
    }

    fn add(&mut self, path: &[u8], known: Known, reason: Option<LeftOutReason>) {
        let Ok(text) = std::str::from_utf8(path) else {
            self.leave_out(String::from_utf8_lossy(path).into_owned(), LeftOutReason::NotUtf8);
            return;
        };
        // An index can be made by hand, so its paths can be anything.
        let is_path = text.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !is_path || text.split('/').any(is_reserved_dir) {
            return;
        }
        match reason {
            Some(reason) => self.leave_out(text.to_owned(), reason),
            None => drop(self.files.insert(text.to_owned(), known)),
        }
    }

    pub(crate) fn leave_out(&mut self, path: String, reason: LeftOutReason) {
        self.left_out.push(LeftOut { path, reason });
    }
}

/// The place that could not be read.
fn unreadable(error: &ignore::Error, root: &Path) -> Option<LeftOut> {
    let is_denied =
        error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied);
    let path = unlisted_path(error).filter(|_| is_denied)?;
    let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    Some(LeftOut { path, reason: LeftOutReason::Unreadable })
}

/// The path that a walk of directories could not list.
pub fn unlisted_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            unlisted_path(err)
        }
        ignore::Error::Partial(_)
        | ignore::Error::Loop { .. }
        | ignore::Error::Io(_)
        | ignore::Error::Glob { .. }
        | ignore::Error::UnrecognizedFileType(_)
        | ignore::Error::InvalidDefinition => None,
    }
}
