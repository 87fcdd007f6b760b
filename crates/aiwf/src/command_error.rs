//! Errors of commands that no crate below has.

use std::io;
use std::path::PathBuf;

use aiwf_engine::prompt::nearest;
use rustyline::error::ReadlineError;

/// Why a command of this program cannot be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The working directory was removed or is not accessible.
    #[error("could not determine the working directory")]
    NoCurrentDir(#[source] io::Error),
    /// The command did its work, but the result cannot be printed.
    #[error("the command finished, but its output could not be written to stdout")]
    Unprintable(#[source] io::Error),
    #[error("could not read from the terminal")]
    NoTerminal(#[source] ReadlineError),
    #[error("`{}` already exists", directory.display())]
    DemoExists { directory: PathBuf },
    /// A file that is in the way and not ours.
    #[error("`{}` exists and was not written by aiwf", path.display())]
    ForeignFile { path: PathBuf },
    #[error("there is no home directory to write to")]
    NoHome,
    #[error("no tool server is configured")]
    NoServer,
    /// The tool ran and reported a failure.
    #[error("`{tool}` reported a failure")]
    ToolFailed { tool: String },
    /// No provider has that name.
    #[error("unknown provider `{name}`")]
    UnknownProvider { name: String, known: Vec<String> },
    /// A menu item continues a run, but there is none.
    #[error("no run of this package can be resumed")]
    NoRunOfPackage,
    /// The message comes from the turn's fault.
    #[error("{message} ({code})")]
    TurnFailed {
        message: String,
        code: String,
        /// The hint of the fault, else how to continue.
        hint: String,
    },
}

impl CommandError {
    /// One thing to do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoCurrentDir(_) => "change to a directory that exists".to_owned(),
            Self::Unprintable(_) => {
                "redirect the output to a disk with free space; there is no need to run it again: its work is done"
                    .to_owned()
            }
            Self::NoTerminal(_) => "pass the text with `--input`, or through a pipe".to_owned(),
            Self::DemoExists { .. } => "remove it, or name another directory: `aiwf demo DIR`".to_owned(),
            Self::ForeignFile { .. } => "move it away, or replace it with `--force`".to_owned(),
            Self::NoHome => "set `HOME`, or print the script with `aiwf completions bash`".to_owned(),
            Self::NoServer => {
                "add servers to `[mcp.servers.NAME]` in `.aiwf/config.toml`, or to `.mcp.json`".to_owned()
            }
            Self::ToolFailed { tool } => {
                format!("the result shows why; `aiwf tools list --json` has the schema of `{tool}`")
            }
            Self::UnknownProvider { name, known } => {
                let advice = "`aiwf providers` lists all; a table `[providers.NAME]` adds one";
                match nearest(name, known.iter().map(String::as_str)) {
                    Some(close) => format!("did you mean `{close}`? {advice}"),
                    None => advice.to_owned(),
                }
            }
            Self::NoRunOfPackage => "choose an item of the menu that starts a workflow".to_owned(),
            Self::TurnFailed { hint, .. } => hint.clone(),
        }
    }

    /// A name for programs that stays the same between versions.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::TurnFailed { code, .. } => code,
            Self::UnknownProvider { .. } => "PROVIDER_UNKNOWN",
            Self::NoRunOfPackage => "RUN_ID_INVALID",
            Self::NoServer | Self::ToolFailed { .. } => "TOOL_NOT_AVAILABLE",
            Self::NoCurrentDir(_) => "NO_CURRENT_DIR",
            Self::Unprintable(_) => "FILE_UNWRITABLE",
            Self::NoTerminal(_) => "NO_TERMINAL",
            Self::DemoExists { .. } | Self::ForeignFile { .. } => "FILE_EXISTS",
            Self::NoHome => "NO_HOME",
        }
    }
}
