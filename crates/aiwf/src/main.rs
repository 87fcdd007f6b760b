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
mod usage;
mod usage_error;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use cli::Cli;
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
    let mut command = cli::command();
    if is_root_help_asked_for() {
        command = cli::with_profiles(command);
    }
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            let output = Output::new(cli.json, cli.command.name());
            commands::run(&cli, &output).unwrap_or_else(|failure| output.failure(&failure))
        }
        Err(error) => output::usage(&error, &command),
    }
}

/// Whether the help of the program itself is asked for: only then are profiles looked at.
fn is_root_help_asked_for() -> bool {
    let words: Vec<_> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let is_help = |word: &String| matches!(word.as_str(), "-h" | "--help" | "help");
    let has_command = words.iter().any(|word| !word.starts_with('-') && word != "help");
    !has_command && (words.is_empty() || words.iter().any(is_help))
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
