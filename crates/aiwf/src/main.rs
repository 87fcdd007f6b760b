//! The `aiwf` program: flags in, the engine called, results and errors printed, an exit code out.

mod anatomy;
mod cli;
mod commands;
mod exit;
mod failure;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use cli::Cli;
use exit::Exit;
use output::Output;

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => {
            let mut output = Output::new(cli.json, cli.command.name());
            match commands::run(cli, &mut output) {
                Ok(exit) => exit,
                Err(failure) => output.failure(&failure),
            }
        }
        Err(error) => output::usage(&error),
    };
    ExitCode::from(exit.code())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}

/// What the process ends with when its reader went away: nobody is left to tell.
pub(crate) const READER_GONE: Exit = Exit::Done;
