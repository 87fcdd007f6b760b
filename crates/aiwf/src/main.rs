//! The `aiwf` program: flags in, the engine called, results and errors printed, an exit code out.

mod advice_words;
mod agent_menu;
mod anatomy;
mod call_args;
mod call_progress;
mod cli;
mod clipboard;
mod coloured_diff;
mod columns;
mod command_error;
mod command_groups;
mod commands;
mod completer;
mod escape;
mod exit;
mod failure;
mod gate_dialogue;
mod gate_view;
mod key_press;
mod lean_twin;
mod line_editor;
mod live;
mod markdown;
mod output;
mod pager;
mod panics;
mod progress;
mod question;
mod run_output;
mod session_output;
mod shell_word;
mod suggestion;
mod talk;
mod typed_path;
mod typed_text;
mod usage;
mod usage_error;

use std::process::ExitCode;

use exit::Exit;
use output::Output;

fn main() -> ExitCode {
    if let Some(code) = aiwf_engine::helper::serve_if_asked(std::env::args_os()) {
        return code;
    }
    ExitCode::from(panics::guarded(run).code())
}

fn run() -> Exit {
    if let Some(exit) = completer::answer_if_asked() {
        return exit;
    }
    match cli::parse() {
        Ok(cli) => {
            let output = Output::new(cli.json, cli.command.name());
            commands::run(&cli, &output).unwrap_or_else(|failure| output.failure(&failure))
        }
        Err(unread) => {
            let (error, command) = *unread;
            output::usage(&error, &command)
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_profile_can_be_named_like_a_command() {
        for command in super::cli::command().get_subcommands() {
            let name = command.get_name();
            assert!(
                aiwf_engine::profile::RESERVED_PROFILE_NAMES.contains(&name),
                "reserve the name `{name}` in aiwf-profile"
            );
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        super::cli::command().debug_assert();
    }
}
