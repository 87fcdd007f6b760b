//! Writes a report to a file that the user names.
//!
//! In a project, no link is followed: a checkout could have one where a report usually goes.

use std::path::{Path, PathBuf};

use aiwf_store::{Durability, LedgerDir, StoreError, write_atomic};

use super::place::normal;
use crate::{Engine, EngineError};

impl Engine {
    /// Writes a report of tests; the path is relative to the current directory.
    pub fn write_test_report(&self, given: &Path, bytes: &[u8]) -> Result<(), EngineError> {
        let settings = self.settings();
        let path = normal(&settings.current_dir.join(given));
        let written = match in_project(&settings.project_root, &path) {
            Some((root, relative)) => LedgerDir::at(&root)
                .map_err(|error| StoreError { path: root, source: error.into() })
                .and_then(|directory| directory.write(&relative, bytes, Durability::Process)),
            None => write_atomic(&path, Durability::Process, |out| out.write_all(bytes)),
        };
        written.map_err(|error| EngineError::from(error).about(given))
    }
}

/// The project's root and the path in it, if the path as written leads through the root.
fn in_project(root: &Path, path: &Path) -> Option<(PathBuf, String)> {
    let root = root.canonicalize().ok()?;
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    let entry = above.into_iter().find(|above| above.canonicalize().is_ok_and(|real| real == root))?;
    // A name that is not text is refused like an empty one.
    Some((root, path.strip_prefix(entry).ok()?.to_str().unwrap_or_default().to_owned()))
}
