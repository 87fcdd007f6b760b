//! What a person decides: approve, reject, retry, respond, accept, rebind, restore, cancel.

use std::path::Path;

use aiwf_advice::Advice;
use aiwf_prompt::FsAbility;
use aiwf_provider::{Answered, Cassette, Reply};
use aiwf_session::{Actor, Command, FileHash, Pause, Phase, State, Step, decide, rejected_path};

use super::diff::unified;
use super::journal;
use super::open_session::OpenSession;
use super::perform::{Performed, StepOutcome};
use super::report::SessionReport;
use super::verify::{Difference, stale};
use crate::Engine;
use crate::ask::call::recorded;
use crate::ask::providers;
use crate::error::EngineError;
use crate::ledger::{SessionRef, own_ledgers};
use crate::session::session_error::SessionError;

/// Rejected copies of one file; nobody turns a prompt down as often.
const MAX_REJECTED: u32 = 10_000;

/// What an approval says beside yes.
#[derive(Clone, Debug, Default)]
pub struct ApproveOptions {
    /// Hand the phases that are still open to this provider. A prompt at its gate is then built again instead of approved.
    pub provider: Option<String>,
    /// Build the prompt at the gate, or the next one, for a receiver that can do this with files; the prompt at the gate
    /// must not have been edited.
    pub fs_ability: Option<FsAbility>,
    /// Whether a later change of the prompt counts.
    pub hash_prompts: Option<bool>,
}

/// Whether a reply approves the prompt that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptApproval {
    /// The prompt has to be approved before.
    Required,
    /// A person who pasted it has read it.
    Implied,
}

/// What came of a decision.
#[derive(Debug)]
pub struct Decided {
    /// What was done after it.
    pub performed: Vec<Performed>,
    /// Where the session stands now.
    pub report: SessionReport,
    /// The edits that were accepted, as a diff.
    pub accepted: Option<String>,
}

impl Engine {
    pub(super) fn open_session<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<OpenSession<'_>, SessionError> {
        OpenSession::open(self, journal::find(self.settings(), given)?)
    }

    pub(super) fn decided(session: &OpenSession<'_>, performed: Vec<Performed>) -> Decided {
        let report = SessionReport::of(&session.ledger, &session.state).with_profile_warnings(session.engine);
        Decided { performed, report, accepted: None }
    }

    /// Does the next thing that needs no decision.
    pub fn step_session<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut session = self.open_session(given)?;
        session.refuse_cancelled()?;
        session.continue_past_phase();
        let performed = match session.step()? {
            StepOutcome::Done(done) => vec![done],
            StepOutcome::Waiting => Vec::new(),
        };
        Ok(Self::decided(&session, performed))
    }

    /// Goes on until a person is needed or nothing is left to do.
    pub fn run_session<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        self.run_session_with(given, None)
    }

    /// The same, and the phases that are still open are handed to another provider.
    pub fn run_session_with<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        provider: Option<&str>,
    ) -> Result<Decided, SessionError> {
        Self::run_open(self.open_session(given)?, provider)
    }

    pub(super) fn run_open(
        mut session: OpenSession<'_>,
        provider: Option<&str>,
    ) -> Result<Decided, SessionError> {
        session.refuse_cancelled()?;
        if let Some(provider) = provider {
            session.choose_agents(provider)?;
        }
        session.continue_past_phase();
        session.skip_gates_if_asked()?;
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Says yes to what lies at the gate, and goes on.
    pub fn approve<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        options: &ApproveOptions,
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let by = session.person();
        session.fs_ability = options.fs_ability.or(session.fs_ability);
        if let Some(provider) = &options.provider {
            let is_prompt = session.state.step == Step::PromptReady;
            session.choose_agents(provider)?;
            if is_prompt && session.state.step != Step::PromptReady {
                // Another prompt takes its place, which nobody has seen.
                let performed = session.run_until_waiting()?;
                return Ok(Self::decided(&session, performed));
            }
        }
        // Whoever says yes where a judge is too dear has decided instead of it.
        let is_awake = !session.state.gate_over_budget && session.resume_if_limit_raised()?;
        if is_awake || matches!(session.state.step, Step::Paused(Pause::Budget) | Step::AskWanted) {
            // Nothing lies at a gate that somebody has seen: what follows is not approved by this.
            let performed = session.run_until_waiting()?;
            return Ok(Self::decided(&session, performed));
        }
        if session.state.step == (Step::Asked { is_free: false }) {
            // A call that was interrupted is made again, unless its whole reply is there; nobody has seen that yet.
            if !session.recover_complete_reply()? {
                session.send_again(by)?;
            }
            let performed = session.run_until_waiting()?;
            return Ok(Self::decided(&session, performed));
        }
        if matches!(session.state.step, Step::Asked { .. } | Step::AskFailed { .. })
            && !session.record_reply_file()?
        {
            if session.state.step == (Step::Asked { is_free: true }) {
                let path = session.ledger.shown(&session.response_path()?);
                return Err(SessionError::NoReplyYet { path });
            }
            session.send_again(by)?;
            let performed = session.run_until_waiting()?;
            return Ok(Self::decided(&session, performed));
        }
        if matches!(session.state.step, Step::ReplyReady { .. }) {
            session.take_reply(by)?;
        } else {
            if let Some(ability) = session.fs_ability {
                session.rewrite_prompt(ability)?;
            }
            session.approve_prompt(by, options.hash_prompts)?;
        }
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Says no to what lies at the gate, with the reason; the next prompt carries it.
    pub fn reject<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        feedback: &str,
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let by = session.person();
        let feedback = feedback.to_owned();
        if matches!(session.state.step, Step::Asked { .. }) {
            session.record_reply_file()?;
        }
        // A verdict that stopped the session is about its reply.
        let is_reply = matches!(
            session.state.step,
            Step::ReplyReady { .. } | Step::Paused(Pause::Checks | Pause::Verdict | Pause::NoTarget)
        );
        let command = |kept: Vec<FileHash>| {
            let (by, feedback) = (by.clone(), feedback.clone());
            if is_reply {
                Command::RejectResponse { by, feedback, kept }
            } else {
                Command::RejectPrompt { by, feedback, kept }
            }
        };
        // Nothing is copied for a rejection that is refused.
        decide(&session.state, command(Vec::new()))?;
        let paths = if is_reply {
            [session.written_paths(), vec![session.response_path()?]].concat()
        } else {
            session.edited_prompt_files()
        };
        let kept = session.keep_rejected(&paths)?;
        session.commit(command(kept))?;
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Sends the same prompt once more.
    pub fn retry<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let by = session.person();
        session.send_again(by)?;
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Puts a reply in place; with a directory to record in, the request and the reply are kept there too.
    pub fn respond<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        reply: &str,
        record: Option<&Path>,
    ) -> Result<Decided, SessionError> {
        self.respond_with(given, reply, record, PromptApproval::Required)
    }

    /// The same; with [`PromptApproval::Implied`] a prompt at its gate is approved as it is on disk when a person is
    /// its provider: it was pasted, so it was read.
    pub fn respond_with<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        reply: &str,
        record: Option<&Path>,
        approval: PromptApproval,
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let mut performed = Vec::new();
        if approval == PromptApproval::Implied
            && session.state.step == Step::PromptReady
            && !reply.trim().is_empty()
            && !providers::can_use_tools(session.state.provider(session.state.phase), session.config())
        {
            let path = session.state.prompt_path().unwrap_or_default();
            let by = session.person();
            session.approve_prompt(by, None)?;
            performed.push(Performed::PromptImplied { path });
            session.run_until_waiting()?;
        }
        if session.state.phase.is_final() {
            return Err(SessionError::NotAwaited { next: session.next_advice() });
        }
        let path = session.response_path()?;
        if !matches!(
            session.state.step,
            Step::Asked { .. } | Step::AskFailed { .. } | Step::ReplyReady { .. }
        ) {
            return Err(SessionError::NotAwaited { next: session.next_advice() });
        }
        if reply.trim().is_empty() {
            return Err(SessionError::EmptyReply);
        }
        if let Some(directory) = record {
            let (phase, iteration) = (session.state.phase, session.state.iteration);
            let provider = session.state.provider(phase).to_owned();
            let cassette = Cassette::in_directory(self.settings().current_dir.join(directory));
            let answered = Answered {
                name: &OpenSession::call_name(phase, iteration),
                provider: &provider,
                capability: Some(recorded(session.ability()?)),
                text: reply,
                reply: &Reply::default(),
                changes: None,
            };
            let payload = session.payload()?;
            cassette.record(&payload, answered)?;
        }
        if session.has_unrecorded_reply(&path)? {
            // Somebody saved a reply by hand; it is not written over without a copy.
            session.keep_rejected(std::slice::from_ref(&path))?;
        }
        let response = session.write(&path, reply.as_bytes())?;
        session.ledger.keep(reply.as_bytes())?;
        session.commit(Command::RecordReply { response, call: None, changes: None })?;
        let received = Performed::ReplyReceived { path, notes: Vec::new() };
        session.notify(&received);
        performed.push(received);
        Ok(Self::decided(&session, performed))
    }

    /// Takes the code although its review failed.
    pub fn accept<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let by = session.person();
        session.refuse_stale()?;
        session.commit(Command::Accept { by })?;
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Allows more iterations, and goes on.
    pub fn raise_cap<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        max_iterations: u32,
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        session.refuse_stale()?;
        session.commit(Command::RaiseCap { max_iterations })?;
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Cancels the session.
    pub fn cancel<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        reason: Option<&str>,
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_session(given)?;
        let by = session.person();
        session.commit(Command::Cancel { by, reason: reason.map(str::to_owned) })?;
        Ok(Self::decided(&session, Vec::new()))
    }

    /// Accepts the changes of approved files; what was derived from them is marked.
    pub fn rebind<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let by = session.person();
        let changed = stale(&session.ledger, &session.state);
        if let Some(missing) = changed.iter().find(|difference| difference.found.is_none()) {
            return Err(SessionError::Missing { path: session.ledger.shown(&missing.path) });
        }
        let files = changed
            .iter()
            .map(|difference| session.keep(&difference.path))
            .collect::<Result<Vec<FileHash>, _>>()?;
        let accepted = changed
            .iter()
            .map(|difference| session.edits(difference))
            .collect::<Result<String, SessionError>>()?;
        // A waiting prompt is built again; words that a person put into it are kept.
        let edited =
            if session.state.step == Step::PromptReady { session.edited_prompt_files() } else { Vec::new() };
        let kept = session.keep_rejected(&edited)?;
        session.commit(Command::Rebind { by, files })?;
        let mut performed: Vec<Performed> =
            kept.into_iter().map(|file| Performed::Kept { path: file.path }).collect();
        for kept in &performed {
            session.notify(kept);
        }
        performed.extend(session.run_until_waiting()?);
        Ok(Decided { accepted: Some(accepted), ..Self::decided(&session, performed) })
    }

    /// The only approved file that is not as it was approved, with the id of its session.
    ///
    /// Without a session all of the user's own sessions count; those that cannot be read do not.
    pub fn only_stale_file(&self, given: Option<&str>) -> Result<(String, String), SessionError> {
        let ledgers = match given {
            Some(_) => vec![journal::find_any(self.settings(), given)?],
            None => own_ledgers(self.settings())?,
        };
        let mut found: Vec<(String, String)> = Vec::new();
        for ledger in ledgers {
            let Ok(journal) = ledger.journal() else { continue };
            let state = State::fold(journal.lines().iter().map(|line| &line.event));
            let files = stale(&ledger, &state).into_iter();
            found.extend(files.map(|file| (ledger.label().to_owned(), file.path)));
        }
        match found.as_slice() {
            [] => Err(SessionError::NoStaleFile),
            [only] => Ok(only.clone()),
            several => Err(SessionError::SeveralStaleFiles {
                files: several.iter().map(|(id, path)| format!("{id}  {path}")).collect(),
            }),
        }
    }

    /// Restores the approved bytes of a file.
    pub fn restore<'a>(&self, given: impl Into<SessionRef<'a>>, path: &str) -> Result<(), SessionError> {
        let session = self.open_session(given)?;
        let prefix = session.ledger.shown("");
        let relative = path.strip_prefix(&prefix).unwrap_or(path);
        let unknown = || SessionError::NothingApproved { path: path.to_owned() };
        let bound = session.state.bound.get(relative).ok_or_else(unknown)?;
        let bytes = session.ledger.ledger()?.kept(&bound.sha256);
        let bytes = bytes
            .map_err(|source| EngineError::Unreadable { path: session.ledger.kept_dir(), source })?
            .ok_or_else(unknown)?;
        session.write(relative, &bytes).map(drop)
    }
}

impl OpenSession<'_> {
    /// Opens the gates of the session when the command says so.
    pub(super) fn skip_gates_if_asked(&mut self) -> Result<(), SessionError> {
        if self.engine.call_context().skips_gates { self.commit(Command::OpenGates) } else { Ok(()) }
    }

    /// A cancelled session cannot be continued; one that is complete has nothing left to do.
    pub(super) fn refuse_cancelled(&self) -> Result<(), SessionError> {
        if self.state.phase == Phase::CANCELLED {
            return Err(SessionError::Cancelled { id: self.ledger.label().to_owned() });
        }
        Ok(())
    }

    /// What somebody changed in an approved file.
    fn edits(&self, difference: &Difference) -> Result<String, SessionError> {
        let approved = self.ledger.kept(&difference.approved);
        Ok(unified(&difference.path, approved.as_deref(), Some(&self.read(&difference.path)?)))
    }

    /// Writes the waiting prompt anew for another kind of receiver.
    pub(super) fn rewrite_prompt(&mut self, ability: FsAbility) -> Result<(), SessionError> {
        self.refuse_edited()?;
        if self.prompt_flag() == Some(ability) {
            return Ok(());
        }
        self.write_prompt(self.state.phase, self.state.iteration, Some(ability))
    }

    /// Words that a person put into the waiting prompt are not written over.
    pub(super) fn refuse_edited(&self) -> Result<(), SessionError> {
        match self.edited_prompt_files().first() {
            Some(path) => Err(SessionError::EditedPrompt { path: self.ledger.shown(path) }),
            None => Ok(()),
        }
    }

    /// The approved prompt is to be sent once more; a reply that is there is kept under another name.
    fn send_again(&mut self, by: Actor) -> Result<(), SessionError> {
        decide(&self.state, Command::Retry { by: by.clone(), kept: Vec::new() })?;
        let response = self.response_path()?;
        let kept = self.keep_rejected(std::slice::from_ref(&response))?;
        self.commit(Command::Retry { by, kept })?;
        Ok(self.ledger.files()?.remove(&response)?)
    }

    fn next_advice(&self) -> Advice {
        SessionReport::of(&self.ledger, &self.state).next
    }

    pub(crate) fn written_paths(&self) -> Vec<String> {
        self.state.written.iter().map(|file| file.path.clone()).collect()
    }

    /// The prompt files that are not what the engine wrote; one that is gone has nothing to lose.
    pub(crate) fn edited_prompt_files(&self) -> Vec<String> {
        let is_edited = |file: &&FileHash| {
            self.read(&file.path).is_ok_and(|bytes| aiwf_store::sha256_hex(&bytes) != file.sha256)
        };
        self.state.written.iter().filter(is_edited).map(|file| file.path.clone()).collect()
    }

    /// Whether a reply lies there that the journal does not know.
    fn has_unrecorded_reply(&self, path: &str) -> Result<bool, SessionError> {
        if !self.ledger.is_file(path) {
            return Ok(false);
        }
        let sha256 = aiwf_store::sha256_hex(&self.read(path)?);
        Ok(self.state.response.as_ref().is_none_or(|known| known.sha256 != sha256))
    }

    /// Copies files to `….rejected-K.md`, so that nothing that was written is lost.
    ///
    /// K is the first number whose names are free, or hold these very bytes: then a command that was cut short is
    /// being run again.
    pub(crate) fn keep_rejected(&self, paths: &[String]) -> Result<Vec<FileHash>, SessionError> {
        let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
        for path in paths.iter().filter(|path| self.ledger.is_file(path)) {
            files.push((path, self.read(path)?));
        }
        let files_dir = self.ledger.files()?;
        let is_free = |number: &u32| {
            files.iter().all(|(path, bytes)| {
                let copy = rejected_path(path, *number);
                !files_dir.exists(&copy) || self.read(&copy).is_ok_and(|kept| kept == *bytes)
            })
        };
        let number = (1..=MAX_REJECTED).find(is_free).unwrap_or(MAX_REJECTED);
        files.iter().map(|(path, bytes)| self.write(&rejected_path(path, number), bytes)).collect()
    }
}
