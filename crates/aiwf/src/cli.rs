//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::commands::prompt::PromptCommand;
use crate::commands::reply::ReplyCommand;
use crate::commands::template::TemplateCommand;

/// An AI workflow engine: builds every prompt from named parts and shows exactly what will be sent.
#[derive(Debug, Parser)]
#[command(name = "aiwf", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Print one line of JSON instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// The project, when it is not around the current directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project_dir: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build and preview prompts.
    #[command(subcommand)]
    Prompt(PromptCommand),
    /// List, show and check system templates.
    #[command(subcommand)]
    Template(TemplateCommand),
    /// Read what an agent answered.
    #[command(subcommand)]
    Reply(ReplyCommand),
}

impl Command {
    /// The command's words, as JSON names them.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Prompt(command) => command.name(),
            Self::Template(command) => command.name(),
            Self::Reply(command) => command.name(),
        }
    }
}
