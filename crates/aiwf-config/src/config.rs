//! Files, flags and defaults become one configuration.
//!
//! Flags win over the project's `.aiwf/config.toml`, that over the user's `~/.aiwf/config.toml`, that over the
//! defaults, setting by setting. What names one thing wins over what is said for all, wherever each stands:
//! `[roles] generator` in the user's file is not beaten by `[roles] default` in the project's, nor
//! `[gates] "planning.prompt"` by `[gates] default`, nor `[providers.NAME] fs_ability` by `[defaults]`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::config_file;
use crate::config_layer::{ConfigLayer, ProviderConfig};
use crate::error::ConfigError;
use crate::flags::Flags;
use crate::gate::{Approver, Gate, GateName};
use crate::origin::{Origin, Sourced};
use crate::settings::Settings;
use crate::vocabulary::{FsAbility, Role};

/// What people have set, every value with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who does what.
    pub roles: Roles,
    /// Who says yes where.
    pub gates: Gates,
    /// What providers can do with files that have no setting of their own.
    pub default_fs_ability: Option<Sourced<FsAbility>>,
    /// What is set for single providers, by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// How sessions run.
    pub session: SessionConfig,
}

/// The provider of each role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Whoever has no role of their own; `manual` when nobody says otherwise.
    pub default: Sourced<String>,
    /// The roles that are named.
    pub named: BTreeMap<Role, Sourced<String>>,
}

impl Roles {
    /// The provider of a role.
    pub fn get(&self, role: Role) -> &Sourced<String> {
        self.named.get(&role).unwrap_or(&self.default)
    }
}

/// How each gate works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gates {
    /// Every gate that is not named; a person decides when nobody says otherwise.
    pub default: Sourced<Gate>,
    /// The gates that are named.
    pub named: BTreeMap<GateName, Sourced<Gate>>,
}

impl Gates {
    /// How a gate works.
    pub fn get(&self, name: GateName) -> &Sourced<Gate> {
        self.named.get(&name).unwrap_or(&self.default)
    }
}

/// How sessions run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// How many iterations there may be; the first generation is 1.
    pub max_iterations: Sourced<NonZeroU32>,
    /// Whether edited prompts count as changed after approval.
    pub hash_prompts: Sourced<bool>,
    /// How many tokens a prompt may have; what the provider takes when it is not set.
    pub budget_tokens: Option<Sourced<NonZeroU32>>,
}

const DEFAULT_MAX_ITERATIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);

impl Config {
    /// Reads both files, as far as they exist, and resolves them.
    ///
    /// The problems of both files are reported together.
    pub fn load(settings: &Settings, flags: &Flags) -> Result<Self, ConfigError> {
        let mut layers = Vec::new();
        let mut problems = Vec::new();
        for found in config_file::read_all(settings)? {
            let (layer, more) = ConfigLayer::parse(found.file, &found.root, &found.text);
            layers.push(layer);
            problems.extend(more);
        }
        if problems.is_empty() {
            Ok(Self::resolve(layers, flags))
        } else {
            Err(ConfigError::invalid(problems))
        }
    }

    /// Flags over `layers`, of which the last is the strongest, over the defaults.
    pub fn resolve(layers: impl IntoIterator<Item = ConfigLayer>, flags: &Flags) -> Self {
        let files = layers.into_iter().fold(ConfigLayer::default(), |weaker, stronger| stronger.over(weaker));
        let mut merged = flags.layer().over(files);
        if let (Some(_), Some(flag)) = (flags.fs_ability, &merged.fs_ability) {
            for provider in merged.providers.values_mut() {
                provider.fs_ability = provider.fs_ability.as_ref().and(Some(flag.clone()));
            }
        }
        Self {
            roles: Roles {
                default: merged.default_role.unwrap_or_else(|| unset("manual".to_owned())),
                named: merged.roles,
            },
            gates: Gates {
                default: merged.default_gate.unwrap_or_else(|| unset(Gate::new(Approver::Manual))),
                named: merged.gates,
            },
            default_fs_ability: merged.fs_ability,
            providers: merged.providers,
            session: SessionConfig {
                max_iterations: merged.max_iterations.unwrap_or_else(|| unset(DEFAULT_MAX_ITERATIONS)),
                hash_prompts: merged.hash_prompts.unwrap_or_else(|| unset(true)),
                budget_tokens: merged.budget_tokens,
            },
        }
    }

    /// What flags and files say a provider can do with files: the flag, its own setting, the one for all.
    pub fn fs_ability(&self, provider: &str) -> Option<&Sourced<FsAbility>> {
        let own = self.providers.get(provider).and_then(|provider| provider.fs_ability.as_ref());
        own.or(self.default_fs_ability.as_ref())
    }
}

fn unset<T>(value: T) -> Sourced<T> {
    Sourced::new(value, Origin::Default)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
