//! What a worktree was when it was made, kept beside it where the agent does not write.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use aiwf_store::{ConfinedError, Durability, EntryStat, write_atomic};
use serde::{Deserialize, Serialize};

use crate::error::WorktreeError;
use crate::tree::io_error;
use crate::worktree::LeftOut;

/// Changes when an older aiwf could not read it.
const FORMAT: u32 = 1;
/// More than the manifest of two million files has.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// What a worktree was when it was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The name of the worktree's directory.
    pub(crate) name: String,
    /// The project in it, with `/` at the end; empty when it is all of it.
    pub(crate) below: String,
    /// The commit that was checked out in the project.
    pub(crate) head: Option<String>,
    pub(crate) base: Base,
    /// Ignored directories that were copied in or linked, from the top.
    pub(crate) brought: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Which start of the system it was made in, where that is known.
    pub(crate) boot: String,
    pub(crate) files: BTreeMap<String, Entry>,
}

/// What every version of a manifest has.
#[derive(Debug, Deserialize)]
struct Version {
    format: u32,
}

/// Where the bytes of the base are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Base {
    /// In a repository beside the worktree.
    Commit(String),
    /// In a directory beside the worktree.
    Files,
}

/// A file, or a link, and how it looked right after it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// SHA-256 of the bytes; of where it leads for a link.
    pub(crate) sha256: String,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) link: Option<String>,
    pub(crate) is_executable: bool,
    pub(crate) n_bytes: u64,
    pub(crate) modified_at: (i64, i64),
    pub(crate) changed_at: (i64, i64),
    pub(crate) inode: u64,
}

impl Entry {
    pub(crate) fn new(look: &EntryStat, sha256: String, link: Option<String>) -> Self {
        Self {
            sha256,
            is_executable: link.is_none() && look.is_executable,
            link,
            n_bytes: look.n_bytes,
            modified_at: look.modified_at,
            changed_at: look.changed_at,
            inode: look.inode,
        }
    }

    /// Whether a file looks as it did, so that it need not be read.
    ///
    /// The time of the last change is the system's: nobody can set it back.
    pub(crate) fn looks_like(&self, look: &EntryStat) -> bool {
        self.is_same_inode(look) && self.n_bytes == look.n_bytes
    }

    /// Whether nothing has been done to a file, whatever the disk has of it.
    pub(crate) fn is_same_inode(&self, look: &EntryStat) -> bool {
        (self.modified_at, self.changed_at, self.inode, self.is_executable)
            == (look.modified_at, look.changed_at, look.inode, look.is_executable)
    }
}

impl Manifest {
    pub(crate) fn new(name: String, below: String, head: Option<String>) -> Self {
        Self {
            format: FORMAT,
            name,
            below,
            head,
            base: Base::Files,
            brought: Vec::new(),
            left_out: Vec::new(),
            boot: boot_id(),
            files: BTreeMap::new(),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), WorktreeError> {
        // Making it safe could take seconds: the system may write all files of the worktree first.
        let written = write_atomic(path, Durability::Process, |out| {
            serde_json::to_writer(out, self).map_err(std::io::Error::from)
        });
        Ok(written?)
    }

    /// Reads it; `None` when it is not there, or not as it was written.
    pub(crate) fn read(path: &Path, at: &Path) -> Result<Option<Self>, WorktreeError> {
        let bytes = match aiwf_store::read_regular(path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(ConfinedError::Missing | ConfinedError::NotADirectory) => return Ok(None),
            Err(error) => return Err(io_error("read", path, "", error)),
        };
        match serde_json::from_slice::<Version>(&bytes) {
            Ok(Version { format: FORMAT }) => Ok(serde_json::from_slice(&bytes).ok()),
            Ok(_) => Err(WorktreeError::Damaged {
                at: at.to_owned(),
                message: "another version of aiwf created it".to_owned(),
            }),
            Err(_) => Ok(None),
        }
    }

    /// Whether the system was started again since the worktree was last known to be whole.
    pub(crate) fn is_from_before_a_restart(&self) -> bool {
        self.boot != boot_id()
    }
}

/// Which start of the system this is; empty where it does not tell.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
