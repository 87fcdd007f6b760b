//! The tables `[mcp.servers.NAME]`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::fault::ConfigFault;
use crate::layer_reader::{LayerReader, TomlEntry};
use crate::name::{excerpt, is_mcp_server_name};
use crate::origin::{ConfigFile, Origin, Sourced};
use crate::setting::{Listing, Rule, Table as _, more_needs_consent, settings};
use crate::table_kinds::{Map, Name, NamedTable};
use crate::value::{AnyLine, Arguments, Directory, ExactAddress, Program, ServerTools, Time, is_variable};

settings! {
    /// An MCP server: a program (`command`) or an address (`url`). `${VAR}` in `env` and `headers` is replaced from the
    /// environment.
    pub McpServerConfig {
        /// The program: a path, or a name to find in `PATH`.
        command: Option<Sourced<String>> = Program, Rule::DecidesWhatRuns;
        /// The arguments of the program.
        args: Option<Sourced<Vec<String>>> = Arguments, Rule::DecidesWhatRuns;
        /// Environment variables for the program.
        env: BTreeMap<String, Sourced<String>> = Map<ServerVariable, AnyLine>, Rule::DecidesWhatRuns;
        /// Working directory of the program.
        cwd: Option<Sourced<PathBuf>> = Directory, Rule::DecidesWhatRuns;
        /// Address of the server, instead of `command`.
        url: Option<Sourced<String>> = ExactAddress, Rule::DecidesWhatRuns;
        /// HTTP headers for `url`.
        headers: BTreeMap<String, Sourced<String>> = Map<Header, AnyLine>, Rule::DecidesWhatRuns;
        /// Maximum time of a call.
        timeout: Option<Sourced<Duration>> = Time;
        /// Tools that change nothing, if the server does not declare it.
        read_only: Option<Sourced<Vec<String>>> = ServerTools, more_needs_consent();
    }
}

impl NamedTable for McpServerConfig {
    fn new(origin: Origin) -> Self {
        Self { origin, ..Self::default() }
    }

    fn name_fault(name: &str) -> Option<ConfigFault> {
        (!is_mcp_server_name(name)).then(|| ConfigFault::ServerName { name: excerpt(name) })
    }

    fn fault(&self, path: String) -> Option<ConfigFault> {
        (self.command.is_some() && self.url.is_some()).then_some(ConfigFault::CommandAndUrl { path })
    }

    /// A table that sets how the server is reached replaces all of that: the command of one file with the variables of
    /// another would be a mix that nobody wrote.
    fn weaker_part(&self, weaker: Self) -> Self {
        if self.command.is_none() && self.url.is_none() {
            return weaker;
        }
        Self { timeout: weaker.timeout, read_only: weaker.read_only, ..Self::new(weaker.origin) }
    }
}

impl McpServerConfig {
    /// Whether the user's own file determines everything that runs, so that no consent is needed.
    ///
    /// A table without `command` and `url` leaves that to `.mcp.json`, which comes with the project.
    pub fn is_users_own(&self) -> bool {
        if self.command.is_none() && self.url.is_none() {
            return false;
        }
        let mut deciding = Vec::new();
        Self::list(self, "", Listing::DecidesWhatRuns, &mut deciding);
        let is_users = |origin: Origin| matches!(origin, Origin::File { file: ConfigFile::User, .. });
        deciding.iter().all(|entry| is_users(entry.origin))
    }
}

pub(crate) struct ServerVariable;

impl Name for ServerVariable {
    type Key = String;
    const LABEL: &'static str = "variable";

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<String> {
        if !is_variable(entry.key) {
            reader.report(entry.key_offset, ConfigFault::VariableName { path: entry.path() });
            return None;
        }
        Some(entry.key.to_owned())
    }

    fn show(key: &String) -> String {
        key.clone()
    }
}

pub(crate) struct Header;

impl Name for Header {
    type Key = String;
    const LABEL: &'static str = "name";

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<String> {
        let is_header = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if !is_header(entry.key) {
            reader.report(entry.key_offset, ConfigFault::HeaderName { path: entry.path() });
            return None;
        }
        Some(entry.key.to_owned())
    }

    fn show(key: &String) -> String {
        key.clone()
    }
}

#[cfg(test)]
#[path = "mcp_server_config_tests.rs"]
mod tests;
