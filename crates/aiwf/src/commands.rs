//! One file for each command.

pub(crate) mod adopt;
pub(crate) mod agent;
pub(crate) mod apply;
pub(crate) mod cache;
pub(crate) mod change;
pub(crate) mod chat;
pub(crate) mod checks;
pub(crate) mod comment;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod r#do;
pub(crate) mod flow;
pub(crate) mod import;
pub(crate) mod integrate;
mod journal;
mod list;
mod man;
pub(crate) mod mcp;
pub(crate) mod package;
pub(crate) mod profile;
mod profile_action;
pub(crate) mod profile_tool;
mod profiles;
pub(crate) mod prompt;
mod providers;
pub(crate) mod reply;
pub(crate) mod rm;
mod run_session;
pub(crate) mod session;
mod show;
pub(crate) mod template;
pub(crate) mod test;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod ui;
pub(crate) mod validate;
pub(crate) mod workflow;

use aiwf_engine::Engine;
use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::machine::Surface;

use crate::cli::{Cli, Command};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Runs the command and prints its result.
pub(crate) fn run(cli: &Cli, output: &Output<'_>) -> Result<Exit, Failure> {
    let environment = Environment::read().map_err(CommandError::NoCurrentDir)?;
    let of_profile =
        if let Command::Profile(words) = &cli.command { profile::project_dir(words) } else { None };
    let project_dir = of_profile.as_deref().or(cli.project_dir.as_deref());
    let engine = Engine::new(Settings::resolve(project_dir, environment)?).on_surface(Surface::Terminal);
    if cli.command.uses_config() {
        trust::warn_of_loosened(&engine);
    }
    match &cli.command {
        Command::Prompt(command) => prompt::run(command, &engine, output),
        Command::Test(args) => test::run(args, &engine, output),
        Command::Template(command) => template::run(command, &engine, output),
        Command::Reply(command) => reply::run(command, &engine, output),
        Command::Tools(command) => tools::run(command, &engine, output),
        Command::Session(command) => session::run(command, &engine, output),
        Command::Change(command) => change::run(command, &engine, output),
        Command::Flow(command) => flow::run(command, &engine, output),
        Command::Do(args) => r#do::run(args, &engine, output),
        Command::Workflow(command) => workflow::run(command, &engine, output),
        Command::Agent(args) => agent::run(args, &engine, output),
        Command::Chat(args) => chat::run(args, &engine, output),
        Command::Profiles { name } => profiles::run(name.as_deref(), &engine, output),
        Command::ProfileTool(command) => profile_tool::run(command, &engine, output),
        Command::Package(command) => package::run(command, &engine, output),
        Command::Providers { name } => providers::run(name.as_deref(), &engine, output),
        Command::Validate { what } => validate::run(*what, &engine, output),
        Command::Config(command) => config::run(command, &engine, output),
        Command::Checks(command) => checks::run(command, &engine, output),
        Command::Completions(args) => completions::run(args, output),
        Command::Man { dir } => man::run(dir, &engine, output),
        Command::Mcp(args) => mcp::run(args, &engine),
        Command::Ui(args) => ui::run(args, &engine, output),
        Command::Cache(args) => cache::run(args, &engine, output),
        Command::Rm(args) => rm::run(args, &engine, output),
        Command::Import(args) => import::run(args, &engine, output),
        Command::Integrate(args) => integrate::run(args, &engine, output),
        Command::Adopt(args) => adopt::run(args, &engine, output),
        Command::Trust(command) => trust::run(command, &engine, output),
        Command::Demo(args) => demo::run(args, &engine, output),
        Command::Profile(words) => profile::run(words, &engine, output),
    }
}
