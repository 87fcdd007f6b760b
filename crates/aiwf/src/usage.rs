//! Turns clap's usage errors into our own.
//!
//! In: clap's error. Out: an error of ours, with the command's name.

use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::suggestion;
use crate::usage_error::UsageError;

pub(crate) fn error_of(error: &clap::Error, command: &KnownCommand) -> UsageError {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.as_slice(),
        _ => &[],
    };
    let flag = text(ContextKind::InvalidArg).map(flag_of).unwrap_or_default().to_owned();
    let value = text(ContextKind::InvalidValue).unwrap_or_default().to_owned();
    let (takes, known) = (command.takes(), command.sub_commands.clone());
    let command_words = command.words.clone();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand).unwrap_or_default().to_owned();
            if command_words == "aiwf" {
                return unknown_command(&word, &[]);
            }
            UsageError::UnknownSubCommand { takes, word, known }
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            UsageError::NoSubCommand { command: command_words, takes, known }
        }
        ErrorKind::InvalidValue if value.is_empty() => UsageError::NoValue {
            flag,
            command: command_words,
            known: texts(ContextKind::ValidValue).to_vec(),
        },
        ErrorKind::InvalidValue => {
            UsageError::UnknownValue { flag, value, known: texts(ContextKind::ValidValue).to_vec() }
        }
        ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map(reason_of).unwrap_or_default();
            UsageError::UnfitValue { flag, value, reason, command: command_words }
        }
        ErrorKind::UnknownArgument if command.takes_text && !flag.starts_with('-') => {
            UsageError::Unquoted { given: flag, command: command_words }
        }
        ErrorKind::UnknownArgument => {
            let near = text(ContextKind::SuggestedArg).map(str::to_owned);
            UsageError::UnknownArgument { given: flag, near, command: command_words }
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(ContextKind::InvalidArg).to_vec();
            let takes_input = command.takes_input && missing.iter().all(|flag| flag_of(flag) != "--input");
            UsageError::Missing {
                missing,
                command: command_words,
                takes_input,
                example: command.example.clone(),
            }
        }
        // One word too many, where clap expects a command.
        ErrorKind::ArgumentConflict if flag.is_empty() => UsageError::UnknownArgument {
            given: text(ContextKind::InvalidSubcommand).unwrap_or_default().to_owned(),
            near: None,
            command: command_words,
        },
        ErrorKind::ArgumentConflict => {
            let prior = text(ContextKind::PriorArg).into_iter();
            let mut prior = prior.chain(texts(ContextKind::PriorArg).iter().map(String::as_str)).map(flag_of);
            match prior.find(|prior| *prior != flag).map(str::to_owned) {
                Some(other) => UsageError::Together { one: flag, other, command: command_words },
                None => UsageError::Twice { flag },
            }
        }
        ErrorKind::InvalidUtf8 => UsageError::NotUtf8,
        ErrorKind::NoEquals
        | ErrorKind::TooManyValues
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues
        | ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::Io
        | ErrorKind::Format
        | _ => UsageError::Other { message: plain(&error.render().to_string()), command: command_words },
    }
}

/// Why a value is invalid, with what is expected.
fn reason_of(error: &(dyn std::error::Error + 'static)) -> String {
    let Some(number) = error.downcast_ref::<ParseIntError>() else { return error.to_string() };
    match number.kind() {
        IntErrorKind::PosOverflow => "expected a smaller number",
        IntErrorKind::NegOverflow => "expected a larger number",
        IntErrorKind::Zero => "expected a whole number from 1",
        IntErrorKind::Empty | IntErrorKind::InvalidDigit | _ => "expected a whole number, 0 or more",
    }
    .to_owned()
}

/// The error for a first word that is neither a command nor a profile.
pub(crate) fn unknown_command(word: &str, profiles: &[String]) -> UsageError {
    let root = crate::cli::command();
    let commands = root.get_subcommands().map(|command| command.get_name().to_owned());
    UsageError::UnknownCommand {
        word: word.to_owned(),
        instead: suggestion::instead_of(word, &root),
        known: commands.chain(profiles.iter().cloned()).collect(),
    }
}

/// A flag without the name of its value.
fn flag_of(shown: &str) -> &str {
    let is_flag = shown.starts_with('-');
    // `--branch[=<NAME>]` takes a value only after a sign of equality.
    let shown = shown.split_once("[=").map_or(shown, |(flag, _)| flag);
    shown.split(' ').next().filter(|_| is_flag).unwrap_or(shown)
}

/// The first paragraph of clap's message.
fn plain(rendered: &str) -> String {
    let lines: Vec<&str> = rendered.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let text = lines.join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

/// The command, as far as the words before the mistake determine it.
#[derive(Debug)]
pub(crate) struct KnownCommand {
    /// The program and the words, as typed.
    words: String,
    /// The command as JSON names it.
    pub(crate) name: String,
    sub_commands: Vec<String>,
    takes_input: bool,
    /// Whether an argument is a text, which may have several words.
    takes_text: bool,
    /// The first example in its help, if it is short enough for a hint.
    example: Option<String>,
}

impl KnownCommand {
    /// Follows the words as far as they name commands.
    pub(crate) fn of(root: &clap::Command, arguments: impl Iterator<Item = OsString>) -> Self {
        let mut command = root;
        let mut words = Vec::new();
        let mut arguments = arguments.skip(1);
        while let Some(word) = arguments.next() {
            // The only global flag with a value before the command.
            if word == "--project-dir" {
                arguments.next();
                continue;
            }
            // The command line of a profile starts with the profile's own name.
            let is_root = words.is_empty() && word == root.get_name();
            if word.as_encoded_bytes().starts_with(b"-") || word == "help" || is_root {
                continue;
            }
            let Some(found) = word.to_str().and_then(|word| command.find_subcommand(word)) else { break };
            words.push(found.get_name().to_owned());
            command = found;
        }
        let sub_commands = command
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .filter(|name| name != "help")
            .collect();
        // In JSON, a recipe has its own name, and a profile is named with its command.
        let profile = Some(root.get_name()).filter(|name| *name != "aiwf");
        let name =
            profile.into_iter().chain(words.iter().map(String::as_str)).take(2).collect::<Vec<_>>().join(" ");
        words.insert(0, root.get_bin_name().unwrap_or(root.get_name()).to_owned());
        let is_file = |argument: &clap::Arg| {
            argument.get_value_names().into_iter().flatten().any(|name| name.as_str() == "FILE|-")
        };
        let takes_input =
            command.get_arguments().any(|argument| argument.get_id() == "input" && is_file(argument));
        let is_text = |argument: &clap::Arg| {
            argument
                .get_value_names()
                .into_iter()
                .flatten()
                .any(|name| matches!(name.as_str(), "REQUEST" | "TEXT"))
        };
        let takes_text = command.get_positionals().any(is_text);
        Self {
            words: words.join(" "),
            name,
            sub_commands,
            takes_input,
            takes_text,
            example: example(command),
        }
    }

    /// What comes next: a recipe, or a command.
    fn takes(&self) -> &'static str {
        if matches!(self.name.as_str(), "prompt build" | "prompt preview" | "prompt send") {
            "recipe"
        } else {
            "command"
        }
    }
}

fn example(command: &clap::Command) -> Option<String> {
    const LENGTH: usize = 80;
    let help = command.get_after_help()?.to_string();
    let line = help.lines().find_map(|line| {
        let line = line.trim_start_matches("Example:").trim();
        // Where the output goes is no part of the command.
        let line = line.split(" > ").next().unwrap_or(line);
        line.starts_with("aiwf ").then_some(line)
    });
    let is_whole = |line: &&str| !line.ends_with('\\') && !line.contains(['|', '<', '>', '`', '…']);
    line.filter(is_whole).filter(|line| line.chars().count() <= LENGTH).map(str::to_owned)
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
