//! Resolves provider names: builds the settings with which `aiwf-provider` opens them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use aiwf_config::{CheckoutProvider, Config, ConfigFile, EditForm, Flags, Origin, Settings, Sourced};
use aiwf_prompt::{Capability, FsAbility};
use aiwf_provider::{
    Ask, BaseUrl, Cassette, Confinement, FsAbilitySettings, KeySource, Kind, Permission, Provider,
    ProviderSetting, RecordedCapability, ReplySource, Secret, built_in_providers, kind_names, provider,
    resolve_fs_ability,
};

use crate::Engine;
use crate::ask::watch::CallEvent;
use crate::prompt::gather::DocumentFsAbility;
use crate::session::session_error::SessionError;

/// The configuration of a provider name.
pub(crate) struct ProviderEntry<'c> {
    pub(crate) kind: &'c str,
    pub(crate) table: Option<&'c aiwf_config::ProviderConfig>,
    pub(crate) built_in: Option<&'static Provider>,
}

pub(crate) fn named<'c>(name: &'c str, config: &'c Config) -> ProviderEntry<'c> {
    let table = config.providers.get(name);
    let kind = table.and_then(|table| table.kind.as_ref()).map_or(name, |kind| kind.value.as_str());
    ProviderEntry { kind, table, built_in: provider(kind) }
}

/// Whether the provider's API takes marks for its cache.
pub(crate) fn has_cache_marks(name: &str, config: &Config) -> bool {
    named(name, config).built_in.is_some_and(|known| known.has_cache_marks)
}

/// The value without its origin.
fn value<T: Clone>(sourced: Option<&Sourced<T>>) -> Option<T> {
    sourced.map(|sourced| sourced.value.clone())
}

/// The complete setting of a provider.
pub(crate) fn setting(name: &str, config: &Config) -> ProviderSetting {
    let ProviderEntry { kind, table, built_in } = named(name, config);
    let mut setting = ProviderSetting::new(name, kind);
    let is_untrusted = untrusted_provider(name, config).is_some();
    let is_agreed = config.checkout.providers.get(name).is_some_and(|provider| provider.is_agreed);
    setting.max_output_tokens = built_in.and_then(|built_in| built_in.max_output_tokens);
    setting.supports_system_prompt = built_in.is_some_and(|built_in| built_in.supports_system_prompt);
    setting.supports_file_attachments = built_in.is_some_and(|built_in| built_in.supports_file_attachments);
    let default_key = built_in.filter(|built_in| built_in.confinement == Confinement::NoHands);
    let mut key_variable = default_key.and_then(|built_in| built_in.key_variable).map(str::to_owned);
    let default_model = built_in.and_then(|built_in| built_in.default_model).map(str::to_owned);
    let Some(table) = table else {
        setting.key = key_source(key_variable, None);
        setting.model = default_model;
        return setting;
    };
    // A custom server has its own models.
    let default_model = default_model.filter(|_| table.base_url.is_none());
    setting.model = value(table.model.as_ref()).or(default_model);
    setting.base_url = table.base_url.as_ref().map(|url| BaseUrl {
        url: url.value.clone(),
        // A project's address counts as the user's once the user agreed to it; without consent nothing is opened.
        is_users: is_set_by_user(url.origin) || is_agreed || is_named_by_user(config, &url.value),
    });
    if table.base_url.is_some() {
        // A custom server does not get a vendor's key by default.
        key_variable = None;
    }
    key_variable = value(table.api_key_env.as_ref()).or(key_variable);
    setting.key = if is_untrusted {
        // The checkout names the variable, so its value is not even read.
        key_variable.map_or(KeySource::None, |name| KeySource::Variable { name, value: None })
    } else {
        key_source(key_variable, value(table.api_key_command.as_ref()))
    };
    let timeouts = &mut setting.timeouts;
    timeouts.connect = value(table.connect_timeout.as_ref()).unwrap_or(timeouts.connect);
    timeouts.total = value(table.timeout.as_ref()).unwrap_or(timeouts.total);
    timeouts.first_byte =
        value(table.first_byte_timeout.as_ref()).unwrap_or(timeouts.first_byte).min(timeouts.total);
    setting.program = value(table.program.as_ref()).map(Into::into);
    setting.argv = value(table.argv.as_ref()).unwrap_or_default();
    setting.reply = reply_source(table);
    setting.env = table.env.iter().map(|(name, value)| (name.clone(), value.value.clone())).collect();
    setting.dir = value(table.dir.as_ref());
    setting.max_output_tokens =
        table.max_output_tokens.as_ref().map(|tokens| tokens.value.get()).or(setting.max_output_tokens);
    if let Some(max) = &table.max_reply_bytes {
        setting.max_reply_bytes = max.value.get();
    }
    if let Some(supports) = &table.supports_system_prompt {
        setting.supports_system_prompt = supports.value;
    }
    if let Some(supports) = &table.supports_file_attachments {
        setting.supports_file_attachments = supports.value;
    }
    setting
}

fn is_set_by_user(origin: Origin) -> bool {
    !matches!(origin, Origin::File { file: ConfigFile::Project, .. })
}

/// Whether the user's own file sets this address for any provider.
fn is_named_by_user(config: &Config, url: &str) -> bool {
    config.users_base_urls.contains(url)
}

fn key_source(variable: Option<String>, command: Option<Vec<String>>) -> KeySource {
    match (command, variable) {
        (Some(argv), _) => KeySource::Command(argv),
        (None, Some(name)) => {
            let value = aiwf_config::variable(&name).map(Secret::new);
            KeySource::Variable { name, value }
        }
        (None, None) => KeySource::None,
    }
}

/// The task of a provider; it decides what the provider may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Plans, reviews, verdicts.
    Read,
    /// Files: it may write its reply.
    Write,
}

/// What a provider can take and may touch for a duty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ability {
    pub(crate) capability: Capability,
    /// The file access it would have without restrictions.
    pub(crate) lowered_from: Option<FsAbility>,
    pub(crate) permission: Permission,
    /// The agent whose system templates it uses; for recordings, the recorded one.
    pub(crate) template_agent: Option<&'static str>,
    /// Whether it supports tools natively; for recordings, whether the recorded provider did.
    pub(crate) has_native_tools: bool,
}

/// Abilities set by flags and documents; the configuration decides the rest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestedAbility {
    /// File access set by a flag.
    pub(crate) fs_ability: Option<FsAbility>,
    /// File access of a receiver such as `manual` if nothing sets it; `local-write` if `None`.
    pub(crate) default_fs_ability: Option<FsAbility>,
    /// File access set by the document.
    pub(crate) document: DocumentFsAbility,
    /// Whether it takes a separate system prompt.
    pub(crate) supports_system_prompt: Option<bool>,
    /// Whether files are referenced instead of included in the prompt.
    pub(crate) supports_file_attachments: Option<bool>,
    /// Whether an unnamed receiver takes a separate system prompt.
    pub(crate) has_system_layers: bool,
}

/// Resolves what a provider can take and may touch for a duty: the same answer for building, showing and sending.
///
/// The order: flags, document, the provider's table, the configuration's defaults, the provider's kind. An agent that
/// aiwf starts read-only cannot save its reply, so it is asked for text. Without a name, only flags, document and
/// configuration count.
pub(crate) fn resolve(
    name: Option<&str>,
    config: &Config,
    wanted: RequestedAbility,
    duty: Duty,
    call: &str,
) -> Result<Ability, SessionError> {
    let named = name.map(|name| named(name, config));
    let table = named.as_ref().and_then(|named| named.table);
    let built_in = named.as_ref().and_then(|named| named.built_in);
    let recorded = name.and_then(|name| recorded_capability(name, config, call));
    let from_config = |ability: aiwf_config::FsAbility| FsAbility::from_name(ability.as_str());
    let in_table =
        table.and_then(|table| table.fs_ability.as_ref()).and_then(|ability| from_config(ability.value));
    let settings = |provider_config| FsAbilitySettings {
        flag: wanted.fs_ability,
        provider_config,
        global_config: config.defaults.fs_ability.as_ref().and_then(|ability| from_config(ability.value)),
        provider: recorded
            .as_ref()
            .and_then(|recorded| FsAbility::from_name(&recorded.fs_ability))
            .or_else(|| own_fs_ability(table, built_in))
            .or(wanted.default_fs_ability),
    };
    let fs_ability = match wanted.document {
        DocumentFsAbility::Unset => Some(resolve_fs_ability(settings(in_table))),
        DocumentFsAbility::Known(ability) => Some(resolve_fs_ability(settings(Some(ability)))),
        DocumentFsAbility::Unknown => wanted.fs_ability,
    };
    let can_write = matches!(fs_ability, Some(FsAbility::LocalWrite | FsAbility::WriteOnly));
    let is_held = match built_in.map(|built_in| built_in.confinement) {
        Some(Confinement::ReadOnly) => true,
        Some(Confinement::ResponsePath) => duty == Duty::Read,
        Some(Confinement::NoHands | Confinement::Unconfined) | None => false,
    };
    let is_lowered = can_write && is_held;
    if let (Some(asked), Some(name)) = (wanted.fs_ability.filter(|_| is_lowered), name) {
        return Err(SessionError::HeldToReading { provider: name.to_owned(), asked: asked.as_str() });
    }
    let capability = Capability {
        fs_ability: if is_lowered { Some(FsAbility::None) } else { fs_ability },
        supports_system_prompt: wanted
            .supports_system_prompt
            .or_else(|| table.and_then(|table| Some(table.supports_system_prompt.as_ref()?.value)))
            .or_else(|| recorded.as_ref().map(|recorded| recorded.supports_system_prompt))
            .or_else(|| built_in.map(|built_in| built_in.supports_system_prompt))
            .unwrap_or(wanted.has_system_layers),
        supports_file_attachments: wanted
            .supports_file_attachments
            .or_else(|| table.and_then(|table| Some(table.supports_file_attachments.as_ref()?.value)))
            .or_else(|| recorded.as_ref().map(|recorded| recorded.supports_file_attachments))
            .unwrap_or_else(|| built_in.is_some_and(|built_in| built_in.supports_file_attachments)),
        sends_files: recorded.as_ref().map_or_else(
            || built_in.is_some_and(|built_in| built_in.sends_files),
            |recorded| recorded.sends_files,
        ),
    };
    Ok(Ability {
        capability,
        lowered_from: fs_ability.filter(|_| is_lowered),
        permission: if can_write && !is_lowered { Permission::WriteResponse } else { Permission::ReadOnly },
        template_agent: built_in
            .and_then(|built_in| built_in.template_agent)
            .or_else(|| known_agent(recorded.as_ref()?.template_agent.as_deref()?)),
        has_native_tools: built_in.is_some_and(|built_in| built_in.has_native_tools)
            || recorded.is_some_and(|recorded| recorded.has_native_tools),
    })
}

/// How the reply of a `command` is found.
fn reply_source(table: &aiwf_config::ProviderConfig) -> ReplySource {
    match table.reply.as_ref().map(|reply| reply.value.as_str()) {
        Some("file") => ReplySource::File,
        Some(reply) => match reply.strip_prefix("json:") {
            Some(pointer) => ReplySource::Json(pointer.to_owned()),
            None => ReplySource::Stdout,
        },
        None => ReplySource::Stdout,
    }
}

/// The file access of a provider by default: a `command` saves its reply only if its reply is a file.
fn own_fs_ability(
    table: Option<&aiwf_config::ProviderConfig>,
    built_in: Option<&Provider>,
) -> Option<FsAbility> {
    let built_in = built_in?;
    if built_in.kind == Kind::Command && table.map(reply_source) == Some(ReplySource::File) {
        return Some(FsAbility::LocalWrite);
    }
    built_in.fs_ability
}

/// Like [`resolve`], for a provider whose prompt has no document of its own.
pub(crate) fn ability(
    name: &str,
    config: &Config,
    fs_ability: Option<FsAbility>,
    duty: Duty,
    call: &str,
) -> Result<Ability, SessionError> {
    resolve(Some(name), config, RequestedAbility { fs_ability, ..RequestedAbility::default() }, duty, call)
}

/// The agent of that name, if it has templates.
fn known_agent(name: &str) -> Option<&'static str> {
    built_in_providers().iter().filter_map(|built_in| built_in.template_agent).find(|known| *known == name)
}

/// The capability of the recorded provider.
fn recorded_capability(name: &str, config: &Config, call: &str) -> Option<RecordedCapability> {
    let ProviderEntry { table, built_in, .. } = named(name, config);
    built_in.filter(|built_in| built_in.kind == Kind::Replay)?;
    cassette(table)?.capability(call)
}

fn cassette(table: Option<&aiwf_config::ProviderConfig>) -> Option<Cassette> {
    Some(Cassette::in_directory(table?.dir.as_ref()?.value.clone()))
}

/// The provider's context window in tokens, without the part reserved for the reply.
pub(crate) fn window(name: &str, config: &Config) -> Option<u64> {
    let ProviderEntry { table, built_in, .. } = named(name, config);
    let window = table
        .and_then(|table| table.context_window.as_ref().map(|window| window.value.get()))
        .or_else(|| built_in.and_then(|built_in| built_in.context_window))?;
    Some(window.saturating_sub(setting(name, config).max_output_tokens.unwrap_or(0)))
}

/// Whether a provider is a program that could change the project.
pub(crate) fn can_write_files(name: &str, config: &Config) -> bool {
    let built_in = named(name, config).built_in;
    built_in
        .is_some_and(|built_in| built_in.kind != Kind::Manual && built_in.confinement != Confinement::NoHands)
}

/// Whether a provider edits files itself, so that it gets a worktree instead of a request for edits in its reply.
///
/// True for agents, for a `command` configured that way, and for recordings that contain changes of files.
pub(crate) fn writes_files(name: &str, config: &Config) -> bool {
    let ProviderEntry { table, built_in, .. } = named(name, config);
    match built_in.map(|built_in| built_in.kind) {
        Some(Kind::ClaudeCode | Kind::Codex | Kind::GeminiCli) => true,
        Some(Kind::Command) => table.and_then(|table| table.write.as_ref()).is_some_and(|write| write.value),
        Some(Kind::Replay) => cassette(table).is_some_and(|cassette| cassette.has_changes()),
        Some(Kind::Manual | Kind::Anthropic | Kind::OpenAi | Kind::Gemini) | None => false,
    }
}

/// The form in which a provider is asked for changes that it cannot make itself.
pub(crate) fn edit_form(name: &str, config: &Config) -> EditForm {
    let own = named(name, config).table.and_then(|table| table.edit_form.as_ref());
    own.unwrap_or(&config.defaults.edit_form).value
}

/// Whether aiwf can keep a provider from writing. An unknown program can do whatever its user can.
pub(crate) fn is_confined(name: &str, config: &Config) -> bool {
    named(name, config).built_in.is_none_or(|built_in| built_in.confinement != Confinement::Unconfined)
}

/// Whether a program replies, so that tools can run in between.
pub(crate) fn can_use_tools(name: &str, config: &Config) -> bool {
    // Providers that are not built in come from the embedding program.
    named(name, config).built_in.is_none_or(|built_in| built_in.kind != Kind::Manual)
}

/// The agent whose system templates a provider uses.
pub(crate) fn template_agent(name: &str, config: &Config) -> Option<&'static str> {
    named(name, config).built_in.and_then(|built_in| built_in.template_agent)
}

/// The tokenizer for a provider's prompts.
pub(crate) fn tokenizer(name: &str, config: &Config) -> aiwf_prompt::Tokenizer {
    named(name, config).built_in.map_or(aiwf_prompt::Tokenizer::Estimate, |built_in| built_in.tokenizer)
}

/// A provider that the project's configuration defines or redirects without the user's consent.
///
/// People and recordings start no program, contact no server and get no key, so they need no consent.
pub(crate) fn untrusted_provider<'c>(name: &str, config: &'c Config) -> Option<&'c CheckoutProvider> {
    let is_harmless = named(name, config)
        .built_in
        .is_some_and(|built_in| matches!(built_in.kind, Kind::Manual | Kind::Replay));
    config.checkout.providers.get(name).filter(|provider| !provider.is_agreed && !is_harmless)
}

/// A provider shared between threads.
pub(crate) type SharedProvider = Arc<dyn Ask + Send + Sync>;

/// The providers that an engine and its clones opened, by name, each with the setting it was opened with.
///
/// If the setting has changed since, the provider is opened again.
#[derive(Clone, Default)]
pub(crate) struct OpenedProviders(Arc<Mutex<BTreeMap<String, (ProviderSetting, SharedProvider)>>>);

impl fmt::Debug for OpenedProviders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        formatter.debug_set().entries(opened.keys()).finish()
    }
}

impl OpenedProviders {
    fn get(&self, setting: &ProviderSetting) -> Option<SharedProvider> {
        let opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, provider) = opened.get(&setting.name)?;
        (of == setting).then(|| Arc::clone(provider))
    }

    fn insert(&self, setting: ProviderSetting, provider: &SharedProvider) {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        opened.insert(setting.name.clone(), (setting, Arc::clone(provider)));
    }
}

impl Engine {
    /// Adds a provider of the embedding program, usable by name like any other. It replaces a configured provider of
    /// that name.
    ///
    /// It gets everything in one prompt and replies with text; `[providers.NAME]` can give it more abilities.
    #[must_use]
    pub fn with_provider(
        mut self,
        name: impl Into<String>,
        provider: impl Ask + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        self.add_embedded(&name);
        self.call_context_mut().providers.insert(name, Arc::new(provider));
        self
    }

    /// Opens a provider once. Nothing is started, contacted or given a key without consent.
    pub(crate) fn open_provider(&self, name: &str, config: &Config) -> Result<SharedProvider, SessionError> {
        let call_context = self.call_context();
        if let Some(provider) = call_context.providers.get(name) {
            return Ok(Arc::clone(provider));
        }
        // Checked every time: consent may be withdrawn while an engine lives.
        if let Some(provider) = untrusted_provider(name, config) {
            let (name, shown) = (name.to_owned(), provider.shown.clone());
            return Err(SessionError::UntrustedProvider { name, shown });
        }
        let setting = setting(name, config);
        if let Some(provider) = call_context.opened.get(&setting) {
            return Ok(provider);
        }
        let provider: SharedProvider = aiwf_provider::open(setting.clone())?.into();
        call_context.opened.insert(setting, &provider);
        call_context.notify(CallEvent::ProviderOpened { provider: name });
        Ok(provider)
    }
}

/// Reads the configuration and checks its provider names; models set by flags override it.
pub(crate) fn load_config(settings: &Settings, flags: &Flags) -> Result<Config, SessionError> {
    let mut config = Config::load(settings, flags)?;
    let embedded = settings.embedded_providers.iter().map(String::as_str);
    let known: Vec<&str> = kind_names().into_iter().chain(embedded).collect();
    config.check_providers(&known)?;
    for (provider, model) in &settings.models {
        // A table would define a provider under an invalid name.
        if known.contains(&provider.as_str()) || config.providers.contains_key(provider) {
            config.set_model(provider, model);
        }
    }
    crate::helper::set_template_memory(config.session.max_template_mb.value);
    Ok(config)
}

/// Reports an unknown provider before anything is written.
pub(crate) fn refuse_unknown(
    name: &str,
    config: &Config,
    place: impl FnOnce() -> String,
) -> Result<(), SessionError> {
    let mut known: Vec<String> = kind_names().into_iter().map(str::to_owned).collect();
    known.extend(config.providers.keys().cloned());
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(SessionError::UnknownProvider { name: name.to_owned(), place: place(), known })
}

#[cfg(test)]
#[path = "providers_tests.rs"]
mod tests;
