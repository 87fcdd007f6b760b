//! Sends the approved prompt of a phase and takes the reply, whoever is asked.
//!
//! The text of a reply grows in a file of its own beside the place of the reply and gets its name when it is whole;
//! so a reply at its place is a whole one, and what arrived of another is kept.

use aiwf_provider::{Ask, AskError, Payload, Permission};
use aiwf_session::{Call, Command, FileHash, Flow, Phase, Role, Step, Total};

use super::perform::{Performed, StepOutcome};
use super::work::Work;
use crate::ask::budget;
use crate::ask::call::{CallFailure, CallFiles, Made, Order};
use crate::ask::providers::{self, Ability, Duty};
use crate::ask::tool_loop::ToolLoop;
use crate::ask::watch::CallEvent;
use crate::session_error::SessionError;
use crate::tools::KeptResults;

impl Work<'_> {
    /// What a call is called in recordings and messages.
    pub(crate) fn call_name(phase: Phase, iteration: u32) -> String {
        format!("{}-{iteration}", phase.as_str())
    }

    /// What the provider of the current phase can take and may touch.
    pub(crate) fn ability(&self) -> Result<Ability, SessionError> {
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        self.ability_in(phase, iteration, self.prompt_flag())
    }

    /// The same for any phase, and with a flag.
    pub(crate) fn ability_in(
        &self,
        phase: Phase,
        iteration: u32,
        flag: Option<aiwf_prompt::FsAbility>,
    ) -> Result<Ability, SessionError> {
        let name = self.setup()?.provider(phase);
        providers::ability(name, self.config(), flag, duty(phase), &Self::call_name(phase, iteration))
    }

    /// What could not be sent is not approved.
    pub(crate) fn refuse_unsendable(&self, payload: &Payload) -> Result<(), SessionError> {
        let name = self.setup()?.provider(self.state.phase).to_owned();
        let provider = self.engine.open_provider(&name, self.config())?;
        let files = self.call_files("response")?;
        self.order(&name, payload, &files, None)?.refuse(provider.as_ref(), self.engine)
    }

    /// Sends the approved prompt; the journal says so before anybody is asked.
    pub(crate) fn ask(&mut self, name: &str) -> Result<StepOutcome, SessionError> {
        self.refuse_stale()?;
        let provider = self.engine.open_provider(name, self.config())?;
        let payload = self.payload()?;
        self.refuse_over_budget(&payload)?;
        self.refuse_unsendable(&payload)?;
        if let Some(paused) = self.pause_for_budget(name, provider.as_ref(), &payload)? {
            return Ok(paused);
        }
        self.commit(Command::RecordSent {
            provider: name.to_owned(),
            payload_sha256: payload.sha256(),
            is_free: provider.is_free(),
        })?;
        self.tell_left_out();
        let outcome = self.call(name, provider.as_ref(), &payload)?;
        self.is_person_asked = outcome.is_none();
        Ok(outcome.unwrap_or_else(|| StepOutcome::Done(Performed::Asked { provider: name.to_owned() })))
    }

    /// Says what the prompt leaves out before it is sent, unless this command wrote it and said so.
    fn tell_left_out(&mut self) {
        let left_out = &self.state.left_out;
        if !self.is_left_out_told && !left_out.is_empty() {
            self.engine.surroundings().tell(CallEvent::LeftOut(left_out));
            self.is_left_out_told = true;
        }
    }

    /// Pauses before a call that may cost more than may be spent.
    pub(crate) fn pause_for_budget(
        &mut self,
        name: &str,
        provider: &dyn Ask,
        payload: &Payload,
    ) -> Result<Option<StepOutcome>, SessionError> {
        if provider.is_free() {
            return Ok(None);
        }
        let Some(message) = self.over_budget(name, payload)? else { return Ok(None) };
        self.commit(Command::PauseForBudget { message: message.clone() })?;
        Ok(Some(StepOutcome::Done(Performed::BudgetReached { message })))
    }

    /// Why a call may not be made after all that was spent; nothing when it may.
    pub(crate) fn over_budget(&self, name: &str, payload: &Payload) -> Result<Option<String>, SessionError> {
        budget::refuse(name, payload, &self.state.total(), self.config(), self.engine.settings())
    }

    /// Takes a reply that lies at its place; a provider that costs nothing is asked again otherwise.
    pub(crate) fn await_reply(&mut self, name: &str) -> Result<StepOutcome, SessionError> {
        if self.pick_up_reply()? {
            let (path, notes) = (self.response_path()?, Vec::new());
            return Ok(StepOutcome::Done(Performed::ReplyReceived { path, notes }));
        }
        if self.is_person_asked {
            return Ok(StepOutcome::Waiting);
        }
        self.refuse_stale()?;
        let provider = self.engine.open_provider(name, self.config())?;
        let payload = self.payload()?;
        Ok(self.call(name, provider.as_ref(), &payload)?.unwrap_or(StepOutcome::Waiting))
    }

    /// Makes the call and takes the reply; nothing when a person will give it.
    ///
    /// A provider that calls tools is asked again with what they gave, until it calls none.
    fn call(
        &mut self,
        name: &str,
        provider: &dyn Ask,
        payload: &Payload,
    ) -> Result<Option<StepOutcome>, SessionError> {
        let response = self.response_path()?;
        let response_file = self.directory.file(&response);
        self.refuse_links(&response)?;
        let tools = self.tools(self.state.phase, self.state.iteration)?;
        let mut earlier = Call::default();
        earlier.notes.extend(tools.iter().flat_map(|tools| tools.problems()));
        let stop = &self.engine.surroundings().stop;
        let results =
            KeptResults::below(&self.engine.settings().project_root, self.directory.objects()?.directory());
        let mut tool_loop = tools.map(|tools| ToolLoop::new(tools, None, results, stop));
        let mut payload = payload.clone();
        loop {
            let files = self.call_files("response")?;
            if let Some((above, _)) = response.rsplit_once('/') {
                let created = files.ledger.create_directories(above);
                created.map_err(|error| self.directory.unusable(above, error))?;
            }
            if !provider.is_free() {
                self.write_snapshot()?;
            }
            let order = self.order(name, &payload, &files, Some(&response_file))?;
            let ability = order.ability;
            let made = order.make(provider, self.engine, self.config());
            match made {
                Ok(Made::AwaitsPerson) => {
                    files.ledger.remove(&files.text)?;
                    return Ok(None);
                }
                Ok(Made::Replied { mut call, tool_calls, has_written }) => {
                    // An agent may have put a link in the way meanwhile; nothing is written through it.
                    if let Err(error) = self.refuse_links_of_call(&response, &files) {
                        self.commit(Command::RecordFailure { message: error.to_string(), call: Some(call) })?;
                        return Err(error);
                    }
                    if let Some(tool_loop) = &mut tool_loop {
                        let path = if has_written { &response } else { &files.text };
                        let text = files.ledger.read(path).ok().flatten().unwrap_or_default();
                        let text = String::from_utf8_lossy(&text).into_owned();
                        let round = tool_loop.take(text, &tool_calls, &mut payload);
                        if !round.uses.is_empty() {
                            self.commit(Command::RecordToolCalls { calls: round.uses })?;
                        }
                        if round.asks_again {
                            call.kept = self.keep_unfinished(&files, &response, has_written)?;
                            add_earlier(&mut earlier, &call);
                            self.ask_again(name, provider, &payload, call)?;
                            continue;
                        }
                        earlier.notes.extend(tool_loop.warning());
                    }
                    add_earlier(&mut earlier, &call);
                    (call.touched, call.notes) = (earlier.touched, earlier.notes);
                    return self.take_answer(&response, &files, call, has_written, ability).map(Some);
                }
                Err(CallFailure { error, mut call, has_written }) => {
                    if let Err(link) = self.refuse_links_of_call(&response, &files) {
                        // What could not be written for the link alone is told by the link.
                        let is_cause = matches!(error, AskError::Sink(_));
                        let error = if is_cause { link } else { error.into() };
                        self.commit(Command::RecordFailure { message: error.to_string(), call: Some(call) })?;
                        return Err(error);
                    }
                    call.kept = self.keep_unfinished(&files, &response, has_written)?;
                    add_earlier(&mut earlier, &call);
                    call.touched = earlier.touched;
                    self.commit(Command::RecordFailure { message: error.to_string(), call: Some(call) })?;
                    return Err(error.into());
                }
            }
        }
    }

    fn refuse_links_of_call(&self, response: &str, files: &CallFiles) -> Result<(), SessionError> {
        [response, &files.text, &files.output].into_iter().try_for_each(|file| self.refuse_links(file))
    }

    /// Puts on record that the provider is asked once more, when it may be.
    fn ask_again(
        &mut self,
        name: &str,
        provider: &dyn Ask,
        payload: &Payload,
        call: Box<Call>,
    ) -> Result<(), SessionError> {
        let is_free = provider.is_free();
        let refusal = if self.engine.surroundings().stop.is_raised() {
            Some(SessionError::from(AskError::Stopped { provider: name.to_owned() }))
        } else if is_free {
            None
        } else {
            // The call that has just ended is not settled yet.
            let settled = self.state.spent.split_last().map(|(_, settled)| settled).unwrap_or_default();
            let spent = Total::of(settled).with(call.usage.as_ref());
            let refused = budget::refuse(name, payload, &spent, self.config(), self.engine.settings())?;
            refused.map(|message| SessionError::OverLimit { message })
        };
        if let Some(error) = refusal {
            self.commit(Command::RecordFailure { message: error.to_string(), call: Some(call) })?;
            return Err(error);
        }
        self.commit(Command::RecordAskedAgain {
            provider: name.to_owned(),
            payload_sha256: payload.sha256(),
            is_free,
            call,
        })
    }

    /// Keeps what came with a call that gave no whole reply, but not where a whole reply is looked for.
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

    /// The file the agent wrote is the reply, else its text; both are kept.
    fn take_answer(
        &mut self,
        response: &str,
        files: &CallFiles,
        mut call: Box<Call>,
        has_written: bool,
        ability: Ability,
    ) -> Result<StepOutcome, SessionError> {
        let is_asked = self.state.step == (Step::Asked { is_free: false });
        // In a change nobody is asked to save anything.
        let is_session = self.state.flow() == Flow::Session;
        let claims_to_write = ability.permission == Permission::WriteResponse && is_asked && is_session;
        if has_written {
            call.kept = self.keep_call_files(files)?;
        } else {
            if claims_to_write {
                let name = self.setup()?.provider(self.state.phase);
                call.notes.push(format!("{name} could save its reply but did not: its text is used"));
            }
            files.ledger.rename(&files.text, response)?;
            call.kept = self.keep_call_files(files)?;
        }
        let file = self.keep(response)?;
        let notes = call.notes.clone();
        self.commit(Command::RecordReply { response: file, call: Some(call) })?;
        Ok(StepOutcome::Done(Performed::ReplyReceived { path: response.to_owned(), notes }))
    }

    /// The files of a call that hold something, with their hashes; empty ones are removed.
    pub(crate) fn keep_call_files(&self, files: &CallFiles) -> Result<Vec<FileHash>, SessionError> {
        let mut kept = Vec::new();
        for file in [&files.text, &files.output] {
            let n_bytes = files.ledger.n_bytes(file).map_err(|error| self.directory.unusable(file, error))?;
            match n_bytes {
                Some(0) => files.ledger.remove(file)?,
                Some(_) => kept.push(self.hash(file)?),
                None => {}
            }
        }
        Ok(kept)
    }

    /// The files of the next call of this phase: numbered, so that none is written over.
    pub(crate) fn call_files(&self, what: &str) -> Result<CallFiles, SessionError> {
        let response = self.response_path()?;
        let stem = response.strip_suffix("-response.md").unwrap_or(&response);
        Ok(CallFiles::free(
            self.directory.ledger()?,
            |number| format!("{stem}-{what}.partial-{number}.md"),
            |number| format!("{stem}-{what}.output-{number}.jsonl"),
        ))
    }

    fn order<'o>(
        &self,
        name: &'o str,
        payload: &'o Payload,
        files: &'o CallFiles,
        response_path: Option<&'o std::path::Path>,
    ) -> Result<Order<'o>, SessionError> {
        let ability = self.ability()?;
        Ok(Order {
            provider: name,
            name: Self::call_name(self.state.phase, self.state.iteration),
            payload,
            ability,
            // An agent that implements a change may be let edit the project itself.
            permission: if self.setup()?.may_write_project(self.state.phase) {
                Permission::WriteProject
            } else {
                ability.permission
            },
            response_path,
            files,
        })
    }

    /// A reply that lies at its place after a crash is whole, unless an agent may write there by itself.
    pub(crate) fn take_up_whole_reply(&mut self) -> Result<bool, SessionError> {
        let may_be_whole = self.state.step == (Step::Asked { is_free: false })
            && self.ability()?.permission == Permission::ReadOnly;
        if may_be_whole { self.pick_up_reply() } else { Ok(false) }
    }
}

/// What the calls before this one said and touched counts with it.
fn add_earlier(earlier: &mut Call, call: &Call) {
    earlier.notes.extend(call.notes.iter().cloned());
    for file in &call.touched {
        match earlier.touched.iter_mut().find(|known| known.path == file.path) {
            Some(known) => known.after.clone_from(&file.after),
            None => earlier.touched.push(file.clone()),
        }
    }
}

/// Whether a phase gives files.
pub(crate) fn duty(phase: Phase) -> Duty {
    match phase.role() {
        Some(Role::Generator | Role::Reviser) => Duty::Write,
        Some(Role::Planner | Role::Reviewer) | None => Duty::Read,
    }
}
