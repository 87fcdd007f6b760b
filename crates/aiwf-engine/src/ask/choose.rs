//! Chooses a provider when nothing is configured, and explains the choice.
//!
//! The order: a flag, the configuration, an installed agent that starts, an API whose key is set, a person. What only
//! the checkout defines is neither started nor read before the user agreed to it.

use aiwf_config::{Config, Flags, Origin, Sourced};
use aiwf_provider::KeySource;
use aiwf_session::Role;
use serde::Serialize;

use super::providers::{self, untrusted_provider};
use crate::Engine;
use crate::session::session_error::SessionError;

/// Searched in this order.
const AGENTS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];
/// What people call agents; `gemini` is the API.
const SHORT_NAMES: [(&str, &str); 1] = [("claude", "claude-code")];
const APIS: [&str; 3] = ["anthropic", "openai", "gemini"];
/// The provider if nothing else is available.
const PERSON: &str = "manual";

/// A provider chosen for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChosenAgent {
    pub provider: String,
    pub why: String,
}

impl ChosenAgent {
    fn new(provider: &str, why: String) -> Self {
        Self { provider: provider.to_owned(), why }
    }
}

struct Lookups<'a> {
    /// The version of an agent's program, if it starts.
    version: &'a dyn Fn(&str) -> Option<String>,
    /// The variable with an API's key.
    key: &'a dyn Fn(&str) -> Option<String>,
}

impl Engine {
    /// Chooses the provider when nothing is configured.
    ///
    /// Runs the programs of agents one by one until one starts, and only if neither the flag nor the configuration
    /// names a provider.
    pub fn choose_agent(&self, flag: Option<&str>) -> Result<ChosenAgent, SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let flag = flag.map(|name| full_name(name, &config));
        if let Some(name) = flag {
            providers::refuse_unknown(name, &config, || "`--agent`".to_owned())?;
        }
        let version = |name: &str| {
            let installed = self.open_provider(name, &config).ok()?.version()?;
            let works = installed.check.is_some_and(|check| check.is_ok);
            works.then(|| installed.version.unwrap_or_default())
        };
        let key = |name: &str| match providers::setting(name, &config).key {
            KeySource::Variable { name, value: Some(_) } => Some(name),
            KeySource::Variable { .. } | KeySource::Command(_) | KeySource::None => None,
        };
        let chosen = choose(flag, &config, &Lookups { version: &version, key: &key });
        // Work that cannot begin is refused before there is a session for it.
        self.open_provider(&chosen.provider, &config)?.can_start()?;
        Ok(chosen)
    }
}

/// The provider that a short name means, unless a provider is configured under it.
fn full_name<'n>(name: &'n str, config: &Config) -> &'n str {
    let short = AGENTS.iter().find(|agent| SHORT_NAMES.contains(&(name, **agent)));
    short.filter(|_| !config.providers.contains_key(name)).copied().unwrap_or(name)
}

fn choose(flag: Option<&str>, config: &Config, lookups: &Lookups<'_>) -> ChosenAgent {
    if let Some(name) = flag {
        return ChosenAgent::new(name, "you named it".to_owned());
    }
    let roles = &config.roles;
    let generator = roles.named.get_key_value(&Role::GENERATOR);
    let configured = [(generator.map(|(_, name)| name), "generator"), (Some(&roles.default), "default")];
    let is_set = |sourced: &&Sourced<String>| sourced.origin != Origin::Default;
    for (named, key) in configured {
        if let Some(named) = named.filter(is_set) {
            return ChosenAgent::new(&named.value, format!("`[roles] {key}` sets it"));
        }
    }
    let trusted = |name: &&&str| untrusted_provider(name, config).is_none();
    for name in AGENTS.iter().filter(trusted) {
        if let Some(version) = (lookups.version)(name) {
            let version = short(&version);
            let space = if version.is_empty() { "" } else { " " };
            return ChosenAgent::new(name, format!("{name}{space}{version} is installed"));
        }
    }
    for name in APIS.iter().filter(trusted) {
        if let Some(variable) = (lookups.key)(name) {
            return ChosenAgent::new(name, format!("no agent was found, and `{variable}` is set"));
        }
    }
    ChosenAgent::new(PERSON, "no agent and no API key was found".to_owned())
}

/// Shortens a version for display: `2.1` for `2.1.325`.
fn short(version: &str) -> &str {
    version.match_indices('.').nth(1).and_then(|(at, _)| version.get(..at)).unwrap_or(version)
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
