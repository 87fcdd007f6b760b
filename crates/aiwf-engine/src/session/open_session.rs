//! A session that is being worked on: locked, folded, and changed only through the machine.

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

/// What a payload was built for: the phase, the iteration, the files it was written to, and what they hold now.
pub(super) type BuiltFor = (Phase, u32, Vec<FileHash>, Vec<String>);

/// What a session is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenMode {
    /// To act on it.
    Write,
    /// To begin it.
    Created,
    /// To look at it.
    ReadOnly,
}

/// A locked session.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one command")]
pub(crate) struct OpenSession<'e> {
    pub(crate) engine: &'e crate::Engine,
    pub(crate) ledger: SessionLedger,
    pub(crate) state: State,
    journal: Journal<aiwf_session::Event>,
    profile: Option<Profile>,
    /// Whether the profile is not the one the session began with.
    pub(crate) is_profile_changed: bool,
    /// The phase and iteration after which a phase command stops; other commands go on.
    pub(super) stop_after: Option<(Phase, u32)>,
    config: Config,
    toolbox: Option<Rc<Toolbox>>,
    /// The tools of the phase and provider that were asked for last.
    tools: Option<(Phase, String, Option<Rc<PhaseTools>>)>,
    /// The payload that was built last, and what it was built for.
    pub(super) built: Option<(BuiltFor, Rc<Payload>)>,
    /// Whether a person was asked by this command; asking again would change nothing.
    pub(super) is_person_asked: bool,
    /// Whether this command has said what the prompt leaves out.
    pub(super) is_left_out_reported: bool,
    /// What a flag of this command says that receivers of new prompts can do with files.
    pub(super) fs_ability: Option<FsAbility>,
    /// Whether something happened since `session.json` was written.
    is_snapshot_due: bool,
    /// Whether the user began it: what its journal says that somebody typed, the user typed.
    pub(super) is_own: bool,
    /// Remembers how far the journal is; nothing when the session is only looked at.
    witness: Option<Witness>,
    /// Held by who acts; who only looks has none.
    lock: Option<Lock>,
}

impl<'e> OpenSession<'e> {
    /// Opens a session to act on it: takes the lock, reads the journal, removes what a crash left half done.
    ///
    /// One that is not the user's is refused before anything is touched.
    pub(crate) fn open(engine: &'e crate::Engine, ledger: SessionLedger) -> Result<Self, SessionError> {
        Self::open_locked(engine, ledger, OpenMode::Write)
    }

    /// Opens a session that this process created.
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

    /// Opens a session to look at it, whoever created it: nothing is locked, written, removed or put on record.
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
            fs_ability: engine.call_context().fs_ability,
            is_snapshot_due: false,
            is_own,
            witness,
            lock,
        })
    }

    /// What the session was set up with.
    pub(crate) fn setup(&self) -> Result<&Setup, SessionError> {
        self.state.setup.as_ref().ok_or_else(|| SessionError::EmptySession { id: self.ledger.id.clone() })
    }

    /// What the flow says about the current phase.
    pub(crate) fn spec(&self) -> Result<&PhaseSpec, SessionError> {
        let phase = self.state.phase;
        self.state.flow.spec(phase).ok_or(SessionError::NoPrompt { phase })
    }

    /// The profile of the session, loaded once.
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

    /// The tools that the provider of a phase may call; their servers are started once.
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

    /// What a phase may touch.
    fn access(&self, phase: Phase) -> Access {
        self.state.flow.spec(phase).map_or(Access::Read, |spec| spec.access)
    }

    /// Lets the machine decide; what it decides is in the journal when this returns.
    pub(crate) fn commit(&mut self, command: Command) -> Result<(), SessionError> {
        debug_assert!(self.lock.is_some(), "only who holds the lock puts something on record");
        let events = decide(&self.state, command)?;
        let state = events.iter().fold(self.state.clone(), State::evolve);
        self.journal.append(&clock::now(), events)?;
        let has_ended = state.step == Step::Ended && self.state.step != Step::Ended;
        self.state = state;
        if has_ended {
            // What it made is in the ledger; a worktree that cannot be removed now goes with the session.
            drop(self.engine.remove_worktree(&self.ledger.id));
        }
        self.is_snapshot_due = true;
        if let Some(witness) = &self.witness {
            witness.remember(self.journal.lines())?;
        }
        Ok(())
    }

    /// Writes `session.json` when something happened since; it is derived and can be made again at any time.
    ///
    /// Once for a command, however much happens, and before a call that may take long. A list does not believe one that
    /// is behind its journal.
    pub(crate) fn write_snapshot(&mut self) -> Result<(), SessionError> {
        if !std::mem::take(&mut self.is_snapshot_due) {
            return Ok(());
        }
        Snapshot::of(&self.ledger, &self.state, &self.journal).write(&self.ledger)
    }

    /// The bytes of a file of the session.
    pub(crate) fn read(&self, relative: &str) -> Result<Vec<u8>, SessionError> {
        let missing = || SessionError::Missing { path: self.ledger.shown(relative) };
        let bytes = self.ledger.read(relative)?.ok_or_else(missing)?;
        // Who acts has taken back what a command that was cut short wrote; who looks must see the same.
        match self.approved_instead(relative, &sha256_hex(&bytes)) {
            Some(approved) if self.lock.is_none() => Ok(approved),
            _ => Ok(bytes),
        }
    }

    /// A file as it is now, its bytes kept so that an approval can always be shown.
    pub(crate) fn keep(&self, relative: &str) -> Result<FileHash, SessionError> {
        let bytes = self.read(relative)?;
        let sha256 = self.ledger.keep(&bytes)?;
        Ok(FileHash { path: relative.to_owned(), sha256 })
    }

    /// A file as it is now, by its hash alone; it may be large.
    pub(crate) fn hash(&self, relative: &str) -> Result<FileHash, SessionError> {
        let sha256 = self.ledger.files()?.sha256(relative);
        let sha256 = sha256.map_err(|error| self.ledger.unusable(relative, error))?;
        let missing = || SessionError::Missing { path: self.ledger.shown(relative) };
        Ok(FileHash { path: relative.to_owned(), sha256: sha256.ok_or_else(missing)? })
    }

    /// Writes a file of the session, durably.
    pub(crate) fn write(&self, relative: &str, bytes: &[u8]) -> Result<FileHash, SessionError> {
        self.refuse_links(relative)?;
        self.ledger.files()?.write(relative, bytes, Durability::PowerLoss)?;
        Ok(FileHash { path: relative.to_owned(), sha256: sha256_hex(bytes) })
    }

    /// A link inside a session could lead anywhere; what a program is told to write is not behind one.
    pub(crate) fn refuse_links(&self, relative: &str) -> Result<(), SessionError> {
        let refused = self.ledger.files()?.refuse_links(relative);
        refused.map_err(|error| self.ledger.unusable(relative, error))
    }

    /// Approved files that are not what they were; commands that would build on them refuse.
    pub(crate) fn refuse_stale(&self) -> Result<(), SessionError> {
        let stale = super::verify::stale(&self.ledger, &self.state);
        if stale.is_empty() { Ok(()) } else { Err(SessionError::Stale { files: stale }) }
    }

    /// Forgets a session that never began.
    pub(crate) fn forget(&self) {
        if let Some(witness) = &self.witness {
            witness.forget(self.journal.lines());
        }
    }

    /// The person at the keyboard.
    pub(crate) fn person(&self) -> Actor {
        let name = self.engine.settings().user.clone().unwrap_or_else(|| "unknown".to_owned());
        Actor::Person(Person { name, surface: self.engine.call_context().surface })
    }

    /// The number of the last event.
    pub(crate) fn last_seq(&self) -> u64 {
        self.journal.lines().len() as u64
    }

    /// The configuration.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
}

impl Drop for OpenSession<'_> {
    fn drop(&mut self) {
        // What happened is in the journal; without this a list takes a little longer.
        drop(self.write_snapshot());
    }
}
