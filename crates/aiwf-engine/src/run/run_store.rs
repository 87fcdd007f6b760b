//! A run that is worked on, or looked at: its journal, its state file and its package.
//!
//! The state file is the truth of where the run stands and the journal its witness: every change of the file is
//! announced first, with the hashes before and after and the new bytes kept, so whatever a crash leaves is one of the two.

use std::cell::RefCell;
use std::rc::Rc;

use aiwf_config::Flags;
use aiwf_package::{Conditions, Graph, Package, State, Workflow, is_complete};
use aiwf_store::{Durability, Journal, Line, Lock, sha256_hex};
use aiwf_tools::sandbox::{ErrorCode, ToolError};

use super::event::{RunEvent, RunSetup, StateWriter};
use super::exec_log;
use super::journal::STATE;
use super::record::Record;
use super::snapshot;
use super::state_access::StateAccess;
use crate::Engine;
use crate::ask::call::free_name;
use crate::ask::providers::load_config;
use crate::clock;
use crate::ledger::SessionLedger;
use crate::run::run_error::RunError;
use crate::session::session_error::SessionError;
use crate::trust::{LedgerKind, Witness};

/// How often a run is read that is being worked on, until journal and state file fit.
const MAX_READ_ATTEMPTS: usize = 5;

/// A run; nothing is put on record without its lock.
#[derive(Debug)]
pub(crate) struct RunStore {
    pub(crate) ledger: SessionLedger,
    pub(crate) record: Record,
    journal: Journal<RunEvent>,
    /// The last state file that was parsed, and its text.
    parsed_state: RefCell<Option<(String, Rc<State>)>>,
    pub(crate) package: Option<Rc<Package>>,
    pub(crate) conditions: Conditions,
    /// Whether the user's last message agrees to a change of a finished workflow, and was not used up.
    pub(crate) is_confirmed: bool,
    lock: Option<Lock>,
    /// Remembers how far the journal is; nothing when the run is only looked at.
    witness: Option<Witness>,
}

impl RunStore {
    /// Opens a run to act on it; one that is not the user's is refused.
    pub(crate) fn open(engine: &Engine, ledger: SessionLedger) -> Result<Self, RunError> {
        let config = load_config(engine.settings(), &Flags::default())?;
        Self::open_locked(ledger, |ledger, lines| {
            let trusted = engine.refuse_untrusted(LedgerKind::Run, &ledger.id, lines, &config);
            Ok(trusted.map_err(SessionError::from)?)
        })
    }

    /// Opens a run that this process created.
    pub(crate) fn open_created(engine: &Engine, ledger: SessionLedger) -> Result<Self, RunError> {
        Self::open_locked(ledger, |ledger, lines| {
            let witness = engine.witness_created(LedgerKind::Run, &ledger.id);
            witness.remember(lines)?;
            Ok(witness)
        })
    }

    /// Takes the lock, reads the journal, and removes what a crash left half done.
    fn open_locked(
        ledger: SessionLedger,
        witness: impl FnOnce(&SessionLedger, &[Line<RunEvent>]) -> Result<Witness, RunError>,
    ) -> Result<Self, RunError> {
        let lock = ledger.try_lock()?.ok_or_else(|| RunError::Busy { run_id: ledger.id.clone() })?;
        let mut store = Self::read(ledger)?;
        store.lock = Some(lock);
        store.witness = Some(witness(&store.ledger, store.journal.lines())?);
        let files = store.ledger.files()?;
        files.remove_leftovers_below();
        files.remove_leftovers_in("state/logs");
        if files.refuse_links("state").is_err() {
            // Nothing is written through a link; who goes on is refused, who goes back has it moved away.
            return Ok(store);
        }
        exec_log::repair(&store.ledger, store.journal.lines())?;
        // Going back is done once it is on record.
        if store.record.state.as_ref().is_some_and(|state| state.by == Some(StateWriter::Rewind)) {
            store.finish_state()?;
        }
        Ok(store)
    }

    /// The run as it is, without its lock: whoever works on it goes on working.
    pub(crate) fn open_read_only(ledger: &SessionLedger) -> Result<Self, RunError> {
        let mut store = Self::read(ledger.clone())?;
        for _ in 0..MAX_READ_ATTEMPTS {
            // Journal and state file are not read at the same moment.
            if store.refuse_changed_state().is_ok() || !ledger.is_locked() {
                break;
            }
            store = Self::read(ledger.clone())?;
        }
        Ok(store)
    }

    /// Refuses a run that is not the user's, where looking is not all that is done with it.
    pub(crate) fn refuse_untrusted(&self, engine: &Engine) -> Result<(), RunError> {
        let config = load_config(engine.settings(), &Flags::default())?;
        let lines = self.journal.lines();
        let trusted = engine.refuse_untrusted(LedgerKind::Run, &self.ledger.id, lines, &config);
        Ok(trusted.map(drop).map_err(SessionError::from)?)
    }

    fn read(ledger: SessionLedger) -> Result<Self, RunError> {
        let journal = ledger.run_journal()?;
        let record = Record::fold(journal.lines().iter().map(|line| &line.event));
        if record.setup.is_none() {
            return Err(RunError::Empty { run_id: ledger.id });
        }
        Ok(Self {
            ledger,
            record,
            journal,
            parsed_state: RefCell::new(None),
            package: None,
            conditions: Conditions::Warn,
            is_confirmed: false,
            lock: None,
            witness: None,
        })
    }

    /// Whether it may be changed.
    pub(crate) fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// What the run began with.
    pub(crate) fn setup(&self) -> Result<&RunSetup, RunError> {
        self.record.setup.as_ref().ok_or_else(|| RunError::Empty { run_id: self.ledger.id.clone() })
    }

    /// Puts something on record: when this returns, it has happened.
    pub(crate) fn commit(&mut self, event: RunEvent) -> Result<(), RunError> {
        let is_stop = matches!(event, RunEvent::RunStopped { .. } | RunEvent::RunCancelled { .. });
        self.append(vec![event])?;
        if is_stop { self.write_snapshot() } else { Ok(()) }
    }

    fn append(&mut self, events: Vec<RunEvent>) -> Result<(), RunError> {
        debug_assert!(self.is_locked(), "only who holds the lock puts something on record");
        let n_before = self.journal.lines().len();
        self.journal.append(&clock::now(), events)?;
        if let Some(witness) = &self.witness {
            witness.remember(self.journal.lines())?;
        }
        for line in self.journal.lines().iter().skip(n_before) {
            self.record.evolve(&line.event);
            exec_log::append_line(&self.ledger, line)?;
        }
        Ok(())
    }

    fn write_snapshot(&self) -> Result<(), RunError> {
        snapshot::write(&self.ledger, &self.record, &self.journal, self.node())
    }

    /// The workflow of the run.
    pub(crate) fn workflow(&self) -> Option<&Workflow> {
        let id = self.record.setup.as_ref()?.workflow.as_deref()?;
        self.package.as_ref()?.workflows.iter().find(|workflow| workflow.id == id)
    }

    /// The state file as it is.
    pub(crate) fn state_text(&self) -> Result<String, RunError> {
        read_state(&self.ledger).ok_or_else(|| self.state_changed("nothing that can be read"))
    }

    /// What the state file says; a text that was read before is not parsed again.
    pub(crate) fn state(&self) -> Result<Rc<State>, RunError> {
        let text = self.state_text()?;
        let mut parsed = self.parsed_state.borrow_mut();
        if let Some((of, state)) = &*parsed
            && *of == text
        {
            return Ok(Rc::clone(state));
        }
        let state = Rc::new(State::parse(&text)?);
        *parsed = Some((text, Rc::clone(&state)));
        Ok(state)
    }

    /// The node the run stands at; without its package, as it is written in the state file.
    pub(crate) fn node(&self) -> Option<String> {
        self.record.state.as_ref()?;
        let state = self.state().ok()?;
        let written = state.current_node_id();
        let node = self.graph().map_or(written, |graph| graph.effective_node_id(written));
        Some(node.to_owned()).filter(|node| !node.is_empty())
    }

    /// The hashes that the state file may have.
    fn expected(&self) -> Vec<String> {
        let known = self.record.state.iter();
        known.flat_map(|state| std::iter::once(&state.after).chain(&state.before)).cloned().collect()
    }

    fn state_changed(&self, found: &str) -> RunError {
        RunError::StateChanged {
            run_id: self.ledger.id.clone(),
            path: self.ledger.shown("state/workflow.md"),
            found: found.to_owned(),
            expected: self.expected(),
        }
    }

    /// Refuses a state file that the journal has not seen.
    pub(crate) fn refuse_changed_state(&self) -> Result<(), RunError> {
        if self.ledger.files()?.refuse_links("state").is_err() {
            return Err(self.state_changed("behind a link"));
        }
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
                if let Some(found) = self.ledger.usable(STATE) {
                    let name = format!("state-refused-{}.md", short(&sha256_hex(&found)));
                    self.ledger.files()?.write(&name, &found, Durability::PowerLoss)?;
                }
                let lost = || RunError::StateLost { run_id: self.ledger.id.clone() };
                let kept = |sha256: &String| self.ledger.kept(sha256);
                let bytes = self.expected().iter().find_map(kept).ok_or_else(lost)?;
                String::from_utf8(bytes).map_err(|_not_text| lost())
            }
            Err(error) => Err(error),
        }
    }

    /// Goes back: on record first, with the state file before and after, then in the file.
    pub(crate) fn rewind(&mut self, rewound: RunEvent, before: &str, after: &str) -> Result<(), RunError> {
        let intent = self.intent(StateWriter::Rewind, before, after)?;
        self.append(vec![intent, rewound])?;
        self.put_state(after.as_bytes())?;
        self.write_snapshot()
    }

    /// Finishes a change of the state file that was announced and cut off before the file was replaced.
    pub(crate) fn finish_state(&self) -> Result<(), RunError> {
        let Some(known) = &self.record.state else { return Ok(()) };
        let found = read_state(&self.ledger).map(|text| sha256_hex(text.as_bytes()));
        if found.is_none() || found != known.before {
            return Ok(());
        }
        match self.ledger.kept(&known.after) {
            Some(bytes) => self.put_state(&bytes),
            // Without the new bytes the old ones stand; the journal knows both.
            None => Ok(()),
        }
    }

    fn put_state(&self, bytes: &[u8]) -> Result<(), RunError> {
        Ok(self.ledger.files()?.write(STATE, bytes, Durability::PowerLoss)?)
    }

    /// Moves away what stands in the place of the state directory or the state file and is none; a link is never
    /// written through.
    pub(crate) fn clear_state_place(&self) -> Result<(), RunError> {
        let files = self.ledger.files()?;
        let refused = || free_name(&files, |number| format!("state-refused-{number}"));
        if files.exists("state") && files.directory("state").is_err() {
            files.rename("state", &refused())?;
        }
        if files.exists(STATE) && !files.is_file(STATE) {
            files.rename(STATE, &refused())?;
        }
        exec_log::repair(&self.ledger, self.journal.lines())
    }

    fn announce(&mut self, by: StateWriter, before: &str, after: &str) -> Result<(), RunError> {
        let intent = self.intent(by, before, after)?;
        self.commit(intent)
    }

    /// What is said before the state file is replaced; the new bytes are kept.
    fn intent(&self, by: StateWriter, before: &str, after: &str) -> Result<RunEvent, RunError> {
        let after = self.ledger.keep(after.as_bytes())?;
        Ok(RunEvent::StateIntended { by, before: sha256_hex(before.as_bytes()), after })
    }

    /// The lines of the journal.
    pub(crate) fn journal(&self) -> &Journal<RunEvent> {
        &self.journal
    }
}

impl StateAccess for RunStore {
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
            ToolError::new(
                ErrorCode::Internal,
                "the change could not be put on record, so it was not done: tell the user",
            )
        })
    }

    fn now(&self) -> String {
        clock::now()
    }
}

/// The text of a state file; nothing when it is none that we would have written.
pub(crate) fn read_state(ledger: &SessionLedger) -> Option<String> {
    String::from_utf8(ledger.usable(STATE)?).ok()
}

pub(crate) fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}
