//! Where runs live, what they are called, and how one is found by a part of its name.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aiwf_config::Settings;
use aiwf_store::{ConfinedError, Journal, LedgerDir, Line, Objects};

use super::event::{RunEvent, RunKind};
use crate::run_error::RunError;
use crate::session::{Meant, is_one_in, meant_by, names_in, new_id, other_name};
use crate::session_error::SessionError;

/// A run's directory and the files in it.
#[derive(Clone, Debug)]
pub(crate) struct RunDirectory {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    project_root: PathBuf,
    /// Its handle, once it was opened; every file of the engine in it is opened from there.
    ledger: OnceLock<Arc<LedgerDir>>,
}

/// Where runs are, relative to the project.
const PLACE: &str = ".aiwf/runs";
/// The state file, relative to the run.
pub(crate) const STATE: &str = "state/workflow.md";

impl RunDirectory {
    pub(crate) fn new(settings: &Settings, id: &str) -> Self {
        Self {
            id: id.to_owned(),
            path: runs_root(settings).join(id),
            project_root: settings.project_root.clone(),
            ledger: OnceLock::new(),
        }
    }

    /// A new one: its name sorts by time, and says what it is when it is no run.
    pub(crate) fn fresh(settings: &Settings, kind: RunKind) -> Self {
        let prefix = match kind {
            RunKind::Run => "",
            RunKind::Agent => "agent-",
            RunKind::Chat => "chat-",
        };
        Self::new(settings, &new_id(&runs_root(settings), prefix))
    }

    /// The same run while it is being created, under a name that nobody looks at.
    pub(crate) fn unfinished(&self) -> Self {
        let path = self.path.with_file_name(format!(".tmp-{}", self.id));
        Self { path, ledger: OnceLock::new(), ..self.clone() }
    }

    /// What the directory is called: the id, unless the run is being created.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The directory by its handle.
    pub(crate) fn ledger(&self) -> Result<Arc<LedgerDir>, RunError> {
        if let Some(ledger) = self.ledger.get() {
            return Ok(Arc::clone(ledger));
        }
        let opened = LedgerDir::open(&self.project_root, Path::new(PLACE), &self.name());
        let ledger = Arc::new(opened.map_err(|error| self.unusable("", &error))?);
        Ok(Arc::clone(self.ledger.get_or_init(|| ledger)))
    }

    /// The bytes of a file; nothing when there is none that can be used.
    pub(crate) fn read(&self, relative: &str) -> Option<Vec<u8>> {
        self.ledger().ok()?.read(relative).ok().flatten()
    }

    /// Why a file is not used.
    pub(crate) fn unusable(&self, relative: &str, error: &ConfinedError) -> RunError {
        let path = self.shown(relative);
        SessionError::UnsafeFile { path, problem: error.to_string() }.into()
    }

    /// What the model sees as `@state`.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.path.join("state")
    }

    pub(crate) fn objects(&self) -> Result<Objects, RunError> {
        Ok(Objects::of(self.ledger()?))
    }

    /// A path of the run as a person in the project's root sees it.
    pub(crate) fn shown(&self, relative: &str) -> String {
        let relative = if relative.is_empty() { String::new() } else { format!("/{relative}") };
        format!(".aiwf/runs/{}{relative}", self.id)
    }

    /// Whether the journal in the directory is that of a run with another name.
    fn is_of_another(&self) -> bool {
        let journal = self.ledger().ok().and_then(|ledger| Journal::<RunEvent>::open(&ledger).ok());
        let first = journal.as_ref().and_then(|journal| journal.lines().first());
        matches!(first.map(|line| &line.event), Some(RunEvent::RunCreated { setup }) if setup.run_id != self.id)
    }

    pub(crate) fn journal(&self) -> Result<Journal<RunEvent>, RunError> {
        let journal = Journal::open(&self.ledger()?)?;
        journal.check(|line: &Line<RunEvent>| match (&line.event, line.seq) {
            (RunEvent::RunCreated { setup }, 1) if setup.run_id != self.id => {
                Some(other_name(&setup.run_id, &self.id))
            }
            (RunEvent::RunCreated { .. }, 2..) => Some("it begins a run that has begun already".to_owned()),
            (RunEvent::RunCreated { .. }, _) | (_, 2..) => line.event.fault(),
            (_, _) => Some("it does not begin a run".to_owned()),
        })?;
        Ok(journal)
    }
}

pub(crate) fn runs_root(settings: &Settings) -> PathBuf {
    settings.project_root.join(PLACE)
}

/// Opens the place where runs are, and creates it when it is not there.
pub(crate) fn create_place(settings: &Settings) -> Result<LedgerDir, RunError> {
    LedgerDir::create_place(&settings.project_root, Path::new(PLACE)).map_err(|error| {
        SessionError::UnsafeFile { path: PLACE.to_owned(), problem: error.to_string() }.into()
    })
}

/// The names of all runs and conversations, sorted by time.
pub(crate) fn all_ids(settings: &Settings) -> Result<Vec<String>, RunError> {
    let mut ids = names_in(runs_root(settings))?;
    ids.sort_by(|a, b| stamp(a).cmp(stamp(b)));
    Ok(ids)
}

/// The part of a name that sorts by time.
fn stamp(id: &str) -> &str {
    id.strip_prefix("agent-").or_else(|| id.strip_prefix("chat-")).unwrap_or(id)
}

/// The run that a name, a unique beginning of one, or `latest` means.
pub(crate) fn find(settings: &Settings, given: &str) -> Result<RunDirectory, RunError> {
    if is_one_in(&runs_root(settings), given) {
        return Ok(RunDirectory::new(settings, given));
    }
    let ids = all_ids(settings)?;
    let is_impostor = |id: &str| RunDirectory::new(settings, id).is_of_another();
    match meant_by(given, &ids, is_impostor) {
        Meant::One(id) => Ok(RunDirectory::new(settings, id)),
        Meant::Nothing => Err(RunError::NoRun { given: given.to_owned() }),
        Meant::Several(matching) => Err(RunError::AmbiguousRun { given: given.to_owned(), matching }),
    }
}
