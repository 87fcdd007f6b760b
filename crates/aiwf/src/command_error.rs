//! What a command could not do where no crate below has an error for it.

use std::io;
use std::path::PathBuf;

use aiwf_engine::prompt::nearest;
use rustyline::error::ReadlineError;

/// Why a command of this program cannot be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The current directory is gone or closed to us.
    #[error("could not tell the current directory")]
    NoCurrentDir(#[source] io::Error),
    /// The result cannot be printed; what the command was to do is done.
    #[error("the command finished, but its output could not be written to stdout")]
    Unprintable(#[source] io::Error),
    /// Nothing can be typed.
    #[error("could not read from the terminal")]
    NoTerminal(#[source] ReadlineError),
    /// The demo would write into something that is there.
    #[error("`{}` exists already", directory.display())]
    DemoExists { directory: PathBuf },
    /// A file that is in the way and not ours.
    #[error("`{}` exists and was not written by aiwf", path.display())]
    ForeignFile { path: PathBuf },
    /// Something is to be written to the home, and there is none.
    #[error("there is no home directory to write to")]
    NoHome,
    /// Tools are asked for, and no server is set up.
    #[error("no tool server is set up")]
    NoServer,
    /// A tool ran, and its result says that it did not work.
    #[error("`{tool}` says that it failed")]
    ToolFailed { tool: String },
    /// No provider has that name.
    #[error("unknown provider `{name}`")]
    UnknownProvider { name: String, known: Vec<String> },
    /// An item of a menu goes on with a run, and there is none.
    #[error("no run of this package can go on")]
    NoRunOfPackage,
    /// An item of a menu needs files that are not there.
    #[error("nothing was started: {} missing", are(missing))]
    FilesMissing { missing: Vec<String> },
    /// A turn of a run did not work; what it said stands in the message.
    #[error("{message} ({code})")]
    TurnFailed {
        message: String,
        code: String,
        /// What its fault says to do, else how to go on.
        hint: String,
    },
}

impl CommandError {
    /// One thing to do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoCurrentDir(_) => "change to a directory that exists".to_owned(),
            Self::Unprintable(_) => {
                "write the output to a place with room; what the command did is kept and need not be repeated"
                    .to_owned()
            }
            Self::NoTerminal(_) => "give the text with `--input`, or through a pipe".to_owned(),
            Self::DemoExists { .. } => "remove it, or name another directory: `aiwf demo DIR`".to_owned(),
            Self::ForeignFile { .. } => "move it away, or replace it with `--force`".to_owned(),
            Self::NoHome => "set `HOME`, or print the script with `aiwf completions bash`".to_owned(),
            Self::NoServer => {
                "add servers to `[mcp.servers.NAME]` in `.aiwf/config.toml`, or to `.mcp.json`".to_owned()
            }
            Self::ToolFailed { tool } => {
                format!("its result says why; `aiwf tools list --json` has the schema of `{tool}`")
            }
            Self::UnknownProvider { name, known } => {
                let advice = "`aiwf providers` lists all; a table `[providers.NAME]` adds one";
                match nearest(name, known.iter().map(String::as_str)) {
                    Some(close) => format!("did you mean `{close}`? {advice}"),
                    None => advice.to_owned(),
                }
            }
            Self::NoRunOfPackage => "choose an item of the menu that starts a workflow".to_owned(),
            Self::FilesMissing { missing } => {
                let what = if missing.len() == 1 { "it" } else { "them" };
                format!("put {what} in place, then choose the item again")
            }
            Self::TurnFailed { hint, .. } => hint.clone(),
        }
    }

    /// A name for programs that stays the same between versions.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::TurnFailed { code, .. } => code,
            Self::UnknownProvider { .. } => "PROVIDER_UNKNOWN",
            Self::NoRunOfPackage => "RUN_ID_INVALID",
            Self::FilesMissing { .. } => "VALIDATION_FAILED",
            Self::NoServer | Self::ToolFailed { .. } => "TOOL_NOT_AVAILABLE",
            Self::NoCurrentDir(_) => "NO_CURRENT_DIR",
            Self::Unprintable(_) => "FILE_UNWRITABLE",
            Self::NoTerminal(_) => "NO_TERMINAL",
            Self::DemoExists { .. } | Self::ForeignFile { .. } => "FILE_EXISTS",
            Self::NoHome => "NO_HOME",
        }
    }
}

/// Names in backticks and the verb that fits.
fn are(names: &[String]) -> String {
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    format!("{listed} {}", if names.len() == 1 { "is" } else { "are" })
}
