//! Files, flags and defaults become one configuration.
//!
//! Flags win over the project's `.aiwf/config.toml`, that over the user's `~/.aiwf/config.toml`, that over the
//! defaults, setting by setting. What names one thing wins over what is said for all, wherever each stands:
//! `[roles] generator` in the user's file is not beaten by `[roles] default` in the project's, nor
//! `[gates] "planning.prompt"` by `[gates] default`, nor `[providers.NAME] fs_ability` by `[defaults]`. What the
//! project's file loosens counts only after the user agreed to it (`checkout.rs`).

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

use crate::checkout::{self, Checkout};
use crate::config_file;
use crate::config_layer::{ConfigLayer, Price, ProviderConfig, StandardsConfig};
use crate::error::ConfigError;
use crate::flags::Flags;
use crate::gate::{Approver, Gate};
use crate::origin::{ConfigFile, Origin, Sourced};
use crate::settings::Settings;
use crate::tools_config::{self, McpConfig, ToolsConfig};
use crate::vocabulary::{Adopt, FsAbility};
use crate::workflow_config::{self, WorkflowConfig};
use aiwf_session::{GatePattern, Phase, Role, Stage};

/// What people have set, every value with its origin.
#[derive(Clone, Debug, PartialEq)]
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
    /// What a session or a change may cost.
    pub budget: BudgetConfig,
    /// What models cost, by name.
    pub prices: BTreeMap<String, Sourced<Price>>,
    /// How changes run.
    pub change: ChangeConfig,
    /// What is added to the standards of profiles.
    pub standards: StandardsConfig,
    /// The MCP servers there are.
    pub mcp: McpConfig,
    /// How tools are used.
    pub tools: ToolsConfig,
    /// How runs of workflow packages go.
    pub workflow: WorkflowConfig,
    /// What is trusted.
    pub trust: TrustConfig,
    /// What the project's file wants that needs the user's consent.
    pub checkout: Checkout,
}

/// What is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustConfig {
    /// What happens to sessions that the user did not create.
    pub adopt: Sourced<Adopt>,
}

/// What a session or a change may cost; what is not set has no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetConfig {
    /// How many calls.
    pub max_calls: Option<Sourced<NonZeroU64>>,
    /// How many tokens, sent and received.
    pub max_tokens: Option<Sourced<NonZeroU64>>,
    /// How many dollars.
    pub max_cost: Option<Sourced<f64>>,
}

/// How changes run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeConfig {
    /// The provider of each phase that has one of its own.
    pub agents: BTreeMap<String, Sourced<String>>,
    /// Globs of the files that every phase sees.
    pub files: Option<Sourced<Vec<String>>>,
    /// How many rounds a loop may take.
    pub max_rounds: Sourced<NonZeroU32>,
    /// Whether the agent that implements may edit the project itself.
    pub write: Sourced<bool>,
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
    /// The gates that are named, by pattern.
    pub named: BTreeMap<GatePattern, Sourced<Gate>>,
}

impl Gates {
    /// How a gate works, when somebody decided it: a flag wins, then the narrower pattern, then the stronger file.
    pub fn decided(&self, phase: Phase, stage: Stage) -> Option<&Sourced<Gate>> {
        let about = self.named.iter().filter(|(pattern, _)| pattern.matches(phase, stage));
        let strongest = about.max_by_key(|(pattern, gate)| {
            (matches!(gate.origin, Origin::Flag(_)), pattern.specificity(), gate.origin.rank())
        });
        let is_set = |gate: &&Sourced<Gate>| gate.origin != Origin::Default;
        strongest.map(|(_, gate)| gate).or_else(|| Some(&self.default).filter(is_set))
    }

    /// How a gate works.
    pub fn get(&self, phase: Phase, stage: Stage) -> &Sourced<Gate> {
        self.decided(phase, stage).unwrap_or(&self.default)
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
    /// How many megabytes of memory a template that is not built in may take.
    pub max_template_mb: Sourced<NonZeroU32>,
}

pub(crate) const DEFAULT_MAX_ITERATIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);
pub(crate) const DEFAULT_MAX_TEMPLATE_MB: NonZeroU32 = NonZeroU32::MIN.saturating_add(63);
pub(crate) const DEFAULT_MAX_ROUNDS: NonZeroU32 = NonZeroU32::MIN.saturating_add(2);

impl Config {
    /// Sets the model of a provider, as a flag of the command line names it.
    pub fn set_model(&mut self, provider: &str, model: &str) {
        let origin = Origin::Flag("--model");
        let table = self.providers.entry(provider.to_owned()).or_insert_with(|| ProviderConfig::new(origin));
        table.model = Some(Sourced::new(model.to_owned(), origin));
    }

    /// Reads both files, as far as they exist, and resolves them.
    ///
    /// The problems of both files are reported together.
    pub fn load(settings: &Settings, flags: &Flags) -> Result<Self, ConfigError> {
        let mut user = ConfigLayer::default();
        let mut project = None;
        let mut problems = Vec::new();
        for found in config_file::read_all(settings)? {
            let (layer, more) = ConfigLayer::parse(found.file, &found.root, &found.text);
            match found.file {
                ConfigFile::User => user = layer,
                ConfigFile::Project => project = Some(layer),
            }
            problems.extend(more);
        }
        if !problems.is_empty() {
            return Err(ConfigError::invalid(problems));
        }
        let mut config = if let Some(project) = project {
            let consents = match settings.consents() {
                Some(consents) => consents.all()?,
                None => Vec::new(),
            };
            let (project, checkout) = checkout::confine(&user, project, &settings.project_root, &consents);
            Self { checkout, ..Self::resolve([user, project], flags) }
        } else {
            Self::resolve([user], flags)
        };
        for name in &settings.embedded_providers {
            config.add_embedded_provider(name);
        }
        Ok(config)
    }

    /// A provider that the program brings itself: it replies with text, unless a table of that name says otherwise.
    fn add_embedded_provider(&mut self, name: &str) {
        let table =
            self.providers.entry(name.to_owned()).or_insert_with(|| ProviderConfig::new(Origin::Default));
        table.fs_ability.get_or_insert_with(|| unset(FsAbility::None));
    }

    /// Flags over `layers`, of which the last is the strongest, over the defaults.
    pub(crate) fn resolve(layers: impl IntoIterator<Item = ConfigLayer>, flags: &Flags) -> Self {
        let files = layers.into_iter().fold(ConfigLayer::default(), |weaker, stronger| stronger.over(weaker));
        let merged = flags.layer().over(files);
        let (mcp, tools) = tools_config::resolve(merged.tools);
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
                max_template_mb: merged.max_template_mb.unwrap_or_else(|| unset(DEFAULT_MAX_TEMPLATE_MB)),
            },
            budget: BudgetConfig {
                max_calls: merged.max_calls,
                max_tokens: merged.max_tokens,
                max_cost: merged.max_cost,
            },
            prices: merged.prices,
            change: ChangeConfig {
                agents: merged.change_agents,
                files: merged.change_files,
                max_rounds: merged.max_rounds.unwrap_or_else(|| unset(DEFAULT_MAX_ROUNDS)),
                write: merged.change_write.unwrap_or_else(|| unset(false)),
            },
            standards: merged.standards,
            mcp,
            tools,
            workflow: workflow_config::resolve(merged.workflow),
            trust: TrustConfig { adopt: merged.adopt.unwrap_or_else(|| unset(Adopt::Ask)) },
            checkout: Checkout::default(),
        }
    }
}

fn unset<T>(value: T) -> Sourced<T> {
    Sourced::new(value, Origin::Default)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
