//! Builds a prompt from a document: gather, compose, fit.

use std::rc::Rc;

use aiwf_config::{Config, Flags};
use aiwf_prompt::{
    Format, FsAbility, Metadata, Options, Problem, Prompt, PromptAggregator, Recipe, Tokenizer, Tokens,
};
use aiwf_provider::Payload;
use aiwf_session::{LeftOut, LeftOutKind};

use crate::Engine;
use crate::ask::payload::{breakpoint_sections, payload_of};
use crate::ask::providers::{self, Ability, Duty, RequestedAbility};
use crate::ask::tool_caller::PhaseTools;
use crate::ask::watch::CallEvent;
use crate::prompt::count_cache::CountCache;
use crate::prompt::document::Document;
use crate::prompt::gather::{ChangeFlags, ContextReport, Progress, gather};
use crate::prompt::left_out;
use crate::session::session_error::SessionError;

/// Options of the caller. The document, the provider and the recipe decide what is not set, in that order.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    pub format: Option<Format>,
    /// The receiver: a built-in or configured provider.
    pub provider: Option<String>,
    pub fs_ability: Option<FsAbility>,
    /// The file access of a receiver such as a person if nothing sets it; `local-write` by default.
    pub default_fs_ability: Option<FsAbility>,
    /// Whether the receiver takes a separate system prompt.
    pub supports_system_prompt: Option<bool>,
    /// Whether to reference files as `@path` instead of including them.
    pub supports_file_attachments: Option<bool>,
    /// Maximum number of tokens; by default the provider's context window.
    pub budget: Option<Tokens>,
    pub tokenizer: Option<Tokenizer>,
}

/// The receiver of a prompt, and the call it is built for.
#[derive(Clone, Copy)]
pub(crate) struct Receiver<'a> {
    pub(crate) config: &'a Config,
    pub(crate) duty: Duty,
    /// The name of the call in recordings.
    pub(crate) call: &'a str,
}

/// A prompt, with notes for the user.
#[derive(Debug)]
pub struct Built {
    pub prompt: Prompt,
    /// Sources that were left out or altered.
    pub problems: Vec<Problem>,
    /// Parts that the prompt leaves out or alters.
    pub left_out: Vec<LeftOut>,
    /// The files of the project context, when the prompt has one.
    pub context: Option<ContextReport>,
    pub(crate) ability: Ability,
    /// Whether the API of the receiver takes marks for its cache.
    has_cache_marks: bool,
    /// Tools in the receiver's native format.
    pub(crate) tools: Option<Rc<PhaseTools>>,
    counter: CountCache,
}

impl Built {
    /// Size and settings of the prompt; counts what has not been counted yet.
    pub fn metadata(&mut self) -> Metadata {
        let metadata = self.prompt.metadata(&self.counter);
        self.counter.save();
        metadata
    }

    pub fn payload(&self) -> Payload {
        let tools = self.tools.as_ref().map(|tools| tools.specs()).unwrap_or_default();
        Payload { tools, ..payload_of(&self.prompt, None) }
    }

    /// The sections after which a mark for the receiver's cache stands; `None` if its API takes none.
    pub fn cache_breakpoints(&self) -> Option<Vec<String>> {
        self.has_cache_marks.then(|| breakpoint_sections(&self.payload()))
    }

    /// The file access of the receiver, and the one it would have if it were not read-only.
    pub fn fs_ability(&self) -> (Option<FsAbility>, Option<FsAbility>) {
        (self.ability.capability.fs_ability, self.ability.lowered_from)
    }

    /// Notes about the tools.
    pub fn notes(&self) -> Vec<String> {
        self.tools.as_ref().map(|tools| tools.problems()).unwrap_or_default()
    }
}

impl Engine {
    /// Builds the prompt of a document, as `send` would send it.
    pub fn build(
        &self,
        document: Document,
        flags: &ChangeFlags,
        options: &BuildOptions,
        on_progress: &dyn Fn(Progress),
    ) -> Result<Built, SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        if let Some(name) = &options.provider {
            providers::refuse_unknown(name, &config, || "`--for`".to_owned())?;
        }
        let call = document.recipe().as_str();
        let receiver = Receiver { config: &config, duty: Duty::Read, call };
        self.build_for(document, flags, options, receiver, on_progress)
    }

    /// The only way from a document to a prompt.
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
        let counter = CountCache::open(tokenizer, self.settings().cache_dir.as_deref());
        if options.budget.is_some() {
            counter.warm_up();
        }
        let gathered = gather(document, flags, self.settings(), receiver.config, on_progress)?;
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
                    |window| format!("provider `{name}` has a context window of {window}"),
                    || {
                        format!(
                            "use a provider with a larger context window; if `{name}` has one, set its `context_window` in \
                             `[providers.{name}]`"
                        )
                    },
                ),
                _ => error,
            }
        })?;
        counter.save();
        self.call_context().notify(CallEvent::PromptBuilt { recipe: recipe.as_str() });
        let context = gathered.context;
        let mut problems = gathered.problems;
        let mut left_out = left_out::from_problems(&problems);
        left_out.extend(left_out::from_prompt(&prompt, limit));
        problems.extend(prompt.problems().iter().cloned());
        let has_cache_marks = provider.is_some_and(|name| providers::has_cache_marks(name, receiver.config));
        Ok(Built { prompt, problems, left_out, context, ability, has_cache_marks, tools: None, counter })
    }
}

fn natural_format(recipe: Recipe) -> Format {
    match recipe {
        Recipe::Session | Recipe::Reply => Format::Text,
        Recipe::Change => Format::Xml,
        Recipe::Workflow => Format::Messages,
    }
}
