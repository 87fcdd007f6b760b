//! What one place says: a file, the flags, or the merge of several.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::gate::Gate;
use crate::layer_reader;
use crate::origin::{ConfigFile, Origin, Sourced};
use crate::problem::ConfigProblem;
use crate::tools_config::ToolsLayer;
use crate::vocabulary::{Adopt, FsAbility};
use crate::workflow_config::WorkflowLayer;
use aiwf_session::{GatePattern, Role};

/// What one place says; what it leaves open is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConfigLayer {
    /// `[roles] default`.
    pub(crate) default_role: Option<Sourced<String>>,
    /// `[roles]`, by role.
    pub(crate) roles: BTreeMap<Role, Sourced<String>>,
    /// `[gates] default`.
    pub(crate) default_gate: Option<Sourced<Gate>>,
    /// `[gates]`, by gate. A gate is one value: a layer that names it says all of it.
    pub(crate) gates: BTreeMap<GatePattern, Sourced<Gate>>,
    /// `[defaults] fs_ability`.
    pub(crate) fs_ability: Option<Sourced<FsAbility>>,
    /// `[providers.NAME]`.
    pub(crate) providers: BTreeMap<String, ProviderConfig>,
    /// `[session] max_iterations`.
    pub(crate) max_iterations: Option<Sourced<NonZeroU32>>,
    /// `[session] hash_prompts`.
    pub(crate) hash_prompts: Option<Sourced<bool>>,
    /// `[session] budget_tokens`.
    pub(crate) budget_tokens: Option<Sourced<NonZeroU32>>,
    /// `[session] max_template_mb`.
    pub(crate) max_template_mb: Option<Sourced<NonZeroU32>>,
    /// `[budget] max_calls`.
    pub(crate) max_calls: Option<Sourced<NonZeroU64>>,
    /// `[budget] max_tokens`.
    pub(crate) max_tokens: Option<Sourced<NonZeroU64>>,
    /// `[budget] max_cost`, in dollars.
    pub(crate) max_cost: Option<Sourced<f64>>,
    /// `[prices."MODEL"]`.
    pub(crate) prices: BTreeMap<String, Sourced<Price>>,
    /// `[change] agents`, by phase.
    pub(crate) change_agents: BTreeMap<String, Sourced<String>>,
    /// `[change] files`.
    pub(crate) change_files: Option<Sourced<Vec<String>>>,
    /// `[change] max_rounds`.
    pub(crate) max_rounds: Option<Sourced<NonZeroU32>>,
    /// `[change] write`.
    pub(crate) change_write: Option<Sourced<bool>>,
    /// `[standards]`.
    pub(crate) standards: StandardsConfig,
    /// `[mcp]` and `[tools]`.
    pub(crate) tools: ToolsLayer,
    /// `[workflow]`.
    pub(crate) workflow: WorkflowLayer,
    /// `[trust] adopt`; only the user's own file can set it.
    pub(crate) adopt: Option<Sourced<Adopt>>,
}

/// What a project brings to the standards of every profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandardsConfig {
    /// `dirs`: more directories of files, as written; relative to the directory that holds the file's `.aiwf/`.
    pub dirs: Option<Sourced<Vec<String>>>,
    /// `replace`: names of a profile's files that the project's stand in for.
    pub replace: Option<Sourced<Vec<String>>>,
    /// `exclude`: names of files that are left out.
    pub exclude: Option<Sourced<Vec<String>>>,
}

impl StandardsConfig {
    fn over(self, weaker: Self) -> Self {
        Self {
            dirs: self.dirs.or(weaker.dirs),
            replace: self.replace.or(weaker.replace),
            exclude: self.exclude.or(weaker.exclude),
        }
    }
}

/// What a model costs, in dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received.
    pub output: f64,
    /// Tokens sent that came from a cache; as `input` when it is not set.
    pub cached_input: Option<f64>,
}

/// What is set for one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Where its table begins.
    pub origin: Origin,
    /// `type`; a provider with a built-in name needs none.
    pub kind: Option<Sourced<String>>,
    /// `fs_ability`.
    pub fs_ability: Option<Sourced<FsAbility>>,
    /// `supports_system_prompt`.
    pub supports_system_prompt: Option<Sourced<bool>>,
    /// `supports_file_attachments`.
    pub supports_file_attachments: Option<Sourced<bool>>,
    /// `dir`: where recorded replies are; whole, joined to the directory that holds the file's `.aiwf/`.
    pub dir: Option<Sourced<PathBuf>>,
    /// `model`.
    pub model: Option<Sourced<String>>,
    /// `base_url`, without a slash at the end.
    pub base_url: Option<Sourced<String>>,
    /// Every `base_url` that the user's own file gives this provider.
    pub users_base_url: Option<String>,
    /// `api_key_env`.
    pub api_key_env: Option<Sourced<String>>,
    /// `api_key_command`; only the user's own file can set it.
    pub api_key_command: Option<Sourced<Vec<String>>>,
    /// `timeout`.
    pub timeout: Option<Sourced<Duration>>,
    /// `connect_timeout`.
    pub connect_timeout: Option<Sourced<Duration>>,
    /// `first_byte_timeout`.
    pub first_byte_timeout: Option<Sourced<Duration>>,
    /// `program`.
    pub program: Option<Sourced<String>>,
    /// `argv`.
    pub argv: Option<Sourced<Vec<String>>>,
    /// `reply`: `stdout`, `file` or `json:/pointer`.
    pub reply: Option<Sourced<String>>,
    /// `env`, by name.
    pub env: BTreeMap<String, Sourced<String>>,
    /// `max_output_tokens`.
    pub max_output_tokens: Option<Sourced<NonZeroU64>>,
    /// `context_window`.
    pub context_window: Option<Sourced<NonZeroU64>>,
    /// `max_reply_bytes`.
    pub max_reply_bytes: Option<Sourced<NonZeroU64>>,
}

impl ProviderConfig {
    pub(crate) fn new(origin: Origin) -> Self {
        Self {
            origin,
            kind: None,
            fs_ability: None,
            supports_system_prompt: None,
            supports_file_attachments: None,
            dir: None,
            model: None,
            base_url: None,
            users_base_url: None,
            api_key_env: None,
            api_key_command: None,
            timeout: None,
            connect_timeout: None,
            first_byte_timeout: None,
            program: None,
            argv: None,
            reply: None,
            env: BTreeMap::new(),
            max_output_tokens: None,
            context_window: None,
            max_reply_bytes: None,
        }
    }

    pub(crate) fn over(self, weaker: Self) -> Self {
        Self {
            origin: self.origin,
            kind: self.kind.or(weaker.kind),
            fs_ability: self.fs_ability.or(weaker.fs_ability),
            supports_system_prompt: self.supports_system_prompt.or(weaker.supports_system_prompt),
            supports_file_attachments: self.supports_file_attachments.or(weaker.supports_file_attachments),
            dir: self.dir.or(weaker.dir),
            model: self.model.or(weaker.model),
            base_url: self.base_url.or(weaker.base_url),
            users_base_url: self.users_base_url.or(weaker.users_base_url),
            api_key_env: self.api_key_env.or(weaker.api_key_env),
            api_key_command: self.api_key_command.or(weaker.api_key_command),
            timeout: self.timeout.or(weaker.timeout),
            connect_timeout: self.connect_timeout.or(weaker.connect_timeout),
            first_byte_timeout: self.first_byte_timeout.or(weaker.first_byte_timeout),
            program: self.program.or(weaker.program),
            argv: self.argv.or(weaker.argv),
            reply: self.reply.or(weaker.reply),
            env: over(self.env, weaker.env),
            max_output_tokens: self.max_output_tokens.or(weaker.max_output_tokens),
            context_window: self.context_window.or(weaker.context_window),
            max_reply_bytes: self.max_reply_bytes.or(weaker.max_reply_bytes),
        }
    }
}

impl ConfigLayer {
    /// Reads the text of a file: what it says, and everything that is wrong with it.
    ///
    /// `root` is the directory that holds the file's `.aiwf/`; paths in the file are relative to it. A text that
    /// is not TOML says nothing, as half a file could mean the opposite of the whole.
    pub(crate) fn parse(file: ConfigFile, root: &Path, text: &str) -> (Self, Vec<ConfigProblem>) {
        layer_reader::read(file, root, text)
    }

    /// This layer, and what `weaker` says where this one says nothing.
    pub(crate) fn over(self, weaker: Self) -> Self {
        let mut providers = weaker.providers;
        for (name, provider) in self.providers {
            let merged = match providers.remove(&name) {
                Some(weaker) => provider.over(weaker),
                None => provider,
            };
            providers.insert(name, merged);
        }
        Self {
            default_role: self.default_role.or(weaker.default_role),
            roles: over(self.roles, weaker.roles),
            default_gate: self.default_gate.or(weaker.default_gate),
            gates: over(self.gates, weaker.gates),
            fs_ability: self.fs_ability.or(weaker.fs_ability),
            providers,
            max_iterations: self.max_iterations.or(weaker.max_iterations),
            hash_prompts: self.hash_prompts.or(weaker.hash_prompts),
            budget_tokens: self.budget_tokens.or(weaker.budget_tokens),
            max_template_mb: self.max_template_mb.or(weaker.max_template_mb),
            max_calls: self.max_calls.or(weaker.max_calls),
            max_tokens: self.max_tokens.or(weaker.max_tokens),
            max_cost: self.max_cost.or(weaker.max_cost),
            prices: over(self.prices, weaker.prices),
            change_agents: over(self.change_agents, weaker.change_agents),
            change_files: self.change_files.or(weaker.change_files),
            max_rounds: self.max_rounds.or(weaker.max_rounds),
            change_write: self.change_write.or(weaker.change_write),
            standards: self.standards.over(weaker.standards),
            tools: self.tools.over(weaker.tools),
            workflow: self.workflow.over(weaker.workflow),
            adopt: self.adopt.or(weaker.adopt),
        }
    }
}

fn over<K: Ord, V>(stronger: BTreeMap<K, V>, mut weaker: BTreeMap<K, V>) -> BTreeMap<K, V> {
    weaker.extend(stronger);
    weaker
}
