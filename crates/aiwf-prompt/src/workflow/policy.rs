//! The tool policy: merged from the system's policy and the agent's, and described to the model.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FsPolicy {
    /// Whether file tools are available; unset means yes.
    pub is_enabled: Option<bool>,
    /// Maximum number of bytes per read.
    pub max_read_bytes: Option<u64>,
    /// Maximum number of bytes per write.
    pub max_write_bytes: Option<u64>,
}

impl FsPolicy {
    /// Maximum number of bytes per read, with the default.
    pub(crate) fn read_limit(&self) -> u64 {
        self.max_read_bytes.unwrap_or(DEFAULT_READ_BYTES)
    }

    /// Maximum number of bytes per write, with the default.
    pub(crate) fn write_limit(&self) -> u64 {
        self.max_write_bytes.unwrap_or(DEFAULT_WRITE_BYTES)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpPolicy {
    /// Whether MCP tools are available; unset means yes.
    pub is_enabled: Option<bool>,
    /// The allowed servers; all if unset, none if empty.
    pub allowed_servers: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    pub fs: FsPolicy,
    pub mcp: McpPolicy,
}

const DEFAULT_READ_BYTES: u64 = 524_288;
const DEFAULT_WRITE_BYTES: u64 = 2_097_152;

impl ToolPolicy {
    /// The effective policy: the agent can tighten the system's policy, never widen it.
    ///
    /// Without a system policy the agent's own applies: files unless it disables them, MCP servers only if it enables
    /// them. Every switch and limit of the result is set; only the list of servers may be unset.
    pub fn merged(system: Option<&Self>, agent: &Self) -> Self {
        let default = Self {
            fs: FsPolicy {
                is_enabled: Some(true),
                max_read_bytes: Some(agent.fs.read_limit()),
                max_write_bytes: Some(agent.fs.write_limit()),
            },
            mcp: McpPolicy { is_enabled: Some(agent.mcp.is_enabled.unwrap_or(false)), allowed_servers: None },
        };
        let system = system.unwrap_or(&default);
        let and =
            |system: Option<bool>, agent: Option<bool>| Some(system.unwrap_or(true) && agent.unwrap_or(true));
        let least = |system: Option<u64>, agent: Option<u64>, default: u64| {
            Some(system.into_iter().chain(agent).min().unwrap_or(default))
        };
        let allowed_servers = match (&system.mcp.allowed_servers, &agent.mcp.allowed_servers) {
            (Some(system), Some(agent)) => {
                Some(agent.iter().filter(|server| system.contains(server)).cloned().collect())
            }
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        Self {
            fs: FsPolicy {
                is_enabled: and(system.fs.is_enabled, agent.fs.is_enabled),
                max_read_bytes: least(system.fs.max_read_bytes, agent.fs.max_read_bytes, DEFAULT_READ_BYTES),
                max_write_bytes: least(
                    system.fs.max_write_bytes,
                    agent.fs.max_write_bytes,
                    DEFAULT_WRITE_BYTES,
                ),
            },
            mcp: McpPolicy {
                // A system policy that does not mention MCP disables it.
                is_enabled: Some(
                    system.mcp.is_enabled.unwrap_or(false) && agent.mcp.is_enabled.unwrap_or(true),
                ),
                allowed_servers,
            },
        }
    }
}

/// The state file, as far as the model is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateFile {
    /// It changes with the nodes.
    InUse,
    /// The workflow is complete; only changes confirmed by the user are made.
    Finished,
    Absent,
}

pub(crate) fn describe(policy: &ToolPolicy, state_file: StateFile) -> String {
    let has_fs = policy.fs.is_enabled == Some(true);
    let fs = if has_fs {
        format!(
            "enabled (maxReadBytes={}, maxWriteBytes={})",
            policy.fs.read_limit(),
            policy.fs.write_limit(),
        )
    } else {
        "disabled".to_owned()
    };
    let mcp = match (&policy.mcp.is_enabled, &policy.mcp.allowed_servers) {
        (Some(true), None) => "enabled (every configured server)".to_owned(),
        (Some(true), Some(servers)) if servers.is_empty() => "enabled (allowedServers=none)".to_owned(),
        (Some(true), Some(servers)) => {
            format!("enabled (allowedServers={})", super::single_line(&servers.join(", ")))
        }
        _ => "disabled".to_owned(),
    };
    let closing = match (has_fs, state_file) {
        (true, StateFile::InUse) => {
            "Finish a node with `workflow.complete_node`; prefer `fs.apply_patch` for other edits of the state file. \
             Write only under @project or @state."
        }
        (true, StateFile::Finished) => {
            "Prefer `fs.apply_patch` for edits of the state file. Write only under @project or @state."
        }
        (true, StateFile::Absent) => "Write only under @project or @state.",
        (false, _) => "File tools are not available; do not call them.",
    };
    format!("Tool policy:\n- fs: {fs}\n- mcp: {mcp}\n\n{closing}")
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
