//! What can go wrong when something is imported, and what to do about it.

use std::io;
use std::path::PathBuf;

use aiwf_advice::Advice;

use super::ImportKind;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("directory `{}` does not exist", path.display())]
    NoPath { path: PathBuf },
    #[error("found nothing to import as {1} in `{0}`", path.display(), kind.as_str())]
    Nothing { kind: ImportKind, path: PathBuf, expected: &'static str },
    #[error("`{}` could not be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` has more than {limit} files or directories to import", path.display())]
    TooMany { path: PathBuf, limit: usize },
    #[error("`{name}` is not a valid flow name")]
    Name { name: String },
    #[error("{} with different content: {}; nothing was written", exist(paths.len()), listed(paths))]
    Exists { paths: Vec<String> },
    #[error("{} since the import, or not written by it: {}; nothing was written", changed(paths.len()), listed(paths))]
    Changed { paths: Vec<String> },
    #[error("flow `{name}` made from the import is broken: {problem}")]
    BrokenFlow { name: String, problem: String },
    #[error("could not write `{path}`")]
    Unwritable {
        path: String,
        #[source]
        source: io::Error,
    },
}

fn exist(n_files: usize) -> String {
    if n_files == 1 { "1 file already exists".to_owned() } else { format!("{n_files} files already exist") }
}

fn changed(n_files: usize) -> String {
    if n_files == 1 { "1 file was changed".to_owned() } else { format!("{n_files} files were changed") }
}

fn listed(paths: &[String]) -> String {
    const MAX: usize = 5;
    let shown: Vec<String> = paths.iter().take(MAX).map(|path| format!("`{path}`")).collect();
    let more = paths.len().saturating_sub(MAX);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

impl ImportError {
    /// A name for programs that stays the same between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoPath { .. } | Self::Nothing { .. } | Self::Unreadable { .. } => "FILE_UNREADABLE",
            Self::Exists { .. } | Self::Changed { .. } => "FILE_EXISTS",
            Self::Name { .. } | Self::TooMany { .. } => "INPUT_INVALID",
            Self::BrokenFlow { .. } => "FLOW_INVALID",
            Self::Unwritable { .. } => "FILE_UNWRITABLE",
        }
    }

    /// One thing to do about it.
    pub fn advice(&self) -> Advice {
        match self {
            Self::NoPath { .. } => "check its spelling".into(),
            Self::Nothing { expected, .. } => format!("name a directory that contains {expected}").into(),
            Self::Unreadable { .. } => "check its permissions; links are not followed".into(),
            Self::TooMany { .. } => "copy what you need into a separate directory, and import that".into(),
            Self::Name { .. } => {
                "choose one with `--name`: up to 31 lower-case letters, digits, `-` and `_`, and not the name of a built-in flow".into()
            }
            Self::Exists { .. } => {
                "use another `--name`; `--force` replaces only unchanged files of an earlier import".into()
            }
            Self::Changed { .. } => "move them away, or use another `--name`".into(),
            Self::BrokenFlow { .. } => "this is a bug in aiwf: report it with the files you imported".into(),
            Self::Unwritable { .. } => "check the permissions of its directory; nothing is written through a link".into(),
        }
    }
}
