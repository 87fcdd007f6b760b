//! Lets a provider judge what is at a gate.
//!
//! The judge sees the prompt or reply and what it was made from. PASS approves it; any other verdict rejects it, with
//! the judge's answer as feedback for the next prompt. Without a verdict a person decides.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::rc::Rc;

use aiwf_config::Config;
use aiwf_prompt::Format;
use aiwf_provider::{AskError, Payload};
use aiwf_reply::{Verdict, parse_verdict_tag, without_thoughts};
use aiwf_session::{Actor, Approver, Call, Command, Gives, PhaseSpec, Stage, Target, Total};

use super::open_session::OpenSession;
use super::perform::{Performed, StepOutcome};
use crate::ask::call::{CallFailure, CallFiles, Order};
use crate::ask::exchange::{ArrivedReply, Asker, Exchange, OutgoingRequest, Refusal};
use crate::ask::payload::payload_of;
use crate::ask::providers::{self, Duty};
use crate::ask::repeats::CallResult;
use crate::ask::rounds::Rounds;
use crate::prompt::build::{BuildOptions, Receiver};
use crate::prompt::document::{ChangeDocument, ContextDocument, Document};
use crate::prompt::gather::ChangeFlags;
use crate::prompt::system_templates::GATE_TEMPLATE;
use crate::session::session_error::SessionError;

/// The name of judge calls.
const GATE: &str = "gate";
/// The tags around a judge's own version.
const REWRITE: (&str, &str) = ("<rewrite>", "</rewrite>");

impl OpenSession<'_> {
    /// Asks a provider to judge what is at the gate.
    pub(crate) fn judge(&mut self, stage: Stage, name: &str) -> Result<StepOutcome, SessionError> {
        self.refuse_stale()?;
        let exchange = Exchange::open(self.engine, self.config(), name, Rounds::without_tools())?;
        if self.state.is_judged && !exchange.is_free() {
            return self.leave_to_person(name, "the call was interrupted, so you decide");
        }
        let payload = Rc::new(self.gate_payload(stage)?);
        let call_name = format!("{}-{GATE}", Self::call_name(self.state.phase, self.state.iteration));
        let ability = providers::ability(name, self.config(), None, Duty::Read, &call_name)?;
        let permission = ability.permission;
        let order =
            Order { name: call_name, payload, ability, permission, directory: None, response_path: None };
        exchange.run(&mut JudgeAsker { session: self, stage, name }, order)
    }

    /// Performs the judge's decision.
    fn act_on_verdict(
        &mut self,
        stage: Stage,
        name: &str,
        answer: &str,
    ) -> Result<StepOutcome, SessionError> {
        let by = Actor::Provider(name.to_owned());
        let is_approved = match parse_verdict_tag(answer).value {
            None => return self.leave_to_person(name, "its answer has no verdict, so you decide"),
            Some(Verdict::Pass) => true,
            Some(_) => false,
        };
        if is_approved {
            match stage {
                Stage::Prompt => self.approve_prompt(by, None)?,
                Stage::Response => self.take_reply(by, None)?,
            }
        } else {
            self.reject_at_gate(stage, name, answer)?;
        }
        Ok(StepOutcome::Done(Performed::Judged { provider: name.to_owned(), is_approved }))
    }

    fn reject_at_gate(&mut self, stage: Stage, name: &str, answer: &str) -> Result<(), SessionError> {
        let may_rewrite = self.setup()?.gate(self.state.phase, stage).allow_rewrite;
        let rewritten = rewritten(answer).filter(|_| may_rewrite && stage == Stage::Prompt);
        if let Some(text) = rewritten {
            // The judge's version replaces the prompt, and a person looks at it.
            let path = self.state.written.first().map(|file| file.path.clone());
            if let Some(path) = path {
                let kept = self.keep_rejected(std::slice::from_ref(&path))?;
                self.write(&path, text.as_bytes())?;
                let kept: Vec<&str> = kept.iter().map(|file| file.path.as_str()).collect();
                let message = format!("it rewrote the prompt, which is kept as {}", kept.join(", "));
                self.commit(Command::LeaveToPerson { provider: name.to_owned(), message })?;
                return Ok(());
            }
        }
        let feedback = feedback(answer);
        let by = Actor::Provider(name.to_owned());
        let command = match stage {
            Stage::Prompt => {
                let kept = self.keep_rejected(&self.edited_prompt_files())?;
                Command::RejectPrompt { by, feedback, kept }
            }
            Stage::Response => {
                let paths = [self.written_paths(), vec![self.response_path()?]].concat();
                let kept = self.keep_rejected(&paths)?;
                Command::RejectResponse { by, feedback, kept }
            }
        };
        self.commit(command)
    }

    fn leave_to_person(&mut self, name: &str, message: &str) -> Result<StepOutcome, SessionError> {
        let (provider, message) = (name.to_owned(), message.to_owned());
        self.commit(Command::LeaveToPerson { provider, message: message.clone() })?;
        Ok(StepOutcome::Done(Performed::Noted { message: format!("{name}: {message}") }))
    }

    /// The judge's payload: what is at the gate, and what it was made from.
    pub(crate) fn gate_payload(&mut self, stage: Stage) -> Result<Payload, SessionError> {
        let phase = self.state.phase;
        let artifact = |name: &str, content: String| ContextDocument {
            kind: "artifact".to_owned(),
            name: Some(name.to_owned()),
            content,
        };
        let mut context = Vec::new();
        let mut add = |name: &str, path: &str| -> Result<(), SessionError> {
            if self.ledger.is_file(path) {
                let bytes = self.read(path)?;
                context.push(artifact(name, String::from_utf8_lossy(&bytes).into_owned()));
            }
            Ok(())
        };
        add("standards", "standards-bundle.md")?;
        let reads = &self.spec()?.reads;
        let texts = self.state.flow.phases.iter().filter(|other| other.gives == Gives::Text);
        for other in texts.filter(|other| reads.contains(&other.name) && other.name != phase) {
            add(&other.artifact, &other.artifact_file())?;
        }
        let subject = match stage {
            Stage::Prompt => "prompt",
            Stage::Response => "reply",
        };
        for file in self.written_paths() {
            let is_system = self.state.system_prompt_path().is_some_and(|path| path == file);
            let name = if is_system { "system-prompt" } else { "prompt" };
            add(name, &file)?;
        }
        if stage == Stage::Response {
            add("reply", &self.response_path()?)?;
        }
        let may_rewrite = self.setup()?.gate(phase, stage).allow_rewrite && stage == Stage::Prompt;
        let rewriting = if may_rewrite {
            let (begin, end) = REWRITE;
            format!(
                " If you stop it, you may write a complete new version of it between {begin} and {end}, before the verdict."
            )
        } else {
            String::new()
        };
        let instructions = format!(
            "The artifact `{subject}` is pending at the gate `{}.{}`. {}{rewriting}",
            phase.as_str(),
            stage.as_str(),
            question(self.spec()?, stage)
        );
        let document = ChangeDocument {
            phase: Some(GATE_TEMPLATE.to_owned()),
            context,
            instructions,
            ..ChangeDocument::default()
        };
        let judge = match self.state.approver() {
            Approver::Ai(name) => Some(name.clone()),
            Approver::Manual | Approver::Skip => None,
        };
        let options = BuildOptions { format: Some(Format::Xml), provider: judge, ..BuildOptions::default() };
        let receiver = Receiver { config: self.config(), duty: Duty::Read, call: GATE };
        let document = Document::Change(document);
        let built = self.engine.build_for(document, &ChangeFlags::default(), &options, receiver, &|_| ())?;
        Ok(payload_of(&built.prompt, self.id_in_prompts().as_deref()))
    }
}

/// The asker for judges.
struct JudgeAsker<'s, 'e> {
    session: &'s mut OpenSession<'e>,
    stage: Stage,
    name: &'s str,
}

impl Asker for JudgeAsker<'_, '_> {
    /// Judges have no tools.
    type Calls = Infallible;
    type End = StepOutcome;
    type Error = SessionError;

    fn config(&self) -> &Config {
        self.session.config()
    }

    fn spent(&self, _: Option<&Call>) -> Total {
        self.session.state.total()
    }

    fn files(&mut self) -> Result<CallFiles, SessionError> {
        self.session.write_snapshot()?;
        self.session.call_files(GATE)
    }

    fn on_refused(&mut self, refusal: Refusal) -> Result<StepOutcome, SessionError> {
        match refusal {
            Refusal::OverBudget(message) => self.session.pause_for_budget(message),
            Refusal::Unsendable(_) | Refusal::Stopped(_) => {
                let error = SessionError::from(refusal);
                self.session.leave_to_person(self.name, &error.to_string())
            }
        }
    }

    fn on_sent(&mut self, sending: &OutgoingRequest<'_>) -> Result<(), SessionError> {
        // A free judge is asked again after an interruption, without a second event.
        if self.session.state.is_judged {
            return Ok(());
        }
        self.session.commit(Command::RecordGateAsked {
            provider: sending.provider.to_owned(),
            payload_sha256: sending.payload_sha256.clone(),
            is_free: sending.is_free,
        })
    }

    fn on_person(&mut self, files: &CallFiles) -> Result<StepOutcome, SessionError> {
        files.ledger.remove(&files.text)?;
        self.session.leave_to_person(self.name, "a person decides")
    }

    fn on_failed(&mut self, failure: CallFailure, files: &CallFiles) -> Result<StepOutcome, SessionError> {
        let CallFailure { error, mut call, .. } = failure;
        call.kept = self.session.keep_call_files(files)?;
        let message = error.to_string();
        // The cost of the failed call is recorded first; then a person decides.
        self.session.commit(Command::RecordGateAnswer { reply: None, call: Some(call) })?;
        // After an interruption by the user, the next command asks the judge again.
        if !matches!(error, AskError::Stopped { .. }) {
            self.session.leave_to_person(self.name, &message)?;
        }
        Err(error.into())
    }

    fn on_arrived(
        &mut self,
        _: &mut ArrivedReply,
        _: &Payload,
    ) -> Result<ControlFlow<StepOutcome, Option<Infallible>>, SessionError> {
        Ok(ControlFlow::Continue(None))
    }

    fn on_reply(&mut self, arrived: ArrivedReply, _: &Rounds) -> Result<StepOutcome, SessionError> {
        let ArrivedReply { mut call, files, .. } = arrived;
        let session = &mut *self.session;
        let answer = session.read(&files.text)?;
        let reply = session.keep(&files.text)?;
        call.kept = session.keep_call_files(&files)?;
        call.kept.retain(|file| file.path != reply.path);
        let touched: Vec<String> = call.touched.iter().map(|file| file.path.clone()).collect();
        session.commit(Command::RecordGateAnswer { reply: Some(reply), call: Some(call) })?;
        if !touched.is_empty() {
            let message = format!("it changed files of the project: {}", touched.join(", "));
            return session.leave_to_person(self.name, &message);
        }
        session.act_on_verdict(self.stage, self.name, &String::from_utf8_lossy(&answer))
    }

    fn on_calls(
        &mut self,
        calls: Infallible,
        _: &mut Rc<Payload>,
    ) -> Result<ControlFlow<StepOutcome, Vec<CallResult>>, SessionError> {
        match calls {}
    }
}

/// The question for the judge.
fn question(spec: &PhaseSpec, stage: Stage) -> &'static str {
    if stage == Stage::Prompt {
        return "Is it complete, free of contradictions and ready to be sent?";
    }
    match spec.gives {
        Gives::Verdict => "Is the review clear, and can someone act on it?",
        Gives::Files | Gives::Edits if spec.iterates => "Are the issues addressed that the review named?",
        Gives::Files | Gives::Edits => {
            "Does it implement the plan? A code review follows and is not your task."
        }
        // The first text of a flow is its plan; the text after a review closes the session.
        Gives::Text if spec.next == Some(Target::Complete) => {
            "Is the record complete, and does it say nothing that was not done?"
        }
        Gives::Text => "Is it acceptable: does it answer the prompt, and can it be carried out as it stands?",
    }
}

/// The judge's answer without thoughts, verdict and rewrite.
fn feedback(answer: &str) -> String {
    let text = without_thoughts(answer);
    let text = match (text.find(REWRITE.0), text.rfind(REWRITE.1)) {
        (Some(start), Some(end)) if start < end => {
            let before = text.get(..start).unwrap_or_default();
            let after = text.get(end + REWRITE.1.len()..).unwrap_or_default();
            format!("{before}{after}")
        }
        _ => text,
    };
    let lines = text.lines().filter(|line| !line.trim().starts_with("<review>"));
    let text = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    if text.is_empty() { "it was rejected without a reason".to_owned() } else { text }
}

/// The judge's own version.
fn rewritten(answer: &str) -> Option<String> {
    let start = answer.find(REWRITE.0)? + REWRITE.0.len();
    let end = answer.rfind(REWRITE.1).filter(|end| *end >= start)?;
    let text = answer.get(start..end)?.trim_matches('\n');
    (!text.trim().is_empty()).then(|| format!("{text}\n"))
}
