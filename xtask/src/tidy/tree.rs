//! The files and members that the checks look at.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::tidy::rust_text::RustText;
use crate::workspace::{self, Member, Workspace};

/// Folders below a `tests` folder that hold what tests read: data, not our code.
const DATA_DIRS: &[&str] = &["cases", "data", "fixtures", "histories", "scenarios", "snapshots"];

/// Everything the checks may know.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Sorted by path. Files that are no UTF-8 text are left out.
    pub(super) files: Vec<SourceFile>,
    pub(super) members: Vec<Member>,
    /// The paths that git tracks already; the others are new.
    pub(super) tracked: BTreeSet<String>,
}

/// A text file of the project.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    /// For Rust files, the text with strings and comments told apart from code.
    pub(super) rust: Option<RustText>,
}

impl Tree {
    /// Reads what git tracks and what it would add, so that a mistake shows before the commit.
    pub(super) fn read(workspace: &Workspace) -> Result<Self, Failure> {
        let list = |extra: &[&str]| -> Result<BTreeSet<String>, Failure> {
            let mut git = Command::new("git");
            git.current_dir(&workspace.root).args(["ls-files", "-z"]).args(extra);
            let paths = workspace::capture(&mut git)?;
            Ok(paths.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
        };
        let tracked = list(&["--cached"])?;
        let new = list(&["--others", "--exclude-standard"])?;
        let mut files = Vec::new();
        for path in tracked.union(&new) {
            let full_path = workspace.root.join(path);
            // A tracked file may be deleted in the work tree, and a link is checked where it points to.
            if !fs::symlink_metadata(&full_path).is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let bytes =
                fs::read(&full_path).map_err(|error| Failure::io(format!("read `{path}`"), &error))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(SourceFile::new(path, text));
            }
        }
        Ok(Self { files, members: workspace.members()?, tracked })
    }

    pub(super) fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Our own Rust code with its two readings; data that tests read is left out.
    pub(super) fn rust_files(&self) -> impl Iterator<Item = (&SourceFile, &RustText)> {
        self.files
            .iter()
            .filter(|file| !file.is_test_data())
            .filter_map(|file| file.rust.as_ref().map(|rust| (file, rust)))
    }
}

impl SourceFile {
    pub(super) fn new(path: &str, text: String) -> Self {
        let rust = has_extension(path, "rs").then(|| RustText::read(&text));
        Self { path: path.to_owned(), text, rust }
    }

    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The folder with a `/` at its end; empty for the root.
    pub(super) fn dir(&self) -> &str {
        self.path.strip_suffix(self.name()).unwrap_or("")
    }

    /// The lines with their numbers, counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text)
    }

    pub(super) fn is_test_data(&self) -> bool {
        let mut dirs = self.dir().split('/').skip_while(|&dir| dir != "tests");
        has_extension(&self.path, "snap") || dirs.any(|dir| DATA_DIRS.contains(&dir))
    }
}

pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|own| own == extension)
}

/// The lines of `text` with their numbers, counted from 1.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(idx, line)| (idx + 1, line))
}

#[cfg(test)]
impl Tree {
    /// A tree of files as (path, text), all tracked.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self {
            files: files.iter().map(|(path, text)| SourceFile::new(path, (*text).to_owned())).collect(),
            tracked: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            members: Vec::new(),
        }
    }

    /// Adds members as (name, dependencies), each below `crates/`.
    pub(super) fn with_members(mut self, members: &[(&str, &[&str])]) -> Self {
        self.members = members
            .iter()
            .map(|(name, dependencies)| Member {
                name: (*name).to_owned(),
                dir: format!("crates/{name}"),
                dependencies: dependencies.iter().map(|&dependency| dependency.to_owned()).collect(),
            })
            .collect();
        self
    }
}
