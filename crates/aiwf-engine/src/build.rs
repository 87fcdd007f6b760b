//! The way from a document to a prompt: gather, compose, fit.

use std::path::PathBuf;
use std::sync::Arc;

use aiwf_config::Settings;
use aiwf_prompt::{
    Capability, Format, FsAbility, Metadata, Options, Problem, Prompt, PromptAggregator, Recipe, Tokenizer,
    Tokens,
};
use aiwf_provider::{FsAbilitySettings, Provider, Stop, resolve_fs_ability};
use aiwf_session::Surface;

use crate::count_cache::CountCache;
use crate::document::Document;
use crate::error::EngineError;
use crate::gather::{ChangeFlags, DocumentCapability, DocumentFsAbility, Progress, gather};
use crate::session::SeenGate;
use crate::watch::{CallEvent, Surroundings};

/// What the caller says about how a prompt is built; what it leaves open, the document, the provider and the
/// recipe decide, in that order.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildOptions {
    /// How sections are written down.
    pub format: Option<Format>,
    /// Whom the prompt is for.
    pub provider: Option<&'static Provider>,
    /// What the receiver can do with files.
    pub fs_ability: Option<FsAbility>,
    /// Whether it takes system text apart from the user's.
    pub supports_system_prompt: Option<bool>,
    /// Whether it opens `@path` references by itself.
    pub supports_file_attachments: Option<bool>,
    /// How many tokens the prompt may have.
    pub budget: Option<Tokens>,
    /// Who counts them.
    pub tokenizer: Option<Tokenizer>,
}

/// A prompt and what a person should know about it.
#[derive(Debug)]
pub struct Built {
    /// The prompt.
    pub prompt: Prompt,
    /// Sources that were left out or altered.
    pub problems: Vec<Problem>,
    counter: CountCache,
}

impl Built {
    /// The figures of the prompt; counts what has not been counted yet.
    pub fn metadata(&mut self) -> Metadata {
        let metadata = self.prompt.metadata(&self.counter);
        self.counter.save();
        metadata
    }
}

/// Builds prompts and walks sessions for one project.
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Settings,
    surroundings: Surroundings,
}

impl Engine {
    /// An engine with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, surroundings: Surroundings::default() }
    }

    /// The same engine, its calls watched.
    #[must_use]
    pub fn watched_by(mut self, watcher: impl Fn(CallEvent<'_>) + Send + Sync + 'static) -> Self {
        self.surroundings.watcher = Some(Arc::new(watcher));
        self
    }

    /// The same engine; its calls end when `stop` is raised.
    #[must_use]
    pub fn stopped_by(mut self, stop: Stop) -> Self {
        self.surroundings.stop = stop;
        self
    }

    /// The same engine; every request and its reply are kept in a directory, for a provider of type `replay`.
    #[must_use]
    pub fn recording_to(mut self, directory: Option<PathBuf>) -> Self {
        self.surroundings.record = directory.map(|directory| self.settings.current_dir.join(directory));
        self
    }

    /// The same engine; its runs and conversations ask this model, whatever the configuration says.
    #[must_use]
    pub fn with_model(mut self, model: Option<String>) -> Self {
        self.surroundings.model = model;
        self
    }

    /// The same engine; tool servers that nobody agreed to yet are started, and that is remembered for exactly their
    /// commands. `on_start` hears the name and the command of each.
    #[must_use]
    pub fn agreeing_to_servers(mut self, on_start: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.surroundings.agreed = Some(Arc::new(on_start));
        self
    }

    /// The same engine; decisions are made on this gate, and refused when another one is there.
    #[must_use]
    pub fn deciding_on(mut self, seen: SeenGate) -> Self {
        self.surroundings.seen = Some(seen);
        self
    }

    /// The same engine; decisions are refused when the hash of the gate does not begin like this.
    #[must_use]
    pub fn expecting(mut self, sha256: Option<String>) -> Self {
        self.surroundings.expected = sha256;
        self
    }

    /// The same engine; a session that it goes on with skips its gates from now on.
    #[must_use]
    pub fn skipping_gates(mut self, skips_gates: bool) -> Self {
        self.surroundings.skips_gates = skips_gates;
        self
    }

    /// The same engine; decisions are recorded as made on this surface.
    #[must_use]
    pub fn on_surface(mut self, surface: Surface) -> Self {
        self.surroundings.surface = Some(surface);
        self
    }

    /// The same engine; sessions, changes and runs that are not the user's are adopted when a command acts on one.
    /// `on_adopt` hears what it is and its id.
    #[must_use]
    pub fn adopting(mut self, on_adopt: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.surroundings.adopt = Some(Arc::new(on_adopt));
        self
    }

    /// What holds for every call.
    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    pub(crate) fn surroundings_mut(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }

    pub(crate) fn add_embedded(&mut self, name: &str) {
        self.settings.embedded_providers.insert(name.to_owned());
    }

    /// The settings it works with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Builds the prompt a document asks for.
    pub fn build(
        &self,
        document: Document,
        flags: &ChangeFlags,
        options: &BuildOptions,
        on_progress: &dyn Fn(Progress),
    ) -> Result<Built, EngineError> {
        let recipe = document.recipe();
        let tokenizer = tokenizer(options);
        let counter = CountCache::open(tokenizer, self.settings.cache_dir.as_deref());
        if options.budget.is_some() {
            counter.warm_up();
        }
        let gathered = gather(document, flags, &self.settings, on_progress)?;
        let options = Options {
            format: options.format.unwrap_or(natural_format(recipe)),
            capability: capability(recipe, gathered.capability, options),
            budget: options.budget,
            counter: &counter,
        };
        let prompt = PromptAggregator::global().aggregate(&gathered.request, &options)?;
        counter.save();
        let mut problems = gathered.problems;
        problems.extend(prompt.problems().iter().cloned());
        Ok(Built { prompt, problems, counter })
    }
}

/// The vocabulary asked for, else that of the provider; an estimate costs nothing.
fn tokenizer(options: &BuildOptions) -> Tokenizer {
    let of_provider = options.provider.map(|provider| provider.tokenizer);
    options.tokenizer.or(of_provider).unwrap_or(Tokenizer::Estimate)
}

fn natural_format(recipe: Recipe) -> Format {
    match recipe {
        Recipe::Session | Recipe::Reply => Format::Text,
        Recipe::Change => Format::Xml,
        Recipe::Workflow => Format::Messages,
    }
}

fn capability(recipe: Recipe, document: DocumentCapability, options: &BuildOptions) -> Capability {
    let provider = options.provider;
    let settings = |provider_config| FsAbilitySettings {
        flag: options.fs_ability,
        provider_config,
        global_config: None,
        provider: provider.and_then(|provider| provider.fs_ability),
    };
    let fs_ability = match document.fs_ability {
        DocumentFsAbility::Unset => Some(resolve_fs_ability(settings(None))),
        DocumentFsAbility::Known(ability) => Some(resolve_fs_ability(settings(Some(ability)))),
        DocumentFsAbility::Unknown => options.fs_ability,
    };
    let has_system_layers = match recipe {
        Recipe::Change | Recipe::Workflow => true,
        Recipe::Session | Recipe::Reply => false,
    };
    Capability {
        fs_ability,
        supports_system_prompt: options
            .supports_system_prompt
            .or(document.supports_system_prompt)
            .or(provider.map(|provider| provider.supports_system_prompt))
            .unwrap_or(has_system_layers),
        supports_file_attachments: options
            .supports_file_attachments
            .or(document.supports_file_attachments)
            .or(provider.map(|provider| provider.supports_file_attachments))
            .unwrap_or(false),
    }
}
