//! Runs one case for one receiver: builds the prompt, gets the reply, checks every assertion.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use aiwf_config::Config;
use aiwf_prompt::{Format, Sha256Hex};
use aiwf_provider::Permission;
use serde_json::{Value, json};

use super::assertion::{Assertion, AssertionKind, PromptCheck, ReplyCheck};
use super::case_file::{Case, MatrixRow, ReplyFrom};
use super::effects::{self, Held};
use super::finding::Finding;
use super::live::{Live, NoReply, Recordings};
use super::place::{CasePlace, slug};
use super::prepare::{Counts, Ground, Prepared, subject};
use super::prompt_assert::{PromptContext, check_prompt};
use super::reply_assert::check_reply;
use super::report::{AssertionResult, ReplyFacts, TestOutcome, TestResult};
use super::scratch::Scratch;
use super::shape::Shape;
use super::subject::{PromptSubject, ReplySubject};
use crate::Engine;
use crate::ask::budget;
use crate::ask::call::Order;

/// What every case of a run shares.
pub(crate) struct RunContext<'a> {
    /// The engine of the user: asks providers, runs checks.
    pub(crate) engine: &'a Engine,
    pub(crate) config: &'a Config,
    pub(crate) live: &'a Live<'a>,
    pub(crate) updates: bool,
    pub(crate) updated: &'a Mutex<Vec<String>>,
    pub(crate) counts: &'a Counts,
    /// The consents of the user, by hash.
    pub(crate) agreed: &'a [String],
}

/// One case for one receiver.
pub(crate) struct Unit<'a> {
    pub(crate) place: &'a CasePlace,
    pub(crate) case: &'a Case,
    pub(crate) row: Option<&'a MatrixRow>,
    pub(crate) shape: Shape,
    pub(crate) format: Option<Format>,
    pub(crate) repeat: u32,
    /// `None` if the case needs a project of its own.
    pub(crate) ground: Option<&'a Ground>,
}

impl Unit<'_> {
    pub(crate) fn run(&self, context: &RunContext<'_>) -> TestResult {
        let started_at = Instant::now();
        let mut result = TestResult {
            file: self.place.shown.clone(),
            line: self.case.line,
            case: self.case.name.clone(),
            receiver: self.shape.name.clone(),
            format: self.format.map(Format::as_str).unwrap_or_default().to_owned(),
            variant: self.row.map(MatrixRow::label),
            repeat: self.repeat,
            outcome: TestOutcome::Passed,
            assertions: Vec::new(),
            prompt_sha256: None,
            prompt_tokens: None,
            reply: None,
            millis: 0,
        };
        match self.prepare(context) {
            Ok(prepared) => self.check(prepared, context, &mut result),
            Err(message) => result.assertions.push(self.of_case(TestOutcome::Error, message)),
        }
        result.outcome = outcome_of(&result.assertions);
        result.millis = u64::try_from(started_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        result
    }

    /// A result of the case itself.
    fn of_case(&self, outcome: TestOutcome, message: String) -> AssertionResult {
        let line = self.case.line;
        AssertionResult {
            kind: String::new(),
            line,
            outcome,
            message,
            section: None,
            diff: None,
            judge: None,
        }
    }

    fn check(&self, mut prepared: Prepared, context: &RunContext<'_>, result: &mut TestResult) {
        let asserts = &self.case.asserts;
        let needs_tokens = self.row.is_some() || asserts.iter().any(Assertion::needs_tokens);
        let prompt = subject(&mut prepared, needs_tokens, context);
        prompt.format.as_str().clone_into(&mut result.format);
        result.prompt_sha256 = Some(Sha256Hex::of([prompt.text.as_str()]).to_string());
        result.prompt_tokens = prompt.size.as_ref().map(|size| size.total);
        if let Err(message) = self.update_goldens(&prompt, context) {
            result.assertions.push(self.of_case(TestOutcome::Error, message));
        }
        let golden = |section: Option<&str>| self.place.golden(&self.golden_name(section, prompt.format));
        let input_cost = |model: &str, tokens: u64| budget::input_cost(model, tokens, context.config);
        let prompt_context = PromptContext { golden: &golden, input_cost: &input_cost };
        let mut reply: Option<Result<ReplySubject, (TestOutcome, String)>> = None;
        for assert in asserts {
            let checked = match &assert.kind {
                AssertionKind::Prompt(check) => match check_prompt(check, &prompt, &prompt_context) {
                    Ok(finding) => result_of(assert, finding),
                    Err(message) => not_checked(assert, TestOutcome::Error, message),
                },
                AssertionKind::Reply(check) => {
                    let reply = reply.get_or_insert_with(|| self.reply(&prepared, context));
                    match reply {
                        Ok(reply) => self.check_reply(assert, check, reply, &prompt, &prepared, context),
                        Err((outcome, message)) => not_checked(assert, *outcome, message.clone()),
                    }
                }
            };
            result.assertions.push(checked);
        }
        if let Some(Ok(reply)) = reply {
            result.reply = Some(ReplyFacts {
                provider: reply.latency.and_then(|_| self.shape.provider()).map(str::to_owned),
                model: reply.model,
                input_tokens: reply.input_tokens,
                output_tokens: reply.output_tokens,
                cost: reply.cost,
                latency_ms: reply.latency,
            });
        }
    }

    /// The name of a golden file: the case, the receiver, the section, the format.
    fn golden_name(&self, section: Option<&str>, format: Format) -> String {
        let variant = self.row.map(|row| format!(".{}", slug(&row.label()))).unwrap_or_default();
        let section = section.map(|section| format!(".{}", slug(section))).unwrap_or_default();
        let (case, shape) = (slug(&self.case.name), slug(&self.shape.name));
        format!("{case}.{shape}{variant}{section}.{}", format.as_str())
    }

    /// The sections of its golden files; `None` for the whole prompt.
    fn goldens(&self) -> impl Iterator<Item = Option<&str>> {
        self.case.asserts.iter().filter_map(|assert| match &assert.kind {
            AssertionKind::Prompt(PromptCheck::Golden { section }) => Some(section.as_deref()),
            AssertionKind::Prompt(_) | AssertionKind::Reply(_) => None,
        })
    }

    /// Who it is, without the number of the repetition.
    fn owner(&self) -> (&str, usize, &str, Option<String>) {
        (&self.place.shown, self.case.line, &self.shape.name, self.row.map(MatrixRow::label))
    }

    fn update_goldens(&self, prompt: &PromptSubject, context: &RunContext<'_>) -> Result<(), String> {
        if !context.updates {
            return Ok(());
        }
        for assert in &self.case.asserts {
            let AssertionKind::Prompt(PromptCheck::Golden { section }) = &assert.kind else {
                continue;
            };
            let text = match section {
                None => Some(prompt.text.clone()),
                Some(id) => prompt.section(id),
            };
            let Some(text) = text else { continue };
            let name = self.golden_name(section.as_deref(), prompt.format);
            if self.place.write_golden(&name, &text)? {
                let mut updated = context.updated.lock().unwrap_or_else(PoisonError::into_inner);
                updated.push(self.place.golden_path(&name));
            }
        }
        Ok(())
    }

    /// The reply of the case, or how the assertions on it end without one.
    fn reply(
        &self,
        prepared: &Prepared,
        context: &RunContext<'_>,
    ) -> Result<ReplySubject, (TestOutcome, String)> {
        let error = |message: String| (TestOutcome::Error, message);
        let from_text = |text: String| ReplySubject { text, ..ReplySubject::default() };
        let recordings = match &self.case.reply {
            ReplyFrom::File(file) => return self.place.read(file).map(from_text).map_err(error),
            ReplyFrom::Recording(directory) => {
                Recordings { directory: Some(self.recordings(directory).map_err(error)?) }
            }
            ReplyFrom::Provider => {
                let (phase, round) = &prepared.phase;
                let scenario = self.scenario().map_err(error)?;
                if let Some(text) = scenario.reply(phase, *round).map_err(error)? {
                    return Ok(from_text(text));
                }
                if !context.live.is_live() {
                    let message = if self.case.scenario.is_some() {
                        scenario.missing(phase)
                    } else {
                        "there is no reply: name a file, a recording or a scenario, or ask with `--live`"
                            .to_owned()
                    };
                    return Err((TestOutcome::Skipped, message));
                }
                Recordings::default()
            }
        };
        let order = Order {
            name: prepared.order_name.clone(),
            payload: Rc::new(prepared.payload.clone()),
            ability: prepared.ability,
            permission: Permission::ReadOnly,
            directory: None,
            response_path: None,
        };
        let model = self.row.and_then(|row| row.model.as_deref());
        let provider = self.shape.provider();
        context.live.reply(order, provider, model, &recordings).map_err(without_reply)
    }

    /// The directory of recordings, which need not be there yet.
    fn recordings(&self, directory: &str) -> Result<PathBuf, String> {
        match self.place.resolve(directory) {
            Err(_) if !self.place.directory.join(directory).exists() => {
                let parent = Path::new(directory).parent().unwrap_or(Path::new(""));
                let name = Path::new(directory).file_name().ok_or("`recording` names no directory")?;
                let parent = if parent.as_os_str().is_empty() { "." } else { &parent.to_string_lossy() };
                Ok(self.place.resolve(parent)?.join(name))
            }
            found => found,
        }
    }

    fn check_reply(
        &self,
        assert: &Assertion,
        check: &ReplyCheck,
        reply: &ReplySubject,
        prompt: &PromptSubject,
        prepared: &Prepared,
        context: &RunContext<'_>,
    ) -> AssertionResult {
        let read = |file: &str| self.place.read(file);
        let found = match check_reply(check, reply, &read) {
            Ok(Some(finding)) => return result_of(assert, finding),
            Ok(None) => self.effect(assert, check, reply, prompt, prepared, context),
            Err(message) => Err((TestOutcome::Error, message)),
        };
        match found {
            Ok(result) => result,
            Err((outcome, message)) => not_checked(assert, outcome, message),
        }
    }

    /// The assertions that do something.
    fn effect(
        &self,
        assert: &Assertion,
        check: &ReplyCheck,
        reply: &ReplySubject,
        prompt: &PromptSubject,
        prepared: &Prepared,
        context: &RunContext<'_>,
    ) -> Result<AssertionResult, (TestOutcome, String)> {
        let held = |held: Held| match held {
            Held::Consent(message) | Held::Failed(message) => (TestOutcome::Error, message),
        };
        match check {
            ReplyCheck::Applies => Ok(result_of(assert, effects::applies(&reply.text, &prepared.base).0)),
            ReplyCheck::Checks(names) => {
                let scratch = Scratch::empty(context.engine.settings());
                let scratch = scratch.map_err(|message| (TestOutcome::Error, message))?;
                let copy = scratch.directory("copy").map_err(|message| (TestOutcome::Error, message))?;
                let finding = effects::checks(context.engine, &reply.text, &prepared.base, names, &copy);
                Ok(result_of(assert, finding.map_err(held)?))
            }
            ReplyCheck::Rubric { rubric, judge, threshold } => {
                let judge = judge.as_deref().ok_or_else(|| {
                    (TestOutcome::Error, "`rubric` needs `provider`: who judges".to_owned())
                })?;
                let recordings = match &self.case.reply {
                    ReplyFrom::Recording(directory) => {
                        let directory =
                            self.recordings(directory).map_err(|error| (TestOutcome::Error, error))?;
                        Recordings { directory: Some(directory) }
                    }
                    ReplyFrom::File(_) | ReplyFrom::Provider => Recordings::default(),
                };
                if recordings.directory.is_none() && !context.live.is_live() {
                    return Err((TestOutcome::Skipped, "a judge is asked with `--live`".to_owned()));
                }
                let judged = context.live.judge(judge, rubric, &reply.text, &recordings);
                let (exchange, reason) = judged.map_err(without_reply)?;
                let score = exchange.score;
                let message = format!("the judge gives {score:.2} of at least {threshold:.2}: {reason}");
                let result = result_of(assert, Finding::new(score >= *threshold, message));
                Ok(AssertionResult { judge: Some(exchange), ..result })
            }
            ReplyCheck::Run { command, timeout } => {
                let consent = effects::consent_for(command, &self.place.directory);
                if !context.agreed.contains(&consent.sha256) {
                    let message = format!("you have not agreed to the program `{}`", consent.name);
                    return Err((TestOutcome::Error, message));
                }
                let input = self.program_input(prompt, reply);
                let stop = &context.engine.call_context().stop;
                let finding = effects::run(command, *timeout, &self.place.directory, &input, stop);
                Ok(result_of(assert, finding.map_err(held)?))
            }
            ReplyCheck::Contains(_)
            | ReplyCheck::IContains(_)
            | ReplyCheck::IContainsAny(_)
            | ReplyCheck::ContainsAny(_)
            | ReplyCheck::Matches(_)
            | ReplyCheck::Equals(_)
            | ReplyCheck::StartsWith(_)
            | ReplyCheck::IsJson
            | ReplyCheck::JsonSchema(_)
            | ReplyCheck::ParsesAs { .. }
            | ReplyCheck::Verdict(_)
            | ReplyCheck::Files(_)
            | ReplyCheck::Tokens(_)
            | ReplyCheck::Cost(_)
            | ReplyCheck::Latency(_)
            | ReplyCheck::Similar { .. } => {
                Err((TestOutcome::Error, "it needs nothing but the reply".to_owned()))
            }
        }
    }

    fn program_input(&self, prompt: &PromptSubject, reply: &ReplySubject) -> Value {
        let sections: Vec<Value> = prompt
            .order()
            .into_iter()
            .map(|id| json!({ "id": id, "text": prompt.section(id).unwrap_or_default() }))
            .collect();
        json!({
            "case": self.case.name,
            "file": self.place.shown,
            "for": self.shape.name,
            "variant": self.row.map(MatrixRow::label),
            "prompt": prompt.text,
            "sections": sections,
            "reply": reply.text,
        })
    }
}

/// A unit, and a section of its prompt or the whole.
type GoldenOf<'a> = (&'a Unit<'a>, Option<&'a str>);

/// Units with a golden file that is already another one's, by index, and what is wrong.
pub(crate) fn shared_goldens(units: &[Unit<'_>]) -> BTreeMap<usize, String> {
    // By directory and name: the units that have it, each with the section.
    let mut known: BTreeMap<(&Path, String), Vec<GoldenOf<'_>>> = BTreeMap::new();
    let mut shared = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        for section in unit.goldens() {
            // The recipe's own format is not known before the prompt is built: it may be any.
            let name = unit.golden_name(section, Format::Text);
            let others = known.entry((unit.place.directory.as_path(), name)).or_default();
            let other = others.iter().find(|(other, other_section)| {
                let is_other = other.owner() != unit.owner() || *other_section != section;
                let may_be_same = match (other.format, unit.format) {
                    (Some(one), Some(two)) => one == two,
                    (None, _) | (_, None) => true,
                };
                is_other && may_be_same
            });
            match other {
                Some((other, _)) => {
                    let whom = [Some(other.shape.name.clone()), other.row.map(MatrixRow::label)];
                    let whom = whom.into_iter().flatten().collect::<Vec<_>>().join(", ");
                    let (case, place) = (&other.case.name, &other.place.shown);
                    let message = format!(
                        "its golden file is that of `{case}` ({whom}) in {place}: rename the case or the variant"
                    );
                    shared.insert(index, message);
                }
                None if unit.repeat == 1 => others.push((unit, section)),
                None => {}
            }
        }
    }
    shared
}

fn without_reply(why: NoReply) -> (TestOutcome, String) {
    match why {
        // A prompt that was recorded has changed.
        NoReply::Missed(message) => (TestOutcome::Failed, message),
        NoReply::ProviderFailed(message) => (TestOutcome::ProviderFailed, message),
        NoReply::Refused(message) => (TestOutcome::Error, message),
    }
}

fn result_of(assert: &Assertion, finding: Finding) -> AssertionResult {
    if finding.is_void && assert.is_negated {
        let result = not_checked(assert, TestOutcome::Error, finding.message);
        return AssertionResult { section: finding.section, ..result };
    }
    let is_passed = finding.holds != assert.is_negated;
    AssertionResult {
        kind: assert.name.clone(),
        line: assert.line,
        outcome: if is_passed { TestOutcome::Passed } else { TestOutcome::Failed },
        message: finding.message,
        section: finding.section,
        diff: finding.diff.filter(|_| !is_passed),
        judge: None,
    }
}

fn not_checked(assert: &Assertion, outcome: TestOutcome, message: String) -> AssertionResult {
    let (kind, line) = (assert.name.clone(), assert.line);
    AssertionResult { kind, line, outcome, message, section: None, diff: None, judge: None }
}

/// A case fails with its worst assertion, and is skipped if it checked nothing.
fn outcome_of(assertions: &[AssertionResult]) -> TestOutcome {
    let has = |outcome: TestOutcome| assertions.iter().any(|one| one.outcome == outcome);
    let order = [TestOutcome::Failed, TestOutcome::Error, TestOutcome::ProviderFailed];
    if let Some(worst) = order.into_iter().find(|outcome| has(*outcome)) {
        return worst;
    }
    if has(TestOutcome::Skipped) && !has(TestOutcome::Passed) {
        TestOutcome::Skipped
    } else {
        TestOutcome::Passed
    }
}
