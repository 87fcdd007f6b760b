//! Why there are no settings or no configuration.

use std::io;
use std::path::PathBuf;

use aiwf_store::UserFileError;

use crate::origin::ConfigFile;
use crate::problem::{ConfigProblem, shown};

/// Why there are no settings or no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// `--project-dir` names no directory.
    #[error("project directory `{}` does not exist", path.display())]
    NoProjectDir {
        /// The path given.
        path: PathBuf,
    },
    /// The project is in a directory whose name is not text.
    #[error("the path of the project is not UTF-8: `{}`", path.display())]
    PathNotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// A configuration file could not be read.
    #[error("could not read `{file}`")]
    Unreadable {
        /// The file.
        file: ConfigFile,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Something else stands where a configuration file should.
    #[error("`{file}` is not a file")]
    NotAFile {
        /// The path.
        file: ConfigFile,
    },
    /// The project's file is a link to somewhere else.
    #[error("`{}` is a link that leaves the project", ConfigFile::Project)]
    LeavesProject,
    /// A configuration file is too large to be one.
    #[error("`{file}` is larger than 1 MiB")]
    TooLarge {
        /// The file.
        file: ConfigFile,
    },
    /// A configuration file is not text.
    #[error("`{file}` is not UTF-8 text\n --> {file}:{line}")]
    NotUtf8 {
        /// The file.
        file: ConfigFile,
        /// The line of the first bad byte, counted from 1.
        line: usize,
    },
    /// What the user agreed to cannot be read.
    #[error(transparent)]
    Consents(#[from] UserFileError),
    /// Settings are wrong.
    #[error("{}", shown(problems))]
    Invalid {
        /// At least one problem, the user's file first, in the order of lines.
        problems: Vec<ConfigProblem>,
    },
}

impl ConfigError {
    /// A name for programs that stays the same between versions.
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

    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::PathNotUtf8 { .. } => {
                "rename the directory, or work in a copy of the project with a plain path".to_owned()
            }
            Self::NoProjectDir { .. } => {
                "name a directory that exists, or leave `--project-dir` out to use the current one".to_owned()
            }
            Self::Unreadable { file, .. } => {
                format!("make `{file}` readable, or remove it to use the defaults")
            }
            Self::NotAFile { file } => format!("put a TOML file at `{file}`, or remove what stands there"),
            Self::LeavesProject => {
                format!("replace the link with a file; what is yours alone belongs in `{}`", ConfigFile::User)
            }
            Self::TooLarge { file } | Self::NotUtf8 { file, .. } => {
                format!("`{file}` must be a TOML file; move it away to use the defaults")
            }
            Self::Consents(error) => error.hint(),
            Self::Invalid { problems } => match problems.as_slice() {
                [] => "correct the settings, then run the command again".to_owned(),
                [problem] => problem.fault.hint(),
                [first, ..] => format!("begin with the first: {}", first.fault.hint()),
            },
        }
    }

    /// Problems in the order a person reads them.
    pub(crate) fn invalid(mut problems: Vec<ConfigProblem>) -> Self {
        problems.sort();
        problems.dedup();
        Self::Invalid { problems }
    }
}
