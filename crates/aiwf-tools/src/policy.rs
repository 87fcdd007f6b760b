//! What a model may call: one object that feeds the prompt, the list of tools and the enforcement.
//!
//! [`Rules`] of the system, the agent and the phase are merged, each can only tighten; a [`Grant`] names the tools of
//! a phase. Together with the tools that servers offer they make a [`Policy`]: what it lists is what it allows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::pins::PinState;
use crate::tool::Tool;

/// What one side says; what it leaves open is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether tools are there at all.
    pub is_enabled: Option<bool>,
    /// The servers; all of them when not said, none when empty.
    pub servers: Option<BTreeSet<String>>,
    /// How many rounds of calls there may be.
    pub max_rounds: Option<u32>,
    /// How many bytes of a result a model sees.
    pub max_result_bytes: Option<u64>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
}

impl Rules {
    /// What holds when both hold: enabled only if both say so, the smaller limit, the servers of both.
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
    /// Only call what is marked as changing nothing: planning and reviewing.
    ReadOnly,
    /// Call what is granted.
    Full,
}

/// What a phase is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What it may do.
    pub access: Access,
    /// The full names of its tools.
    pub names: BTreeSet<String>,
}

/// A tool that a server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// The tool.
    pub tool: Tool,
    /// How it compares with what was pinned.
    pub pin: PinState,
    /// Whether a person marked it as changing nothing.
    pub is_marked_read_only: bool,
}

impl Offered {
    /// Whether it counts as changing nothing: a person says so, or the tool does and is pinned saying so.
    pub fn is_read_only(&self) -> bool {
        let says_so = self.tool.annotations.read_only_hint == Some(true);
        self.is_marked_read_only || (says_so && self.pin == PinState::Same)
    }
}

/// Why a name cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Tools are switched off.
    #[error("tools are not available here")]
    Disabled,
    /// No tool has exactly that name.
    #[error("there is no tool `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The tool is there and not granted.
    #[error("`{name}` is not granted here")]
    NotGranted {
        /// The name.
        name: String,
    },
    /// The tool's server is not allowed.
    #[error("`{name}` is not available: its server `{server}` is not allowed here")]
    ServerNotAllowed {
        /// The name.
        name: String,
        /// Its server.
        server: String,
    },
    /// The phase reads only and the tool is not marked so.
    #[error("`{name}` is not marked read-only, and this phase only reads")]
    NotReadOnly {
        /// The name.
        name: String,
    },
    /// The tool changed since it was pinned.
    #[error("`{name}` has changed since it was pinned: {changed}")]
    Changed {
        /// The name.
        name: String,
        /// Which parts.
        changed: String,
    },
}

impl Refusal {
    /// One thing that a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Disabled => "set `enabled = true` in `[tools]` of `.aiwf/config.toml`".to_owned(),
            Self::Unknown { .. } => "`aiwf tools list` shows what there is".to_owned(),
            Self::NotGranted { name } => format!("name `{name}` in `[tools.grant]` of `.aiwf/config.toml`"),
            Self::ServerNotAllowed { server, .. } => {
                format!("name `{server}` among the servers that the agent's tool policy allows")
            }
            Self::NotReadOnly { name } => {
                let (server, tool) = name.split_once("__").unwrap_or(("NAME", name));
                format!("if it changes nothing, `[mcp.servers.{server}] read_only = [\"{tool}\"]` says so")
            }
            Self::Changed { name, .. } => {
                format!("look at it with `aiwf tools status {name}`, then `aiwf tools pin {name}`")
            }
        }
    }
}

/// What may be called, and why the rest may not.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    rules: Rules,
    access: Access,
    allowed: BTreeMap<String, Tool>,
    /// What is there or granted, and still cannot be called.
    refused: BTreeMap<String, Refusal>,
    granted: BTreeSet<String>,
}

impl Policy {
    /// A policy from merged rules, the phase's grant and everything that servers offer.
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

    /// A policy under which nothing can be called.
    pub fn nothing() -> Self {
        let rules = Rules { is_enabled: Some(false), ..Rules::default() };
        Self::new(rules, &Grant { access: Access::ReadOnly, names: BTreeSet::new() }, &[])
    }

    /// The tool of exactly that name, if it may be called.
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

    /// The tool behind the name that a model API was given.
    pub fn tool_of_api_name(&self, api_name: &str) -> Option<&Tool> {
        self.allowed.values().find(|tool| tool.api_name() == api_name)
    }

    /// What was granted and cannot be called all the same, for a person to know before a model is asked.
    pub fn unusable_grants(&self) -> Vec<Refusal> {
        let unusable = self.granted.iter().filter(|name| !self.allowed.contains_key(*name));
        unusable.filter_map(|name| self.allows(name).err()).collect()
    }

    /// The rules that hold.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether there is anything to call.
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
