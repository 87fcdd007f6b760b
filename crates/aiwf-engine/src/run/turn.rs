//! The loop of a run: send a message, run the tools, report the new position, until the model waits, is done, or fails.
//!
//! Every step is recorded before the next one starts, so a killed run can be resumed: no tool call runs twice, and
//! calls that did not run are reported to the model.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Instant;

use aiwf_advice::Action;
use aiwf_config::Config;
use aiwf_prompt::{DataContext, Intent};
use aiwf_provider::{AskError, Payload, ToolCall};
use aiwf_session::{Call, Total};
use serde_json::{Value, json};

use super::Run;
use super::compose::{NextRequest, NoRequest, TurnInput};
use super::event::{ABORTED, Fault, RunEvent, RunPhase, StateWriter, ToolExec};
use super::report::RunReport;
use super::state_access::StateAccess as _;
use super::tools::{Ran, RunTools, about, is_question, logged, parse_widget_submit, written_path};
use crate::ask::call::{CallFailure, CallFiles, Order};
use crate::ask::cli_calls::CliMcpResponseHandler;
use crate::ask::exchange::{ArrivedReply, Asker, Exchange, OutgoingRequest, Refusal};
use crate::ask::providers::Ability;
use crate::ask::repeats::CallResult;
use crate::ask::rounds::{CutShort, Limit, Rounds};
use crate::ask::sent_parts::{keep_sections, sent_parts};
use crate::ask::watch::CallEvent;
use crate::error_code::ask_code;
use crate::notify::{Notification, NotifyEvent};
use crate::prompt::left_out;
use crate::run::run_error::RunError;
use crate::session::Performed;

/// In bytes, calls included.
const MAX_REPLY_BYTES: usize = 6 * 1024 * 1024;

/// Calls that were run and recorded.
struct RanCalls {
    results: Vec<CallResult>,
    question: Option<Value>,
}

/// How a turn ends.
struct TurnEnd {
    phase: RunPhase,
    fault: Option<Fault>,
    question: Option<Value>,
}

impl TurnEnd {
    fn failed(fault: Fault) -> Self {
        Self { phase: RunPhase::Failed, fault: Some(fault), question: None }
    }

    fn aborted(run_id: &str) -> Self {
        let hint = format!("`aiwf workflow resume {run_id}` continues");
        Self::failed(Fault::new(ABORTED, "the turn was stopped", hint))
    }
}

impl Run<'_> {
    /// Sends the start directive, with the user's message if there is one.
    pub fn start(&mut self, input: Option<&str>) -> Result<RunReport, RunError> {
        self.run_turn(&TurnInput { intent: Some(Intent::Start), input, data: None })
    }

    /// Like [`Self::start`], with data of a menu item.
    pub fn start_with_data(&mut self, input: Option<&str>, data: DataContext) -> Result<RunReport, RunError> {
        self.run_turn(&TurnInput { intent: Some(Intent::Start), input, data: Some(data) })
    }

    /// Sends a message, and continues until the model waits or is done.
    pub fn say(&mut self, input: &str) -> Result<RunReport, RunError> {
        self.say_with(input, None)
    }

    /// Like [`Self::say`], with data of a menu item.
    pub fn say_with_data(&mut self, input: &str, data: DataContext) -> Result<RunReport, RunError> {
        self.say_with(input, Some(data))
    }

    fn say_with(&mut self, input: &str, data: Option<DataContext>) -> Result<RunReport, RunError> {
        if input.trim().is_empty() {
            return Err(RunError::NothingSaid);
        }
        self.run_turn(&TurnInput { intent: Some(self.intent(true)), input: Some(input), data })
    }

    /// Continues after an interruption.
    pub fn resume(&mut self, input: Option<&str>) -> Result<RunReport, RunError> {
        let input = input.filter(|input| !input.trim().is_empty());
        self.refuse_ended()?;
        // If the process was killed between the last node and the model's closing message, the model can still send it.
        let is_cut_off = matches!(self.store.record.phase(), RunPhase::Running | RunPhase::Failed);
        if input.is_none() && !is_cut_off && self.store.is_complete() {
            return Err(RunError::Complete { run_id: self.id().to_owned() });
        }
        self.run_turn(&TurnInput { intent: Some(self.intent(false)), input, data: None })
    }

    /// Why the model is asked next.
    pub(super) fn intent(&self, is_said: bool) -> Intent {
        if self.store.record.entries.is_empty() {
            Intent::Start
        } else if is_said {
            Intent::Continue
        } else {
            Intent::Resume
        }
    }

    /// Refuses a cancelled run.
    pub(super) fn refuse_ended(&self) -> Result<(), RunError> {
        if self.store.record.phase() == RunPhase::Cancelled {
            return Err(RunError::Cancelled { run_id: self.id().to_owned() });
        }
        Ok(())
    }

    fn run_turn(&mut self, turn: &TurnInput<'_>) -> Result<RunReport, RunError> {
        self.refuse_ended()?;
        self.warnings.clear();
        // Only a confirmation in this message counts, not an earlier one.
        let submitted = turn.input.and_then(parse_widget_submit);
        self.store.is_confirmed = match &submitted {
            Some(Ok(submitted)) => submitted.is_state_confirmation(),
            Some(Err(_)) | None => false,
        };
        if let Some(Err(problem)) = submitted {
            self.warnings.push(format!("the answer to the question cannot be read: {problem}"));
        }
        self.close_interrupted_calls()?;
        self.record_said(turn)?;
        let end = self.ask_until_done()?;
        let TurnEnd { phase, fault, question } = end;
        self.store.commit(RunEvent::RunStopped { phase, fault, question })?;
        self.tell_user(phase);
        Ok(self.report())
    }

    /// Tells the user, through their own program, that the run waits or is complete.
    fn tell_user(&self, phase: RunPhase) {
        let call_context = self.engine.call_context();
        if self.config.notify.run.is_none() || call_context.stop.is_raised() {
            return;
        }
        let (event, what) = match phase {
            RunPhase::Completed => (NotifyEvent::Ended, "complete"),
            RunPhase::Failed => (NotifyEvent::Waiting, "the call failed; you can retry it"),
            RunPhase::WaitingUser => (NotifyEvent::Waiting, "waiting for your answer"),
            RunPhase::Running | RunPhase::Cancelled => return,
        };
        let setup = self.store.setup().ok();
        let title = setup.and_then(|setup| setup.workflow.clone().or_else(|| setup.agent.clone()));
        let title = title.unwrap_or_default();
        let told = Notification { event, session: self.id(), title: &title, what };
        if let Some(message) = self.engine.notify_as(&self.config, told) {
            call_context.notify(CallEvent::Performed(&Performed::Noted { message }));
        }
    }

    /// Records the new messages to the model.
    fn record_said(&mut self, turn: &TurnInput<'_>) -> Result<(), RunError> {
        let layers = self.layers(turn)?;
        self.store.commit(RunEvent::Said {
            blocks: layers.blocks,
            input: turn.input.map(str::to_owned),
            node: layers.node,
            agent: layers.agent,
        })
    }

    fn ask_until_done(&mut self) -> Result<TurnEnd, RunError> {
        let max_turns = self.config.workflow.max_turns.value.get();
        if self.stop().is_raised() {
            return Ok(TurnEnd::aborted(self.id()));
        }
        let next = match self.next_request(&[]) {
            Ok(next) => next,
            Err(NoRequest::Refused(fault)) => return Ok(TurnEnd::failed(fault)),
            Err(NoRequest::Error(error)) => return Err(error),
        };
        let tool_loop = Rounds::new(Limit::Requests(max_turns));
        let exchange = match Exchange::open(self.engine, &self.config, &self.provider, tool_loop) {
            Ok(exchange) => exchange,
            Err(error) => return refused(error.into(), self.id()),
        };
        let was_complete = self.store.is_complete();
        let mut asker = RunAsker { run: self, next, question: None, was_complete, is_closing: false };
        let order = asker.order()?;
        exchange.run(&mut asker, order)
    }

    /// The end of a turn when the model has nothing more to do.
    fn turn_end(&self, question: Option<Value>) -> TurnEnd {
        let is_done = question.is_none() && self.store.is_complete();
        let phase = if is_done { RunPhase::Completed } else { RunPhase::WaitingUser };
        TurnEnd { phase, fault: None, question }
    }

    /// Tells the model its position if it changed.
    fn announce_position(&mut self) -> Result<(), RunError> {
        let turn = TurnInput { intent: Some(Intent::Continue), input: None, data: None };
        if self.store.workflow().is_none() {
            return Ok(());
        }
        let layers = self.layers(&turn)?;
        let now = (layers.node.clone(), layers.agent.clone());
        if self.store.record.announced.as_ref() == Some(&now) {
            return Ok(());
        }
        let (node, agent) = now;
        self.store.commit(RunEvent::Said { blocks: layers.blocks, input: None, node, agent })
    }

    fn record_reply(
        &mut self,
        text: String,
        tool_calls: Vec<ToolCall>,
        call: Call,
        (ability, sent): (Ability, &Payload),
    ) -> Result<ControlFlow<TurnEnd, Vec<ToolCall>>, RunError> {
        self.warnings.extend(call.notes.iter().cloned());
        let touched: Vec<&str> = call.touched.iter().map(|file| file.path.as_str()).collect();
        if !touched.is_empty() {
            self.warnings.push(format!("the agent changed files on its own: {}", touched.join(", ")));
        }
        let n_bytes = text.len() + serde_json::json!(tool_calls).to_string().len();
        if n_bytes > MAX_REPLY_BYTES {
            let message = format!("the reply has {n_bytes} bytes; the limit for a turn is {MAX_REPLY_BYTES}");
            let fault = Fault::new("LLM_BAD_RESPONSE", message, "`aiwf workflow resume` asks again");
            let (call, text) = (Box::new(call), String::new());
            self.store.commit(RunEvent::RunAskFailed { fault: fault.clone(), text, call })?;
            return Ok(ControlFlow::Break(TurnEnd::failed(fault)));
        }
        let calls = if ability.has_native_tools {
            unique_ids(tool_calls, self.store.record.n_tool_calls)
        } else {
            self.calls_in_text(&text, sent)
        };
        let event =
            RunEvent::RunReplied { text: text.into(), tool_calls: calls.clone(), call: Box::new(call) };
        self.store.commit(event)?;
        Ok(ControlFlow::Continue(calls))
    }

    /// The calls that a model without native tools wrote into its text.
    fn calls_in_text(&self, text: &str, sent: &Payload) -> Vec<ToolCall> {
        let round = u32::try_from(self.store.record.total.calls).unwrap_or(u32::MAX);
        let (calls, problems) = CliMcpResponseHandler { round }.parse_tool_calls(text, sent);
        let mut calls: Vec<ToolCall> = calls
            .into_iter()
            .map(|call| ToolCall {
                id: call.id,
                name: call.name,
                arguments: Value::Object(call.arguments),
                signature: None,
            })
            .collect();
        // Text that looks like a call gets an error as its result.
        calls.extend(problems.into_iter().enumerate().map(|(index, problem)| ToolCall {
            id: format!("unreadable-{round}-{}", index + 1),
            name: UNREADABLE.to_owned(),
            arguments: Value::String(problem),
            signature: None,
        }));
        unique_ids(calls, self.store.record.n_tool_calls)
    }

    /// Runs the calls of a reply in order, and records each before the next; returns the results and the question to
    /// the user.
    fn run_calls(
        &mut self,
        calls: &[ToolCall],
        tools: &RunTools,
    ) -> Result<ControlFlow<TurnEnd, RanCalls>, RunError> {
        let mut question = None;
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            if self.stop().is_raised() {
                self.close_interrupted_calls()?;
                return Ok(ControlFlow::Break(TurnEnd::aborted(self.id())));
            }
            let name = tools.canonical_name(&call.name);
            let about = about(call);
            let call_context = self.engine.call_context();
            call_context.notify(CallEvent::ToolStarted { name: &name, about: &about });
            let started_at = Instant::now();
            let ran = if call.name == UNREADABLE {
                unreadable(call, self.agent().map(|agent| agent.id.as_str()))
            } else if question.is_some() && is_question(call) {
                // The user sees only the first question; another one would be lost.
                let message = "the user is asked one thing at a time: ask this after the answer";
                let mut ran =
                    refusal(call, self.agent().map(|agent| agent.id.as_str()), "TOOL_EXEC_FAILED", message);
                (ran.exec.tool_name, ran.exec.input) = logged(call, &self.roots);
                ran
            } else {
                let stop = self.stop().clone();
                tools.run(call, &mut self.store, &stop)
            };
            let error = if ran.is_error { Some(error_code(&ran)) } else { None };
            call_context.notify(CallEvent::ToolEnded {
                name: &name,
                error: error.as_deref(),
                elapsed: started_at.elapsed(),
            });
            results.push(CallResult::new(&name, &call.arguments, ran.is_error));
            self.warnings.extend(ran.warnings);
            question = ran.question.or(question);
            self.store.commit(RunEvent::ToolRan {
                exec: Box::new(ran.exec),
                content: ran.content.into(),
                is_error: ran.is_error,
                left_out: ran.left_out.map(Box::new),
            })?;
        }
        Ok(ControlFlow::Continue(RanCalls { results, question }))
    }

    /// Gives interrupted calls a result without running them again: the model is told and can check for itself.
    pub(super) fn close_interrupted_calls(&mut self) -> Result<(), RunError> {
        if self.has_unrecorded_artifact() {
            self.store.finish_state()?;
        }
        for (_, ran) in self.interrupted_results() {
            let Ran { exec, content, is_error, .. } = ran;
            let (exec, content) = (Box::new(exec), content.into());
            self.store.commit(RunEvent::ToolRan { exec, content, is_error, left_out: None })?;
        }
        Ok(())
    }

    /// Whether a call wrote its artifact, but the process was killed before the state file listed it.
    fn has_unrecorded_artifact(&self) -> bool {
        let record = &self.store.record;
        let Some(StateWriter::Artifact(id)) = record.state.as_ref().and_then(|state| state.by.as_ref())
        else {
            return false;
        };
        let call = record.open_calls.iter().find(|call| call.id == *id);
        call.and_then(written_path).is_some_and(|path| self.mounts.has_file(&path))
    }

    /// The results of interrupted calls.
    pub(super) fn interrupted_results(&self) -> Vec<(ToolCall, Ran)> {
        let agent = self.agent().map(|agent| agent.id.clone());
        let open = self.store.record.open_calls.iter();
        open.map(|call| {
            let message = "the run was interrupted before the result of this call was recorded; it may or may not \
                           have taken effect: read the state before you call it again";
            let mut ran = refusal(call, agent.as_deref(), ABORTED, message);
            (ran.exec.tool_name, ran.exec.input) = logged(call, &self.roots);
            (call.clone(), ran)
        })
        .collect()
    }
}

/// The asker for runs. Each request is composed from the journal, and each tool call is recorded separately; the loop
/// and its rules are those of every exchange.
struct RunAsker<'r, 'e> {
    run: &'r mut Run<'e>,
    /// The request; its payload is in the order.
    next: NextRequest,
    question: Option<Value>,
    was_complete: bool,
    /// Whether this is the model's closing message.
    is_closing: bool,
}

impl RunAsker<'_, '_> {
    fn order(&mut self) -> Result<Order, RunError> {
        let store = &self.run.store;
        Ok(Order {
            name: format!("{}-{}", store.setup()?.kind.as_str(), store.record.total.calls + 1),
            payload: Rc::new(std::mem::take(&mut self.next.payload)),
            ability: self.next.ability,
            permission: aiwf_provider::Permission::ReadOnly,
            directory: None,
            response_path: None,
        })
    }
}

impl Asker for RunAsker<'_, '_> {
    type Calls = Vec<ToolCall>;
    type End = TurnEnd;
    type Error = RunError;

    fn config(&self) -> &Config {
        &self.run.config
    }

    /// A run records each call before its tools run, so none is unsettled.
    fn spent(&self, _: Option<&Call>) -> Total {
        self.run.store.record.total
    }

    fn files(&mut self) -> Result<CallFiles, RunError> {
        let seq = self.run.store.journal().lines().len();
        Ok(CallFiles::free(
            self.run.store.ledger.files()?,
            |number| format!("turn-{seq}.partial-{number}"),
            |number| format!("turn-{seq}.output-{number}"),
        ))
    }

    fn on_refused(&mut self, refusal: Refusal) -> Result<TurnEnd, RunError> {
        match refusal {
            Refusal::Unsendable(error) => refused(error.into(), self.run.id()),
            Refusal::OverBudget(message) => {
                let hint = "raise the limit under `[budget]`, then `aiwf workflow resume` continues";
                Ok(TurnEnd::failed(Fault::new("BUDGET_REACHED", message, hint)))
            }
            Refusal::Stopped(_) => Ok(TurnEnd::aborted(self.run.id())),
        }
    }

    fn on_sent(&mut self, sending: &OutgoingRequest<'_>) -> Result<(), RunError> {
        let (run, next) = (&mut *self.run, &self.next);
        // The journal has the turns.
        let parts = sent_parts(&run.store.ledger, sending.payload, sending.payload.turns.len())?;
        keep_sections(&run.store.ledger, sending.payload)?;
        let parts = (run.store.record.parts.as_ref() != Some(&parts)).then(|| Box::new(parts));
        run.store.commit(RunEvent::RunAsked {
            provider: sending.provider.to_owned(),
            payload_sha256: sending.payload_sha256.clone(),
            n_left_out: next.n_left_out,
            left_out: left_out::recorded_in_run(&next.left_out),
            parts,
        })?;
        if next.left_out != run.reported_left_out {
            run.reported_left_out.clone_from(&next.left_out);
            run.engine.call_context().notify(CallEvent::LeftOut(&next.left_out));
        }
        Ok(())
    }

    fn on_person(&mut self, _: &CallFiles) -> Result<TurnEnd, RunError> {
        Err(RunError::PersonCannotAnswer { provider: self.run.provider.clone() })
    }

    fn on_failed(&mut self, failure: CallFailure, files: &CallFiles) -> Result<TurnEnd, RunError> {
        let CallFailure { error, call, .. } = failure;
        let fault = fault_of(&error, self.run.id());
        let event = RunEvent::RunAskFailed { fault: fault.clone(), text: bounded(text_of(files)), call };
        self.run.store.commit(event)?;
        // The journal contains it now.
        files.ledger.remove(&files.text)?;
        Ok(TurnEnd::failed(fault))
    }

    fn on_arrived(
        &mut self,
        arrived: &mut ArrivedReply,
        sent: &Payload,
    ) -> Result<ControlFlow<TurnEnd, Option<Vec<ToolCall>>>, RunError> {
        let (text, tool_calls) = (text_of(&arrived.files), std::mem::take(&mut arrived.tool_calls));
        let call = std::mem::take(&mut *arrived.call);
        let taken = self.run.record_reply(text, tool_calls, call, (self.next.ability, sent))?;
        // The journal contains it now.
        arrived.files.ledger.remove(&arrived.files.text)?;
        Ok(match taken {
            ControlFlow::Continue(calls) => {
                ControlFlow::Continue(Some(calls).filter(|calls| !calls.is_empty()))
            }
            ControlFlow::Break(end) => ControlFlow::Break(end),
        })
    }

    fn on_reply(&mut self, _: ArrivedReply, tool_loop: &Rounds) -> Result<TurnEnd, RunError> {
        Ok(match tool_loop.cut_short() {
            None => self.run.turn_end(None),
            Some(CutShort::Loop) => {
                let message = "the same call failed three times, so the model was not asked again";
                let hint = "tell the model what to do instead with `aiwf workflow say`";
                let fault = Fault::new("ENGINE_LOOP_DETECTED", message, hint);
                TurnEnd { phase: RunPhase::WaitingUser, fault: Some(fault), question: self.question.take() }
            }
            Some(CutShort::Limit) => {
                let max_turns = self.run.config.workflow.max_turns.value;
                let message = format!("the model was not done after {max_turns} calls");
                let hint = "`aiwf workflow resume` continues; `max_turns` under `[workflow]` sets the limit";
                TurnEnd::failed(Fault::new("ENGINE_MAX_TURNS_EXCEEDED", message, hint))
            }
        })
    }

    fn on_calls(
        &mut self,
        calls: Vec<ToolCall>,
        _: &mut Rc<Payload>,
    ) -> Result<ControlFlow<TurnEnd, Vec<CallResult>>, RunError> {
        let tools = Rc::clone(&self.next.tools);
        Ok(match self.run.run_calls(&calls, &tools)? {
            ControlFlow::Continue(RanCalls { results, question }) => {
                self.question = question;
                ControlFlow::Continue(results)
            }
            ControlFlow::Break(end) => ControlFlow::Break(end),
        })
    }

    fn after_calls(&mut self, _: &mut ArrivedReply) -> Result<ControlFlow<TurnEnd>, RunError> {
        if self.question.is_some() || self.is_closing {
            return Ok(ControlFlow::Break(self.run.turn_end(self.question.take())));
        }
        let is_complete = self.run.store.is_complete();
        // The model may send one closing message.
        self.is_closing = is_complete && !self.was_complete;
        self.was_complete = is_complete;
        self.run.announce_position()?;
        Ok(ControlFlow::Continue(()))
    }

    fn next_order(&mut self, _: Order) -> Result<ControlFlow<TurnEnd, Order>, RunError> {
        self.next = match self.run.next_request(&[]) {
            Ok(next) => next,
            Err(NoRequest::Refused(fault)) => return Ok(ControlFlow::Break(TurnEnd::failed(fault))),
            Err(NoRequest::Error(error)) => return Err(error),
        };
        self.order().map(ControlFlow::Continue)
    }
}

/// The partial text of a reply.
fn text_of(files: &CallFiles) -> String {
    String::from_utf8_lossy(&files.read_text().unwrap_or_default()).into_owned()
}

/// The fault of a request that could not be sent.
fn refused(error: RunError, run_id: &str) -> Result<TurnEnd, RunError> {
    let RunError::Session(crate::SessionError::Ask(error)) = &error else { return Err(error) };
    Ok(TurnEnd::failed(fault_of(error, run_id)))
}

/// The tool name of a call that could not be read.
const UNREADABLE: &str = "unreadable-call";

fn unreadable(call: &ToolCall, agent_id: Option<&str>) -> Ran {
    let problem = call.arguments.as_str().unwrap_or("it cannot be read");
    let message = format!("this looks like a tool call but could not be read: {problem}");
    refusal(call, agent_id, "TOOL_ARGS_INVALID_JSON", &message)
}

/// The result of a call that was not run.
fn refusal(call: &ToolCall, agent_id: Option<&str>, code: &str, message: &str) -> Ran {
    let output = json!({ "ok": false, "error": { "code": code, "message": message } });
    Ran {
        exec: ToolExec {
            tool_call_id: call.id.clone(),
            tool_name: call.name.chars().take(100).collect(),
            agent_id: agent_id.map(str::to_owned),
            input: json!({}),
            output: output.clone(),
            duration_ms: 0,
        },
        content: output.to_string(),
        is_error: true,
        question: None,
        warnings: Vec::new(),
        left_out: None,
    }
}

/// Makes call ids unique; a model may use one twice, or none.
fn unique_ids(calls: Vec<ToolCall>, n_earlier: u64) -> Vec<ToolCall> {
    let mut seen: Vec<String> = Vec::new();
    let mut unique = Vec::with_capacity(calls.len());
    for (index, mut call) in calls.into_iter().enumerate() {
        if call.id.is_empty() || seen.contains(&call.id) {
            call.id = format!("{}call-{}-{}", call.id, n_earlier + 1, index + 1);
        }
        seen.push(call.id.clone());
        unique.push(call);
    }
    unique
}

fn error_code(ran: &Ran) -> String {
    let code = ran.exec.output.pointer("/error/code").or_else(|| ran.exec.output.get("code"));
    code.and_then(Value::as_str).unwrap_or("failed").to_owned()
}

/// Limits the partial text of a failed reply.
fn bounded(mut text: String) -> String {
    const MAX_KEPT: usize = 64 * 1024;
    if text.len() > MAX_KEPT {
        let end = (0..=MAX_KEPT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// The fault of a failed call, with a stable error code.
fn fault_of(error: &AskError, run_id: &str) -> Fault {
    let hint = error.advice().worded(|action, _| {
        if *action == Action::ValidateProviders {
            "`aiwf validate providers`".to_owned()
        } else {
            format!("`aiwf workflow resume {run_id}`")
        }
    });
    Fault::new(ask_code(error), error.to_string(), hint)
}
