//! Builds the prompt of a case: from a document, or by walking a session to its phase.
//!
//! In: a case and for whom it runs. Out: the prompt by the way that sends it, and the same as assertions see it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use aiwf_config::{Config, Settings};
use aiwf_prompt::Tokenizer;
use aiwf_provider::Payload;
use serde_json::json;

use super::assertion::Assertion;
use super::case_file::{Input, Request};
use super::scenario::Scenario;
use super::scratch::{Scratch, ScratchContent};
use super::subject::{Piece, PromptSize, PromptSubject, TOOLS};
use super::unit::{RunContext, Unit};
use super::walk::{RECEIVER, receiver_config, walk};
use crate::Engine;
use crate::ask::providers::{self, Ability, Duty};
use crate::prompt::build::{BuildOptions, Built, Receiver};
use crate::prompt::count_cache::CountCache;
use crate::prompt::document::Document;
use crate::prompt::gather::ChangeFlags;

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

/// A built prompt, ready to be checked and sent.
pub(super) struct Prepared {
    pub(super) built: Built,
    pub(super) payload: Payload,
    pub(super) order_name: String,
    pub(super) ability: Ability,
    pub(super) session_id: Option<String>,
    pub(super) preview: Option<String>,
    /// The files that a reply edits.
    pub(super) base: PathBuf,
    /// The phase and round whose reply it is.
    pub(super) phase: (String, u32),
    pub(super) tokenizer: Tokenizer,
    /// Keeps a temporary project.
    own_ground: Option<Ground>,
    _scratch: Option<Scratch>,
}

impl Unit<'_> {
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

    pub(super) fn scenario(&self) -> Result<Scenario, String> {
        let directory =
            self.case.scenario.as_ref().map(|directory| self.place.resolve(directory)).transpose()?;
        if directory.as_ref().is_some_and(|directory| !directory.is_dir()) {
            let name = self.case.scenario.as_deref().unwrap_or_default();
            return Err(format!("the scenario `{name}` is no directory"));
        }
        Ok(Scenario::new(directory.as_deref()))
    }

    pub(super) fn prepare(&self, context: &RunContext<'_>) -> Result<Prepared, String> {
        // Even if no assertion needs a reply.
        self.scenario()?;
        match &self.case.built {
            Request::Document { input, .. } => {
                let own = match self.ground {
                    Some(_) => None,
                    None => Some(Ground::of_scratch(self.scratch(context)?)?),
                };
                let ground = own.as_ref().or(self.ground).ok_or("there is no project to build in")?;
                let mut prepared = self.build_document(input, ground, context)?;
                prepared.own_ground = own;
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
                let walked =
                    walk(&scratch, self.place, request, &self.case.files, &self.shape, &self.scenario()?)?;
                let config = providers::load_config(&scratch.settings, &aiwf_config::Flags::default());
                let config = config.map_err(|error| error.to_string())?;
                Ok(Prepared {
                    tokenizer: self.tokenizer(&config),
                    built: walked.built,
                    payload: walked.payload,
                    order_name: walked.call,
                    ability: walked.ability,
                    session_id: Some(walked.session_id),
                    preview: walked.preview,
                    base: scratch.settings.project_root.clone(),
                    phase: (walked.phase, walked.round),
                    own_ground: None,
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
        let built = self.build_once(input, ground, context)?;
        let preview = self.case.asserts.iter().any(Assertion::needs_preview);
        let preview =
            if preview { Some(self.build_once(input, ground, context)?.prompt.full_prompt()) } else { None };
        let needs_payload = self.case.asserts.iter().any(Assertion::is_about_reply);
        let payload = if needs_payload { built.payload() } else { Payload::default() };
        Ok(Prepared {
            tokenizer: self.tokenizer(self.config(ground, context)),
            payload,
            order_name: built.prompt.recipe().as_str().to_owned(),
            ability: built.ability,
            session_id: None,
            preview,
            base: ground.settings.project_root.clone(),
            phase: (built.prompt.mode().to_owned(), 1),
            built,
            own_ground: None,
            _scratch: None,
        })
    }

    fn build_once(&self, input: &Input, ground: &Ground, context: &RunContext<'_>) -> Result<Built, String> {
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
        let receiver =
            Receiver { config: self.config(ground, context), duty: Duty::Read, call: recipe.as_str() };
        let engine = Engine::new(ground.settings.clone());
        engine.build_for(document, &flags, &options, receiver, &|_| ()).map_err(|error| error.to_string())
    }

    /// The configuration that knows the receiver: the project's, or the user's for a provider that only the user has.
    fn config<'c>(&self, ground: &'c Ground, context: &RunContext<'c>) -> &'c Config {
        let is_known = |name| providers::refuse_unknown(name, &ground.config, String::new).is_ok();
        if self.shape.provider().is_none_or(is_known) { &ground.config } else { context.config }
    }

    fn tokenizer(&self, config: &Config) -> Tokenizer {
        let of_provider = || self.shape.provider().map(|name| providers::tokenizer(name, config));
        self.case.tokenizer.or_else(of_provider).unwrap_or(Tokenizer::Estimate)
    }
}

/// The prompt as assertions see it.
pub(super) fn subject(
    prepared: &mut Prepared,
    needs_tokens: bool,
    context: &RunContext<'_>,
) -> PromptSubject {
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
