//! An open run: its journal, its state file and its package.
//!
//! The state file is the position in the workflow, and the journal is its witness. Each change is announced in the
//! journal first, with the hashes before and after and the new bytes, so after a crash the file is one of the two.

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

/// How often a run in use is read until journal and state file match.
const MAX_READ_ATTEMPTS: usize = 5;

/// An open run; recording needs its lock.
#[derive(Debug)]
pub(crate) struct RunStore {
    pub(crate) ledger: SessionLedger,
    pub(crate) record: Record,
    journal: Journal<RunEvent>,
    /// The last parsed state file, and its text.
    parsed_state: RefCell<Option<(String, Rc<State>)>>,
    pub(crate) package: Option<Rc<Package>>,
    pub(crate) conditions: Conditions,
    /// Whether the user's last message confirms a change of a finished workflow, and the confirmation is not used up.
    pub(crate) is_confirmed: bool,
    lock: Option<Lock>,
    /// Remembers the length of the journal; `None` for read-only access.
    witness: Option<Witness>,
}

impl RunStore {
    /// Opens a run for changes; a foreign run is refused.
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

    /// Takes the lock, reads the journal, and cleans up after a crash.
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
            // Nothing is written through a link: resuming refuses it, rewinding moves it away.
            return Ok(store);
        }
        exec_log::repair(&store.ledger, store.journal.lines())?;
        // A recorded rewind must be completed.
        if store.record.state.as_ref().is_some_and(|state| state.by == Some(StateWriter::Rewind)) {
            store.finish_state()?;
        }
        Ok(store)
    }

    /// Opens a run without its lock; another process may be working on it.
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

    /// Refuses a foreign run for anything but reading.
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

    pub(crate) fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    pub(crate) fn setup(&self) -> Result<&RunSetup, RunError> {
        self.record.setup.as_ref().ok_or_else(|| RunError::Empty { run_id: self.ledger.id.clone() })
    }

    /// Records an event: it is in the journal when this returns.
    pub(crate) fn commit(&mut self, event: RunEvent) -> Result<(), RunError> {
        let is_stop = matches!(event, RunEvent::RunStopped { .. } | RunEvent::RunCancelled { .. });
        self.append(vec![event])?;
        if is_stop { self.write_snapshot() } else { Ok(()) }
    }

    fn append(&mut self, events: Vec<RunEvent>) -> Result<(), RunError> {
        debug_assert!(self.is_locked(), "only the holder of the lock records events");
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

    pub(crate) fn workflow(&self) -> Option<&Workflow> {
        let id = self.record.setup.as_ref()?.workflow.as_deref()?;
        self.package.as_ref()?.workflows.iter().find(|workflow| workflow.id == id)
    }

    pub(crate) fn state_text(&self) -> Result<String, RunError> {
        read_state(&self.ledger).ok_or_else(|| self.state_changed("nothing that can be read"))
    }

    /// The parsed state file; an unchanged text is not parsed again.
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

    /// The current node; without the package, the one that the state file names.
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

    /// Refuses a state file that the journal does not know.
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

    /// The state file; if the journal does not know it, the last one that it knows.
    ///
    /// An unknown file is stored next to the journal, under its hash.
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

    /// Rewinds: first in the journal, with the state file before and after, then in the file.
    pub(crate) fn rewind(&mut self, rewound: RunEvent, before: &str, after: &str) -> Result<(), RunError> {
        let intent = self.intent(StateWriter::Rewind, before, after)?;
        self.append(vec![intent, rewound])?;
        self.put_state(after.as_bytes())?;
        self.write_snapshot()
    }

    /// Completes a change that was announced, if the process was killed before it replaced the file.
    pub(crate) fn finish_state(&self) -> Result<(), RunError> {
        let Some(known) = &self.record.state else { return Ok(()) };
        let found = read_state(&self.ledger).map(|text| sha256_hex(text.as_bytes()));
        if found.is_none() || found != known.before {
            return Ok(());
        }
        match self.ledger.kept(&known.after) {
            Some(bytes) => self.put_state(&bytes),
            // Without the new bytes the old ones stay; the journal knows both.
            None => Ok(()),
        }
    }

    fn put_state(&self, bytes: &[u8]) -> Result<(), RunError> {
        Ok(self.ledger.files()?.write(STATE, bytes, Durability::PowerLoss)?)
    }

    /// Moves away anything at the path of the state directory or state file that is not one; a link is never
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

    /// The event before the state file is replaced; stores the new bytes.
    fn intent(&self, by: StateWriter, before: &str, after: &str) -> Result<RunEvent, RunError> {
        let after = self.ledger.keep(after.as_bytes())?;
        Ok(RunEvent::StateIntended { by, before: sha256_hex(before.as_bytes()), after })
    }

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
        // The system's message may contain a real path, and the model cannot act on it.
        self.announce(by, before, after).map_err(|_not_recorded| {
            ToolError::new(
                ErrorCode::Internal,
                "the change could not be recorded, so it was not made: tell the user",
            )
        })
    }

    fn now(&self) -> String {
        clock::now()
    }
}

/// The text of a state file; `None` if aiwf could not have written it.
pub(crate) fn read_state(ledger: &SessionLedger) -> Option<String> {
    String::from_utf8(ledger.usable(STATE)?).ok()
}

pub(crate) fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}
