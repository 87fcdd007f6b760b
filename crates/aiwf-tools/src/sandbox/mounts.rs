//! The directories of the mounts, as open handles.
//!
//! In: an alias path. Out: a handle of its target. Every step goes through [`ConfinedDir`](aiwf_store::ConfinedDir),
//! which follows no link, so nothing can be swapped between a check and its use.

use std::fs::File;
use std::io;
use std::path::Path;

use aiwf_store::{ConfinedDir, ConfinedError, folded, is_reserved_dir};

use super::alias_path::{AliasPath, Mount};
use super::tool_error::{ErrorCode, ToolError};

/// A directory under `@state` that only the engine writes to.
const ENGINES_OWN: &str = "logs";

/// The purpose of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// The directories of the mounts; a missing mount is refused.
#[derive(Debug, Default)]
pub struct Mounts {
    project: Option<ConfinedDir>,
    package: Option<ConfinedDir>,
    state: Option<ConfinedDir>,
}

impl Mounts {
    /// Opens the directory of a mount.
    pub fn mount(&mut self, mount: Mount, directory: &Path) -> io::Result<()> {
        let directory = Some(ConfinedDir::open(directory)?);
        match mount {
            Mount::Project => self.project = directory,
            Mount::Package => self.package = directory,
            Mount::State => self.state = directory,
        }
        Ok(())
    }

    fn root(&self, path: &AliasPath) -> Result<&ConfinedDir, ToolError> {
        let root = match path.mount() {
            Mount::Project => &self.project,
            Mount::Package => &self.package,
            Mount::State => &self.state,
        };
        root.as_ref().ok_or_else(|| {
            path.violation("is not available, because this conversation has no such mount: use another one")
        })
    }

    pub fn directory(&self, path: &AliasPath) -> Result<ConfinedDir, ToolError> {
        allowed(path, Access::Read)?;
        self.walk(path, path.parts())
    }

    /// Opens a file for reading.
    pub fn file(&self, path: &AliasPath) -> Result<File, ToolError> {
        allowed(path, Access::Read)?;
        let Some((name, above)) = path.parts().split_last() else {
            return Err(error_of(path, ConfinedError::IsADirectory));
        };
        self.walk(path, above)?.file(name).map_err(|error| error_of(path, error))
    }

    /// The bytes of a writable file; `None` if it does not exist yet.
    pub fn current(&self, path: &AliasPath, limit: u64) -> Result<Option<Vec<u8>>, ToolError> {
        allowed(path, Access::Write)?;
        match self.file(path) {
            Ok(file) => {
                let mut bytes = Vec::new();
                let n_read =
                    io::Read::read_to_end(&mut io::Read::take(file, limit.saturating_add(1)), &mut bytes);
                match n_read {
                    Ok(n) if n as u64 > limit => Err(ToolError::new(
                        ErrorCode::ReadLimit,
                        format!("`{path}` has more than {limit} bytes: use a smaller file"),
                    )),
                    Ok(_) => Ok(Some(bytes)),
                    Err(error) => Err(error_of(path, error.into())),
                }
            }
            Err(error) if error.code == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a file atomically and creates missing directories.
    pub fn write(
        &self,
        path: &AliasPath,
        content: &[u8],
        durability: aiwf_store::Durability,
    ) -> Result<(), ToolError> {
        allowed(path, Access::Write)?;
        let Some((name, above)) = path.parts().split_last() else {
            return Err(error_of(path, ConfinedError::IsADirectory));
        };
        let mut directory = self.root(path)?.try_clone().map_err(|error| error_of(path, error.into()))?;
        for part in above {
            directory = directory.create_directory(part).map_err(|error| error_of(path, error))?;
        }
        directory.write(name, content, durability).map_err(|error| error_of(path, error))
    }

    /// Removes a file that was written by mistake; missing is not an error.
    pub fn remove_file(&self, path: &AliasPath) -> Result<(), ToolError> {
        allowed(path, Access::Write)?;
        let Some((name, above)) = path.parts().split_last() else {
            return Err(error_of(path, ConfinedError::IsADirectory));
        };
        match self.walk(path, above) {
            Ok(directory) => directory.remove_file(name).map_err(|error| error_of(path, error)),
            Err(error) if error.code == ErrorCode::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether a path may be written at all; permissions are checked by the write itself.
    pub fn may_write(&self, path: &AliasPath) -> Result<(), ToolError> {
        self.root(path)?;
        allowed(path, Access::Write)
    }

    /// Whether the path is a regular file.
    pub fn has_file(&self, path: &AliasPath) -> bool {
        self.file(path).is_ok()
    }

    fn walk(&self, path: &AliasPath, parts: &[String]) -> Result<ConfinedDir, ToolError> {
        let mut directory = self.root(path)?.try_clone().map_err(|error| error_of(path, error.into()))?;
        for part in parts {
            directory = directory.directory(part).map_err(|error| error_of(path, error))?;
        }
        Ok(directory)
    }
}

/// Whether a name under `@project` is protected.
pub(super) fn is_protected(mount: Mount, name: &str) -> bool {
    mount == Mount::Project && is_reserved_dir(name)
}

fn allowed(path: &AliasPath, access: Access) -> Result<(), ToolError> {
    if path.parts().iter().any(|part| is_protected(path.mount(), part)) {
        return Err(path.violation("is protected, like everything in `.aiwf` and `.git`: use another path"));
    }
    match (access, path.mount()) {
        (Access::Write, Mount::Package) => {
            Err(path.violation("is read-only: write under `@project` or `@state`"))
        }
        (Access::Write, Mount::State)
            if path.parts().first().is_some_and(|first| folded(first) == ENGINES_OWN) =>
        {
            Err(path.violation("is read-only, because the engine writes its logs there: use another path"))
        }
        _ => Ok(()),
    }
}

fn error_of(path: &AliasPath, error: ConfinedError) -> ToolError {
    match error {
        ConfinedError::Missing => path.missing(),
        ConfinedError::Link => {
            path.violation("is a link, or leads through one: use the path of the file itself")
        }
        ConfinedError::Special => path.violation("is a pipe, a socket or a device: use a regular file"),
        ConfinedError::HardLinks { .. } | ConfinedError::Outside => {
            path.violation("has other hard links: use another path")
        }
        ConfinedError::TooLarge { limit } => ToolError::new(
            ErrorCode::InvalidArgs,
            format!("`{path}` is larger than {limit} bytes: use another file"),
        ),
        ConfinedError::Changed => {
            ToolError::new(ErrorCode::InvalidArgs, format!("`{path}` changed in the meantime: read it again"))
        }
        ConfinedError::NotAName => path.violation("is not a valid file path: use another name"),
        ConfinedError::NotADirectory => ToolError::new(
            ErrorCode::InvalidArgs,
            format!("`{path}` needs a directory, but there is a file: use another path"),
        ),
        ConfinedError::IsADirectory => {
            ToolError::new(ErrorCode::InvalidArgs, format!("`{path}` is a directory: use a file in it"))
        }
        ConfinedError::System(error) => {
            // Only the kind, because the system's message may contain a real path.
            ToolError::new(
                ErrorCode::Internal,
                format!("`{path}` could not be used ({}): tell the user", error.kind()),
            )
        }
    }
}

#[cfg(test)]
#[path = "mounts_tests.rs"]
pub(super) mod tests;
