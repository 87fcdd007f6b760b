//! `aiwf completions`: for every command, those of the profiles included.

use std::io::Write as _;

use aiwf_engine::Engine;
use clap::Command;
use clap_complete::Shell;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

pub(crate) fn run(shell: Shell, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut command = with_profiles(crate::cli::command(), engine);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "aiwf", &mut script);
    if output.is_json() {
        let script = String::from_utf8_lossy(&script);
        return output.json(json!({ "shell": shell.to_string(), "script": script }), Exit::Done);
    }
    output::print(|out| out.write_all(&script))?;
    Ok(Exit::Done)
}

/// The command line with the commands of every profile that can be read.
pub(crate) fn with_profiles(command: Command, engine: &Engine) -> Command {
    engine.profiles().iter().filter_map(|found| found.profile.as_ref().ok()).fold(
        command,
        |command, profile| {
            command.subcommand(super::profile::with_choices(super::profile::command(profile), profile))
        },
    )
}
