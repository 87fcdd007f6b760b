//! The `aiwf` program: flags in, the engine called, results and errors printed, an exit code out.

mod anatomy;
mod cli;
mod commands;
mod exit;
mod failure;
mod output;
mod panics;
mod progress;
mod session_output;
mod usage;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use cli::Cli;
use exit::Exit;
use output::Output;

fn main() -> ExitCode {
    ExitCode::from(panics::guarded(run).code())
}

fn run() -> Exit {
    let mut command = cli::command();
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            let output = Output::new(cli.json, cli.command.name());
            commands::run(&cli, &output).unwrap_or_else(|failure| output.failure(&failure))
        }
        Err(error) => output::usage(&error, &command),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::cli::command().debug_assert();
    }
}
