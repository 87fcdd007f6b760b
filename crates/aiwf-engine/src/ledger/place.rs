//! The directories of a project that contain sessions, and their `.gitignore`.

use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_store::{ConfinedError, DiskLedgerStore, Durability, LedgerDir, StoreError, is_temporary};

use super::SessionLedger;
use crate::error::EngineError;
use crate::prompt::every_core::map_on_every_core;
use crate::session::session_error::SessionError;
use crate::trust::LedgerKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// All new sessions.
    Sessions,
    /// Changes of 0.1.0, each in a directory with its name.
    Changes,
    Runs,
}

/// Reserved: never the name of a session.
pub(crate) const LATEST: &str = "latest";

/// Written to `.aiwf/.gitignore` when aiwf creates that directory.
const GITIGNORE: &str = "\
# What aiwf keeps for itself. Configuration, profiles, flows, standards, templates and tests belong in the repository.
/sessions/
/changes/
/runs/
/cache/
/tool-results/
";

impl Place {
    pub(crate) const ALL: [Self; 3] = [Self::Sessions, Self::Changes, Self::Runs];

    /// Relative to the project.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => ".aiwf/sessions",
            Self::Changes => ".aiwf/changes",
            Self::Runs => ".aiwf/runs",
        }
    }

    /// The kind of an unreadable session in this directory.
    pub(super) fn usual_kind(self) -> LedgerKind {
        match self {
            Self::Sessions => LedgerKind::Session,
            Self::Changes => LedgerKind::Change,
            Self::Runs => LedgerKind::Run,
        }
    }

    pub(super) fn store(self, settings: &Settings) -> DiskLedgerStore {
        DiskLedgerStore::at(&settings.project_root, self.as_str())
    }

    fn root(self, settings: &Settings) -> PathBuf {
        settings.project_root.join(self.as_str())
    }

    /// Whether a session with exactly this name exists; reads no other one.
    pub(super) fn holds(self, settings: &Settings, id: &str) -> bool {
        is_session(&self.root(settings), id)
    }

    /// The sessions here, in no particular order.
    pub(super) fn ids(self, settings: &Settings) -> Result<Vec<String>, SessionError> {
        let root = self.root(settings);
        let entries = match std::fs::read_dir(&root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(EngineError::Unreadable { path: root, source }.into()),
        };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        let are_sessions = map_on_every_core(&names, |name| is_session(&root, name));
        Ok(names.into_iter().zip(are_sessions).filter_map(|(name, is_one)| is_one.then_some(name)).collect())
    }

    /// All sessions of the project, by directory.
    pub(super) fn all_ledgers(settings: &Settings) -> Result<Vec<SessionLedger>, SessionError> {
        let mut ledgers = Vec::new();
        for place in Self::ALL {
            ledgers.extend(place.ids(settings)?.iter().map(|id| SessionLedger::at(settings, place, id)));
        }
        Ok(ledgers)
    }
}

fn is_session(root: &Path, id: &str) -> bool {
    let path = root.join(id);
    id != LATEST
        && path.file_name().is_some_and(|last| last == id)
        && !is_temporary(&path)
        && path.join("journal.jsonl").is_file()
}

/// Creates the directory of new sessions if it is missing, and `.aiwf` itself with its `.gitignore`.
pub(super) fn create_sessions(settings: &Settings) -> Result<(), SessionError> {
    let place = Place::Sessions;
    let unusable = |error: ConfinedError| SessionError::UnsafeFile {
        path: place.as_str().to_owned(),
        problem: error.to_string(),
    };
    let is_new = is_project_dir_new(settings);
    place.store(settings).create().map_err(unusable)?;
    if is_new {
        let directory =
            LedgerDir::create_place(&settings.project_root, Path::new(".aiwf")).map_err(unusable)?;
        write_gitignore(&directory)?;
    }
    Ok(())
}

/// Opens the project's `.aiwf`; creates it with its `.gitignore` if it is missing.
pub(crate) fn create_project_dir(settings: &Settings) -> Result<LedgerDir, StoreError> {
    let is_new = is_project_dir_new(settings);
    let failed = |error: ConfinedError| StoreError { path: settings.project_dir(), source: error.into() };
    let directory = LedgerDir::create_place(&settings.project_root, Path::new(".aiwf")).map_err(failed)?;
    if is_new {
        write_gitignore(&directory)?;
    }
    Ok(directory)
}

fn is_project_dir_new(settings: &Settings) -> bool {
    std::fs::symlink_metadata(settings.project_dir()).is_err()
}

fn write_gitignore(directory: &LedgerDir) -> Result<(), StoreError> {
    if directory.exists(".gitignore") {
        return Ok(());
    }
    directory.write(".gitignore", GITIGNORE.as_bytes(), Durability::Process)
}
