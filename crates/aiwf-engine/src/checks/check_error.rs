//! Errors of checks, with advice.

use std::path::PathBuf;

use aiwf_advice::{Action, Advice};
use aiwf_config::ConfigError;
use aiwf_prompt::nearest;
use aiwf_store::StoreError;

use crate::trust::trust_error::TrustError;

#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("no check `{name}`")]
    Unknown { name: String, known: Vec<String> },
    #[error("no checks are configured, and the files of this project suggest none")]
    None,
    #[error("you have not agreed to {}", checks(names))]
    NotAgreed { names: Vec<String> },
    #[error("`{}` is not a directory", path.display())]
    NoDirectory { path: PathBuf },
    #[error("check `{name}` already exists")]
    Exists { name: String },
    #[error("`{}` is not a valid check name", name.escape_debug())]
    BadName { name: String, rule: &'static str },
    #[error("`{}` is not a valid check command", run.escape_debug())]
    BadCommand { run: String },
    #[error("could not add the check to `.aiwf/config.toml`: {why}\n{}", indented(block))]
    NotAdded { why: String, block: String },
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ConfigError> for CheckError {
    fn from(error: ConfigError) -> Self {
        TrustError::from(error).into()
    }
}

impl CheckError {
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
                .then(" shows where it is"),
            Self::BadName { rule, .. } => format!("a name is {rule}").into(),
            Self::BadCommand { .. } => "give a command on one line, without control characters".into(),
            Self::NotAdded { .. } => "add these lines to the file yourself".into(),
            Self::Trust(error) => error.advice(),
            Self::Store(error) => error.hint().into(),
        }
    }

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
