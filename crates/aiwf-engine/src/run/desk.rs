//! A run that is locked: its journal, its state file and its package.
//!
//! The state file is the truth of where the run stands and the journal its witness: every change of the file is
//! announced first, with the hashes before and after and the new bytes kept, so whatever a crash leaves is one of the two.

use std::rc::Rc;

use aiwf_package::{Conditions, Graph, Package, State, Workflow, is_complete};
use aiwf_store::{Durability, Journal, Lock, Objects, sha256_hex, write_atomic};
use aiwf_tools::sandbox::{ErrorCode, ToolError};

use super::directory::{RunDirectory, remove_leftovers};
use super::event::{RunEvent, RunSetup, StateWriter};
use super::exec_log;
use super::record::Record;
use super::snapshot;
use super::state_desk::StateDesk;
use crate::clock;
use crate::run_error::RunError;

/// A locked run.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) directory: RunDirectory,
    pub(crate) record: Record,
    journal: Journal<RunEvent>,
    objects: Objects,
    pub(crate) package: Option<Rc<Package>>,
    pub(crate) conditions: Conditions,
    /// Whether the user's last message agrees to a change of a finished workflow, and was not used up.
    pub(crate) is_confirmed: bool,
    _lock: Lock,
}

impl Desk {
    /// Takes the lock, reads the journal, and removes what a crash left half done.
    pub(crate) fn open(directory: RunDirectory) -> Result<Self, RunError> {
        let lock = Lock::take(&directory.lock_path())?;
        let journal = directory.journal()?;
        let record = Record::fold(journal.lines().iter().map(|line| &line.event));
        if record.setup.is_none() {
            return Err(RunError::Empty { run_id: directory.id });
        }
        remove_leftovers(&directory.path);
        let objects = directory.objects();
        exec_log::repair(&directory, journal.lines())?;
        Ok(Self {
            directory,
            record,
            journal,
            objects,
            package: None,
            conditions: Conditions::Warn,
            is_confirmed: false,
            _lock: lock,
        })
    }

    /// What the run began with.
    pub(crate) fn setup(&self) -> Result<&RunSetup, RunError> {
        self.record.setup.as_ref().ok_or_else(|| RunError::Empty { run_id: self.directory.id.clone() })
    }

    /// Puts something on record: when this returns, it has happened.
    pub(crate) fn commit(&mut self, event: RunEvent) -> Result<(), RunError> {
        let at = clock::now();
        self.journal.append(&at, vec![event])?;
        let lines = self.journal.lines();
        if let Some(line) = lines.last() {
            self.record.evolve(&line.event);
            exec_log::append_line(&self.directory, line)?;
            if matches!(
                line.event,
                RunEvent::RunStopped { .. } | RunEvent::Rewound { .. } | RunEvent::RunCancelled { .. }
            ) {
                snapshot::write(&self.directory, &self.record, &self.journal, self.node())?;
            }
        }
        Ok(())
    }

    /// The workflow of the run.
    pub(crate) fn workflow(&self) -> Option<&Workflow> {
        let id = self.record.setup.as_ref()?.workflow.as_deref()?;
        self.package.as_ref()?.workflows.iter().find(|workflow| workflow.id == id)
    }

    /// The state file as it is.
    pub(crate) fn state_text(&self) -> Result<String, RunError> {
        read_state(&self.directory).ok_or_else(|| self.state_changed("nothing that can be read"))
    }

    /// What the state file says.
    pub(crate) fn state(&self) -> Result<State, RunError> {
        Ok(State::parse(&self.state_text()?)?)
    }

    /// The node the run stands at, when it walks through a workflow that can be read.
    pub(crate) fn node(&self) -> Option<String> {
        let graph = self.graph()?;
        let state = self.state().ok()?;
        Some(graph.effective_node_id(state.current_node_id()).to_owned())
    }

    /// The hashes that the state file may have.
    fn expected(&self) -> Vec<String> {
        let known = self.record.state.iter();
        known.flat_map(|state| std::iter::once(&state.after).chain(&state.before)).cloned().collect()
    }

    fn state_changed(&self, found: &str) -> RunError {
        RunError::StateChanged {
            run_id: self.directory.id.clone(),
            path: self.directory.shown("state/workflow.md"),
            found: found.to_owned(),
            expected: self.expected(),
        }
    }

    /// Refuses a state file that the journal has not seen.
    pub(crate) fn refuse_changed_state(&self) -> Result<(), RunError> {
        if self.record.state.is_none() {
            return Ok(());
        }
        let sha256 = sha256_hex(self.state_text()?.as_bytes());
        if self.expected().contains(&sha256) { Ok(()) } else { Err(self.state_changed(&sha256)) }
    }

    /// The state file, or the last one that the journal knows when somebody else changed it.
    ///
    /// A file that is not ours is kept beside the journal, under its hash.
    pub(crate) fn known_state_text(&self) -> Result<String, RunError> {
        match self.refuse_changed_state() {
            Ok(()) => self.state_text(),
            Err(RunError::StateChanged { .. }) => {
                if let Ok(found) = std::fs::read(self.directory.state_path()) {
                    let name = format!("state-refused-{}.md", short(&sha256_hex(&found)));
                    write_atomic(&self.directory.path.join(name), Durability::PowerLoss, |out| {
                        out.write_all(&found)
                    })?;
                }
                let lost = || RunError::StateLost { run_id: self.directory.id.clone() };
                let kept = |sha256: &String| self.objects.get(sha256).ok().flatten();
                let bytes = self.expected().iter().find_map(kept).ok_or_else(lost)?;
                String::from_utf8(bytes).map_err(|_not_text| lost())
            }
            Err(error) => Err(error),
        }
    }

    /// Announces a new state file, then puts it in place.
    pub(crate) fn replace_state(
        &mut self,
        by: StateWriter,
        before: &str,
        after: &str,
    ) -> Result<(), RunError> {
        self.announce(by, before, after)?;
        Ok(write_atomic(&self.directory.state_path(), Durability::PowerLoss, |out| {
            out.write_all(after.as_bytes())
        })?)
    }

    fn announce(&mut self, by: StateWriter, before: &str, after: &str) -> Result<(), RunError> {
        let after = self.objects.keep(after.as_bytes())?;
        self.commit(RunEvent::StateIntended { by, before: sha256_hex(before.as_bytes()), after })
    }

    /// The lines of the journal.
    pub(crate) fn journal(&self) -> &Journal<RunEvent> {
        &self.journal
    }
}

impl StateDesk for Desk {
    fn graph(&self) -> Option<&Graph> {
        self.workflow().map(|workflow| &workflow.graph)
    }

    fn conditions(&self) -> Conditions {
        self.conditions
    }

    fn is_complete(&self) -> bool {
        let Some(graph) = self.graph() else { return false };
        self.state().is_ok_and(|state| is_complete(graph, &state))
    }

    fn take_confirmation(&mut self) -> bool {
        std::mem::take(&mut self.is_confirmed)
    }

    fn intend(&mut self, by: StateWriter, before: &str, after: &str) -> Result<(), ToolError> {
        // What the disk says may name a real path, and the model can do nothing about it.
        self.announce(by, before, after).map_err(|_not_recorded| {
            ToolError::new(ErrorCode::Internal, "the change could not be put on record, so it was not done")
        })
    }

    fn now(&self) -> String {
        clock::now()
    }
}

/// The text of a state file; nothing when it is none that we would have written.
pub(crate) fn read_state(directory: &RunDirectory) -> Option<String> {
    let path = directory.state_path();
    if crate::read::is_link(&path) || crate::read::is_link(&directory.state_dir()) {
        return None;
    }
    crate::read::read_text(&path).ok()
}

pub(crate) fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}
