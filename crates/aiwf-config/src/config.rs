//! Combines files, flags and defaults into one configuration.
//!
//! Flags override the project's `.aiwf/config.toml`, which overrides the user's `~/.aiwf/config.toml`, which overrides
//! the defaults, setting by setting. A specific setting overrides a general one in any file: `[roles] default` in the
//! project's file does not override `[roles] generator` in the user's, nor `[gates] default` a named gate, nor
//! `[defaults] fs_ability` that of a provider. Settings that the project's file loosens apply only after the user
//! agreed to them (`checkout.rs`).

use std::collections::{BTreeMap, BTreeSet};

use crate::check_config::CheckConfig;
use crate::checkout::{self, Checkout};
use crate::config_file;
use crate::entry::Entry;
use crate::error::ConfigError;
use crate::flags::Flags;
use crate::gates::{Gates, GatesLayer};
use crate::layer_reader;
use crate::origin::{ConfigFile, Origin, Sourced};
use crate::price::{Price, Prices};
use crate::provider_config::ProviderConfig;
use crate::roles::{Roles, RolesLayer};
use crate::setting::{Listing, Resolve as _, Table as _, settings};
use crate::settings::Settings;
use crate::table_kinds::{List, NamedTable as _, Section, Tables};
use crate::tables::{
    BudgetConfig, BudgetLayer, ChangeConfig, ChangeLayer, ContextConfig, ContextLayer, DefaultsConfig,
    DefaultsLayer, McpConfig, McpLayer, NotifyConfig, NotifyLayer, SessionConfig, SessionLayer,
    StandardsConfig, StandardsLayer, ToolsConfig, ToolsLayer, TrustConfig, TrustLayer, WorkflowConfig,
    WorkflowLayer, WorktreeConfig, WorktreeLayer,
};
use crate::vocabulary::FsAbility;

settings! {
    /// The configuration in force, every value with its origin.
    pub Config from ConfigLayer {
        /// The provider of each role.
        roles: Roles = Section<RolesLayer>;
        /// Who approves at each gate.
        gates: Gates = Section<GatesLayer>;
        /// How sessions run.
        session: SessionConfig = Section<SessionLayer>;
        /// Additions to the standards of profiles.
        standards: StandardsConfig = Section<StandardsLayer>;
        /// The project context.
        context: ContextConfig = Section<ContextLayer>;
        /// How changes run.
        change: ChangeConfig = Section<ChangeLayer>;
        /// How runs of workflow packages work.
        workflow: WorkflowConfig = Section<WorkflowLayer>;
        /// Commands that check the results of phases, in order.
        checks: Vec<CheckConfig> = List<CheckConfig>;
        /// The copies of the project that agents work in.
        worktree: WorktreeConfig = Section<WorktreeLayer>;
        /// Notifications when a session waits or ends.
        notify: NotifyConfig = Section<NotifyLayer>;
        /// Limits of a session, a change or a run.
        budget: BudgetConfig = Section<BudgetLayer>;
        /// Prices of models, by name.
        prices: BTreeMap<String, Sourced<Price>> = Prices;
        /// Settings for every provider.
        defaults: DefaultsConfig = Section<DefaultsLayer>;
        /// Providers, by name.
        providers: BTreeMap<String, ProviderConfig> = Tables<ProviderConfig>;
        /// MCP servers.
        mcp: McpConfig = Section<McpLayer>;
        /// Tools of models.
        tools: ToolsConfig = Section<ToolsLayer>;
        /// Which sessions are trusted.
        trust: TrustConfig = Section<TrustLayer>;
        also users_base_urls: BTreeSet<String>;
        also checkout: Checkout;
    }
}

impl Config {
    /// Sets the model of a provider, like `--model`.
    pub fn set_model(&mut self, provider: &str, model: &str) {
        let origin = Origin::Flag("--model");
        let table = self.providers.entry(provider.to_owned()).or_insert_with(|| ProviderConfig::new(origin));
        table.model = Some(Sourced::new(model.to_owned(), origin));
    }

    /// Reads the files that exist and resolves them with `flags`.
    ///
    /// The problems of both files are reported together.
    pub fn load(settings: &Settings, flags: &Flags) -> Result<Self, ConfigError> {
        let mut user = ConfigLayer::default();
        let mut project = None;
        let mut problems = Vec::new();
        for found in config_file::read_all(settings)? {
            let (layer, more) = layer_reader::read(found.file, &found.root, &found.text);
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
        if let Some(micros) = settings.max_cost_micros {
            #[expect(clippy::cast_precision_loss, reason = "far below the largest exact number")]
            let max_cost = micros as f64 / 1e6;
            config.budget.max_cost = Some(Sourced::new(max_cost, Origin::Flag("--max-cost")));
        }
        for name in &settings.embedded_providers {
            config.add_embedded_provider(name);
        }
        Ok(config)
    }

    /// Adds a provider of the program, which replies with text unless a table with its name says otherwise.
    fn add_embedded_provider(&mut self, name: &str) {
        let table =
            self.providers.entry(name.to_owned()).or_insert_with(|| ProviderConfig::new(Origin::Default));
        table.fs_ability.get_or_insert_with(|| Sourced::new(FsAbility::None, Origin::Default));
    }

    /// Combines flags, `layers` (the last is the strongest) and defaults.
    pub(crate) fn resolve(layers: impl IntoIterator<Item = ConfigLayer>, flags: &Flags) -> Self {
        let mut files = ConfigLayer::default();
        let mut users_base_urls = BTreeSet::new();
        for layer in layers {
            let urls = layer.providers.values().filter_map(|provider| provider.base_url.as_ref());
            let users = urls.filter(|url| matches!(url.origin, Origin::File { file: ConfigFile::User, .. }));
            users_base_urls.extend(users.map(|url| url.value.clone()));
            files = layer.over(files);
        }
        Self { users_base_urls, ..flags.layer().over(files).resolve() }
    }

    /// Every setting that has a value, sorted by name.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = self.roles.entries_of_followers();
        ConfigLayer::list(self, "", Listing::All, &mut entries);
        entries.sort();
        entries
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
