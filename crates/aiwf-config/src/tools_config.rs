//! What is set for MCP servers and for tools.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use crate::origin::{ConfigFile, Origin, Sourced};

/// The phases that can be given tools: those of sessions, those of changes, `prompt send reply`, and the three ways to
/// work with a package.
pub(crate) const GRANT_PHASES: &[&str] = &[
    "planning",
    "generating",
    "reviewing",
    "revising",
    "plan",
    "challenge",
    "implement",
    "review",
    "archive",
    "reply",
    "workflow",
    "agent",
    "chat",
];

pub(crate) const DEFAULT_MAX_ROUNDS: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);
pub(crate) const DEFAULT_RESULT_BYTES: NonZeroU64 = NonZeroU64::MIN.saturating_add(32 * 1024 - 1);

/// What is set for one MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerConfig {
    /// Where its table begins.
    pub origin: Origin,
    /// `command`: a path, or a name that is looked up.
    pub command: Option<Sourced<String>>,
    /// `args`.
    pub args: Option<Sourced<Vec<String>>>,
    /// `env`, by name; `${VAR}` is not replaced yet.
    pub env: BTreeMap<String, Sourced<String>>,
    /// `cwd`, whole, joined to the directory that holds the file's `.aiwf/`.
    pub cwd: Option<Sourced<PathBuf>>,
    /// `url`.
    pub url: Option<Sourced<String>>,
    /// `headers`, by name; `${VAR}` is not replaced yet.
    pub headers: BTreeMap<String, Sourced<String>>,
    /// `timeout` of one call.
    pub timeout: Option<Sourced<Duration>>,
    /// `read_only`: the tools that change nothing.
    pub read_only: Option<Sourced<Vec<String>>>,
}

impl McpServerConfig {
    pub(crate) fn new(origin: Origin) -> Self {
        Self {
            origin,
            command: None,
            args: None,
            env: BTreeMap::new(),
            cwd: None,
            url: None,
            headers: BTreeMap::new(),
            timeout: None,
            read_only: None,
        }
    }

    /// This table, and what `weaker` says where this one says nothing.
    ///
    /// A table that says how the server is reached says all of it: a command of one file with the variables of
    /// another would be neither's.
    fn over(self, weaker: Self) -> Self {
        let is_whole = self.command.is_some() || self.url.is_some();
        let base = if is_whole {
            Self { timeout: weaker.timeout, read_only: weaker.read_only, ..Self::new(weaker.origin) }
        } else {
            weaker
        };
        Self {
            origin: self.origin,
            command: self.command.or(base.command),
            args: self.args.or(base.args),
            env: merged(self.env, base.env),
            cwd: self.cwd.or(base.cwd),
            url: self.url.or(base.url),
            headers: merged(self.headers, base.headers),
            timeout: self.timeout.or(base.timeout),
            read_only: self.read_only.or(base.read_only),
        }
    }

    /// Whether the user's own file says all that decides what runs, so that nobody has to be asked.
    ///
    /// One that says neither `command` nor `url` leaves that to `.mcp.json`, which comes with the project.
    pub fn is_users_own(&self) -> bool {
        if self.command.is_none() && self.url.is_none() {
            return false;
        }
        let mut origins: Vec<Origin> = Vec::new();
        origins.extend(self.command.iter().map(|value| value.origin));
        origins.extend(self.args.iter().map(|value| value.origin));
        origins.extend(self.env.values().map(|value| value.origin));
        origins.extend(self.cwd.iter().map(|value| value.origin));
        origins.extend(self.url.iter().map(|value| value.origin));
        origins.extend(self.headers.values().map(|value| value.origin));
        let is_users = |origin: &Origin| matches!(origin, Origin::File { file: ConfigFile::User, .. });
        origins.iter().all(is_users)
    }
}

/// What one place says about servers and tools; what it leaves open is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolsLayer {
    /// `[mcp] allow_unknown`; only the user's own file can set it.
    pub(crate) allow_unknown: Option<Sourced<bool>>,
    /// `[mcp.servers.NAME]`.
    pub(crate) servers: BTreeMap<String, McpServerConfig>,
    /// `[tools] enabled`.
    pub(crate) enabled: Option<Sourced<bool>>,
    /// `[tools] max_rounds`.
    pub(crate) max_rounds: Option<Sourced<NonZeroU32>>,
    /// `[tools] max_result_bytes`.
    pub(crate) max_result_bytes: Option<Sourced<NonZeroU64>>,
    /// `[tools] timeout`.
    pub(crate) timeout: Option<Sourced<Duration>>,
    /// `[tools.grant]`, by phase.
    pub(crate) grants: BTreeMap<String, Sourced<Vec<String>>>,
}

impl ToolsLayer {
    /// This layer, and what `weaker` says where this one says nothing.
    pub(crate) fn over(self, weaker: Self) -> Self {
        let mut servers = weaker.servers;
        for (name, server) in self.servers {
            let merged = match servers.remove(&name) {
                Some(weaker) => server.over(weaker),
                None => server,
            };
            servers.insert(name, merged);
        }
        Self {
            allow_unknown: self.allow_unknown.or(weaker.allow_unknown),
            servers,
            // Whoever switched tools off for themselves is not overruled by a checkout.
            enabled: match (self.enabled, weaker.enabled) {
                (_, Some(off)) if !off.value => Some(off),
                (stronger, weaker) => stronger.or(weaker),
            },
            max_rounds: self.max_rounds.or(weaker.max_rounds),
            max_result_bytes: self.max_result_bytes.or(weaker.max_result_bytes),
            timeout: self.timeout.or(weaker.timeout),
            grants: merged(self.grants, weaker.grants),
        }
    }
}

/// The MCP servers there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConfig {
    /// Whether servers that nobody agreed to are started.
    pub allow_unknown: Sourced<bool>,
    /// What is set for single servers, by name.
    pub servers: BTreeMap<String, McpServerConfig>,
}

/// How tools are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsConfig {
    /// Whether models are given tools at all.
    pub enabled: Sourced<bool>,
    /// How many rounds of calls there may be.
    pub max_rounds: Sourced<NonZeroU32>,
    /// How many bytes of a result a model sees.
    pub max_result_bytes: Sourced<NonZeroU64>,
    /// How long a call may take; as the server says when it is not set.
    pub timeout: Option<Sourced<Duration>>,
    /// What each phase may use, by phase.
    pub grants: BTreeMap<String, Sourced<Vec<String>>>,
}

pub(crate) fn resolve(layer: ToolsLayer) -> (McpConfig, ToolsConfig) {
    fn unset<T>(value: T) -> Sourced<T> {
        Sourced::new(value, Origin::Default)
    }
    let mcp = McpConfig {
        allow_unknown: layer.allow_unknown.unwrap_or_else(|| unset(false)),
        servers: layer.servers,
    };
    let tools = ToolsConfig {
        enabled: layer.enabled.unwrap_or_else(|| unset(true)),
        max_rounds: layer.max_rounds.unwrap_or_else(|| unset(DEFAULT_MAX_ROUNDS)),
        max_result_bytes: layer.max_result_bytes.unwrap_or_else(|| unset(DEFAULT_RESULT_BYTES)),
        timeout: layer.timeout,
        grants: layer.grants,
    };
    (mcp, tools)
}

fn merged<K: Ord, V>(stronger: BTreeMap<K, V>, mut weaker: BTreeMap<K, V>) -> BTreeMap<K, V> {
    weaker.extend(stronger);
    weaker
}
