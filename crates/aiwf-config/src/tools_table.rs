//! Reads the tables `[mcp]`, `[mcp.servers.NAME]`, `[tools]` and `[tools.grant]`.

use std::collections::BTreeMap;

use aiwf_session::Phase;

use crate::fault::ConfigFault;
use crate::layer_reader::{LayerReader, Setting};
use crate::layer_values::is_variable;
use crate::name::{excerpt, is_mcp_server_name};
use crate::origin::{ConfigFile, Sourced};
use crate::tools_config::{GRANT_PHASES, McpServerConfig};

pub(crate) const MCP_KEYS: &[&str] = &["allow_unknown", "servers"];
pub(crate) const MCP_SERVER_KEYS: &[&str] =
    &["command", "args", "env", "cwd", "url", "headers", "timeout", "read_only"];
pub(crate) const TOOLS_KEYS: &[&str] = &["enabled", "max_rounds", "max_result_bytes", "timeout", "grant"];

/// Which names can be used, and what to say about another.
type NameRule = (fn(&str) -> bool, fn(String) -> ConfigFault);

impl LayerReader<'_> {
    pub(crate) fn mcp(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            "allow_unknown" => self.layer.tools.allow_unknown = self.users_boolean(setting),
            "servers" => {
                let Some(table) = self.expect_table(setting) else { return };
                self.each(&setting.path(), table, Self::mcp_server);
            }
            _ => self.unknown(setting, MCP_KEYS),
        }
    }

    fn mcp_server(&mut self, setting: &Setting<'_, '_>) {
        if !is_mcp_server_name(setting.key) {
            let fault = ConfigFault::ServerName { name: excerpt(setting.key) };
            return self.report(setting.key_offset, fault);
        }
        let Some(table) = self.expect_table(setting) else { return };
        let mut server = McpServerConfig::new(self.toml.origin(setting.key_offset));
        let variables: NameRule = (is_variable, |path| ConfigFault::VariableName { path });
        let headers: NameRule = (is_header, |path| ConfigFault::HeaderName { path });
        self.each(&setting.path(), table, |reader, setting| match setting.key {
            "command" => server.command = reader.text(setting),
            "args" => server.args = reader.any_texts(setting),
            "env" => reader.table_of_texts(setting, variables, &mut server.env),
            "cwd" => server.cwd = reader.dir(setting),
            "url" => server.url = reader.whole_url(setting),
            "headers" => reader.table_of_texts(setting, headers, &mut server.headers),
            "timeout" => server.timeout = reader.duration(setting),
            "read_only" => server.read_only = reader.any_texts(setting),
            _ => reader.unknown(setting, MCP_SERVER_KEYS),
        });
        if server.command.is_some() && server.url.is_some() {
            self.report(setting.key_offset, ConfigFault::CommandAndUrl { path: setting.path() });
        }
        self.layer.tools.servers.insert(setting.key.to_owned(), server);
    }

    pub(crate) fn tools(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            "enabled" => self.layer.tools.enabled = self.boolean(setting),
            "max_rounds" => self.layer.tools.max_rounds = self.count(setting),
            "max_result_bytes" => self.layer.tools.max_result_bytes = self.large_count(setting),
            "timeout" => self.layer.tools.timeout = self.duration(setting),
            "grant" => {
                let Some(table) = self.expect_table(setting) else { return };
                self.each(&setting.path(), table, |reader, setting| {
                    // Flows have phases of their own; a name that is nearly a common one is a mistake.
                    let is_slip = |known: &&str| strsim::damerau_levenshtein(setting.key, known) <= 2;
                    let is_known = GRANT_PHASES.contains(&setting.key);
                    if !is_known
                        && (Phase::from_name(setting.key).is_none() || GRANT_PHASES.iter().any(is_slip))
                    {
                        return reader.unknown(setting, GRANT_PHASES);
                    }
                    if let Some(names) = reader.tool_names(setting) {
                        reader.layer.tools.grants.insert(setting.key.to_owned(), names);
                    }
                });
            }
            _ => self.unknown(setting, TOOLS_KEYS),
        }
    }

    /// A checkout must not be able to let itself in.
    fn users_boolean(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<bool>> {
        if self.toml.file() == ConfigFile::Project {
            self.counts_only_for_the_user(setting);
            return None;
        }
        self.boolean(setting)
    }

    /// A web address as it is: a slash at its end may matter to the server.
    fn whole_url(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<String>> {
        let checked = self.url(setting)?;
        let written = setting.value.get_ref().as_str().map(str::to_owned);
        Some(Sourced::new(written.unwrap_or(checked.value), checked.origin))
    }

    /// A list of texts, which may be empty.
    fn any_texts(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<Vec<String>>> {
        let list = setting.value.get_ref().as_array().and_then(|array| {
            let text = |text: &str| (!text.contains('\0')).then(|| text.to_owned());
            array.iter().map(|item| item.get_ref().as_str().and_then(text)).collect::<Option<Vec<_>>>()
        });
        self.expect(setting, list, || "a list of texts, such as `[\"a\", \"b\"]`".to_owned(), None)
    }

    /// Full names of tools: a pattern or a server alone would grant what nobody has looked at.
    fn tool_names(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<Vec<String>>> {
        let names = self.any_texts(setting)?;
        let is_name = |name: &&String| {
            name.split_once("__").is_some_and(|(server, tool)| is_mcp_server_name(server) && !tool.is_empty())
        };
        if let Some(wrong) = names.value.iter().find(|name| !is_name(name)) {
            let fault = ConfigFault::ToolName { path: setting.path(), name: excerpt(wrong) };
            self.report(setting.value.span().start, fault);
            return None;
        }
        Some(names)
    }

    fn table_of_texts(
        &mut self,
        setting: &Setting<'_, '_>,
        (is_name, wrong): NameRule,
        into: &mut BTreeMap<String, Sourced<String>>,
    ) {
        let Some(table) = self.expect_table(setting) else { return };
        self.each(&setting.path(), table, |reader, setting| {
            if !is_name(setting.key) {
                return reader.report(setting.key_offset, wrong(setting.path()));
            }
            let value = setting.value.get_ref().as_str();
            let value = value.filter(|text| !text.contains(['\0', '\r', '\n'])).map(str::to_owned);
            if let Some(value) = reader.expect(setting, value, || "a text on one line".to_owned(), None) {
                into.insert(setting.key.to_owned(), value);
            }
        });
    }
}

fn is_header(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

#[cfg(test)]
#[path = "tools_table_tests.rs"]
mod tests;
