//! The changes a session makes to the project: files to write, delete and rename.
//!
//! In: the edits of a reply, or the changes of an agent's worktree, on top of the last round. Out: all changes relative
//! to the original project, or a problem for each edit that does not fit. Writes nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aiwf_reply::{Edit, EditKind, Hunk, apply_hunks};
use aiwf_session::{ChangeState, FileHash, NewFile, RemovedFile};
use aiwf_store::{WritePlan, sha256_hex};
use serde::{Deserialize, Serialize};

use super::diff::unified;
use super::open_session::OpenSession;
use crate::session::session_error::SessionError;

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    /// New content; `None` if the file is deleted.
    pub(crate) content: Option<Vec<u8>>,
    /// SHA-256 in the project; `None` if the file did not exist.
    pub(crate) before: Option<String>,
    /// Executable bit after; `None` if unchanged.
    pub(crate) executable: Option<bool>,
    /// The new path, if the file is renamed.
    pub(crate) renamed_to: Option<String>,
}

/// The files that stored changes name, and nothing if they cannot be read.
pub(super) fn changed_names(stored: &[u8]) -> Vec<String> {
    let read: Option<ChangesFile> = serde_json::from_slice(stored).ok();
    read.map(|read| read.files.into_iter().map(|entry| entry.path).collect()).unwrap_or_default()
}

/// All changes of a session, by project path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProjectChanges {
    files: BTreeMap<String, ChangedFile>,
    /// Changes of an agent that cannot be copied back.
    pub(crate) refused: Vec<String>,
}

/// The file format of the changes; contents are stored in the ledger by hash.
#[derive(Debug, Serialize, Deserialize)]
struct ChangesFile {
    version: u32,
    files: Vec<FileEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refused: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FileEntry {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    executable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    renamed_to: Option<String>,
}

/// The version of [`ChangesFile`].
const VERSION: u32 = 1;

/// Reads a project file in the version that the model was shown.
pub(crate) type BaseFile<'b> = dyn Fn(&str) -> Result<Option<Vec<u8>>, SessionError> + 'b;

impl ProjectChanges {
    /// The approved changes of a round, with contents from the ledger.
    pub(crate) fn approved(
        change: &ChangeState,
        kept: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Self, SessionError> {
        let mut changes = Self::default();
        for file in &change.files {
            let lost = || SessionError::NothingApproved { path: file.path.clone() };
            changes.files.insert(
                file.path.clone(),
                ChangedFile {
                    content: Some(kept(&file.sha256).ok_or_else(lost)?),
                    before: file.before.clone(),
                    executable: file.executable,
                    renamed_to: None,
                },
            );
        }
        for file in &change.removed {
            changes.files.insert(
                file.path.clone(),
                ChangedFile {
                    content: None,
                    before: file.before.clone(),
                    executable: None,
                    renamed_to: file.renamed_to.clone(),
                },
            );
        }
        Ok(changes)
    }

    pub(crate) fn insert(&mut self, path: String, file: ChangedFile) {
        self.files.insert(path, file);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &ChangedFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// Plans the files to write, checked as a whole.
    pub(crate) fn plan(&self, problems: &mut Vec<String>) -> Option<WritePlan> {
        problems.extend(self.refused.iter().cloned());
        let deleted = self.files.iter().filter(|(_, file)| file.content.is_none());
        for (path, _) in deleted {
            problems.extend(path_problems(path));
        }
        let written =
            self.files.iter().filter_map(|(path, file)| Some((path.clone(), file.content.clone()?)));
        match WritePlan::check(written) {
            Ok(plan) => Some(plan),
            Err(faults) => {
                problems.extend(faults.iter().map(ToString::to_string));
                None
            }
        }
    }

    /// The changes in the form of the journal.
    pub(crate) fn recorded(&self) -> (Vec<NewFile>, Vec<RemovedFile>) {
        let mut files = Vec::new();
        let mut removed = Vec::new();
        for (path, file) in &self.files {
            let (path, before) = (path.clone(), file.before.clone());
            match &file.content {
                Some(content) => files.push(NewFile {
                    path,
                    sha256: sha256_hex(content),
                    before,
                    executable: file.executable,
                }),
                None => removed.push(RemovedFile { path, before, renamed_to: file.renamed_to.clone() }),
            }
        }
        (files, removed)
    }

    /// Applies the edits of a reply in order. An edit that does not fit adds a problem with its line number.
    pub(crate) fn edit(
        &mut self,
        edits: &[Edit],
        name_of: &dyn Fn(&str) -> String,
        base: &BaseFile<'_>,
        problems: &mut Vec<String>,
    ) -> Result<(), SessionError> {
        for edit in edits {
            let line = edit.line;
            match &edit.kind {
                EditKind::Write(block) => {
                    self.write(&name_of(&block.path), block.content.clone().into_bytes(), base)?;
                }
                EditKind::Change { path, hunks } => {
                    self.change(line, &name_of(path), hunks, base, problems)?;
                }
                EditKind::Delete { path } => {
                    let path = name_of(path);
                    match self.current(&path, base)? {
                        Some(_) => self.remove(&path, None, base)?,
                        None => problems.push(format!("line {line}: there is no file `{path}` to delete")),
                    }
                }
                EditKind::Rename { from, to } => {
                    let (from, to) = (name_of(from), name_of(to));
                    let Some(content) = self.current(&from, base)? else {
                        problems.push(format!("line {line}: there is no file `{from}` to rename"));
                        continue;
                    };
                    if self.current(&to, base)?.is_some() {
                        problems.push(format!(
                            "line {line}: `{to}` already exists, so `{from}` cannot be renamed to it"
                        ));
                        continue;
                    }
                    let executable = self.files.get(&from).and_then(|file| file.executable);
                    self.remove(&from, Some(to.clone()), base)?;
                    self.write(&to, content, base)?;
                    if let Some(file) = self.files.get_mut(&to) {
                        file.executable = executable;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives each renamed file the executable bit that it had under its old name.
    pub(crate) fn keep_executable_bits(&mut self, was_executable: &dyn Fn(&str) -> bool) {
        let renamed: Vec<String> = self
            .files
            .iter()
            .filter(|(from, _)| was_executable(from))
            .filter_map(|(_, file)| file.renamed_to.clone())
            .collect();
        for to in renamed {
            if let Some(file) = self.files.get_mut(&to) {
                file.executable = file.executable.or(Some(true));
            }
        }
    }

    fn change(
        &mut self,
        line: usize,
        path: &str,
        hunks: &[Hunk],
        base: &BaseFile<'_>,
        problems: &mut Vec<String>,
    ) -> Result<(), SessionError> {
        let Some(content) = self.current(path, base)? else {
            problems.push(format!("line {line}: there is no file `{path}` to edit"));
            return Ok(());
        };
        let Ok(text) = String::from_utf8(content) else {
            problems.push(format!("line {line}: `{path}` is not text, so it cannot be edited"));
            return Ok(());
        };
        match apply_hunks(path, &text, hunks) {
            Ok(text) => self.write(path, text.into_bytes(), base),
            Err(found) => {
                problems.extend(found.iter().map(ToString::to_string));
                Ok(())
            }
        }
    }

    /// The file after these changes.
    fn current(&self, path: &str, base: &BaseFile<'_>) -> Result<Option<Vec<u8>>, SessionError> {
        match self.files.get(path) {
            Some(file) => Ok(file.content.clone()),
            // Invalid paths are reported when the plan is checked.
            None if !path_problems(path).is_empty() => Ok(None),
            None => base(path),
        }
    }

    fn write(&mut self, path: &str, content: Vec<u8>, base: &BaseFile<'_>) -> Result<(), SessionError> {
        if let Some(file) = self.files.get_mut(path) {
            file.content = Some(content);
            file.renamed_to = None;
            return Ok(());
        }
        let before = if path_problems(path).is_empty() { base(path)? } else { None };
        let before = before.as_deref().map(sha256_hex);
        let file = ChangedFile { content: Some(content), before, executable: None, renamed_to: None };
        self.files.insert(path.to_owned(), file);
        Ok(())
    }

    fn remove(
        &mut self,
        path: &str,
        renamed_to: Option<String>,
        base: &BaseFile<'_>,
    ) -> Result<(), SessionError> {
        let before = match self.files.remove(path) {
            // A file that the project never had is simply dropped.
            Some(file) if file.before.is_none() => return Ok(()),
            Some(file) => file.before,
            None => base(path)?.as_deref().map(sha256_hex),
        };
        self.files
            .insert(path.to_owned(), ChangedFile { content: None, before, executable: None, renamed_to });
        Ok(())
    }

    /// All changes as one unified diff. `before` returns the project's bytes by hash.
    pub(crate) fn diff(&self, before: impl Fn(&str) -> Option<Vec<u8>>) -> String {
        let mut text = String::new();
        for (path, file) in &self.files {
            let old = file.before.as_deref().and_then(&before);
            if let Some(to) = &file.renamed_to {
                // Writing to a string does not fail.
                let _ = write!(text, "rename from {path}\nrename to {to}\n");
                continue;
            }
            if let Some(executable) = file.executable {
                let word = if executable { "executable" } else { "not executable" };
                let _ = writeln!(text, "{path}: {word}");
            }
            match &file.content {
                Some(content) if std::str::from_utf8(content).is_err() => {
                    let _ = writeln!(
                        text,
                        "{path}: binary, {}",
                        crate::error::bytes_in_words(content.len() as u64)
                    );
                }
                content => text.push_str(&unified(path, old.as_deref(), content.as_deref())),
            }
        }
        text
    }
}

/// What is wrong with a project path.
fn path_problems(path: &str) -> Vec<String> {
    let faults = WritePlan::check([(path.to_owned(), Vec::new())]).err().unwrap_or_default();
    faults.iter().map(ToString::to_string).collect()
}

impl OpenSession<'_> {
    /// The changes of the last approved round.
    pub(crate) fn approved_changes(&self) -> Result<ProjectChanges, SessionError> {
        ProjectChanges::approved(&self.state.change, |sha256| self.ledger.kept(sha256))
    }

    /// A project file in the version of the current prompt, or as it is now; its bytes are stored.
    pub(crate) fn shown_file(&self, path: &str) -> Result<Option<Vec<u8>>, SessionError> {
        let bytes = self.find_shown_file(path)?;
        if let Some(bytes) = &bytes {
            self.ledger.keep(bytes)?;
        }
        Ok(bytes)
    }

    /// The same for callers that only look: nothing is stored.
    pub(super) fn find_shown_file(&self, path: &str) -> Result<Option<Vec<u8>>, SessionError> {
        let seen = self.state.change.seen.iter().find(|file| file.path == path);
        if let Some(bytes) = seen.and_then(|file| self.ledger.kept(&file.sha256)) {
            return Ok(Some(bytes));
        }
        // The session's own copy counts, even if the file changed since.
        if let Some(copy) = self.project_inputs().into_iter().find(|file| file.path == path) {
            return Ok(self.ledger.kept(&copy.sha256));
        }
        let root = &self.engine.settings().project_root;
        super::apply::read_target(root, path, &root.join(path))
    }

    /// Writes changes as a file of the session and stores their contents.
    pub(crate) fn write_changes(
        &self,
        path: &str,
        changes: &ProjectChanges,
    ) -> Result<FileHash, SessionError> {
        self.ledger.keep_all(changes.iter().filter_map(|(_, file)| file.content.as_deref()))?;
        let files = changes.iter().map(|(path, file)| FileEntry {
            path: path.to_owned(),
            sha256: file.content.as_deref().map(sha256_hex),
            before: file.before.clone(),
            executable: file.executable,
            renamed_to: file.renamed_to.clone(),
        });
        let mut text = serde_json::to_vec_pretty(&ChangesFile {
            version: VERSION,
            files: files.collect(),
            refused: changes.refused.clone(),
        })
        .map_err(std::io::Error::from)
        .map_err(|source| aiwf_store::StoreError { path: self.ledger.file(path), source })?;
        text.push(b'\n');
        self.ledger.keep(&text)?;
        self.write(path, &text)
    }

    /// Reads what [`Self::write_changes`] wrote; only bytes with the hash in the journal are accepted.
    pub(crate) fn read_changes(&self, file: &FileHash) -> Result<ProjectChanges, SessionError> {
        let lost = || SessionError::NothingApproved { path: self.ledger.shown(&file.path) };
        let bytes = self.ledger.kept(&file.sha256).ok_or_else(lost)?;
        let read: ChangesFile = serde_json::from_slice(&bytes).map_err(|_unreadable| lost())?;
        let mut changes = ProjectChanges { refused: read.refused, ..ProjectChanges::default() };
        for entry in read.files {
            let content = match &entry.sha256 {
                Some(sha256) => Some(self.ledger.kept(sha256).ok_or_else(lost)?),
                None => None,
            };
            changes.insert(
                entry.path,
                ChangedFile {
                    content,
                    before: entry.before,
                    executable: entry.executable,
                    renamed_to: entry.renamed_to,
                },
            );
        }
        Ok(changes)
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
