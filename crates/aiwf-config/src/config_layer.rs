//! What one place says: a file, the flags, or the merge of several.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use crate::gate::{Gate, GateName};
use crate::layer_reader;
use crate::origin::{ConfigFile, Origin, Sourced};
use crate::problem::ConfigProblem;
use crate::vocabulary::{FsAbility, Role};

/// What one place says; what it leaves open is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigLayer {
    /// `[roles] default`.
    pub default_role: Option<Sourced<String>>,
    /// `[roles]`, by role.
    pub roles: BTreeMap<Role, Sourced<String>>,
    /// `[gates] default`.
    pub default_gate: Option<Sourced<Gate>>,
    /// `[gates]`, by gate. A gate is one value: a layer that names it says all of it.
    pub gates: BTreeMap<GateName, Sourced<Gate>>,
    /// `[defaults] fs_ability`.
    pub fs_ability: Option<Sourced<FsAbility>>,
    /// `[providers.NAME]`.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// `[session] max_iterations`.
    pub max_iterations: Option<Sourced<NonZeroU32>>,
    /// `[session] hash_prompts`.
    pub hash_prompts: Option<Sourced<bool>>,
    /// `[session] budget_tokens`.
    pub budget_tokens: Option<Sourced<NonZeroU32>>,
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
        }
    }

    fn over(self, weaker: Self) -> Self {
        Self {
            origin: self.origin,
            kind: self.kind.or(weaker.kind),
            fs_ability: self.fs_ability.or(weaker.fs_ability),
            supports_system_prompt: self.supports_system_prompt.or(weaker.supports_system_prompt),
            supports_file_attachments: self.supports_file_attachments.or(weaker.supports_file_attachments),
            dir: self.dir.or(weaker.dir),
        }
    }
}

impl ConfigLayer {
    /// Reads the text of a file: what it says, and everything that is wrong with it.
    ///
    /// `root` is the directory that holds the file's `.aiwf/`; paths in the file are relative to it. A text that
    /// is not TOML says nothing, as half a file could mean the opposite of the whole.
    pub fn parse(file: ConfigFile, root: &Path, text: &str) -> (Self, Vec<ConfigProblem>) {
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
        }
    }
}

fn over<K: Ord, V>(stronger: BTreeMap<K, V>, mut weaker: BTreeMap<K, V>) -> BTreeMap<K, V> {
    weaker.extend(stronger);
    weaker
}
