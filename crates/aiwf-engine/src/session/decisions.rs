//! What a person decides: approve, reject, retry, respond, accept, rebind, restore, cancel.

use std::path::Path;

use aiwf_advice::Advice;
use aiwf_prompt::FsAbility;
use aiwf_provider::{Answered, Cassette, Reply};
use aiwf_session::{Actor, Command, FileHash, Pause, Phase, Step, decide};

use super::apply::unified;
use super::journal;
use super::perform::{Performed, StepOutcome};
use super::report::SessionReport;
use super::verify::{Difference, stale};
use super::work::Work;
use crate::Engine;
use crate::ask::call::recorded;
use crate::error::EngineError;
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

/// Rejected copies of one file; nobody turns a prompt down as often.
const MAX_REJECTED: u32 = 10_000;

/// What an approval says beside yes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApproveOptions {
    /// Build the prompt at the gate, or the next one, for a receiver that can do this with files; the prompt at the gate
    /// must not have been edited.
    pub fs_ability: Option<FsAbility>,
    /// Whether a later change of the prompt counts.
    pub hash_prompts: Option<bool>,
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
    fn work<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Work<'_>, SessionError> {
        Work::open(self, journal::find(self.settings(), given)?)
    }

    pub(super) fn decided(work: &Work<'_>, performed: Vec<Performed>) -> Decided {
        let report = SessionReport::of(&work.directory, &work.state).warned(work.engine);
        Decided { performed, report, accepted: None }
    }

    /// Does the next thing that needs no decision.
    pub fn step_session<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut work = self.work(given)?;
        work.refuse_cancelled()?;
        work.run_through();
        let performed = match work.step()? {
            StepOutcome::Done(done) => vec![done],
            StepOutcome::Waiting => Vec::new(),
        };
        Ok(Self::decided(&work, performed))
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
        let mut work = self.work(given)?;
        work.refuse_cancelled()?;
        if let Some(provider) = provider {
            work.choose_agents(provider)?;
        }
        work.run_through();
        work.skip_gates_if_asked()?;
        let performed = work.run_until_waiting()?;
        Ok(Self::decided(&work, performed))
    }

    /// Says yes to what lies at the gate, and goes on.
    pub fn approve<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        options: &ApproveOptions,
    ) -> Result<Decided, SessionError> {
        let mut work = self.work_at_gate(given)?;
        let by = work.person();
        work.fs_ability = options.fs_ability.or(work.fs_ability);
        // Whoever says yes where a judge is too dear has decided instead of it.
        let is_awake = !work.state.gate_over_budget && work.wake_up()?;
        if is_awake || matches!(work.state.step, Step::Paused(Pause::Budget) | Step::AskWanted) {
            // Nothing lies at a gate that somebody has seen: what follows is not approved by this.
            let performed = work.run_until_waiting()?;
            return Ok(Self::decided(&work, performed));
        }
        if work.state.step == (Step::Asked { is_free: false }) {
            // A call that was interrupted is made again, unless its whole reply is there; nobody has seen that yet.
            if !work.take_up_whole_reply()? {
                work.send_again(by)?;
            }
            let performed = work.run_until_waiting()?;
            return Ok(Self::decided(&work, performed));
        }
        if matches!(work.state.step, Step::Asked { .. } | Step::AskFailed { .. }) && !work.pick_up_reply()? {
            if work.state.step == (Step::Asked { is_free: true }) {
                let path = work.directory.shown(&work.response_path()?);
                return Err(SessionError::NoReplyYet { path });
            }
            work.send_again(by)?;
            let performed = work.run_until_waiting()?;
            return Ok(Self::decided(&work, performed));
        }
        if matches!(work.state.step, Step::ReplyReady { .. }) {
            work.take_reply(by)?;
        } else {
            if let Some(ability) = work.fs_ability {
                work.rewrite_prompt(ability)?;
            }
            work.approve_prompt(by, options.hash_prompts)?;
        }
        let performed = work.run_until_waiting()?;
        Ok(Self::decided(&work, performed))
    }

    /// Says no to what lies at the gate, with the reason; the next prompt carries it.
    pub fn reject<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        feedback: &str,
    ) -> Result<Decided, SessionError> {
        let mut work = self.work_at_gate(given)?;
        let by = work.person();
        let feedback = feedback.to_owned();
        if matches!(work.state.step, Step::Asked { .. }) {
            work.pick_up_reply()?;
        }
        // A verdict that stopped the session is about its reply.
        let is_reply = matches!(work.state.step, Step::ReplyReady { .. } | Step::Paused(Pause::Verdict));
        let command = |kept: Vec<FileHash>| {
            let (by, feedback) = (by.clone(), feedback.clone());
            if is_reply {
                Command::RejectResponse { by, feedback, kept }
            } else {
                Command::RejectPrompt { by, feedback, kept }
            }
        };
        // Nothing is copied for a rejection that is refused.
        decide(&work.state, command(Vec::new()))?;
        let paths = if is_reply {
            [work.written_paths(), vec![work.response_path()?]].concat()
        } else {
            work.edited_prompt_files()
        };
        let kept = work.keep_rejected(&paths)?;
        work.commit(command(kept))?;
        let performed = work.run_until_waiting()?;
        Ok(Self::decided(&work, performed))
    }

    /// Sends the same prompt once more.
    pub fn retry<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut work = self.work_at_gate(given)?;
        let by = work.person();
        work.send_again(by)?;
        let performed = work.run_until_waiting()?;
        Ok(Self::decided(&work, performed))
    }

    /// Puts a reply in place; with a directory to record in, the request and the reply are kept there too.
    pub fn respond<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        reply: &str,
        record: Option<&Path>,
    ) -> Result<Decided, SessionError> {
        let mut work = self.work_at_gate(given)?;
        if work.state.phase.is_final() {
            return Err(SessionError::NotAwaited { next: work.situation() });
        }
        let path = work.response_path()?;
        if !matches!(work.state.step, Step::Asked { .. } | Step::AskFailed { .. } | Step::ReplyReady { .. }) {
            return Err(SessionError::NotAwaited { next: work.situation() });
        }
        if reply.trim().is_empty() {
            return Err(SessionError::EmptyReply);
        }
        if let Some(directory) = record {
            let (phase, iteration) = (work.state.phase, work.state.iteration);
            let provider = work.state.provider(phase).to_owned();
            let cassette = Cassette::in_directory(self.settings().current_dir.join(directory));
            let answered = Answered {
                name: &Work::call_name(phase, iteration),
                provider: &provider,
                capability: Some(recorded(work.ability()?)),
                text: reply,
                reply: &Reply::default(),
            };
            let payload = work.payload()?;
            cassette.record(&payload, answered)?;
        }
        if work.is_unknown_reply(&path)? {
            // Somebody saved a reply by hand; it is not written over without a copy.
            work.keep_rejected(std::slice::from_ref(&path))?;
        }
        let response = work.write(&path, reply.as_bytes())?;
        work.directory.keep(reply.as_bytes())?;
        work.commit(Command::RecordReply { response, call: None })?;
        let received = Performed::ReplyReceived { path, notes: Vec::new() };
        work.tell(&received);
        Ok(Self::decided(&work, vec![received]))
    }

    /// Takes the code although its review failed.
    pub fn accept<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut work = self.work_at_gate(given)?;
        let by = work.person();
        work.refuse_stale()?;
        work.commit(Command::Accept { by })?;
        let performed = work.run_until_waiting()?;
        Ok(Self::decided(&work, performed))
    }

    /// Allows more iterations, and goes on.
    pub fn raise_cap<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        max_iterations: u32,
    ) -> Result<Decided, SessionError> {
        let mut work = self.work_at_gate(given)?;
        work.refuse_stale()?;
        work.commit(Command::RaiseCap { max_iterations })?;
        let performed = work.run_until_waiting()?;
        Ok(Self::decided(&work, performed))
    }

    /// Cancels the session.
    pub fn cancel<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        reason: Option<&str>,
    ) -> Result<Decided, SessionError> {
        let mut work = self.work(given)?;
        let by = work.person();
        work.commit(Command::Cancel { by, reason: reason.map(str::to_owned) })?;
        Ok(Self::decided(&work, Vec::new()))
    }

    /// Accepts the changes of approved files; what was derived from them is marked.
    pub fn rebind<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Decided, SessionError> {
        let mut work = self.work_at_gate(given)?;
        let by = work.person();
        let changed = stale(&work.directory, &work.state);
        if let Some(missing) = changed.iter().find(|difference| difference.found.is_none()) {
            return Err(SessionError::Missing { path: work.directory.shown(&missing.path) });
        }
        let files = changed
            .iter()
            .map(|difference| work.keep(&difference.path))
            .collect::<Result<Vec<FileHash>, _>>()?;
        let accepted = changed
            .iter()
            .map(|difference| work.edits(difference))
            .collect::<Result<String, SessionError>>()?;
        // A waiting prompt is built again; words that a person put into it are kept.
        let edited =
            if work.state.step == Step::PromptReady { work.edited_prompt_files() } else { Vec::new() };
        let kept = work.keep_rejected(&edited)?;
        work.commit(Command::Rebind { by, files })?;
        let mut performed: Vec<Performed> =
            kept.into_iter().map(|file| Performed::Kept { path: file.path }).collect();
        for kept in &performed {
            work.tell(kept);
        }
        performed.extend(work.run_until_waiting()?);
        Ok(Decided { accepted: Some(accepted), ..Self::decided(&work, performed) })
    }

    /// Brings the approved bytes of a file back.
    pub fn restore<'a>(&self, given: impl Into<SessionRef<'a>>, path: &str) -> Result<(), SessionError> {
        let work = self.work(given)?;
        let prefix = work.directory.shown("");
        let relative = path.strip_prefix(&prefix).unwrap_or(path);
        let unknown = || SessionError::NothingApproved { path: path.to_owned() };
        let bound = work.state.bound.get(relative).ok_or_else(unknown)?;
        let bytes = work.directory.ledger()?.kept(&bound.sha256);
        let bytes = bytes
            .map_err(|source| EngineError::Unreadable { path: work.directory.kept_dir(), source })?
            .ok_or_else(unknown)?;
        work.write(relative, &bytes).map(drop)
    }
}

impl Work<'_> {
    /// Opens the gates of the session when the command says so.
    pub(super) fn skip_gates_if_asked(&mut self) -> Result<(), SessionError> {
        if self.engine.surroundings().skips_gates { self.commit(Command::OpenGates) } else { Ok(()) }
    }

    /// A cancelled session cannot be continued; one that is complete has nothing left to do.
    pub(super) fn refuse_cancelled(&self) -> Result<(), SessionError> {
        if self.state.phase == Phase::CANCELLED {
            return Err(SessionError::Cancelled { id: self.directory.label().to_owned() });
        }
        Ok(())
    }

    /// What somebody changed in an approved file.
    fn edits(&self, difference: &Difference) -> Result<String, SessionError> {
        let approved = self.directory.kept(&difference.approved);
        Ok(unified(&difference.path, approved.as_deref(), &self.read(&difference.path)?))
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
            Some(path) => Err(SessionError::EditedPrompt { path: self.directory.shown(path) }),
            None => Ok(()),
        }
    }

    /// The approved prompt is to be sent once more; a reply that is there is kept under another name.
    fn send_again(&mut self, by: Actor) -> Result<(), SessionError> {
        decide(&self.state, Command::Retry { by: by.clone(), kept: Vec::new() })?;
        let response = self.response_path()?;
        let kept = self.keep_rejected(std::slice::from_ref(&response))?;
        self.commit(Command::Retry { by, kept })?;
        Ok(self.directory.files()?.remove(&response)?)
    }

    fn situation(&self) -> Advice {
        SessionReport::of(&self.directory, &self.state).next
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
    fn is_unknown_reply(&self, path: &str) -> Result<bool, SessionError> {
        if !self.directory.is_file(path) {
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
        let name = |path: &str, number: u32| {
            format!("{}.rejected-{number}.md", path.strip_suffix(".md").unwrap_or(path))
        };
        let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
        for path in paths.iter().filter(|path| self.directory.is_file(path)) {
            files.push((path, self.read(path)?));
        }
        let ledger = self.directory.files()?;
        let is_free = |number: &u32| {
            files.iter().all(|(path, bytes)| {
                let copy = name(path, *number);
                !ledger.exists(&copy) || self.read(&copy).is_ok_and(|kept| kept == *bytes)
            })
        };
        let number = (1..=MAX_REJECTED).find(is_free).unwrap_or(MAX_REJECTED);
        files.iter().map(|(path, bytes)| self.write(&name(path, number), bytes)).collect()
    }
}
