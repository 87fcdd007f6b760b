//! Why settings or configuration could not be read.

use std::io;
use std::path::PathBuf;

use aiwf_advice::Advice;
use aiwf_store::UserFileError;

use crate::origin::ConfigFile;
use crate::problem::{ConfigProblem, shown};

/// Why settings or configuration could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("project directory `{}` does not exist", path.display())]
    NoProjectDir { path: PathBuf },
    #[error("the project path is not UTF-8: `{}`", path.display())]
    PathNotUtf8 { path: PathBuf },
    #[error("could not read `{file}`")]
    Unreadable {
        file: ConfigFile,
        #[source]
        source: io::Error,
    },
    #[error("`{file}` is not a file")]
    NotAFile { file: ConfigFile },
    #[error("`{}` is a link to a file outside the project", ConfigFile::Project)]
    LeavesProject,
    #[error("`{file}` is larger than 1 MiB")]
    TooLarge { file: ConfigFile },
    #[error("`{file}` is not UTF-8 text\n --> {file}:{line}")]
    NotUtf8 {
        file: ConfigFile,
        /// The line of the first invalid byte, counted from 1.
        line: usize,
    },
    /// The consents file cannot be read.
    #[error(transparent)]
    Consents(#[from] UserFileError),
    #[error("{}", shown(problems))]
    Invalid {
        /// At least one problem, the user's file first, in the order of lines.
        problems: Vec<ConfigProblem>,
    },
}

impl ConfigError {
    /// A code that is stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoProjectDir { .. } | Self::PathNotUtf8 { .. } => "PROJECT_NOT_FOUND",
            Self::Consents(_) => "FILE_UNREADABLE",
            Self::Unreadable { .. }
            | Self::NotAFile { .. }
            | Self::LeavesProject
            | Self::TooLarge { .. }
            | Self::NotUtf8 { .. }
            | Self::Invalid { .. } => "CONFIG_INVALID",
        }
    }

    pub fn hint(&self) -> Advice {
        match self {
            Self::PathNotUtf8 { .. } => {
                "rename the directory, or work in a copy of the project whose path is UTF-8".into()
            }
            Self::NoProjectDir { .. } => {
                "use an existing directory, or omit it to find the project from the working directory".into()
            }
            Self::Unreadable { file, .. } => {
                format!("make `{file}` readable, or remove it to use the defaults").into()
            }
            Self::NotAFile { file } => format!("replace `{file}` with a TOML file, or remove it").into(),
            Self::LeavesProject => {
                format!("replace the link with a file; your own settings belong in `{}`", ConfigFile::User)
                    .into()
            }
            Self::TooLarge { file } | Self::NotUtf8 { file, .. } => {
                format!("`{file}` must be a TOML file; move it away to use the defaults").into()
            }
            Self::Consents(error) => error.hint().into(),
            Self::Invalid { problems } => match problems.as_slice() {
                [] => "fix the settings, then run the command again".into(),
                [problem] => problem.fault.hint(),
                [first, ..] => Advice::from("start with the first: ").join(first.fault.hint()),
            },
        }
    }

    /// Sorts the problems by file and position.
    pub(crate) fn invalid(mut problems: Vec<ConfigProblem>) -> Self {
        problems.sort();
        problems.dedup();
        Self::Invalid { problems }
    }
}

#[cfg(test)]
impl ConfigError {
    /// The error and its hint for tests, with actions by name.
    pub(crate) fn with_hint(&self) -> String {
        format!("error: {self}\nhint: {}", self.hint().worded(|action, _| format!("<{action:?}>")))
    }
}
