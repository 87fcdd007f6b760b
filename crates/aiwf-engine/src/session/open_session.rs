//! A session opened by a command: locked, folded, and changed only through the state machine.

use std::rc::Rc;

use aiwf_config::{Config, Flags};
use aiwf_profile::Profile;
use aiwf_prompt::FsAbility;
use aiwf_provider::Payload;
use aiwf_session::{Access, Actor, Command, FileHash, Person, Phase, PhaseSpec, Setup, State, Step, decide};
use aiwf_store::{Durability, Journal, Lock, sha256_hex};

use super::snapshot::Snapshot;
use crate::ask::providers::load_config;
use crate::ask::tool_caller::PhaseTools;
use crate::ask::toolbox::Toolbox;
use crate::clock;
use crate::ledger::SessionLedger;
use crate::session::session_error::SessionError;
use crate::trust::{self, Witness};

/// What a payload was built for: phase, iteration, prompt files, and their current hashes.
pub(super) type BuiltFor = (Phase, u32, Vec<FileHash>, Vec<String>);

/// The name of a person whose user name the system does not tell.
pub(super) const UNKNOWN_PERSON: &str = "unknown";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenMode {
    Write,
    Created,
    ReadOnly,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one command")]
pub(crate) struct OpenSession<'e> {
    pub(crate) engine: &'e crate::Engine,
    pub(crate) ledger: SessionLedger,
    pub(crate) state: State,
    journal: Journal<aiwf_session::Event>,
    profile: Option<Profile>,
    /// Whether the profile changed since the session started.
    pub(crate) is_profile_changed: bool,
    /// The phase and iteration after which a phase command stops; `None` for commands that do not stop.
    pub(super) stop_after: Option<(Phase, u32)>,
    config: Config,
    toolbox: Option<Rc<Toolbox>>,
    /// The tools of the phase and provider that were used last.
    tools: Option<(Phase, String, Option<Rc<PhaseTools>>)>,
    /// The last payload, and what it was built for.
    pub(super) built: Option<(BuiltFor, Rc<Payload>)>,
    /// Whether this command has already asked a person; asking again would change nothing.
    pub(super) is_person_asked: bool,
    /// Whether this command has reported what the prompt leaves out.
    pub(super) is_left_out_reported: bool,
    /// Whether this command made or reset the worktree.
    pub(super) is_worktree_fresh: bool,
    /// File access for new prompts, from a flag of this command.
    pub(super) fs_ability: Option<FsAbility>,
    /// Whether `session.json` is out of date.
    is_snapshot_due: bool,
    /// Whether this command moved the session to another step, so that the user may have to be told.
    has_moved: bool,
    /// Whether this user started the session; only then does the journal prove what the user typed.
    pub(super) is_own: bool,
    /// Remembers the length of the journal; `None` for read-only access.
    witness: Option<Witness>,
    /// `None` for read-only access.
    lock: Option<Lock>,
}

impl<'e> OpenSession<'e> {
    /// Opens a session for changes: takes the lock, reads the journal, and cleans up after a crash.
    ///
    /// A foreign session is refused before anything is touched.
    pub(crate) fn open(engine: &'e crate::Engine, ledger: SessionLedger) -> Result<Self, SessionError> {
        Self::open_locked(engine, ledger, OpenMode::Write)
    }

    /// Opens a session that this process has just created.
    pub(crate) fn open_created(
        engine: &'e crate::Engine,
        ledger: SessionLedger,
    ) -> Result<Self, SessionError> {
        Self::open_locked(engine, ledger, OpenMode::Created)
    }

    fn open_locked(
        engine: &'e crate::Engine,
        ledger: SessionLedger,
        mode: OpenMode,
    ) -> Result<Self, SessionError> {
        let lock = ledger.lock()?;
        let session = Self::load(engine, ledger, mode, Some(lock))?;
        session.ledger.files()?.remove_leftovers_below();
        session.undo_intended()?;
        Ok(session)
    }

    /// Opens any session for reading: takes no lock and changes nothing.
    pub(crate) fn open_read_only(
        engine: &'e crate::Engine,
        ledger: SessionLedger,
    ) -> Result<Self, SessionError> {
        Self::load(engine, ledger, OpenMode::ReadOnly, None)
    }

    fn load(
        engine: &'e crate::Engine,
        ledger: SessionLedger,
        mode: OpenMode,
        lock: Option<Lock>,
    ) -> Result<Self, SessionError> {
        let journal = ledger.journal()?;
        let config = load_config(engine.settings(), &Flags::default())?;
        let witness = match mode {
            OpenMode::Write => {
                journal.refuse_shorter(None)?;
                let kind = ledger.kind();
                Some(engine.refuse_untrusted(kind, &ledger.id, journal.lines(), &config)?)
            }
            OpenMode::Created => Some(engine.witness_created(ledger.kind(), &ledger.id)),
            OpenMode::ReadOnly => None,
        };
        let is_own = match &witness {
            Some(witness) => witness.is_own(),
            None => trust::is_own(engine.settings(), ledger.kind(), &ledger.id, journal.lines()),
        };
        let state = State::fold(journal.lines().iter().map(|line| &line.event));
        let stop_after = state.flow.waits.then_some((state.phase, state.iteration));
        Ok(Self {
            engine,
            ledger,
            state,
            journal,
            profile: None,
            is_profile_changed: false,
            stop_after,
            config,
            toolbox: None,
            tools: None,
            built: None,
            is_person_asked: false,
            is_left_out_reported: false,
            is_worktree_fresh: false,
            fs_ability: engine.call_context().fs_ability,
            is_snapshot_due: false,
            has_moved: false,
            is_own,
            witness,
            lock,
        })
    }

    pub(crate) fn setup(&self) -> Result<&Setup, SessionError> {
        self.state.setup.as_ref().ok_or_else(|| SessionError::EmptySession { id: self.ledger.id.clone() })
    }

    /// The flow's settings of the current phase.
    pub(crate) fn spec(&self) -> Result<&PhaseSpec, SessionError> {
        let phase = self.state.phase;
        self.state.flow.spec(phase).ok_or(SessionError::NoPrompt { phase })
    }

    pub(crate) fn profile(&mut self) -> Result<&Profile, SessionError> {
        if self.profile.is_none() {
            let setup = self.setup()?;
            let profile = crate::catalog::profiles::find_again(
                self.engine.settings(),
                &setup.profile,
                &setup.profile_sha256,
            )?;
            self.is_profile_changed = profile.hash().to_string() != setup.profile_sha256;
            self.profile = Some(profile);
        }
        self.profile.as_ref().ok_or(SessionError::NoOpenSession)
    }

    /// The tools of a phase. Their servers are started once.
    pub(crate) fn tools(
        &mut self,
        phase: Phase,
        iteration: u32,
    ) -> Result<Option<Rc<PhaseTools>>, SessionError> {
        let name = self.state.provider(phase).to_owned();
        if let Some((known, provider, tools)) = &self.tools
            && (*known, provider) == (phase, &name)
        {
            return Ok(tools.clone());
        }
        let is_native = self.ability_in(phase, iteration, None)?.has_native_tools;
        let tools = self.engine.phase_tools(
            phase.as_str(),
            self.access(phase),
            &name,
            is_native,
            &self.config,
            &mut self.toolbox,
        )?;
        let tools = tools.map(Rc::new);
        self.tools = Some((phase, name, tools.clone()));
        Ok(tools)
    }

    /// The file access of a phase.
    fn access(&self, phase: Phase) -> Access {
        self.state.flow.spec(phase).map_or(Access::Read, |spec| spec.access)
    }

    /// Runs a command through the state machine. Its events are in the journal when this returns.
    pub(crate) fn commit(&mut self, command: Command) -> Result<(), SessionError> {
        debug_assert!(self.lock.is_some(), "only the holder of the lock records events");
        let events = decide(&self.state, command)?;
        let state = events.iter().fold(self.state.clone(), State::evolve);
        self.journal.append(&clock::now(), events)?;
        let has_ended = state.step == Step::Ended && self.state.step != Step::Ended;
        self.has_moved |= state.step != self.state.step || state.phase != self.state.phase;
        self.state = state;
        if has_ended {
            // Its changes are in the ledger. A worktree that cannot be removed now is removed with the session.
            drop(self.engine.remove_worktree(&self.ledger.id));
        }
        self.is_snapshot_due = true;
        if let Some(witness) = &self.witness {
            witness.remember(self.journal.lines())?;
        }
        Ok(())
    }

    /// Goes to the prompt that the next command writes, if it writes one.
    pub(crate) fn enter_next_prompt(&mut self) {
        if let Step::PromptWanted { phase, iteration } = self.state.step {
            (self.state.phase, self.state.iteration) = (phase, iteration);
        }
    }

    /// Assigns a phase to another agent, in memory only.
    pub(crate) fn assign(&mut self, phase: Phase, agent: aiwf_session::Agent) {
        debug_assert!(self.lock.is_none(), "a session that can be written records its events");
        let event = aiwf_session::Event::AgentChosen { phase, agent };
        self.state = std::mem::take(&mut self.state).evolve(&event);
        self.built = None;
    }

    /// From now on builds prompts with another engine and its configuration; the session and its tools stay.
    pub(crate) fn build_with<'o>(&mut self, engine: &'o crate::Engine) -> Result<(), SessionError>
    where
        'o: 'e,
    {
        self.config = load_config(engine.settings(), &Flags::default())?;
        self.engine = engine;
        self.profile = None;
        self.built = None;
        Ok(())
    }

    /// Writes `session.json` if it is out of date.
    ///
    /// Once per command, and before long calls. Readers ignore a snapshot that is behind the journal.
    pub(crate) fn write_snapshot(&mut self) -> Result<(), SessionError> {
        if !std::mem::take(&mut self.is_snapshot_due) {
            return Ok(());
        }
        Snapshot::of(&self.ledger, &self.state, &self.journal).write(&self.ledger)
    }

    /// Reads a file of the session.
    pub(crate) fn read(&self, relative: &str) -> Result<Vec<u8>, SessionError> {
        let missing = || SessionError::Missing { path: self.ledger.shown(relative) };
        let bytes = self.ledger.read(relative)?.ok_or_else(missing)?;
        // A command that changes the session has already restored interrupted writes; readers must see the same bytes.
        match self.approved_instead(relative, &sha256_hex(&bytes)) {
            Some(approved) if self.lock.is_none() => Ok(approved),
            _ => Ok(bytes),
        }
    }

    /// Hashes a file and stores its bytes, so that an approval can always be shown.
    pub(crate) fn keep(&self, relative: &str) -> Result<FileHash, SessionError> {
        let bytes = self.read(relative)?;
        let sha256 = self.ledger.keep(&bytes)?;
        Ok(FileHash { path: relative.to_owned(), sha256 })
    }

    /// Hashes a file without storing it; it may be large.
    pub(crate) fn hash(&self, relative: &str) -> Result<FileHash, SessionError> {
        let sha256 = self.ledger.files()?.sha256(relative);
        let sha256 = sha256.map_err(|error| self.ledger.unusable(relative, error))?;
        let missing = || SessionError::Missing { path: self.ledger.shown(relative) };
        Ok(FileHash { path: relative.to_owned(), sha256: sha256.ok_or_else(missing)? })
    }

    /// Writes a file of the session and syncs it.
    pub(crate) fn write(&self, relative: &str, bytes: &[u8]) -> Result<FileHash, SessionError> {
        self.refuse_links(relative)?;
        self.ledger.files()?.write(relative, bytes, Durability::PowerLoss)?;
        Ok(FileHash { path: relative.to_owned(), sha256: sha256_hex(bytes) })
    }

    /// Refuses links: a path that a program is told to write must not lead out of the session.
    pub(crate) fn refuse_links(&self, relative: &str) -> Result<(), SessionError> {
        let refused = self.ledger.files()?.refuse_links(relative);
        refused.map_err(|error| self.ledger.unusable(relative, error))
    }

    pub(crate) fn refuse_stale(&self) -> Result<(), SessionError> {
        let stale = super::verify::stale(&self.ledger, &self.state);
        if stale.is_empty() { Ok(()) } else { Err(SessionError::Stale { files: stale }) }
    }

    /// Removes a session whose creation failed.
    pub(crate) fn forget(&self) {
        if let Some(witness) = &self.witness {
            witness.forget(self.journal.lines());
        }
    }

    /// The current user.
    pub(crate) fn person(&self) -> Actor {
        let name = self.engine.settings().user.clone().unwrap_or_else(|| UNKNOWN_PERSON.to_owned());
        Actor::Person(Person { name, surface: self.engine.call_context().surface })
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.journal.lines().len() as u64
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
}

impl Drop for OpenSession<'_> {
    fn drop(&mut self) {
        // The snapshot can be rebuilt from the journal; without it a list takes longer.
        drop(self.write_snapshot());
        if std::mem::take(&mut self.has_moved) && !std::thread::panicking() {
            self.tell_user();
        }
    }
}
