//! Reads `.mcp.json`, the file where other tools configure the servers of a project.
//!
//! `{"mcpServers": {"NAME": {"command", "args", "env", "cwd"} or {"url", "headers"}}}`. Keys added by other tools are
//! ignored; those we need must have the right type, and an error names the file and the key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::ToolsError;
use crate::server_spec::{DEFAULT_TIMEOUT, Launch, ServerSpec};
use crate::shown::excerpt;

/// Size limit of the file.
pub(crate) const MAX_MCP_JSON_BYTES: usize = 1024 * 1024;
const MAX_SERVERS: usize = 100;

#[derive(Debug, Default)]
pub struct McpJson {
    /// The usable servers, sorted by name.
    pub servers: Vec<ServerSpec>,
    /// Problems of the other entries: the file belongs to other tools too, so one bad entry does not affect the rest.
    pub problems: Vec<ToolsError>,
}

/// Reads the servers of a file.
///
/// `shown_path` is the path for messages; relative paths start from `root`.
pub fn parse_mcp_json(text: &str, shown_path: &Path, root: &Path) -> Result<McpJson, ToolsError> {
    let reader = Reader { path: shown_path, root };
    if text.len() > MAX_MCP_JSON_BYTES {
        return Err(reader.wrong("it is larger than 1 MiB"));
    }
    let file: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| reader.wrong(format!("it is not JSON: {error}")))?;
    let Value::Object(file) = file else {
        return Err(reader.wrong("it is not a JSON object"));
    };
    let Some(servers) = file.get("mcpServers") else {
        return Err(reader.wrong("it has no `mcpServers`"));
    };
    let servers = reader.object(servers, "mcpServers")?;
    if servers.len() > MAX_SERVERS {
        return Err(reader.wrong(format!("it has more than {MAX_SERVERS} servers")));
    }
    let mut read = McpJson::default();
    for (name, value) in servers {
        let place = format!("mcpServers.{}", excerpt(name));
        let spec = reader.object(value, &place).and_then(|entry| {
            // Other tools can disable a server without removing it.
            let is_off = entry.get("disabled").and_then(Value::as_bool) == Some(true);
            if is_off { Ok(None) } else { reader.server(name, entry, &place).map(Some) }
        });
        match spec {
            Ok(spec) => read.servers.extend(spec),
            Err(problem) => read.problems.push(problem),
        }
    }
    read.servers.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(read)
}

struct Reader<'a> {
    path: &'a Path,
    root: &'a Path,
}

impl Reader<'_> {
    fn wrong(&self, message: impl Into<String>) -> ToolsError {
        ToolsError::BadFile { path: self.path.to_owned(), message: message.into() }
    }

    fn object<'v>(&self, value: &'v Value, place: &str) -> Result<&'v Map<String, Value>, ToolsError> {
        value.as_object().ok_or_else(|| self.wrong(format!("`{place}` is not an object")))
    }

    fn server(&self, name: &str, entry: &Map<String, Value>, place: &str) -> Result<ServerSpec, ToolsError> {
        let kind = self.text(entry, "type", place)?;
        let command = self.text(entry, "command", place)?;
        let url = self.text(entry, "url", place)?;
        let launch = match (kind.as_deref(), command, url) {
            (Some("sse"), ..) => {
                return Err(self.wrong(format!(
                    "`{place}.type` is `sse`, which MCP has replaced: use `http` with the server's streamable address"
                )));
            }
            (None | Some("stdio"), Some(command), None) => Launch::Stdio {
                command,
                args: self.texts(entry, "args", place)?,
                env: self.table(entry, "env", place)?,
                cwd: self
                    .text(entry, "cwd", place)?
                    .map_or_else(|| self.root.to_owned(), |cwd| self.root.join(cwd)),
            },
            (None | Some("http" | "streamable-http" | "streamableHttp"), None, Some(url)) => {
                Launch::Http { url, headers: self.table(entry, "headers", place)? }
            }
            (_, Some(_), Some(_)) => {
                return Err(self.wrong(format!("`{place}` has both `command` and `url`")));
            }
            (None, None, None) => {
                return Err(self.wrong(format!("`{place}` has neither `command` nor `url`")));
            }
            (Some(kind), ..) => {
                return Err(self.wrong(format!(
                    "`{place}.type` is `{kind}`, which needs {}",
                    if kind == "stdio" {
                        "`command`"
                    } else {
                        "to be `stdio` with `command` or `http` with `url`"
                    }
                )));
            }
        };
        let spec = ServerSpec {
            name: name.to_owned(),
            launch,
            timeout: self.timeout(entry, place)?,
            read_only: BTreeSet::new(),
        };
        match spec.check() {
            Err(ToolsError::BadServer { message, .. }) => Err(self.wrong(format!("`{place}`: {message}"))),
            _ => Ok(spec),
        }
    }

    /// In milliseconds, as in other tools.
    fn timeout(&self, entry: &Map<String, Value>, place: &str) -> Result<Duration, ToolsError> {
        match entry.get("timeout") {
            None => Ok(DEFAULT_TIMEOUT),
            Some(value) => value
                .as_u64()
                .filter(|milliseconds| (1..=86_400_000).contains(milliseconds))
                .map(Duration::from_millis)
                .ok_or_else(|| self.wrong(format!("`{place}.timeout` is not a number of milliseconds"))),
        }
    }

    fn text(&self, entry: &Map<String, Value>, key: &str, place: &str) -> Result<Option<String>, ToolsError> {
        match entry.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(format!("`{place}.{key}` is not a string"))),
        }
    }

    fn texts(&self, entry: &Map<String, Value>, key: &str, place: &str) -> Result<Vec<String>, ToolsError> {
        let Some(value) = entry.get(key) else { return Ok(Vec::new()) };
        let texts = value.as_array().and_then(|list| {
            list.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        texts.ok_or_else(|| self.wrong(format!("`{place}.{key}` is not a list of strings")))
    }

    fn table(
        &self,
        entry: &Map<String, Value>,
        key: &str,
        place: &str,
    ) -> Result<BTreeMap<String, String>, ToolsError> {
        let Some(value) = entry.get(key) else { return Ok(BTreeMap::new()) };
        let mut table = BTreeMap::new();
        for (name, value) in self.object(value, &format!("{place}.{key}"))? {
            let Some(text) = value.as_str() else {
                return Err(self.wrong(format!("`{place}.{key}.{name}` is not a string")));
            };
            table.insert(name.clone(), text.to_owned());
        }
        Ok(table)
    }
}

#[cfg(test)]
#[path = "mcp_json_tests.rs"]
mod tests;
