//! Why checks cannot be run or changed, and what to do about it.

use std::path::PathBuf;

use aiwf_advice::{Action, Advice};
use aiwf_config::ConfigError;
use aiwf_prompt::nearest;
use aiwf_store::StoreError;

use crate::trust::trust_error::TrustError;

/// Why checks cannot be run or changed.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// No check has that name.
    #[error("no check `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// There is nothing to run.
    #[error("no checks are configured, and the files of this project suggest none")]
    None,
    /// Checks that came with the project, without consent.
    #[error("you have not agreed to {}", checks(names))]
    NotAgreed {
        /// Their names.
        names: Vec<String>,
    },
    /// The directory to run them in is not there.
    #[error("`{}` is not a directory", path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A check of that name is there.
    #[error("there is a check `{name}` already")]
    Exists {
        /// The name.
        name: String,
    },
    /// A name that no check can have.
    #[error("a check cannot be named `{}`", name.escape_debug())]
    BadName {
        /// The name.
        name: String,
        /// What a name is.
        rule: &'static str,
    },
    /// A command that cannot be written down.
    #[error("`{}` cannot be the command of a check", run.escape_debug())]
    BadCommand {
        /// The command.
        run: String,
    },
    /// The project's configuration cannot be extended.
    #[error("could not add the check to `.aiwf/config.toml`: {why}\n{}", indented(block))]
    NotAdded {
        /// What is in the way.
        why: String,
        /// The lines that should be in it.
        block: String,
    },
    /// What was agreed to, or the configuration, cannot be read or written.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// What a check prints cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ConfigError> for CheckError {
    fn from(error: ConfigError) -> Self {
        TrustError::from(error).into()
    }
}

impl CheckError {
    /// One thing to do about it.
    pub fn advice(&self) -> Advice {
        match self {
            Self::Unknown { name, known } => {
                let near = nearest(name, known.iter().map(String::as_str));
                let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
                Advice::from(near).then(Action::ListChecks).then(" lists them")
            }
            Self::None => Advice::from(Action::AddCheck).then(" adds one"),
            Self::NotAgreed { .. } => {
                Advice::from(Action::AllowChecks).then(" shows each command and asks you")
            }
            Self::NoDirectory { .. } => "name a directory that exists".into(),
            Self::Exists { .. } => Advice::from("choose another name, or change it in its file; ")
                .then(Action::ListChecks)
                .then(" says where it is"),
            Self::BadName { rule, .. } => format!("a name is {rule}").into(),
            Self::BadCommand { .. } => "give a command on one line, without control characters".into(),
            Self::NotAdded { .. } => "add these lines to the file yourself".into(),
            Self::Trust(error) => error.advice(),
            Self::Store(error) => error.hint().into(),
        }
    }

    /// A name for programs that stays the same between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. }
            | Self::None
            | Self::NoDirectory { .. }
            | Self::Exists { .. }
            | Self::BadName { .. }
            | Self::BadCommand { .. } => "INPUT_INVALID",
            Self::NotAgreed { .. } => "CHECK_NOT_AGREED",
            Self::NotAdded { .. } => "CONFIG_INVALID",
            Self::Trust(error) => error.code(),
            Self::Store(_) => "FILE_UNWRITABLE",
        }
    }
}

fn checks(names: &[String]) -> String {
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len() {
        1 => format!("the check {listed}"),
        n_checks => format!("{n_checks} checks: {listed}"),
    }
}

fn indented(block: &str) -> String {
    block.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
