//! Checks that the providers settings speak of exist.
//!
//! This crate knows no provider by name, so the caller says which are built in.

use crate::config::Config;
use crate::error::ConfigError;
use crate::gate::{Approver, GateName};
use crate::name::{nearest, ticked};
use crate::origin::Origin;
use crate::problem::ConfigProblem;
use crate::vocabulary::Role;

impl Config {
    /// Reports every setting that names a provider or a type of provider that does not exist.
    ///
    /// A name exists if it is one of `built_in` or has a `[providers.NAME]` table; a table under any other name
    /// needs a `type`, which is one of `built_in`.
    pub fn check_providers(&self, built_in: &[&str]) -> Result<(), ConfigError> {
        let known: Vec<&str> =
            built_in.iter().copied().chain(self.providers.keys().map(String::as_str)).collect();
        let mut problems = Vec::new();
        let mut check_name = |name: &str, origin: Origin| {
            if !known.contains(&name) {
                problems.push(
                    ConfigProblem::new(origin, format!("unknown provider `{name}`"))
                        .with_nearest(nearest(name, known.iter().copied()))
                        .with_advice("`aiwf providers` lists all; a table `[providers.NAME]` adds one"),
                );
            }
        };
        for role in Role::ALL {
            let provider = self.roles.get(role);
            check_name(&provider.value, provider.origin);
        }
        for name in GateName::ALL {
            let gate = self.gates.get(name);
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
        for (name, provider) in &self.providers {
            match &provider.kind {
                Some(kind) if built_in.contains(&kind.value.as_str()) => {}
                Some(kind) => problems.push(
                    ConfigProblem::new(
                        kind.origin,
                        format!("provider `{name}` has the unknown type `{}`", kind.value),
                    )
                    .with_nearest(nearest(&kind.value, built_in.iter().copied()))
                    .with_advice(format!("types: {}", ticked(built_in.iter().copied()))),
                ),
                None if built_in.contains(&name.as_str()) => {}
                None => problems.push(
                    ConfigProblem::new(provider.origin, format!("provider `{name}` has no `type`"))
                        .with_nearest(nearest(name, built_in.iter().copied()))
                        .with_advice(format!("add `type`, one of {}", ticked(built_in.iter().copied()))),
                ),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(ConfigError::invalid(problems)) }
    }
}

#[cfg(test)]
#[path = "provider_check_tests.rs"]
mod tests;
