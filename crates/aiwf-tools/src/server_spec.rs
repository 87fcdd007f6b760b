//! A server as it is configured: what is started or connected to, and how long it may take.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_store::sha256_hex;

use crate::error::ToolsError;
use crate::expand::expand;
use crate::shown::word;

/// How long a call may take when nobody says otherwise.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

const MAX_NAME: usize = 32;

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program that speaks on its standard input and output.
    Stdio {
        /// The program: a path, or a name that is looked up as the system does.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables it gets beside the few that every server gets; `${VAR}` is replaced.
        env: BTreeMap<String, String>,
        /// Where it works; absolute.
        cwd: PathBuf,
    },
    /// An address that speaks streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of every request; `${VAR}` is replaced.
        headers: BTreeMap<String, String>,
    },
}

/// A server as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name: the first part of the name of each of its tools.
    pub name: String,
    /// How it is reached.
    pub launch: Launch,
    /// How long a call may take.
    pub timeout: Duration,
    /// Its tools that change nothing, as a person says.
    pub read_only: BTreeSet<String>,
}

/// Whether a server may be called that.
///
/// `__` separates it from its tools' names, so it has none, and neither begins nor ends with half of one: a full name
/// can be read in one way only.
pub(crate) fn is_server_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_')
}

impl ServerSpec {
    /// A server with the default timeout and no marks.
    pub fn new(name: impl Into<String>, launch: Launch) -> Self {
        Self { name: name.into(), launch, timeout: DEFAULT_TIMEOUT, read_only: BTreeSet::new() }
    }

    /// What is wrong with it, if anything.
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
                    return wrong("a setting holds a NUL character".to_owned());
                }
                if env.keys().any(|name| name.is_empty() || name.contains('=')) {
                    return wrong("`env` has a name that is none".to_owned());
                }
                if !cwd.is_absolute() {
                    return wrong(format!("`cwd` is `{}`, which is not absolute", cwd.display()));
                }
            }
            Launch::Http { url, .. } => {
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    return wrong(format!(
                        "`url` is `{url}`, which begins with neither `http://` nor `https://`"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Exactly what would be started or connected to, for a person to agree to; variables by name.
    pub fn shown_command(&self) -> String {
        let mut shown = String::new();
        match &self.launch {
            Launch::Stdio { command, args, env, cwd } => {
                for (name, value) in env {
                    // Writing to a string does not fail.
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

    /// What tells this server from every other: SHA-256 of all that decides what runs.
    ///
    /// The directory is part of it, since `npx` and its like run what they find there; variables and headers are,
    /// since they can change what runs and say which secrets are handed over. They count as written, before `${VAR}`
    /// is replaced: a new token is not a new server.
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
