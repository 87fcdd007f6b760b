//! Errors in a setting, without the position.

use aiwf_advice::{Action, Advice};

use crate::gate::Approver;
use crate::name::{MCP_SERVER_NAME_RULE, PROVIDER_NAME_RULE, ticked};

/// What is wrong with a setting. `path` is the full name of the setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ConfigFault {
    #[error("not valid TOML: {reason}")]
    NotToml { reason: String },
    #[error("unknown key `{key}`{}", in_table(table))]
    UnknownKey {
        key: String,
        /// The table it is in; empty at the top of the file.
        table: String,
        /// The closest key.
        near: Option<String>,
        /// The table it belongs in.
        home: Option<&'static str>,
        known: Vec<String>,
    },
    /// A gate whose name is not quoted, which makes it a table in TOML.
    #[error("`{path}` is not a gate")]
    UnquotedGate { path: String, phase: String },
    #[error("`{path}` is `{found}`, not {expected}")]
    WrongValue {
        path: String,
        /// The value as written in the file.
        found: String,
        expected: String,
        /// The closest valid value.
        near: Option<String>,
    },
    #[error("`{path}` is `{found}`, not a table")]
    NotATable {
        path: String,
        /// The value as written in the file.
        found: String,
    },
    #[error("`{name}` is not a valid provider name")]
    ProviderName { name: String },
    #[error("`{name}` is not a valid server name")]
    ServerName { name: String },
    #[error("`{path}` is not a valid variable name")]
    VariableName { path: String },
    #[error("`{path}` is not a valid header name")]
    HeaderName { path: String },
    #[error("`{path}` names `{name}`, which is not a full tool name")]
    ToolName { path: String, name: String },
    #[error("`{path}` has no `approver`")]
    NoApprover { path: String },
    #[error("`{path}` needs both `input` and `output`")]
    HalfPrice { path: String },
    #[error("`{path}` has both `command` and `url`")]
    CommandAndUrl { path: String },
    /// A table of a list lacks a required key.
    #[error("`{path}` has no `{key}`")]
    NoKey { path: String, key: &'static str },
    /// Two tables of a list have the same name.
    #[error("`{path}` has two tables named `{name}`")]
    NameTaken { path: String, name: String },
    /// A project sets something that only the user may set.
    #[error("`{path}` can only be set in your own configuration")]
    UsersOnly { path: String },
    #[error("`{path}`: API keys do not belong in files")]
    KeyInFile { path: String },
    #[error("unknown provider `{name}`")]
    UnknownProvider {
        name: String,
        /// The closest provider.
        near: Option<String>,
    },
    #[error("provider `{provider}` has unknown type `{kind}`")]
    UnknownType {
        provider: String,
        kind: String,
        /// The closest type.
        near: Option<String>,
        known: Vec<String>,
    },
    #[error("provider `{provider}` is built in: a project cannot change its type to `{kind}`")]
    BuiltInProvider { provider: String, kind: String },
    /// A provider that is not built in needs a type.
    #[error("provider `{provider}` has no `type`")]
    NoType {
        provider: String,
        /// The closest provider.
        near: Option<String>,
        known: Vec<String>,
    },
}

impl ConfigFault {
    pub fn hint(&self) -> Advice {
        match self.near() {
            Some(near) => Advice::from(format!("did you mean `{near}`? ")).join(self.advice()),
            None => self.advice(),
        }
    }

    /// The closest name or value.
    pub(crate) fn near(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { near, .. }
            | Self::WrongValue { near, .. }
            | Self::UnknownProvider { near, .. }
            | Self::UnknownType { near, .. }
            | Self::NoType { near, .. } => near.as_deref(),
            Self::NotToml { .. }
            | Self::UnquotedGate { .. }
            | Self::NotATable { .. }
            | Self::ProviderName { .. }
            | Self::ServerName { .. }
            | Self::VariableName { .. }
            | Self::HeaderName { .. }
            | Self::ToolName { .. }
            | Self::NoApprover { .. }
            | Self::HalfPrice { .. }
            | Self::CommandAndUrl { .. }
            | Self::NoKey { .. }
            | Self::NameTaken { .. }
            | Self::UsersOnly { .. }
            | Self::KeyInFile { .. }
            | Self::BuiltInProvider { .. } => None,
        }
    }

    fn advice(&self) -> Advice {
        let list = |names: &[String]| ticked(names.iter().map(String::as_str));
        match self {
            Self::NotToml { .. } => {
                "fix the line: text needs quotes, and a table starts with its name in brackets".into()
            }
            Self::UnknownKey { key, near: None, home: Some(table), .. } => {
                format!("`{key}` belongs in `{table}`").into()
            }
            Self::UnknownKey { known, .. } | Self::UnknownType { known, .. } => {
                format!("known: {}", list(known)).into()
            }
            Self::UnquotedGate { phase, .. } => {
                format!("write the gate's name in quotes: `\"{phase}.prompt\"`").into()
            }
            Self::WrongValue { .. } => "fix the value, or remove the line".into(),
            Self::NotATable { path, .. } => format!("start the table with a line `[{path}]`").into(),
            Self::ProviderName { .. } => format!("a provider name is {PROVIDER_NAME_RULE}").into(),
            Self::ServerName { .. } => format!("a server name is {MCP_SERVER_NAME_RULE}").into(),
            Self::VariableName { .. } => {
                "rename it: use letters, digits and `_`, and do not start with a digit".into()
            }
            Self::HeaderName { .. } => "rename it: use letters, digits, `-` and `_`".into(),
            Self::ToolName { .. } => {
                Advice::from("tools are named `SERVER__TOOL`; ").then(Action::ListTools).then(" lists them")
            }
            Self::NoApprover { .. } => format!("add `approver`, one of {}", ticked(Approver::LEGAL)).into(),
            Self::HalfPrice { .. } => "add the other price, in dollars per million tokens".into(),
            Self::CommandAndUrl { .. } => "keep `command` for a program, or `url` for an address".into(),
            Self::NoKey { key: "run", .. } => "add `run = \"COMMAND\"`".into(),
            Self::NoKey { key, .. } => format!("add `{key} = \"NAME\"`").into(),
            Self::NameTaken { .. } => "rename one of them".into(),
            Self::UsersOnly { .. } => "move the line to `~/.aiwf/config.toml`".into(),
            Self::KeyInFile { .. } => "set `api_key_env` to the name of the variable that holds it".into(),
            Self::UnknownProvider { .. } => {
                Advice::from(Action::ListProviders).then(" lists all; a table `[providers.NAME]` adds one")
            }
            Self::BuiltInProvider { .. } => "choose another name, as in `[providers.my-provider]`".into(),
            Self::NoType { known, .. } => format!("add `type`, one of {}", list(known)).into(),
        }
    }
}

fn in_table(table: &str) -> String {
    if table.is_empty() { String::new() } else { format!(" in `[{table}]`") }
}
