//! The origin of a value.

use std::fmt;

/// A file that holds configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigFile {
    User,
    /// Overrides the user's file.
    Project,
}

impl fmt::Display for ConfigFile {
    /// The path as users know it, the same on every machine.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "~/.aiwf/config.toml",
            Self::Project => ".aiwf/config.toml",
        })
    }
}

/// The origin of a value, weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    #[default]
    Default,
    File {
        file: ConfigFile,
        /// The line, counted from 1.
        line: usize,
    },
    /// A flag of the command, such as `--planner`.
    Flag(&'static str),
}

impl Origin {
    /// A value of higher rank overrides one of lower rank.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { file: ConfigFile::User, .. } => 1,
            Self::File { file: ConfigFile::Project, .. } => 2,
            Self::Flag(_) => 3,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line } => write!(f, "{file}:{line}"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A value with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Sourced<T> {
    pub(crate) fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }
}
