//! Which provider does the work when a command needs no configuration, and why.
//!
//! A flag decides, else the configuration, else what is there: an agent's program that starts, an API whose key is set,
//! and a person in the end. What only a checkout defines is neither started nor looked at before the user agreed to it.

use aiwf_config::{Config, Flags, Origin, Sourced};
use aiwf_provider::KeySource;
use serde::Serialize;

use super::providers::{self, untrusted_provider};
use crate::Engine;
use crate::session::session_error::SessionError;

/// The agents whose programs are looked for, in this order.
const AGENTS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];
/// The APIs whose keys are looked for.
const APIS: [&str; 3] = ["anthropic", "openai", "gemini"];
/// Who answers when nothing is there.
const PERSON: &str = "manual";

/// A provider that was chosen for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChosenAgent {
    /// The provider.
    pub provider: String,
    /// Why it is this one, in a few words.
    pub why: String,
}

impl ChosenAgent {
    fn new(provider: &str, why: String) -> Self {
        Self { provider: provider.to_owned(), why }
    }
}

/// What is looked up while an agent is chosen.
struct Lookups<'a> {
    /// The version of an agent's program that starts.
    version: &'a dyn Fn(&str) -> Option<String>,
    /// The variable that holds an API's key.
    key: &'a dyn Fn(&str) -> Option<String>,
}

impl Engine {
    /// Chooses the provider for a command that needs no configuration.
    ///
    /// Programs of agents are run for their version, one after the other until one starts, and only when neither the
    /// flag nor the configuration names a provider.
    pub fn choose_agent(&self, flag: Option<&str>) -> Result<ChosenAgent, SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
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
        Ok(choose(flag, &config, &Lookups { version: &version, key: &key }))
    }
}

fn choose(flag: Option<&str>, config: &Config, lookups: &Lookups<'_>) -> ChosenAgent {
    if let Some(name) = flag {
        return ChosenAgent::new(name, "you named it".to_owned());
    }
    let roles = &config.roles;
    let generator = roles.named.iter().find(|(role, _)| role.as_str() == "generator");
    let configured = [(generator.map(|(_, name)| name), "generator"), (Some(&roles.default), "default")];
    let is_set = |sourced: &&Sourced<String>| sourced.origin != Origin::Default;
    for (named, key) in configured {
        if let Some(named) = named.filter(is_set) {
            return ChosenAgent::new(&named.value, format!("`[roles] {key}` names it"));
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

/// A version without what only a bug report needs: `2.1` of `2.1.325`.
fn short(version: &str) -> &str {
    version.match_indices('.').nth(1).and_then(|(at, _)| version.get(..at)).unwrap_or(version)
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
