//! Runs one case for one receiver: builds the prompt, gets the reply, checks every assertion.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use aiwf_config::{Config, Settings};
use aiwf_prompt::{Format, Sha256Hex, Tokenizer};
use aiwf_provider::{Payload, Permission};
use serde_json::{Value, json};

use super::assertion::{Assertion, AssertionKind, ReplyCheck};
use super::case_file::{Case, Input, MatrixRow, ReplyFrom, Request};
use super::effects::{self, Held};
use super::finding::Finding;
use super::live::{Live, NoReply, Recordings};
use super::place::{CasePlace, slug};
use super::prompt_assert::{PromptContext, check_prompt};
use super::reply_assert::check_reply;
use super::report::{AssertionResult, ReplyFacts, TestOutcome, TestResult};
use super::scenario::Scenario;
use super::scratch::{Scratch, ScratchContent};
use super::shape::Shape;
use super::subject::{Piece, PromptSize, PromptSubject, ReplySubject, TOOLS};
use super::walk::{RECEIVER, receiver_config, walk};
use crate::Engine;
use crate::ask::budget;
use crate::ask::call::Order;
use crate::ask::providers::{self, Duty};
use crate::prompt::build::{BuildOptions, Built, Receiver};
use crate::prompt::count_cache::CountCache;
use crate::prompt::document::Document;
use crate::prompt::gather::ChangeFlags;

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

/// Token counts of a run, by vocabulary: the cases of a file share most of their text.
#[derive(Default)]
pub(crate) struct Counts(Mutex<BTreeMap<&'static str, Arc<CountCache>>>);

impl Counts {
    fn of(&self, tokenizer: Tokenizer) -> Arc<CountCache> {
        let mut caches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cache =
            caches.entry(tokenizer.as_str()).or_insert_with(|| Arc::new(CountCache::open(tokenizer, None)));
        Arc::clone(cache)
    }
}

/// The project that the documents of a file are built in, without the user's own configuration.
pub(crate) struct Ground {
    pub(crate) settings: Settings,
    pub(crate) config: Config,
    /// Keeps a temporary project.
    _scratch: Option<Scratch>,
}

impl Ground {
    /// The project itself, for tests of a project.
    pub(crate) fn of_project(project: &Settings) -> Result<Self, String> {
        let settings = Settings {
            current_dir: project.project_root.clone(),
            home: None,
            cache_dir: None,
            ..project.clone()
        };
        Self::at(settings, None)
    }

    /// A temporary project.
    fn of_scratch(scratch: Scratch) -> Result<Self, String> {
        let settings = Settings { home: None, cache_dir: None, ..scratch.settings.clone() };
        Self::at(settings, Some(scratch))
    }

    fn at(settings: Settings, scratch: Option<Scratch>) -> Result<Self, String> {
        let config = providers::load_config(&settings, &aiwf_config::Flags::default());
        Ok(Self { settings, config: config.map_err(|error| error.to_string())?, _scratch: scratch })
    }
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

/// A built prompt, ready to be checked and sent.
struct Prepared {
    built: Built,
    payload: Payload,
    order_name: String,
    ability: crate::ask::providers::Ability,
    permission: Permission,
    session_id: Option<String>,
    preview: Option<String>,
    /// The files that a reply edits.
    base: PathBuf,
    /// The phase and round whose reply it is.
    phase: (String, u32),
    tokenizer: Tokenizer,
    /// Keeps a temporary project.
    _ground: Option<Ground>,
    _scratch: Option<Scratch>,
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

    fn replaced(&self, directory: Option<&String>) -> Result<Option<PathBuf>, String> {
        directory.map(|directory| self.place.resolve(directory)).transpose()
    }

    /// A temporary project with what the case and its variant say.
    fn scratch(&self, context: &RunContext<'_>) -> Result<Scratch, String> {
        let templates = self.replaced(self.row.and_then(|row| row.template.as_ref()))?;
        let standards = self.replaced(self.row.and_then(|row| row.standards.as_ref()))?;
        Scratch::of(&ScratchContent {
            place: self.place,
            project: context.engine.settings(),
            fixture: self.case.project.as_deref(),
            files: &self.case.files,
            templates: templates.as_deref(),
            standards: standards.as_deref(),
            config: &receiver_config(&self.shape),
            embedded: if self.shape.provider().is_none() { &[RECEIVER] } else { &[] },
        })
    }

    fn scenario(&self) -> Result<Scenario, String> {
        let directory =
            self.case.scenario.as_ref().map(|directory| self.place.resolve(directory)).transpose()?;
        Ok(Scenario::new(directory.as_deref()))
    }

    fn prepare(&self, context: &RunContext<'_>) -> Result<Prepared, String> {
        match &self.case.built {
            Request::Document { input, .. } => {
                let own = match self.ground {
                    Some(_) => None,
                    None => Some(Ground::of_scratch(self.scratch(context)?)?),
                };
                let ground = own.as_ref().or(self.ground).ok_or("there is no project to build in")?;
                let mut prepared = self.build_document(input, ground, context)?;
                prepared._ground = own;
                Ok(prepared)
            }
            Request::Session(request) => {
                if let Some(format) = self.format {
                    return Err(format!(
                        "the format of a session's prompt is its own, not `{}`",
                        format.as_str()
                    ));
                }
                let scratch = self.scratch(context)?;
                let walked = walk(&scratch, self.place, request, &self.shape, &self.scenario()?)?;
                let config = providers::load_config(&scratch.settings, &aiwf_config::Flags::default());
                let config = config.map_err(|error| error.to_string())?;
                Ok(Prepared {
                    tokenizer: self.tokenizer(&config),
                    built: walked.built,
                    payload: walked.payload,
                    order_name: walked.call,
                    ability: walked.ability,
                    permission: Permission::ReadOnly,
                    session_id: Some(walked.session_id),
                    preview: walked.preview,
                    base: scratch.settings.project_root.clone(),
                    phase: (walked.phase, walked.round),
                    _ground: None,
                    _scratch: Some(scratch),
                })
            }
        }
    }

    fn build_document(
        &self,
        input: &Input,
        ground: &Ground,
        context: &RunContext<'_>,
    ) -> Result<Prepared, String> {
        let build = || self.build_once(input, ground);
        let built = build()?;
        let preview = self.case.asserts.iter().any(Assertion::needs_preview);
        let preview = if preview { Some(build()?.prompt.full_prompt()) } else { None };
        let needs_payload = self.case.asserts.iter().any(Assertion::is_about_reply);
        let payload = if needs_payload { built.payload() } else { Payload::default() };
        let _ = context;
        Ok(Prepared {
            tokenizer: self.tokenizer(&ground.config),
            payload,
            order_name: built.prompt.recipe().as_str().to_owned(),
            ability: built.ability,
            permission: Permission::ReadOnly,
            session_id: None,
            preview,
            base: ground.settings.project_root.clone(),
            phase: (built.prompt.mode().to_owned(), 1),
            built,
            _ground: None,
            _scratch: None,
        })
    }

    fn build_once(&self, input: &Input, ground: &Ground) -> Result<Built, String> {
        let Request::Document { recipe, .. } = &self.case.built else {
            return Err("the case builds no document".to_owned());
        };
        let json = match input {
            Input::File(file) => self.place.read(file)?,
            Input::Inline(value) => value.to_string(),
        };
        let mut document = Document::from_json(*recipe, &json).map_err(|error| error.to_string())?;
        if let Document::Session(session) = &mut document {
            // A path of a test file leads where a test file may look, and nowhere else.
            let directory = self.place.resolve(&session.session_dir)?;
            session.session_dir = directory.to_string_lossy().into_owned();
        }
        let flags = ChangeFlags { project_files: self.case.files.clone(), ..ChangeFlags::default() };
        let options = self.shape.options(BuildOptions {
            format: self.format,
            budget: self.case.budget,
            tokenizer: self.case.tokenizer,
            ..BuildOptions::default()
        });
        let receiver = Receiver { config: &ground.config, duty: Duty::Read, call: recipe.as_str() };
        let engine = Engine::new(ground.settings.clone());
        engine.build_for(document, &flags, &options, receiver, &|_| ()).map_err(|error| error.to_string())
    }

    fn tokenizer(&self, config: &Config) -> Tokenizer {
        let of_provider = || self.shape.provider().map(|name| providers::tokenizer(name, config));
        self.case.tokenizer.or_else(of_provider).unwrap_or(Tokenizer::Estimate)
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

    fn update_goldens(&self, prompt: &PromptSubject, context: &RunContext<'_>) -> Result<(), String> {
        if !context.updates {
            return Ok(());
        }
        for assert in &self.case.asserts {
            let AssertionKind::Prompt(super::assertion::PromptCheck::Golden { section }) = &assert.kind
            else {
                continue;
            };
            let text = match section {
                None => Some(prompt.text.clone()),
                Some(id) => prompt.section(id),
            };
            let Some(text) = text else { continue };
            let name = self.golden_name(section.as_deref(), prompt.format);
            if self.place.write_golden(&name, &text)? {
                context.updated.lock().unwrap_or_else(PoisonError::into_inner).push(name);
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
            permission: prepared.permission,
            directory: None,
            response_path: None,
        };
        let model = self.row.and_then(|row| row.model.as_deref());
        let provider = self.shape.provider();
        context.live.reply(order, provider, model, &recordings).map_err(|why| match why {
            NoReply::Missed(message) => (TestOutcome::Failed, message),
            NoReply::ProviderFailed(message) => (TestOutcome::ProviderFailed, message),
            NoReply::Refused(message) => (TestOutcome::Error, message),
        })
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
                let (exchange, reason) = judged.map_err(|why| match why {
                    NoReply::Missed(message) => (TestOutcome::Failed, message),
                    NoReply::ProviderFailed(message) => (TestOutcome::ProviderFailed, message),
                    NoReply::Refused(message) => (TestOutcome::Error, message),
                })?;
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
            _ => Err((TestOutcome::Error, "it needs nothing but the reply".to_owned())),
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

/// The prompt as assertions see it.
fn subject(prepared: &mut Prepared, needs_tokens: bool, context: &RunContext<'_>) -> PromptSubject {
    let size = needs_tokens.then(|| {
        let counter = context.counts.of(prepared.tokenizer);
        let metadata = prepared.built.prompt.metadata(counter.as_ref());
        PromptSize {
            total: metadata.token_estimate.0,
            tokenizer: metadata.tokenizer,
            is_exact: metadata.is_exact,
        }
    });
    let prompt = &prepared.built.prompt;
    let mut text = String::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let id = prepared.session_id.as_deref();
    let mut push = |section: String, piece: &str| {
        let start = text.len();
        text.push_str(piece);
        pieces.push(Piece { section, range: start..text.len() });
    };
    for owned in prompt.printed() {
        match id {
            // Every walk has another id.
            Some(id) => push(owned.section, &owned.text.replace(id, SESSION)),
            None => push(owned.section, &owned.text),
        }
    }
    let tools = if prepared.built.tools.is_some() { prepared.built.payload().tools } else { Vec::new() };
    if !tools.is_empty() {
        push(TOOLS.to_owned(), &format!("\n\n---\n\n{:#}", json!(tools)));
    }
    let preview = prepared.preview.as_ref().map(|preview| match id {
        Some(id) => preview.replace(id, SESSION),
        None => preview.clone(),
    });
    let settings = context.engine.settings();
    let roots = [Some(&settings.project_root), settings.home.as_ref(), Some(&prepared.base)];
    let roots = roots.into_iter().flatten().filter(|root| root.components().count() > 1);
    PromptSubject {
        format: prompt.format(),
        text,
        pieces,
        sections: prompt.sections(),
        tools,
        size,
        preview,
        roots: roots.map(|root| root.to_string_lossy().into_owned()).collect(),
    }
}

/// What stands for the id of a walked session.
const SESSION: &str = "SESSION";

fn result_of(assert: &Assertion, finding: Finding) -> AssertionResult {
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
