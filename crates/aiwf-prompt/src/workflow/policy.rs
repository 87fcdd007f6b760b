//! What a model may use: merged from what the system allows and what the agent asks for, and told to the model.

/// Reading and writing files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FsPolicy {
    /// Whether file tools are there; open when not said.
    pub is_enabled: Option<bool>,
    /// How many bytes one read may return.
    pub max_read_bytes: Option<u64>,
    /// How many bytes one write may take.
    pub max_write_bytes: Option<u64>,
}

impl FsPolicy {
    /// How many bytes one read may return, the default when not said.
    pub(crate) fn read_limit(&self) -> u64 {
        self.max_read_bytes.unwrap_or(DEFAULT_READ_BYTES)
    }

    /// How many bytes one write may take, the default when not said.
    pub(crate) fn write_limit(&self) -> u64 {
        self.max_write_bytes.unwrap_or(DEFAULT_WRITE_BYTES)
    }
}

/// Tools of MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpPolicy {
    /// Whether they are there; open when not said.
    pub is_enabled: Option<bool>,
    /// The servers; all of them when not said, none when empty.
    pub allowed_servers: Option<Vec<String>>,
}

/// What may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// Files.
    pub fs: FsPolicy,
    /// MCP servers.
    pub mcp: McpPolicy,
}

const DEFAULT_READ_BYTES: u64 = 524_288;
const DEFAULT_WRITE_BYTES: u64 = 2_097_152;

impl ToolPolicy {
    /// The policy that holds: the agent tightens what the system allows and never widens it.
    ///
    /// Without a system policy the agent's own stands: files unless it says no, MCP servers only if it says yes.
    /// Every switch and limit of the result is said; only its list of servers may still be open.
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
                // A system policy that does not speak of MCP leaves it off.
                is_enabled: Some(
                    system.mcp.is_enabled.unwrap_or(false) && agent.mcp.is_enabled.unwrap_or(true),
                ),
                allowed_servers,
            },
        }
    }
}

/// What the model has to do with the state file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateFile {
    /// It moves along with the nodes.
    InUse,
    /// The workflow is complete; only a change that the user agreed to is made.
    Finished,
    /// There is none.
    Absent,
}

/// The policy in words.
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
