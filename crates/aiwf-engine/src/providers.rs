//! Providers by the name a session gives them: built-in ones, and those of the configuration.

use aiwf_config::{Config, Flags, Settings};
use aiwf_prompt::{Capability, FsAbility};
use aiwf_provider::{
    Ask, Cassette, FsAbilitySettings, Manual, Replay, built_in_providers, provider, resolve_fs_ability,
};
use serde::Serialize;

use crate::Engine;
use crate::session_error::SessionError;

/// The kind of provider that answers from recordings.
const REPLAY: &str = "replay";
/// The kind of provider that is a person.
const MANUAL: &str = "manual";

/// Every name that can be used without a table of its own.
pub(crate) fn known_names() -> Vec<&'static str> {
    built_in_providers().iter().map(|provider| provider.name).chain([REPLAY]).collect()
}

/// What stands behind a name.
struct Named<'c> {
    kind: String,
    config: Option<&'c aiwf_config::ProviderConfig>,
}

fn named<'c>(name: &str, config: &'c Config) -> Named<'c> {
    let table = config.providers.get(name);
    let kind = table
        .and_then(|table| table.kind.as_ref())
        .map_or_else(|| name.to_owned(), |kind| kind.value.clone());
    Named { kind, config: table }
}

/// What a provider can take, by its table, its kind and the defaults.
pub(crate) fn capability(name: &str, config: &Config, flag: Option<FsAbility>) -> Capability {
    let Named { kind, config: table } = named(name, config);
    let built_in = provider(&kind);
    // A recording answers with text alone unless its table says more.
    let of_kind = if kind == REPLAY {
        Some(FsAbility::None)
    } else {
        built_in.and_then(|built_in| built_in.fs_ability)
    };
    let from_config = |ability: aiwf_config::FsAbility| FsAbility::from_name(ability.as_str());
    let fs_ability = resolve_fs_ability(FsAbilitySettings {
        flag,
        provider_config: table
            .and_then(|table| table.fs_ability.as_ref())
            .and_then(|ability| from_config(ability.value)),
        global_config: config.default_fs_ability.as_ref().and_then(|ability| from_config(ability.value)),
        provider: of_kind,
    });
    Capability {
        fs_ability: Some(fs_ability),
        supports_system_prompt: table.and_then(|table| table.supports_system_prompt.as_ref()).map_or_else(
            || built_in.is_some_and(|built_in| built_in.supports_system_prompt),
            |value| value.value,
        ),
        supports_file_attachments: table
            .and_then(|table| table.supports_file_attachments.as_ref())
            .map_or_else(
                || built_in.is_some_and(|built_in| built_in.supports_file_attachments),
                |value| value.value,
            ),
    }
}

/// Opens a provider so that it can be asked.
pub(crate) fn open(name: &str, config: &Config) -> Result<Box<dyn Ask>, SessionError> {
    let Named { kind, config: table } = named(name, config);
    match kind.as_str() {
        MANUAL => Ok(Box::new(Manual)),
        REPLAY => {
            let dir = table.and_then(|table| table.dir.as_ref());
            let dir = dir
                .ok_or_else(|| SessionError::ProviderSetting { provider: name.to_owned(), setting: "dir" })?;
            Ok(Box::new(Replay::new(Cassette::in_directory(dir.value.clone()))))
        }
        _ => Err(SessionError::ProviderCannotAsk { provider: name.to_owned(), kind }),
    }
}

/// Reads the configuration and checks the provider names in it.
pub(crate) fn load_config(settings: &Settings, flags: &Flags) -> Result<Config, SessionError> {
    let config = Config::load(settings, flags)?;
    config.check_providers(&known_names())?;
    Ok(config)
}

/// What is known about a provider.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderReport {
    /// Its name.
    pub name: String,
    /// What kind of provider it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is.
    pub description: String,
    /// What it can do with files, as it would be used.
    pub fs_ability: &'static str,
    /// Whether it takes system text apart from the user's.
    pub supports_system_prompt: bool,
    /// Whether it opens `@path` references by itself.
    pub supports_file_attachments: bool,
    /// Whether this version can ask it.
    pub can_be_asked: bool,
}

impl Engine {
    /// Every provider: the built-in ones and those of the configuration.
    pub fn providers(&self) -> Result<Vec<ProviderReport>, SessionError> {
        let config = load_config(self.settings(), &Flags::default())?;
        let mut names: Vec<String> = known_names().into_iter().map(str::to_owned).collect();
        names.extend(config.providers.keys().cloned());
        names.sort();
        names.dedup();
        Ok(names.into_iter().map(|name| report(name, &config)).collect())
    }
}

fn report(name: String, config: &Config) -> ProviderReport {
    let kind = named(&name, config).kind;
    let capability = capability(&name, config, None);
    let description = match provider(&kind) {
        Some(built_in) => built_in.description,
        None => "recorded answers, offline",
    };
    ProviderReport {
        can_be_asked: open(&name, config).is_ok(),
        description: description.to_owned(),
        fs_ability: capability.fs_ability.map_or("unknown", FsAbility::as_str),
        supports_system_prompt: capability.supports_system_prompt,
        supports_file_attachments: capability.supports_file_attachments,
        kind,
        name,
    }
}
