//! The way from a document to a prompt: gather, compose, fit.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use aiwf_config::{Config, Flags, Settings};
use aiwf_prompt::{
    Format, FsAbility, Metadata, Options, Problem, Prompt, PromptAggregator, Recipe, Tokenizer, Tokens,
};
use aiwf_provider::{Payload, Stop};
use aiwf_session::{LeftOut, LeftOutKind, Surface};

use crate::ask::payload::payload_of;
use crate::ask::providers::{self, Ability, Duty, RequestedAbility};
use crate::ask::tool_caller::PhaseTools;
use crate::ask::watch::{CallContext, CallEvent};
use crate::prompt::count_cache::CountCache;
use crate::prompt::document::Document;
use crate::prompt::gather::{ChangeFlags, Progress, gather};
use crate::prompt::left_out;
use crate::session::SeenGate;
use crate::session::session_error::SessionError;

/// What the caller says about how a prompt is built; what it leaves open, the document, the provider and the
/// recipe decide, in that order.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// How sections are written down.
    pub format: Option<Format>,
    /// Whom the prompt is for: a built-in provider, or one of the configuration.
    pub provider: Option<String>,
    /// What the receiver can do with files.
    pub fs_ability: Option<FsAbility>,
    /// The same for a receiver that does not say, such as a person, when no setting does; `local-write` by default.
    pub default_fs_ability: Option<FsAbility>,
    /// Whether it takes system text apart from the user's.
    pub supports_system_prompt: Option<bool>,
    /// Whether files are named as `@path` instead of standing in the prompt.
    pub supports_file_attachments: Option<bool>,
    /// How many tokens the prompt may have; by default what the provider reads at once.
    pub budget: Option<Tokens>,
    /// Who counts them.
    pub tokenizer: Option<Tokenizer>,
}

/// For whom a prompt is built, and for which call.
#[derive(Clone, Copy)]
pub(crate) struct Receiver<'a> {
    pub(crate) config: &'a Config,
    pub(crate) duty: Duty,
    /// What the call is called in recordings.
    pub(crate) call: &'a str,
}

/// A prompt and what a person should know about it.
#[derive(Debug)]
pub struct Built {
    /// The prompt.
    pub prompt: Prompt,
    /// Sources that were left out or altered.
    pub problems: Vec<Problem>,
    /// Everything that it was to hold and does not, or not as it is.
    pub left_out: Vec<LeftOut>,
    pub(crate) ability: Ability,
    /// The tools that the receiver calls by its own means.
    pub(crate) tools: Option<Rc<PhaseTools>>,
    counter: CountCache,
}

impl Built {
    /// The figures of the prompt; counts what has not been counted yet.
    pub fn metadata(&mut self) -> Metadata {
        let metadata = self.prompt.metadata(&self.counter);
        self.counter.save();
        metadata
    }

    /// What is handed over.
    pub fn payload(&self) -> Payload {
        let tools = self.tools.as_ref().map(|tools| tools.specs()).unwrap_or_default();
        Payload { tools, ..payload_of(&self.prompt, None) }
    }

    /// What the receiver can do with files, and what it could do if it were not held to reading.
    pub fn fs_ability(&self) -> (Option<FsAbility>, Option<FsAbility>) {
        (self.ability.capability.fs_ability, self.ability.lowered_from)
    }

    /// Things worth saying about the tools.
    pub fn notes(&self) -> Vec<String> {
        self.tools.as_ref().map(|tools| tools.problems()).unwrap_or_default()
    }
}

/// Builds prompts and walks sessions for one project.
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Settings,
    call_context: CallContext,
}

impl Engine {
    /// An engine with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, call_context: CallContext::default() }
    }

    /// The same engine, its calls watched.
    #[must_use]
    pub fn watched_by(mut self, watcher: impl Fn(CallEvent<'_>) + Send + Sync + 'static) -> Self {
        self.call_context.watcher = Some(Arc::new(watcher));
        self
    }

    /// The same engine; its calls end when `stop` is raised.
    #[must_use]
    pub fn stopped_by(mut self, stop: Stop) -> Self {
        self.call_context.stop = stop;
        self
    }

    /// The same engine; every request and its reply are kept in a directory, for a provider of type `replay`.
    #[must_use]
    pub fn recording_to(mut self, directory: Option<PathBuf>) -> Self {
        self.call_context.record = directory.map(|directory| self.settings.current_dir.join(directory));
        self
    }

    /// The same engine; its runs and conversations ask this model, whatever the configuration says.
    #[must_use]
    pub fn with_model(mut self, model: Option<String>) -> Self {
        self.call_context.model = model;
        self
    }

    /// The same engine; this provider is asked for this model, whatever the configuration says.
    #[must_use]
    pub fn with_model_of(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        self.settings.models.insert(provider.into(), model.into());
        self
    }

    /// The same engine; no session may cost more than this, in millionths of a dollar, whatever the configuration says.
    #[must_use]
    pub fn with_max_cost(mut self, micros: Option<u64>) -> Self {
        self.settings.max_cost_micros = micros.or(self.settings.max_cost_micros);
        self
    }

    /// The same engine; tool servers that nobody agreed to yet are started, and that is remembered for exactly their
    /// commands. `on_start` hears the name and the command of each.
    #[must_use]
    pub fn agreeing_to_servers(mut self, on_start: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.call_context.agreed = Some(Arc::new(on_start));
        self
    }

    /// The same engine; decisions are made on this gate, and refused when another one is there.
    #[must_use]
    pub fn deciding_on(mut self, seen: SeenGate) -> Self {
        self.call_context.seen = Some(seen);
        self
    }

    /// The same engine; decisions are refused when the hash of the gate does not begin like this.
    #[must_use]
    pub fn expecting(mut self, sha256: Option<String>) -> Self {
        self.call_context.expected = sha256;
        self
    }

    /// The same engine; a session that it goes on with skips its gates from now on.
    #[must_use]
    pub fn skipping_gates(mut self, skips_gates: bool) -> Self {
        self.call_context.skips_gates = skips_gates;
        self
    }

    /// The same engine; decisions are recorded as made on this surface.
    #[must_use]
    pub fn on_surface(mut self, surface: Surface) -> Self {
        self.call_context.surface = Some(surface);
        self
    }

    /// The same engine; sessions, changes and runs that are not the user's are adopted when a command acts on one.
    /// `on_adopt` hears what it is and its id.
    #[must_use]
    pub fn adopting(mut self, on_adopt: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.call_context.adopt = Some(Arc::new(on_adopt));
        self
    }

    /// What holds for every call.
    pub(crate) fn call_context(&self) -> &CallContext {
        &self.call_context
    }

    pub(crate) fn call_context_mut(&mut self) -> &mut CallContext {
        &mut self.call_context
    }

    pub(crate) fn add_embedded(&mut self, name: &str) {
        self.settings.embedded_providers.insert(name.to_owned());
    }

    /// The settings it works with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same engine; what the receivers of the prompts it writes can do with files is what a flag says.
    #[must_use]
    pub fn with_fs_ability(mut self, fs_ability: Option<FsAbility>) -> Self {
        self.call_context.fs_ability = fs_ability;
        self
    }

    /// Builds the prompt a document asks for, as `send` would send it.
    pub fn build(
        &self,
        document: Document,
        flags: &ChangeFlags,
        options: &BuildOptions,
        on_progress: &dyn Fn(Progress),
    ) -> Result<Built, SessionError> {
        let config = providers::load_config(&self.settings, &Flags::default())?;
        if let Some(name) = &options.provider {
            providers::refuse_unknown(name, &config, || "`--for`".to_owned())?;
        }
        let call = document.recipe().as_str();
        let receiver = Receiver { config: &config, duty: Duty::Read, call };
        self.build_for(document, flags, options, receiver, on_progress)
    }

    /// The one way from a document to a prompt, whoever asks for it.
    pub(crate) fn build_for(
        &self,
        document: Document,
        flags: &ChangeFlags,
        options: &BuildOptions,
        receiver: Receiver<'_>,
        on_progress: &dyn Fn(Progress),
    ) -> Result<Built, SessionError> {
        let recipe = document.recipe();
        let provider = options.provider.as_deref();
        let of_provider = provider.map(|name| providers::tokenizer(name, receiver.config));
        let tokenizer = options.tokenizer.or(of_provider).unwrap_or(Tokenizer::Estimate);
        let counter = CountCache::open(tokenizer, self.settings.cache_dir.as_deref());
        if options.budget.is_some() {
            counter.warm_up();
        }
        let gathered = gather(document, flags, &self.settings, on_progress)?;
        let wanted = RequestedAbility {
            fs_ability: options.fs_ability,
            default_fs_ability: options.default_fs_ability,
            document: gathered.capability.fs_ability,
            supports_system_prompt: options
                .supports_system_prompt
                .or(gathered.capability.supports_system_prompt),
            supports_file_attachments: options
                .supports_file_attachments
                .or(gathered.capability.supports_file_attachments),
            has_system_layers: matches!(recipe, Recipe::Change | Recipe::Workflow),
        };
        let ability = providers::resolve(provider, receiver.config, wanted, receiver.duty, receiver.call)?;
        let window = || provider.and_then(|name| providers::window(name, receiver.config)).map(Tokens);
        let limit = match options.budget {
            Some(budget) => Some((budget, LeftOutKind::Budget)),
            None => window().map(|window| (window, LeftOutKind::Window)),
        };
        let options = Options {
            format: options.format.unwrap_or(natural_format(recipe)),
            capability: ability.capability,
            budget: limit.map(|(tokens, _)| tokens),
            counter: &counter,
        };
        let prompt = PromptAggregator::global().aggregate(&gathered.request, &options).map_err(|error| {
            let error = SessionError::from(error);
            match (limit, provider) {
                (Some((_, LeftOutKind::Window)), Some(name)) => error.with_limit(
                    |window| format!("provider `{name}` reads {window} at once"),
                    || {
                        format!(
                            "use a provider that reads more at once; if `{name}` does, set its `context_window` in \
                             `[providers.{name}]`"
                        )
                    },
                ),
                _ => error,
            }
        })?;
        counter.save();
        self.call_context.notify(CallEvent::PromptBuilt { recipe: recipe.as_str() });
        let mut problems = gathered.problems;
        let mut left_out = left_out::from_problems(&problems);
        left_out.extend(left_out::from_prompt(&prompt, limit));
        problems.extend(prompt.problems().iter().cloned());
        Ok(Built { prompt, problems, left_out, ability, tools: None, counter })
    }
}

fn natural_format(recipe: Recipe) -> Format {
    match recipe {
        Recipe::Session | Recipe::Reply => Format::Text,
        Recipe::Change => Format::Xml,
        Recipe::Workflow => Format::Messages,
    }
}
