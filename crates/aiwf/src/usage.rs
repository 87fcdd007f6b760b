//! A command line that makes no sense, said like every other error.
//!
//! In: what clap found. Out: a failure with the names in backticks, what is allowed, and one thing to do.

use std::ffi::OsString;

use aiwf_engine::prompt::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::failure::Failure;

/// What is wrong with the command line.
pub(crate) fn failure(error: &clap::Error, command: &KnownCommand) -> Failure {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.as_slice(),
        _ => &[],
    };
    let invalid_arg = text(ContextKind::InvalidArg).map(flag_of).unwrap_or_default();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let see_help = || format!("`{} --help` shows how it is used", command.words);
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let unknown = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let known = command.sub_commands.iter().map(String::as_str);
            Failure::usage(format!("unknown {} `{unknown}`", command.takes()), choice(unknown, known))
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let known = list(command.sub_commands.iter().map(String::as_str));
            Failure::usage(
                format!("`{}` needs a {}", command.words, command.takes()),
                format!("add one of {known}"),
            )
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            Failure::usage(format!("`{invalid_arg}` needs a value"), see_help())
        }
        ErrorKind::InvalidValue => {
            let known = texts(ContextKind::ValidValue).iter().map(String::as_str);
            Failure::usage(format!("unknown value `{value}` for `{invalid_arg}`"), choice(value, known))
        }
        ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            Failure::usage(format!("`{value}` does not fit `{invalid_arg}`: {reason}"), see_help())
        }
        ErrorKind::UnknownArgument => {
            let what = if invalid_arg.starts_with('-') { "flag" } else { "argument" };
            let hint = match text(ContextKind::SuggestedArg) {
                Some(close) => format!("did you mean `{close}`? `{} --help` lists all", command.words),
                None => format!("`{} --help` lists what it takes", command.words),
            };
            Failure::usage(format!("unknown {what} `{invalid_arg}`"), hint)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(ContextKind::InvalidArg).iter().map(String::as_str);
            let hint = if command.takes_input && missing.clone().all(|flag| flag_of(flag) != "--input") {
                format!("give what is missing, or a document with `--input`; {}", see_help())
            } else {
                see_help()
            };
            Failure::usage(format!("missing {}", list(missing)), hint)
        }
        ErrorKind::ArgumentConflict => {
            let prior = text(ContextKind::PriorArg).into_iter();
            let mut prior = prior.chain(texts(ContextKind::PriorArg).iter().map(String::as_str)).map(flag_of);
            if let Some(other) = prior.find(|prior| *prior != invalid_arg) {
                return Failure::usage(
                    format!("`{invalid_arg}` and `{other}` cannot be given together"),
                    format!("give one of them; {}", see_help()),
                );
            }
            Failure::usage(format!("`{invalid_arg}` is given twice"), format!("give `{invalid_arg}` once"))
        }
        ErrorKind::InvalidUtf8 => Failure::usage(
            "an argument is not UTF-8 text",
            "put such text into a file, or rename the file that it names",
        ),
        // What our flags cannot bring about, in clap's words.
        ErrorKind::NoEquals
        | ErrorKind::TooManyValues
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues
        | ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::Io
        | ErrorKind::Format
        | _ => Failure::usage(plain(&error.render().to_string()), see_help()),
    }
}

/// A first word that is neither a command nor a profile.
pub(crate) fn unknown_command(word: &str, profiles: &[String]) -> Failure {
    let root = crate::cli::command();
    let commands: Vec<&str> = root.get_subcommands().map(clap::Command::get_name).collect();
    let hint = match nearest(word, commands.into_iter().chain(profiles.iter().map(String::as_str))) {
        Some(close) => format!("did you mean `{close}`? `aiwf --help` lists the commands"),
        None => "`aiwf --help` lists the commands, `aiwf profiles` the profiles".to_owned(),
    };
    Failure::usage(format!("unknown command `{word}`"), hint)
}

/// A flag without the name of its value.
fn flag_of(shown: &str) -> &str {
    let is_flag = shown.starts_with('-');
    shown.split(' ').next().filter(|_| is_flag).unwrap_or(shown)
}

fn choice<'a>(given: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(given, known.clone()) {
        Some(close) => format!("did you mean `{close}`? known: {}", list(known)),
        None => format!("known: {}", list(known)),
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The first paragraph of what clap says.
fn plain(rendered: &str) -> String {
    let lines: Vec<&str> = rendered.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let text = lines.join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

/// As much of the command as the words before the mistake tell.
#[derive(Debug)]
pub(crate) struct KnownCommand {
    /// The program and the words, as they are typed.
    words: String,
    /// The command as JSON names it.
    pub(crate) name: String,
    sub_commands: Vec<String>,
    takes_input: bool,
}

impl KnownCommand {
    /// Follows the words as far as they name commands.
    pub(crate) fn of(root: &clap::Command, arguments: impl Iterator<Item = OsString>) -> Self {
        let mut command = root;
        let mut words = Vec::new();
        let mut arguments = arguments.skip(1);
        while let Some(word) = arguments.next() {
            // The only flag before a command that has a value of its own.
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
        // JSON tells a recipe apart from the command it is built by, and names a profile with its command.
        let profile = Some(root.get_name()).filter(|name| *name != "aiwf");
        let name =
            profile.into_iter().chain(words.iter().map(String::as_str)).take(2).collect::<Vec<_>>().join(" ");
        words.insert(0, root.get_bin_name().unwrap_or(root.get_name()).to_owned());
        let is_file = |argument: &clap::Arg| {
            argument.get_value_names().into_iter().flatten().any(|name| name.as_str() == "FILE|-")
        };
        let takes_input =
            command.get_arguments().any(|argument| argument.get_id() == "input" && is_file(argument));
        Self { words: words.join(" "), name, sub_commands, takes_input }
    }

    /// What comes next: a recipe for those that build one, else a command.
    fn takes(&self) -> &'static str {
        if matches!(self.name.as_str(), "prompt build" | "prompt preview") { "recipe" } else { "command" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(line: &str) -> KnownCommand {
        let root = crate::cli::command();
        KnownCommand::of(&root, line.split(' ').map(OsString::from))
    }

    #[test]
    fn the_words_before_a_mistake_name_the_command() {
        assert_eq!(known("aiwf --json prompt build chnge").name, "prompt build");
        assert_eq!(known("aiwf --project-dir prompt template shw").name, "template");
        assert_eq!(known("aiwf prompt build session --phase x").name, "prompt build");
        assert_eq!(known("aiwf prompt build session --phase x").words, "aiwf prompt build session");
        assert_eq!(known("aiwf promt").name, "");
    }
}
