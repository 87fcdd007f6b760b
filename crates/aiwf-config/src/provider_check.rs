//! Checks that every provider in the settings exists.
//!
//! This crate knows no provider by name, so the caller passes the built-in ones.

use crate::checkout::is_project;
use crate::config::Config;
use crate::error::ConfigError;
use crate::fault::ConfigFault;
use crate::gate::Approver;
use crate::name::nearest;
use crate::origin::Origin;
use crate::problem::ConfigProblem;

impl Config {
    /// Reports every setting with an unknown provider or provider type.
    ///
    /// A name is known if it is in `built_in` or has a `[providers.NAME]` table; a table with any other name needs a
    /// `type` from `built_in`. A project cannot change the type of a built-in provider: a user who chooses `codex` gets
    /// codex or an error.
    pub fn check_providers(&self, built_in: &[&str]) -> Result<(), ConfigError> {
        let known: Vec<&str> =
            built_in.iter().copied().chain(self.providers.keys().map(String::as_str)).collect();
        let mut problems = Vec::new();
        let mut check_name = |name: &str, origin: Origin| {
            if !known.contains(&name) {
                let near = nearest(name, known.iter().copied()).map(str::to_owned);
                let fault = ConfigFault::UnknownProvider { name: name.to_owned(), near };
                problems.push(ConfigProblem { origin, column: None, fault });
            }
        };
        for provider in std::iter::once(&self.roles.default).chain(self.roles.named.values()) {
            check_name(&provider.value, provider.origin);
        }
        for gate in std::iter::once(&self.gates.default).chain(self.gates.named.values()) {
            if let Approver::Ai(provider) = &gate.value.approver {
                check_name(provider, gate.origin);
            }
        }
        for agent in self.change.agents.values() {
            check_name(&agent.value, agent.origin);
        }
        if let Some(provider) = &self.workflow.provider {
            check_name(&provider.value, provider.origin);
        }
        let near = |name: &str| nearest(name, built_in.iter().copied()).map(str::to_owned);
        let types = || built_in.iter().map(|name| (*name).to_owned()).collect();
        for (name, provider) in &self.providers {
            let (origin, fault) = match &provider.kind {
                Some(kind)
                    if built_in.contains(&name.as_str())
                        && kind.value != *name
                        && is_project(kind.origin) =>
                {
                    let fault =
                        ConfigFault::BuiltInProvider { provider: name.clone(), kind: kind.value.clone() };
                    (kind.origin, fault)
                }
                Some(kind) if built_in.contains(&kind.value.as_str()) => continue,
                Some(kind) => (
                    kind.origin,
                    ConfigFault::UnknownType {
                        provider: name.clone(),
                        kind: kind.value.clone(),
                        near: near(&kind.value),
                        known: types(),
                    },
                ),
                None if built_in.contains(&name.as_str()) => continue,
                None => {
                    let fault =
                        ConfigFault::NoType { provider: name.clone(), near: near(name), known: types() };
                    (provider.origin, fault)
                }
            };
            problems.push(ConfigProblem { origin, column: None, fault });
        }
        if problems.is_empty() { Ok(()) } else { Err(ConfigError::invalid(problems)) }
    }
}

#[cfg(test)]
#[path = "provider_check_tests.rs"]
mod tests;
