//! The configuration of a server: its command or address, and its time limit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_store::sha256_hex;

use crate::error::ToolsError;
use crate::expand::expand;
use crate::shown::word;

/// Default time limit of a call.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

const MAX_NAME: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program that uses stdin and stdout.
    Stdio {
        /// The program: a path, or a name to find in `PATH`.
        command: String,
        args: Vec<String>,
        /// Variables in addition to those that every server gets; `${VAR}` is replaced.
        env: BTreeMap<String, String>,
        /// The working directory; absolute.
        cwd: PathBuf,
    },
    /// A streamable HTTP address.
    Http {
        url: String,
        /// Headers of every request; `${VAR}` is replaced.
        headers: BTreeMap<String, String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// The name, which is the first part of the names of its tools.
    pub name: String,
    pub launch: Launch,
    /// Time limit of a call.
    pub timeout: Duration,
    /// Its tools that the user marked as read-only.
    pub read_only: BTreeSet<String>,
}

/// Whether a name is valid for a server.
///
/// `__` separates it from the names of its tools, so it contains no `__`, and neither starts nor ends with `_`: a full
/// name is unambiguous.
pub(crate) fn is_server_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_')
}

impl ServerSpec {
    /// A server with the default timeout and no marked tools.
    pub fn new(name: impl Into<String>, launch: Launch) -> Self {
        Self { name: name.into(), launch, timeout: DEFAULT_TIMEOUT, read_only: BTreeSet::new() }
    }

    /// Why the settings are invalid, if they are.
    pub fn check(&self) -> Result<(), ToolsError> {
        let wrong = |message: String| Err(ToolsError::BadServer { server: self.name.clone(), message });
        if !is_server_name(&self.name) {
            return wrong(format!(
                "its name is not 1 to {MAX_NAME} letters, digits, `-` or single `_` inside"
            ));
        }
        match &self.launch {
            Launch::Stdio { command, args, env, cwd } => {
                if command.trim().is_empty() {
                    return wrong("`command` is empty".to_owned());
                }
                let values = env.iter().flat_map(|(name, value)| [name, value]);
                if args.iter().chain([command]).chain(values).any(|text| text.contains('\0')) {
                    return wrong("a setting contains a NUL character".to_owned());
                }
                if env.keys().any(|name| name.is_empty() || name.contains('=')) {
                    return wrong("`env` has an invalid name".to_owned());
                }
                if !cwd.is_absolute() {
                    return wrong(format!("`cwd` is `{}`, which is not absolute", cwd.display()));
                }
            }
            Launch::Http { url, .. } => {
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    return wrong(format!(
                        "`url` is `{url}`, which starts with neither `http://` nor `https://`"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The exact command or address, for the user's consent; variables are shown by name.
    pub fn shown_command(&self) -> String {
        let mut shown = String::new();
        match &self.launch {
            Launch::Stdio { command, args, env, cwd } => {
                for (name, value) in env {
                    // Writing to a string cannot fail.
                    let _ = write!(shown, "{} ", word(&format!("{name}={value}")));
                }
                shown.push_str(&word(command));
                for arg in args {
                    let _ = write!(shown, " {}", word(arg));
                }
                let _ = write!(shown, " (in {})", word(&cwd.display().to_string()));
            }
            Launch::Http { url, headers } => {
                shown.push_str(&word(url));
                for (name, value) in headers {
                    let _ = write!(shown, " {}", word(&format!("{name}: {value}")));
                }
            }
        }
        shown
    }

    /// The identity of a server: SHA-256 of everything that determines what runs.
    ///
    /// The directory is part of it, because `npx` and similar programs run what they find there. Variables and headers
    /// are part of it, because they can change what runs and which secrets are passed. They count as written, before
    /// `${VAR}` is replaced: a new token does not make a new server.
    pub fn key(&self) -> String {
        let parts = match &self.launch {
            Launch::Stdio { command, args, env, cwd } => {
                serde_json::json!(["stdio", command, args, env, cwd.to_string_lossy()])
            }
            Launch::Http { url, headers } => serde_json::json!(["http", url, headers]),
        };
        sha256_hex(parts.to_string().as_bytes())
    }

    /// The same server with every `${VAR}` of `env` and `headers` replaced.
    pub(crate) fn expanded(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, ToolsError> {
        let each = |table: &str, values: &BTreeMap<String, String>| {
            let mut expanded = BTreeMap::new();
            for (name, value) in values {
                let value = expand(value, lookup).map_err(|variable| ToolsError::NoVariable {
                    server: self.name.clone(),
                    variable,
                    setting: format!("{table}.{name}"),
                })?;
                expanded.insert(name.clone(), value);
            }
            Ok::<_, ToolsError>(expanded)
        };
        let launch = match &self.launch {
            Launch::Stdio { command, args, env, cwd } => Launch::Stdio {
                command: command.clone(),
                args: args.clone(),
                env: each("env", env)?,
                cwd: cwd.clone(),
            },
            Launch::Http { url, headers } => {
                Launch::Http { url: url.clone(), headers: each("headers", headers)? }
            }
        };
        Ok(Self { launch, ..self.clone() })
    }
}

#[cfg(test)]
#[path = "server_spec_tests.rs"]
pub(crate) mod tests;
