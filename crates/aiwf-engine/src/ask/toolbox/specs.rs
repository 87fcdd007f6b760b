//! The servers in a project's `.mcp.json` and in the configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aiwf_config::{Config, McpServerConfig, Settings, Sourced};
use aiwf_tools::{Launch, ServerSpec, ToolsError, parse_mcp_json};

use crate::prompt::read::{Root, read_text_below};
use crate::session::session_error::SessionError;

const MCP_JSON: &str = ".mcp.json";

pub(super) struct Found {
    pub(super) specs: Vec<ServerSpec>,
    /// Servers that the user's own file defines completely.
    pub(super) users_own: BTreeSet<String>,
    /// Servers that cannot be used, with the reason.
    pub(super) problems: Vec<String>,
}

/// The servers of the configuration, then those of `.mcp.json` with other names.
///
/// `[mcp.servers.NAME]` without `command` and `url` adds settings to that server of `.mcp.json`.
pub(super) fn find(config: &Config, settings: &Settings) -> Result<Found, SessionError> {
    let root = settings.project_root.canonicalize().unwrap_or_else(|_| settings.project_root.clone());
    let mut problems = Vec::new();
    let mut specs: BTreeMap<String, ServerSpec> = BTreeMap::new();
    let text = read_text_below(Root::project(&settings.project_root), &settings.project_root.join(MCP_JSON))
        .map_err(|error| error.about(MCP_JSON))?;
    if let Some(text) = text {
        let read = parse_mcp_json(&text, Path::new(MCP_JSON), &root)?;
        problems.extend(read.problems.iter().map(ToString::to_string));
        specs.extend(read.servers.into_iter().map(|spec| (spec.name.clone(), spec)));
    }
    let mut users_own = BTreeSet::new();
    for (name, server) in &config.mcp.servers {
        let mut spec = match (launch(server, &root), specs.remove(name)) {
            (Some(launch), _) => ServerSpec::new(name, launch),
            (None, Some(spec)) => spec,
            (None, None) => {
                let message = "it has neither `command` nor `url`".to_owned();
                return Err(ToolsError::BadServer { server: name.clone(), message }.into());
            }
        };
        if let Some(timeout) = &server.timeout {
            spec.timeout = timeout.value;
        }
        spec.read_only = server.read_only.iter().flat_map(|names| names.value.iter().cloned()).collect();
        spec.check()?;
        if server.is_users_own() {
            users_own.insert(name.clone());
        }
        specs.insert(name.clone(), spec);
    }
    Ok(Found { specs: specs.into_values().collect(), users_own, problems })
}

fn launch(server: &McpServerConfig, root: &Path) -> Option<Launch> {
    let values = |table: &BTreeMap<String, Sourced<String>>| {
        table.iter().map(|(name, value)| (name.clone(), value.value.clone())).collect()
    };
    if let Some(command) = &server.command {
        return Some(Launch::Stdio {
            command: command.value.clone(),
            args: server.args.as_ref().map(|args| args.value.clone()).unwrap_or_default(),
            env: values(&server.env),
            cwd: server.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| cwd.value.clone()),
        });
    }
    let url = server.url.as_ref()?;
    Some(Launch::Http { url: url.value.clone(), headers: values(&server.headers) })
}
