//! Decisions of a person: approve, reject, retry, respond, accept, rebind, restore, cancel.

use std::path::Path;

use aiwf_advice::Advice;
use aiwf_prompt::FsAbility;
use aiwf_provider::{Answered, Cassette, Reply};
use aiwf_session::{
    Actor, Command, FileHash, Pause, Phase, Refusal, State, Step, decide, possible, rejected_path,
};

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

/// Upper bound for rejected copies of one file.
const MAX_REJECTED: u32 = 10_000;

/// The feedback of a rejection that says nothing but its comments.
const COMMENTS_ARE_FEEDBACK: &str = "See the open comments.";

/// The options of an approval.
#[derive(Clone, Debug, Default)]
pub struct ApproveOptions {
    /// Assign the open phases to this provider. A prompt at its gate is built again instead of approved.
    pub provider: Option<String>,
    /// Build the prompt at the gate, or the next one, for a receiver with this file access. The prompt at the gate must
    /// not be edited.
    pub fs_ability: Option<FsAbility>,
    /// Whether a later change of the prompt makes it stale.
    pub hash_prompts: Option<bool>,
    /// What the approver says for the phases that read the reply.
    pub note: Option<String>,
}

/// Whether a reply approves the prompt that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptApproval {
    /// The prompt must be approved first.
    Required,
    /// Pasting a prompt into a chat counts as reading it.
    Implied,
}

/// The result of a decision.
#[derive(Debug)]
pub struct Decided {
    pub performed: Vec<Performed>,
    /// The state of the session now.
    pub report: SessionReport,
    /// The accepted edits, as a diff.
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

    /// Performs the next step that needs no decision.
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

    /// Runs until a person is needed or nothing is left to do.
    pub fn run_session<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        self.run_session_with(given, None)
    }

    /// Like [`Self::run_session`], after assigning the open phases to another provider.
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

    /// Approves what is at the gate, and continues.
    pub fn approve<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        options: &ApproveOptions,
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let by = session.person();
        // A note is about a reply; what a prompt should say is written into the prompt.
        let has_reply = || session.response_path().is_ok_and(|path| session.ledger.is_file(&path));
        let is_awaited = matches!(session.state.step, Step::Asked { is_free: true } | Step::AskFailed { .. });
        let is_reply = matches!(session.state.step, Step::ReplyReady { .. }) || (is_awaited && has_reply());
        if options.note.is_some() && matches!(session.state.step, Step::AskFailed { .. }) && !is_reply {
            return Err(SessionError::Refused(Refusal::NotNow {
                command: "approve",
                situation: "nothing is waiting for approval".to_owned(),
                possible: possible(&session.state),
            }));
        }
        // A session that has ended says so itself.
        if options.note.is_some() && !is_reply && session.state.step != Step::Ended {
            return Err(SessionError::NoteWithoutReply);
        }
        session.fs_ability = options.fs_ability.or(session.fs_ability);
        if let Some(provider) = &options.provider {
            let is_prompt = session.state.step == Step::PromptReady;
            session.choose_agents(provider)?;
            if is_prompt && session.state.step != Step::PromptReady {
                // The new prompt is not the one the user saw, so it is not approved.
                let performed = session.run_until_waiting()?;
                return Ok(Self::decided(&session, performed));
            }
        }
        // Approving where the judge is over budget decides instead of the judge.
        let is_awake = !session.state.gate_over_budget && session.resume_if_limit_raised()?;
        if is_awake || matches!(session.state.step, Step::Paused(Pause::Budget) | Step::AskWanted) {
            // The user saw no gate, so this approves nothing.
            let performed = session.run_until_waiting()?;
            return Ok(Self::decided(&session, performed));
        }
        if session.state.step == (Step::Asked { is_free: false }) {
            // An interrupted call is repeated unless its complete reply is on disk, which nobody has seen yet.
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
            session.take_reply(by, options.note.clone())?;
        } else {
            if let Some(ability) = session.fs_ability {
                session.rewrite_prompt(ability)?;
            }
            session.approve_prompt(by, options.hash_prompts)?;
        }
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Rejects what is at the gate; the next prompt contains the feedback.
    pub fn reject<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        feedback: &str,
    ) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let by = session.person();
        // Open comments say what is wrong as well.
        let feedback = if feedback.trim().is_empty() && session.has_comments() {
            COMMENTS_ARE_FEEDBACK.to_owned()
        } else {
            feedback.to_owned()
        };
        if matches!(session.state.step, Step::Asked { .. }) {
            session.record_reply_file()?;
        }
        // After a verdict that stopped the session, the reply is rejected.
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
        // Checks first, so that a refused rejection copies nothing.
        decide(&session.state, command(Vec::new()))?;
        let paths = if is_reply {
            let response = session.response_path()?;
            // A version stays readable by its hash, whatever becomes of its copies.
            if session.ledger.is_file(&response) {
                session.keep(&response)?;
            }
            [session.written_paths(), vec![response]].concat()
        } else {
            session.edited_prompt_files()
        };
        let kept = session.keep_rejected(&paths)?;
        session.commit(command(kept))?;
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Stores a reply. With a recording directory, the request and the reply are recorded there.
    pub fn respond<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        reply: &str,
        record: Option<&Path>,
    ) -> Result<Decided, SessionError> {
        self.respond_with(given, reply, record, PromptApproval::Required)
    }

    /// Like [`Self::respond`]. [`PromptApproval::Implied`] also approves the prompt at its gate as it is on disk, if
    /// its provider is a person.
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
                keeps_texts: false,
            };
            let payload = session.payload()?;
            cassette.record(&payload, answered)?;
        }
        if session.has_unrecorded_reply(&path)? {
            // A reply that was saved by hand is kept before it is replaced.
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

    /// Accepts the code although its review failed.
    pub fn accept<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut session = self.open_at_gate(given)?;
        let by = session.person();
        session.refuse_stale()?;
        session.commit(Command::Accept { by })?;
        let performed = session.run_until_waiting()?;
        Ok(Self::decided(&session, performed))
    }

    /// Allows more iterations, and continues.
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

    /// Accepts the changes of approved files; files made from them are marked outdated.
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
        // A waiting prompt is built again; a person's edits are kept.
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

    /// The only approved file that changed, with the id of its session.
    ///
    /// Without a session, searches all readable sessions of the user.
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
    /// Skips the gates of the session if the command says so.
    pub(super) fn skip_gates_if_asked(&mut self) -> Result<(), SessionError> {
        if self.engine.call_context().skips_gates { self.commit(Command::OpenGates) } else { Ok(()) }
    }

    /// A cancelled session cannot continue; a complete one has nothing left to do.
    pub(super) fn refuse_cancelled(&self) -> Result<(), SessionError> {
        if self.state.phase == Phase::CANCELLED {
            return Err(SessionError::Cancelled { id: self.ledger.label().to_owned() });
        }
        Ok(())
    }

    /// The difference between the approved and the current file.
    fn edits(&self, difference: &Difference) -> Result<String, SessionError> {
        let approved = self.ledger.kept(&difference.approved);
        Ok(unified(&difference.path, approved.as_deref(), Some(&self.read(&difference.path)?)))
    }

    /// Writes the waiting prompt again for another file access.
    pub(super) fn rewrite_prompt(&mut self, ability: FsAbility) -> Result<(), SessionError> {
        self.refuse_edited()?;
        if self.prompt_flag() == Some(ability) {
            return Ok(());
        }
        self.write_prompt(self.state.phase, self.state.iteration, Some(ability))
    }

    /// Refuses to overwrite a person's edits of the waiting prompt.
    pub(super) fn refuse_edited(&self) -> Result<(), SessionError> {
        match self.edited_prompt_files().first() {
            Some(path) => Err(SessionError::EditedPrompt { path: self.ledger.shown(path) }),
            None => Ok(()),
        }
    }

    /// Sends the approved prompt again; an existing reply is kept under another name.
    pub(super) fn send_again(&mut self, by: Actor) -> Result<(), SessionError> {
        decide(&self.state, Command::Retry { by: by.clone(), kept: Vec::new() })?;
        let response = self.response_path()?;
        if self.ledger.is_file(&response) {
            self.keep(&response)?;
        }
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

    /// The prompt files that differ from what the engine wrote; deleted ones are not listed.
    pub(crate) fn edited_prompt_files(&self) -> Vec<String> {
        let is_edited = |file: &&FileHash| {
            self.read(&file.path).is_ok_and(|bytes| aiwf_store::sha256_hex(&bytes) != file.sha256)
        };
        self.state.written.iter().filter(is_edited).map(|file| file.path.clone()).collect()
    }

    /// Whether there is a reply file that the journal does not know.
    fn has_unrecorded_reply(&self, path: &str) -> Result<bool, SessionError> {
        if !self.ledger.is_file(path) {
            return Ok(false);
        }
        let sha256 = aiwf_store::sha256_hex(&self.read(path)?);
        Ok(self.state.response.as_ref().is_none_or(|known| known.sha256 != sha256))
    }

    /// Copies files to `….rejected-K.md`.
    ///
    /// K is the first number whose names are free, or hold the same bytes because an interrupted command is repeated.
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
