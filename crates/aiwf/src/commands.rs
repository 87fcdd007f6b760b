//! One file for each command.

pub(crate) mod prompt;
pub(crate) mod reply;
pub(crate) mod template;

use aiwf_engine::Engine;
use aiwf_engine::config::{Environment, Settings};

use crate::cli::{Cli, Command};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Runs the command and prints its result.
pub(crate) fn run(cli: Cli, output: &mut Output) -> Result<Exit, Failure> {
    let environment = Environment::read().map_err(|error| Failure::no_current_dir(&error))?;
    let engine = Engine::new(Settings::resolve(cli.project_dir.as_deref(), environment)?);
    match cli.command {
        Command::Prompt(command) => prompt::run(command, &engine, output),
        Command::Template(command) => template::run(&command, &engine, output),
        Command::Reply(command) => reply::run(&command, &engine, output),
    }
}
