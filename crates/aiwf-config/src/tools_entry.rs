//! The settings of servers and tools as a list, for `config show`.

use crate::config::Config;
use crate::entry::{Entry, entry, list, optional};

impl Config {
    pub(crate) fn tool_entries(&self) -> Vec<Entry> {
        let mut entries = vec![
            entry("mcp.allow_unknown", &self.mcp.allow_unknown, ToString::to_string),
            entry("tools.enabled", &self.tools.enabled, ToString::to_string),
            entry("tools.max_result_bytes", &self.tools.max_result_bytes, ToString::to_string),
            entry("tools.max_rounds", &self.tools.max_rounds, ToString::to_string),
        ];
        let shown_time = |time: &std::time::Duration| format!("{}ms", time.as_millis());
        entries.extend(optional("tools.timeout", self.tools.timeout.as_ref(), shown_time));
        for (phase, names) in &self.tools.grants {
            entries.push(entry(&format!("tools.grant.{phase}"), names, |names| list(names)));
        }
        for (name, server) in &self.mcp.servers {
            let key = |key: &str| format!("mcp.servers.{name}.{key}");
            entries.extend(optional(&key("command"), server.command.as_ref(), String::clone));
            entries.extend(optional(&key("args"), server.args.as_ref(), |words| list(words)));
            entries.extend(optional(&key("cwd"), server.cwd.as_ref(), |dir| dir.display().to_string()));
            entries.extend(optional(&key("url"), server.url.as_ref(), String::clone));
            entries.extend(optional(&key("timeout"), server.timeout.as_ref(), shown_time));
            entries.extend(optional(&key("read_only"), server.read_only.as_ref(), |names| list(names)));
            for (table, values) in [("env", &server.env), ("headers", &server.headers)] {
                for (name, value) in values {
                    entries.push(entry(&key(&format!("{table}.{name}")), value, String::clone));
                }
            }
        }
        entries
    }
}
