//! What can go wrong when an agent is integrated, and what to do about it.

use std::io;

use aiwf_advice::Advice;
use aiwf_prompt::nearest;
use aiwf_provider::IntegrationScope;
use aiwf_store::{StoreError, UserFileError};

/// Why an agent was not integrated.
#[derive(Debug, thiserror::Error)]
pub enum IntegrateError {
    #[error("unknown agent `{name}`")]
    UnknownAgent { name: String, known: Vec<String> },
    #[error("agent `{agent}` has no {} settings that aiwf can write", scope.as_str())]
    NoScope { agent: String, scope: IntegrationScope },
    #[error("there is no home directory: `HOME` is not set")]
    NoHome,
    #[error("`{path}` exists with different content; nothing was written")]
    Exists { path: String },
    #[error("`{path}` has an entry `aiwf` that runs something else: `{found}`; nothing was written")]
    EntryExists { path: String, found: String },
    #[error("`{path}` cannot be edited: {message}")]
    Unparsable { path: String, message: String },
    #[error("`{path}` is not UTF-8 text (first bad byte at offset {offset})")]
    NotText { path: String, offset: usize },
    #[error("could not read or write `{path}`")]
    Unwritable {
        path: String,
        #[source]
        source: io::Error,
    },
    /// Nobody agreed.
    #[error("nothing was written: the changes were not confirmed")]
    NotAgreed,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    UserFile(#[from] UserFileError),
}

impl IntegrateError {
    /// A name for programs that stays the same between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownAgent { .. } | Self::NoScope { .. } => "INPUT_INVALID",
            Self::NoHome => "NO_HOME",
            Self::Exists { .. } | Self::EntryExists { .. } => "FILE_EXISTS",
            Self::Unparsable { .. } | Self::NotText { .. } => "FILE_UNREADABLE",
            Self::NotAgreed => "NO_TERMINAL",
            Self::Unwritable { .. } | Self::Store(_) | Self::UserFile(_) => "FILE_UNWRITABLE",
        }
    }

    /// One thing to do about it.
    pub fn advice(&self) -> Advice {
        match self {
            Self::UnknownAgent { name, known } => {
                let list = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                match nearest(name, known.iter().map(String::as_str)) {
                    Some(close) => format!("did you mean `{close}`? known: {list}").into(),
                    None => format!("known: {list}").into(),
                }
            }
            Self::NoScope { scope, .. } => format!("use `--scope {}`", scope.other().as_str()).into(),
            Self::NoHome => "set `HOME` to your home directory".into(),
            Self::Exists { .. } => "move it away, then run the command again".into(),
            Self::EntryExists { .. } => "remove or rename the entry, then run the command again".into(),
            Self::Unparsable { path, .. } | Self::NotText { path, .. } => {
                format!("fix `{path}`, then run the command again").into()
            }
            Self::Unwritable { .. } => "check its permissions; nothing is written through a link".into(),
            Self::NotAgreed => "add `--yes` to write what was shown".into(),
            Self::Store(error) => error.hint().into(),
            Self::UserFile(error) => error.hint().into(),
        }
    }
}
