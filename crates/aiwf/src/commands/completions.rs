//! `aiwf completions`: for every command, those of the profiles included.

use std::io::Write as _;

use aiwf_engine::Engine;
use clap_complete::Shell;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(shell: Shell, engine: &Engine) -> Result<Exit, Failure> {
    let mut command = crate::cli::command();
    for found in engine.profiles() {
        if let Ok(profile) = &found.profile {
            command =
                command.subcommand(super::profile::with_choices(super::profile::command(profile), profile));
        }
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "aiwf", &mut script);
    output::print(|out| out.write_all(&script))?;
    Ok(Exit::Done)
}
