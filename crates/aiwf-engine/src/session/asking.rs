//! Sends the approved prompt of a phase and records the reply.
//!
//! The text of a reply is streamed to a file of its own, which gets the final name when it is complete. So a file at
//! the expected path is always complete, and parts of incomplete replies are kept.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::rc::Rc;

use aiwf_config::Config;
use aiwf_provider::{AskError, Payload, Permission};
use aiwf_session::{Access, Call, Command, FileHash, Phase, PhaseRecipe, SentParts, Step, Total};

use super::open_session::OpenSession;
use super::perform::{Performed, StepOutcome};
use crate::ask::budget;
use crate::ask::call::{CallFailure, CallFiles, Order};
use crate::ask::exchange::{ArrivedReply, Asker, Exchange, OutgoingRequest, Refusal};
use crate::ask::providers::{self, Ability, Duty};
use crate::ask::repeats::CallResult;
use crate::ask::rounds::Rounds;
use crate::ask::sent_parts::sent_parts;
use crate::ask::tool_caller::{RequestedCalls, Round, ToolCaller};
use crate::ask::toolbox::KeptResults;
use crate::ask::watch::CallEvent;
use crate::session::session_error::SessionError;

impl<'e> OpenSession<'e> {
    /// The name of a call in recordings and messages.
    pub(crate) fn call_name(phase: Phase, iteration: u32) -> String {
        format!("{}-{iteration}", phase.as_str())
    }

    /// What the provider of the current phase can take and may touch.
    pub(crate) fn ability(&self) -> Result<Ability, SessionError> {
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        self.ability_in(phase, iteration, self.prompt_flag())
    }

    /// Like [`Self::ability`], for any phase and with a flag.
    pub(crate) fn ability_in(
        &self,
        phase: Phase,
        iteration: u32,
        flag: Option<aiwf_prompt::FsAbility>,
    ) -> Result<Ability, SessionError> {
        let name = self.state.provider(phase);
        providers::ability(name, self.config(), flag, self.duty(phase), &Self::call_name(phase, iteration))
    }

    /// Whether the agent of a phase may write its reply itself.
    pub(crate) fn duty(&self, phase: Phase) -> Duty {
        match self.state.flow.spec(phase) {
            Some(spec)
                if spec.recipe == PhaseRecipe::Session
                    && spec.access == Access::Write
                    && !self.works_in_worktree(phase).unwrap_or(false) =>
            {
                Duty::Write
            }
            Some(_) | None => Duty::Read,
        }
    }

    /// Whether the agent of a phase changes files, in its worktree or in the project.
    fn writes_directory(&self, phase: Phase) -> Result<bool, SessionError> {
        let is_in_place = self.setup()?.may_write_project(&self.state.flow, phase);
        Ok(is_in_place || self.works_in_worktree(phase)?)
    }

    /// Checks before an approval that the payload can be sent.
    pub(crate) fn refuse_unsendable(&self, payload: Rc<Payload>) -> Result<(), SessionError> {
        let name = self.state.provider(self.state.phase);
        let exchange = Exchange::open(self.engine, self.config(), name, Rounds::without_tools())?;
        exchange.refuse(&self.order(payload, None)?)
    }

    /// Sends the approved prompt. The journal records it before the request starts.
    pub(crate) fn ask(&mut self, name: &str) -> Result<StepOutcome, SessionError> {
        self.refuse_stale()?;
        let payload = self.payload()?;
        self.refuse_over_budget(&payload)?;
        let (exchange, order, mut asker) = self.exchange(name, payload)?;
        let outcome = exchange.run(&mut asker, order)?;
        self.is_person_asked = outcome.is_none();
        Ok(outcome.unwrap_or_else(|| StepOutcome::Done(Performed::Asked { provider: name.to_owned() })))
    }

    /// Reports what the prompt leaves out before it is sent, unless this command wrote the prompt and reported it.
    fn notify_left_out(&mut self) {
        let left_out = &self.state.left_out;
        if !self.is_left_out_reported && !left_out.is_empty() {
            self.engine.call_context().notify(CallEvent::LeftOut(left_out));
            self.is_left_out_reported = true;
        }
    }

    /// Pauses before a call that could exceed the budget.
    pub(crate) fn pause_for_budget(&mut self, message: String) -> Result<StepOutcome, SessionError> {
        self.commit(Command::PauseForBudget { message: message.clone() })?;
        Ok(StepOutcome::Done(Performed::BudgetReached { message }))
    }

    /// Why the budget does not allow another call; `None` if it does.
    pub(crate) fn over_budget(&self, name: &str, payload: &Payload) -> Result<Option<String>, SessionError> {
        budget::refuse(name, payload, &self.state.total(), self.config(), self.engine.settings())
    }

    /// Takes a reply file at the expected path; otherwise asks again if that costs nothing.
    pub(crate) fn await_reply(&mut self, name: &str) -> Result<StepOutcome, SessionError> {
        if self.record_reply_file()? {
            let (path, notes) = (self.response_path()?, Vec::new());
            return Ok(StepOutcome::Done(Performed::ReplyReceived { path, notes }));
        }
        if self.is_person_asked {
            return Ok(StepOutcome::Waiting);
        }
        self.refuse_stale()?;
        let payload = self.payload()?;
        let (exchange, order, mut asker) = self.exchange(name, payload)?;
        Ok(exchange.resume(&mut asker, order)?.unwrap_or(StepOutcome::Waiting))
    }

    /// The exchange of the current phase, including its tools.
    fn exchange<'s>(
        &'s mut self,
        name: &str,
        payload: Rc<Payload>,
    ) -> Result<(Exchange<'e>, Order, PhaseAsker<'s, 'e>), SessionError> {
        let engine = self.engine;
        let tools = self.tools(self.state.phase, self.state.iteration)?;
        let mut earlier = Call::default();
        earlier.notes.extend(tools.iter().flat_map(|tools| tools.problems()));
        let results = KeptResults::below(&engine.settings().project_root, self.ledger.kept_dir());
        let tools = tools.map(|tools| ToolCaller::new(tools, results, &engine.call_context().stop));
        let tool_loop = tools.as_ref().map_or_else(Rounds::without_tools, |tools| tools.rounds(None));
        let exchange = Exchange::open(engine, self.config(), name, tool_loop)?;
        let directory = self.prepare_directory()?;
        let order = self.order(payload, directory)?;
        let asker = PhaseAsker {
            response: self.response_path()?,
            ability: order.ability,
            is_free: exchange.is_free(),
            session: self,
            tools,
            earlier,
            n_turns_recorded: 0,
        };
        Ok((exchange, order, asker))
    }

    fn refuse_links_of_call(&self, response: &str, files: &CallFiles) -> Result<(), SessionError> {
        [response, &files.text, &files.output].into_iter().try_for_each(|file| self.refuse_links(file))
    }

    /// Keeps the parts of a failed call, under names that are not taken for a reply.
    fn keep_unfinished(
        &self,
        files: &CallFiles,
        response: &str,
        has_written: bool,
    ) -> Result<Vec<FileHash>, SessionError> {
        let mut kept = self.keep_call_files(files)?;
        if has_written {
            let files = self.call_files("response")?;
            files.ledger.rename(response, &files.text)?;
            kept.extend(self.keep_call_files(&files)?);
        }
        Ok(kept)
    }

    /// Records the file that the agent wrote as the reply, or its text output if it wrote none; keeps both.
    fn record_answer(
        &mut self,
        response: &str,
        files: &CallFiles,
        mut call: Box<Call>,
        has_written: bool,
        ability: Ability,
    ) -> Result<StepOutcome, SessionError> {
        let is_asked = self.state.step == (Step::Asked { is_free: false });
        // Only the recipe `session` asks agents to save their reply.
        let is_session = self.spec()?.recipe == PhaseRecipe::Session;
        let claims_to_write = ability.permission == Permission::WriteResponse && is_asked && is_session;
        if has_written {
            call.kept = self.keep_call_files(files)?;
        } else {
            if claims_to_write {
                let name = self.state.provider(self.state.phase);
                call.notes.push(format!("{name} wrote no file; using its stdout"));
            }
            files.ledger.rename(&files.text, response)?;
            call.kept = self.keep_call_files(files)?;
        }
        let file = self.keep(response)?;
        let mut changes = None;
        if self.works_in_worktree(self.state.phase)? {
            let (file, notes) = self.take_worktree()?;
            call.notes.extend(notes);
            changes = Some(file);
        }
        let notes = call.notes.clone();
        self.commit(Command::RecordReply { response: file, call: Some(call), changes })?;
        Ok(StepOutcome::Done(Performed::ReplyReceived { path: response.to_owned(), notes }))
    }

    /// Hashes the files of a call and removes empty ones.
    pub(crate) fn keep_call_files(&self, files: &CallFiles) -> Result<Vec<FileHash>, SessionError> {
        let mut kept = Vec::new();
        for file in [&files.text, &files.output] {
            let n_bytes = files.ledger.n_bytes(file).map_err(|error| self.ledger.unusable(file, error))?;
            match n_bytes {
                Some(0) => files.ledger.remove(file)?,
                Some(_) => kept.push(self.hash(file)?),
                None => {}
            }
        }
        Ok(kept)
    }

    /// The files of the next call of this phase, numbered so that none is overwritten.
    pub(crate) fn call_files(&self, what: &str) -> Result<CallFiles, SessionError> {
        let stem = format!("iteration-{}/{}", self.state.iteration, self.spec()?.file);
        Ok(CallFiles::free(
            self.ledger.files()?,
            |number| format!("{stem}-{what}.partial-{number}.md"),
            |number| format!("{stem}-{what}.output-{number}.jsonl"),
        ))
    }

    fn order(&self, payload: Rc<Payload>, directory: Option<PathBuf>) -> Result<Order, SessionError> {
        let ability = self.ability()?;
        Ok(Order {
            name: Self::call_name(self.state.phase, self.state.iteration),
            payload,
            ability,
            permission: if self.writes_directory(self.state.phase)? {
                Permission::WriteDirectory
            } else {
                ability.permission
            },
            response_path: Some(self.ledger.file(&self.response_path()?)),
            directory,
        })
    }

    /// Records a complete reply found after a crash, unless an agent could have written the file itself.
    pub(crate) fn recover_complete_reply(&mut self) -> Result<bool, SessionError> {
        let may_be_whole = self.state.step == (Step::Asked { is_free: false })
            && self.ability()?.permission == Permission::ReadOnly;
        if may_be_whole { self.record_reply_file() } else { Ok(false) }
    }
}

/// The asker for phases of sessions. It ends without a reply when a person provides it.
struct PhaseAsker<'s, 'e> {
    session: &'s mut OpenSession<'e>,
    /// Relative to the session.
    response: String,
    ability: Ability,
    is_free: bool,
    tools: Option<ToolCaller>,
    /// Usage and output of the calls before the last one.
    earlier: Call,
    /// How many turns of the payload the journal knows.
    n_turns_recorded: usize,
}

impl Asker for PhaseAsker<'_, '_> {
    type Calls = RequestedCalls;
    type End = Option<StepOutcome>;
    type Error = SessionError;

    fn config(&self) -> &Config {
        self.session.config()
    }

    fn spent(&self, unsettled: Option<&Call>) -> Total {
        let state = &self.session.state;
        let Some(call) = unsettled else { return state.total() };
        let settled = state.spent.split_last().map(|(_, settled)| settled).unwrap_or_default();
        Total::of(settled).with(call.usage.as_ref())
    }

    fn files(&mut self) -> Result<CallFiles, SessionError> {
        self.session.refuse_links(&self.response)?;
        let files = self.session.call_files("response")?;
        if let Some((above, _)) = self.response.rsplit_once('/') {
            let created = files.ledger.create_directories(above);
            created.map_err(|error| self.session.ledger.unusable(above, error))?;
        }
        if !self.is_free {
            self.session.write_snapshot()?;
        }
        Ok(files)
    }

    fn on_refused(&mut self, refusal: Refusal) -> Result<Self::End, SessionError> {
        match refusal {
            Refusal::OverBudget(message) => self.session.pause_for_budget(message).map(Some),
            Refusal::Unsendable(_) | Refusal::Stopped(_) => Err(refusal.into()),
        }
    }

    fn on_sent(&mut self, sending: &OutgoingRequest<'_>) -> Result<(), SessionError> {
        let parts = sent_parts(&self.session.ledger, sending.payload, 0)?;
        self.n_turns_recorded = sending.payload.turns.len();
        self.session.commit(Command::RecordSent {
            provider: sending.provider.to_owned(),
            payload_sha256: sending.payload_sha256.clone(),
            is_free: sending.is_free,
            parts: Some(Box::new(parts)),
        })?;
        self.session.notify_left_out();
        Ok(())
    }

    fn on_person(&mut self, files: &CallFiles) -> Result<Self::End, SessionError> {
        files.ledger.remove(&files.text)?;
        Ok(None)
    }

    fn on_failed(&mut self, failure: CallFailure, files: &CallFiles) -> Result<Self::End, SessionError> {
        let CallFailure { error, mut call, has_written } = failure;
        let session = &mut *self.session;
        if let Err(link) = session.refuse_links_of_call(&self.response, files) {
            // A link in the way explains a failed write better than the write error.
            let is_cause = matches!(error, AskError::Sink(_));
            let error = if is_cause { link } else { error.into() };
            session.commit(failed(error.to_string(), call, None))?;
            return Err(error);
        }
        call.kept = session.keep_unfinished(files, &self.response, has_written)?;
        add_earlier(&mut self.earlier, &call);
        call.touched = std::mem::take(&mut self.earlier.touched);
        session.commit(failed(error.to_string(), call, limit_of(&error)))?;
        Err(error.into())
    }

    fn on_arrived(
        &mut self,
        arrived: &mut ArrivedReply,
        sent: &Payload,
    ) -> Result<ControlFlow<Self::End, Option<RequestedCalls>>, SessionError> {
        // The agent may have created a link meanwhile; nothing is written through it.
        if let Err(error) = self.session.refuse_links_of_call(&self.response, &arrived.files) {
            let call = std::mem::take(&mut arrived.call);
            self.session.commit(failed(error.to_string(), call, None))?;
            return Err(error);
        }
        let Some(tools) = &mut self.tools else { return Ok(ControlFlow::Continue(None)) };
        let path = if arrived.has_written { &self.response } else { &arrived.files.text };
        let text = arrived.files.ledger.read(path).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let tool_calls = std::mem::take(&mut arrived.tool_calls);
        Ok(ControlFlow::Continue(tools.requested_calls(text, tool_calls, sent, arrived.round)))
    }

    fn on_reply(&mut self, arrived: ArrivedReply, tool_loop: &Rounds) -> Result<Self::End, SessionError> {
        let ArrivedReply { mut call, has_written, files, .. } = arrived;
        self.earlier.notes.extend(tool_loop.warning());
        add_earlier(&mut self.earlier, &call);
        let earlier = std::mem::take(&mut self.earlier);
        (call.touched, call.notes) = (earlier.touched, earlier.notes);
        self.session.record_answer(&self.response, &files, call, has_written, self.ability).map(Some)
    }

    fn on_calls(
        &mut self,
        calls: RequestedCalls,
        payload: &mut Rc<Payload>,
    ) -> Result<ControlFlow<Self::End, Vec<CallResult>>, SessionError> {
        let Some(tools) = &mut self.tools else { return Ok(ControlFlow::Continue(Vec::new())) };
        let Round { uses, results } = tools.run(calls, Rc::make_mut(payload));
        if !uses.is_empty() {
            self.session.commit(Command::RecordToolCalls { calls: uses })?;
        }
        Ok(ControlFlow::Continue(results))
    }

    fn after_calls(&mut self, arrived: &mut ArrivedReply) -> Result<ControlFlow<Self::End>, SessionError> {
        arrived.call.kept =
            self.session.keep_unfinished(&arrived.files, &self.response, arrived.has_written)?;
        add_earlier(&mut self.earlier, &arrived.call);
        Ok(ControlFlow::Continue(()))
    }

    fn on_asked_again(&mut self, sending: &OutgoingRequest<'_>, call: Box<Call>) -> Result<(), SessionError> {
        let parts = sent_parts(&self.session.ledger, sending.payload, self.n_turns_recorded)?;
        self.n_turns_recorded = sending.payload.turns.len();
        self.session.commit(Command::RecordAskedAgain {
            provider: sending.provider.to_owned(),
            payload_sha256: sending.payload_sha256.clone(),
            is_free: sending.is_free,
            call,
            // The sections stay the same while tools are called.
            parts: Some(Box::new(SentParts { sections: Vec::new(), ..parts })),
        })
    }

    fn on_not_asked_again(&mut self, refusal: Refusal, call: Box<Call>) -> Result<Self::End, SessionError> {
        let error = SessionError::from(refusal);
        self.session.commit(failed(error.to_string(), call, None))?;
        Err(error)
    }
}

/// When the usage limit that a call hit ends, in seconds since 1970.
fn limit_of(error: &AskError) -> Option<u64> {
    error.limit_until().and_then(|until| u64::try_from(until).ok())
}

/// Records a failed call, with the end of the usage limit if that is the reason.
fn failed(message: String, call: Box<Call>, limit_until: Option<u64>) -> Command {
    Command::RecordFailure { message, call: Some(call), limit_until }
}

/// Adds the earlier calls of an exchange.
fn add_earlier(earlier: &mut Call, call: &Call) {
    earlier.notes.extend(call.notes.iter().cloned());
    for file in &call.touched {
        match earlier.touched.iter_mut().find(|known| known.path == file.path) {
            Some(known) => known.after.clone_from(&file.after),
            None => earlier.touched.push(file.clone()),
        }
    }
}
