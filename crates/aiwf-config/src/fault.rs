//! What can be wrong with a setting, without the place.

use crate::gate::Approver;
use crate::name::{MCP_SERVER_NAME_RULE, PROVIDER_NAME_RULE, ticked};

/// What is wrong with a setting: lower case, no final period, names in backticks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ConfigFault {
    /// The file cannot be read as TOML.
    #[error("not valid TOML: {reason}")]
    NotToml {
        /// What the parser says.
        reason: String,
    },
    /// There is no such key.
    #[error("unknown key `{key}`{}", in_table(table))]
    UnknownKey {
        /// The key.
        key: String,
        /// The table it stands in; empty for the file itself.
        table: String,
        /// The key that was probably meant.
        near: Option<String>,
        /// The table it belongs in.
        home: Option<&'static str>,
        /// The keys there are.
        known: Vec<String>,
    },
    /// A gate whose name stands without quotes, which is a table to TOML.
    #[error("`{path}` is not a gate")]
    UnquotedGate {
        /// The whole name of the setting.
        path: String,
        /// The phase.
        phase: String,
    },
    /// A value is not of the kind that the setting has.
    #[error("`{path}` is `{found}`, not {expected}")]
    WrongValue {
        /// The whole name of the setting.
        path: String,
        /// The value as it stands in the file.
        found: String,
        /// What it should be.
        expected: String,
        /// The value that was probably meant.
        near: Option<String>,
    },
    /// A value stands where a table should.
    #[error("`{path}` is `{found}`, not a table")]
    NotATable {
        /// The whole name of the setting.
        path: String,
        /// The value as it stands in the file.
        found: String,
    },
    /// A provider cannot be called that.
    #[error("`{name}` is no name for a provider")]
    ProviderName {
        /// The name.
        name: String,
    },
    /// A server cannot be called that.
    #[error("`{name}` is no name for a server")]
    ServerName {
        /// The name.
        name: String,
    },
    /// A variable cannot be called that.
    #[error("`{path}` is no name for a variable")]
    VariableName {
        /// The whole name of the setting.
        path: String,
    },
    /// A header cannot be called that.
    #[error("`{path}` is no name for a header")]
    HeaderName {
        /// The whole name of the setting.
        path: String,
    },
    /// A tool cannot be called that.
    #[error("`{path}` names `{name}`, which is no name of a tool")]
    ToolName {
        /// The whole name of the setting.
        path: String,
        /// The name.
        name: String,
    },
    /// A gate says nothing about who approves.
    #[error("`{path}` has no `approver`")]
    NoApprover {
        /// The whole name of the setting.
        path: String,
    },
    /// One half of a price is missing.
    #[error("`{path}` needs both `input` and `output`")]
    HalfPrice {
        /// The whole name of the setting.
        path: String,
    },
    /// A server is a program and an address at once.
    #[error("`{path}` has both `command` and `url`")]
    CommandAndUrl {
        /// The whole name of the setting.
        path: String,
    },
    /// A checkout sets what only its user may.
    #[error("`{path}` counts only in your own configuration")]
    UsersOnly {
        /// The whole name of the setting.
        path: String,
    },
    /// A secret stands in the file, or is about to.
    #[error("`{path}`: keys do not stand in files")]
    KeyInFile {
        /// The whole name of the setting.
        path: String,
    },
    /// A setting names a provider that does not exist.
    #[error("unknown provider `{name}`")]
    UnknownProvider {
        /// The name.
        name: String,
        /// The provider that was probably meant.
        near: Option<String>,
    },
    /// A provider is of a type that does not exist.
    #[error("provider `{provider}` has the unknown type `{kind}`")]
    UnknownType {
        /// The provider.
        provider: String,
        /// The type.
        kind: String,
        /// The type that was probably meant.
        near: Option<String>,
        /// The types there are.
        known: Vec<String>,
    },
    /// A project gives the name of a built-in provider to another one.
    #[error("provider `{provider}` is built in, and a project cannot give it the type `{kind}`")]
    BuiltInProvider {
        /// The provider.
        provider: String,
        /// The type.
        kind: String,
    },
    /// A provider with a name of its own says nothing about its type.
    #[error("provider `{provider}` has no `type`")]
    NoType {
        /// The provider.
        provider: String,
        /// The provider that was probably meant.
        near: Option<String>,
        /// The types there are.
        known: Vec<String>,
    },
}

impl ConfigFault {
    /// One thing to do about it.
    pub fn hint(&self) -> String {
        let advice = self.advice();
        match self.near() {
            Some(near) => format!("did you mean `{near}`? {advice}"),
            None => advice,
        }
    }

    /// The name that was probably meant.
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
            | Self::UsersOnly { .. }
            | Self::KeyInFile { .. }
            | Self::BuiltInProvider { .. } => None,
        }
    }

    fn advice(&self) -> String {
        let list = |names: &[String]| ticked(names.iter().map(String::as_str));
        match self {
            Self::NotToml { .. } => {
                "correct the line; texts stand in quotes, tables begin with a name in brackets".to_owned()
            }
            Self::UnknownKey { key, near: None, home: Some(table), .. } => {
                format!("`{key}` belongs in `{table}`")
            }
            Self::UnknownKey { known, .. } | Self::UnknownType { known, .. } => {
                format!("known: {}", list(known))
            }
            Self::UnquotedGate { phase, .. } => {
                format!("write the gate's name in quotes: `\"{phase}.prompt\"`")
            }
            Self::WrongValue { .. } => "correct the value, or remove the line".to_owned(),
            Self::NotATable { path, .. } => format!("begin the table with a line `[{path}]`"),
            Self::ProviderName { .. } => format!("a provider's name is {PROVIDER_NAME_RULE}"),
            Self::ServerName { .. } => format!("a server's name is {MCP_SERVER_NAME_RULE}"),
            Self::VariableName { .. } => {
                "rename it: names have letters, digits and `_`, and begin with no digit".to_owned()
            }
            Self::HeaderName { .. } => "rename it: names have letters, digits, `-` and `_`".to_owned(),
            Self::ToolName { .. } => {
                "tools are named `SERVER__TOOL`; `aiwf tools list` shows them".to_owned()
            }
            Self::NoApprover { .. } => format!("add `approver`, one of {}", ticked(Approver::LEGAL)),
            Self::HalfPrice { .. } => "add the other price, in dollars per million tokens".to_owned(),
            Self::CommandAndUrl { .. } => "keep `command` for a program, or `url` for an address".to_owned(),
            Self::UsersOnly { .. } => "move the line to `~/.aiwf/config.toml`".to_owned(),
            Self::KeyInFile { .. } => "name the variable that holds it with `api_key_env`".to_owned(),
            Self::UnknownProvider { .. } => {
                "`aiwf providers` lists all; a table `[providers.NAME]` adds one".to_owned()
            }
            Self::BuiltInProvider { .. } => "choose another name, as in `[providers.my-provider]`".to_owned(),
            Self::NoType { known, .. } => format!("add `type`, one of {}", list(known)),
        }
    }
}

fn in_table(table: &str) -> String {
    if table.is_empty() { String::new() } else { format!(" in `[{table}]`") }
}
