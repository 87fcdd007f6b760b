//! Files of a directory by path, from handles: no link is followed on the way.

use std::path::Path;

use aiwf_store::{ConfinedDir, ConfinedError, EntryStat};

use crate::error::WorktreeError;
use crate::worktree::PlannedFile;

/// A directory whose files are used in the order of their paths.
#[derive(Debug)]
pub(crate) struct Tree {
    top: ConfinedDir,
    /// The directory that was used last.
    last: Option<(String, Option<ConfinedDir>)>,
}

impl Tree {
    pub(crate) fn open(path: &Path) -> Result<Self, WorktreeError> {
        let opened = ConfinedDir::open(path);
        let top =
            opened.map_err(|source| WorktreeError::Io { action: "open", path: path.to_owned(), source })?;
        Ok(Self { top, last: None })
    }

    /// The directory of a file and its name in it; `None` when that directory is not there, or is behind a link.
    pub(crate) fn place<'p>(
        &mut self,
        path: &'p str,
    ) -> Result<Option<(&ConfinedDir, &'p str)>, ConfinedError> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        if self.last.as_ref().is_none_or(|(known, _)| known != above) {
            self.last = Some((above.to_owned(), self.directory(above)?));
        }
        Ok(self
            .last
            .as_ref()
            .and_then(|(_, directory)| directory.as_ref())
            .map(|directory| (directory, name)))
    }

    /// A directory; `None` when it is not there, or is behind a link.
    pub(crate) fn directory(&self, path: &str) -> Result<Option<ConfinedDir>, ConfinedError> {
        let mut directory = self.top.try_clone()?;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            directory = match directory.directory(part) {
                Ok(directory) => directory,
                Err(ConfinedError::Missing | ConfinedError::Link | ConfinedError::NotADirectory) => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
        }
        Ok(Some(directory))
    }

    /// A directory, created if it is not there.
    pub(crate) fn create_directory(&self, path: &str) -> Result<ConfinedDir, ConfinedError> {
        let parts = path.split('/').filter(|part| !part.is_empty());
        parts.into_iter().try_fold(self.top.try_clone()?, |directory, part| directory.create_directory(part))
    }

    /// The directory of a file, created if it is not there, and its name in it.
    pub(crate) fn create_place<'p>(
        &mut self,
        path: &'p str,
    ) -> Result<(&ConfinedDir, &'p str), ConfinedError> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !self.last.as_ref().is_some_and(|(known, directory)| known == above && directory.is_some()) {
            self.last = Some((above.to_owned(), Some(self.create_directory(above)?)));
        }
        let known = self.last.as_ref().and_then(|(_, directory)| directory.as_ref());
        known.map(|directory| (directory, name)).ok_or(ConfinedError::Missing)
    }

    /// What a path stands for; `None` when there is nothing.
    pub(crate) fn look(&mut self, path: &str) -> Result<Option<EntryStat>, ConfinedError> {
        match self.place(path)? {
            Some((directory, name)) => directory.look(name),
            None => Ok(None),
        }
    }

    /// Removes a file, a link, or a directory with everything in it, and the directories above that are empty then.
    pub(crate) fn remove(&mut self, path: &str) -> Result<(), ConfinedError> {
        let Some((directory, name)) = self.place(path)? else { return Ok(()) };
        directory.remove(name)?;
        self.last = None;
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/') {
            let Some(directory) = self.directory(parent)? else { break };
            if !directory.names()?.is_empty() {
                break;
            }
            let Some((directory, name)) = self.place(parent)? else { break };
            directory.remove(name)?;
            self.last = None;
            above = parent;
        }
        Ok(())
    }

    /// Gives a file its content; a file or link that was there is replaced, a directory is not.
    pub(crate) fn put(&mut self, path: &str, bytes: &[u8], is_executable: bool) -> Result<(), ConfinedError> {
        let (directory, name) = self.create_place(path)?;
        directory.remove_file(name)?;
        directory.write_new(name, bytes, is_executable)
    }

    /// Writes and deletes the files of a plan; what goes makes room for what comes.
    pub(crate) fn put_all(
        &mut self,
        below: &str,
        files: &[PlannedFile],
    ) -> Result<(), (String, ConfinedError)> {
        for file in files.iter().filter(|file| file.content.is_none()) {
            self.remove(&format!("{below}{}", file.path)).map_err(|error| (file.path.clone(), error))?;
        }
        for file in files {
            let Some(content) = &file.content else { continue };
            let path = format!("{below}{}", file.path);
            let put = self.put(&path, &content.bytes, content.is_executable);
            put.map_err(|error| (file.path.clone(), error))?;
        }
        Ok(())
    }
}

/// The error for a file that cannot be used.
pub(crate) fn io_error(action: &'static str, top: &Path, path: &str, error: ConfinedError) -> WorktreeError {
    WorktreeError::Io { action, path: top.join(path), source: error.into() }
}
