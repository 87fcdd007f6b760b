//! The tools a model may call: one object for the prompt, the list of tools and the enforcement.
//!
//! [`Rules`] of the system, the agent and the phase are merged, and each can only tighten; a [`Grant`] lists the tools
//! of a phase. Together with the tools of the servers they form a [`Policy`]: what it lists is what it allows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::pins::PinState;
use crate::tool::Tool;

/// The rules of one source; unset fields restrict nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub is_enabled: Option<bool>,
    /// The allowed servers; all if unset, none if empty.
    pub servers: Option<BTreeSet<String>>,
    /// Maximum number of tool rounds.
    pub max_rounds: Option<u32>,
    /// Maximum number of bytes of a result shown to a model.
    pub max_result_bytes: Option<u64>,
    /// Time limit of a call.
    pub timeout: Option<Duration>,
}

impl Rules {
    /// The rules that satisfy both: enabled only if both agree, the smaller limits, the servers in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        fn least<T: Ord + Copy>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        Self {
            is_enabled: match (self.is_enabled, other.is_enabled) {
                (Some(one), Some(other)) => Some(one && other),
                (one, other) => one.or(other),
            },
            servers: match (&self.servers, &other.servers) {
                (Some(one), Some(other)) => Some(one.intersection(other).cloned().collect()),
                (one, other) => one.as_ref().or(other.as_ref()).cloned(),
            },
            max_rounds: least(self.max_rounds, other.max_rounds),
            max_result_bytes: least(self.max_result_bytes, other.max_result_bytes),
            timeout: least(self.timeout, other.timeout),
        }
    }
}

/// What a phase may do with its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Call only read-only tools: planning and reviewing.
    ReadOnly,
    /// Call all granted tools.
    Full,
}

/// The tools of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub access: Access,
    /// The full names of its tools.
    pub names: BTreeSet<String>,
}

/// A tool that a server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    pub tool: Tool,
    pub pin: PinState,
    /// Whether the user marked it as read-only.
    pub is_marked_read_only: bool,
}

impl Offered {
    /// Whether it counts as read-only: the user says so, or its pinned definition does.
    pub fn is_read_only(&self) -> bool {
        let says_so = self.tool.annotations.read_only_hint == Some(true);
        self.is_marked_read_only || (says_so && self.pin == PinState::Same)
    }
}

/// Why a tool cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("tools are not available here")]
    Disabled,
    #[error("there is no tool `{name}`")]
    Unknown { name: String },
    /// The tool exists but is not granted.
    #[error("`{name}` is not granted here")]
    NotGranted { name: String },
    #[error("`{name}` is not available: its server `{server}` is not allowed here")]
    ServerNotAllowed { name: String, server: String },
    /// The phase is read-only and the tool is not.
    #[error("`{name}` is not marked read-only, and this phase is")]
    NotReadOnly { name: String },
    #[error("`{name}` has changed since it was pinned: {changed}")]
    Changed { name: String, changed: String },
}

impl Refusal {
    pub fn hint(&self) -> String {
        match self {
            Self::Disabled => "set `enabled = true` in `[tools]` of `.aiwf/config.toml`".to_owned(),
            Self::Unknown { .. } => "`aiwf tools list` lists all tools".to_owned(),
            Self::NotGranted { name } => format!("add `{name}` to `[tools.grant]` in `.aiwf/config.toml`"),
            Self::ServerNotAllowed { server, .. } => {
                format!("add `{server}` to the allowed servers of the agent's tool policy")
            }
            Self::NotReadOnly { name } => {
                let (server, tool) = name.split_once("__").unwrap_or(("NAME", name));
                format!("if it changes nothing, set `[mcp.servers.{server}] read_only = [\"{tool}\"]`")
            }
            Self::Changed { name, .. } => {
                format!("review it with `aiwf tools status {name}`, then run `aiwf tools pin {name}`")
            }
        }
    }
}

/// Which tools may be called, and why the others may not.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    rules: Rules,
    access: Access,
    allowed: BTreeMap<String, Tool>,
    /// Tools that exist or are granted, but cannot be called.
    refused: BTreeMap<String, Refusal>,
    granted: BTreeSet<String>,
}

impl Policy {
    /// Builds a policy from merged rules, the grant of the phase and the tools of all servers.
    pub fn new(rules: Rules, grant: &Grant, offered: &[Offered]) -> Self {
        let mut allowed = BTreeMap::new();
        let mut refused = BTreeMap::new();
        for one in offered {
            let name = one.tool.full_name();
            match judge(&rules, grant, one, &name) {
                Ok(()) => drop(allowed.insert(name, one.tool.clone())),
                Err(refusal) => drop(refused.insert(name, refusal)),
            }
        }
        Self { rules, access: grant.access, allowed, refused, granted: grant.names.clone() }
    }

    /// A policy that allows no tool.
    pub fn nothing() -> Self {
        let rules = Rules { is_enabled: Some(false), ..Rules::default() };
        Self::new(rules, &Grant { access: Access::ReadOnly, names: BTreeSet::new() }, &[])
    }

    /// The tool with exactly this name, if it may be called.
    pub fn allows(&self, name: &str) -> Result<&Tool, Refusal> {
        if let Some(tool) = self.allowed.get(name) {
            return Ok(tool);
        }
        if self.rules.is_enabled == Some(false) {
            return Err(Refusal::Disabled);
        }
        let unknown = || Refusal::Unknown { name: crate::shown::excerpt(name) };
        Err(self.refused.get(name).cloned().unwrap_or_else(unknown))
    }

    /// The tools to show, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.allowed.values()
    }

    /// Finds a tool by the name given to a model API.
    pub fn tool_of_api_name(&self, api_name: &str) -> Option<&Tool> {
        self.allowed.values().find(|tool| tool.api_name() == api_name)
    }

    /// Grants that cannot be used, to be reported before a model is asked.
    pub fn unusable_grants(&self) -> Vec<Refusal> {
        let unusable = self.granted.iter().filter(|name| !self.allowed.contains_key(*name));
        unusable.filter_map(|name| self.allows(name).err()).collect()
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether no tool may be called.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty()
    }
}

fn judge(rules: &Rules, grant: &Grant, offered: &Offered, name: &str) -> Result<(), Refusal> {
    let name = name.to_owned();
    if rules.is_enabled == Some(false) {
        return Err(Refusal::Disabled);
    }
    if rules.servers.as_ref().is_some_and(|servers| !servers.contains(&offered.tool.server)) {
        return Err(Refusal::ServerNotAllowed { name, server: offered.tool.server.clone() });
    }
    if !grant.names.contains(&name) {
        return Err(Refusal::NotGranted { name });
    }
    if let PinState::Changed(changed) = &offered.pin {
        return Err(Refusal::Changed { name, changed: changed.clone() });
    }
    if grant.access == Access::ReadOnly && !offered.is_read_only() {
        return Err(Refusal::NotReadOnly { name });
    }
    Ok(())
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
