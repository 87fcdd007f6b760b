//! The tables `[[checks]]`.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use aiwf_session::Phase;

use crate::fault::ConfigFault;
use crate::layer_reader::{LayerReader, TomlEntry};
use crate::name::{CHECK_NAME_RULE, is_check_name};
use crate::origin::{ConfigFile, Origin, Sourced};
use crate::setting::{Listing, Rule, Table as _, settings};
use crate::table_kinds::ListedTable;
use crate::value::{OneOf, OutputBytes, Time, Value, VariableNames};
use crate::vocabulary::CheckNetwork;

settings! {
    /// A command that checks the results of a phase, such as tests or a linter. Each check is a separate table that
    /// starts with `[[checks]]`; they run in the order of the file. A project's check runs only after you agreed to its
    /// exact command with `aiwf checks allow`. It replaces your own check with the same name.
    pub CheckConfig {
        /// The name of the check.
        name: Option<Sourced<String>> = CheckName;
        /// The command: a shell command line, or a list of the program and its arguments.
        run: Option<Sourced<CheckCommand>> = CommandValue, Rule::DecidesWhatRuns;
        /// The phase it follows; the default is every phase that writes.
        after: Option<Sourced<String>> = PhaseName;
        /// Time limit.
        timeout: Option<Sourced<Duration>> = Time ["10m" elsewhere], Rule::DecidesWhatRuns;
        /// Maximum number of bytes of output; a check that prints more is stopped.
        max_output: Option<Sourced<NonZeroU64>> = OutputBytes ["10485760" elsewhere], Rule::DecidesWhatRuns;
        /// Network access; unrestricted by default. `loopback` allows only servers on this machine, where the system
        /// supports it.
        network: Option<Sourced<CheckNetwork>> = OneOf<CheckNetwork>, Rule::DecidesWhatRuns;
        /// Environment variables in addition to `PATH`, `HOME` and a few others.
        env: Option<Sourced<Vec<String>>> = VariableNames, Rule::DecidesWhatRuns;
    }
}

/// The command of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckCommand {
    /// A command line for `sh -c`.
    Shell(String),
    /// A program and its arguments, run without a shell.
    Argv(Vec<String>),
}

impl fmt::Display for CheckCommand {
    /// The command as written in the file; a shell command without its quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(line) => f.write_str(line),
            Self::Argv(words) => write!(f, "{words:?}"),
        }
    }
}

impl CheckConfig {
    /// The default time limit.
    pub const TIMEOUT: Duration = Duration::from_mins(10);
    /// The default output limit.
    pub const MAX_OUTPUT: u64 = 10 * 1024 * 1024;

    /// A check that is in no file: it was typed, or is only suggested.
    pub fn without_file(name: &str, run: CheckCommand) -> Self {
        let origin = Origin::Default;
        let name = Some(Sourced::new(name.to_owned(), origin));
        Self { name, run: Some(Sourced::new(run, origin)), ..Self::default() }
    }

    /// Whether it comes from the user's own file, so that no consent is needed.
    pub fn is_users_own(&self) -> bool {
        matches!(self.origin, Origin::File { file: ConfigFile::User, .. })
    }

    /// Everything that determines what runs and what it may do, one setting per line, so that nothing can pass for
    /// another line.
    pub fn shown(&self) -> String {
        let mut deciding = Vec::new();
        Self::list(self, "", Listing::DecidesWhatRuns, &mut deciding);
        let lines: Vec<String> =
            deciding.iter().map(|entry| format!("{} = {}", entry.key, entry.value)).collect();
        lines.join("\n")
    }
}

impl ListedTable for CheckConfig {
    fn new(origin: Origin) -> Self {
        Self { origin, ..Self::default() }
    }

    fn name(&self) -> Option<&str> {
        self.name.as_ref().map(|name| name.value.as_str())
    }

    fn fault(&self, path: String) -> Option<ConfigFault> {
        let missing = |key| Some(ConfigFault::NoKey { path, key });
        if self.name.is_none() {
            return missing("name");
        }
        if self.run.is_none() { missing("run") } else { None }
    }
}

pub(crate) struct CheckName;

impl Value for CheckName {
    type Type = String;

    fn describe() -> String {
        "name".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
        let name = entry.value.get_ref().as_str().filter(|name| is_check_name(name));
        reader.expect(entry, name.map(str::to_owned), || format!("a name of {CHECK_NAME_RULE}"), None)
    }

    fn show(value: &String) -> String {
        value.clone()
    }
}

pub(crate) struct PhaseName;

impl Value for PhaseName {
    type Type = String;

    fn describe() -> String {
        "phase".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<String>> {
        let name = entry.value.get_ref().as_str().filter(|name| Phase::from_name(name).is_some());
        let expected = || "the name of a phase, such as `implement`".to_owned();
        reader.expect(entry, name.map(str::to_owned), expected, None)
    }

    fn show(value: &String) -> String {
        value.clone()
    }
}

pub(crate) struct CommandValue;

impl Value for CommandValue {
    type Type = CheckCommand;

    fn describe() -> String {
        "string or list of strings".to_owned()
    }

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<Sourced<CheckCommand>> {
        // The user agrees to the displayed text, so a command must not contain terminal control characters.
        let is_word = |word: &str| !word.contains(char::is_control);
        let line = entry.value.get_ref().as_str().filter(|line| !line.trim().is_empty() && is_word(line));
        let words = entry.value.get_ref().as_array().and_then(|items| {
            let words = items.iter().map(|item| item.get_ref().as_str().filter(|word| is_word(word)));
            words.map(|word| word.map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        let words = words.filter(|words| words.first().is_some_and(|program| !program.trim().is_empty()));
        let command = line.map(|line| CheckCommand::Shell(line.to_owned()));
        let command = command.or_else(|| words.map(CheckCommand::Argv));
        let expected = || "a command on one line, or a list such as `[\"cargo\", \"test\"]`".to_owned();
        reader.expect(entry, command, expected, None)
    }

    fn show(command: &CheckCommand) -> String {
        command.to_string()
    }

    fn quote(command: &CheckCommand) -> String {
        match command {
            CheckCommand::Shell(line) => format!("{line:?}"),
            CheckCommand::Argv(words) => format!("{words:?}"),
        }
    }
}

#[cfg(test)]
#[path = "check_config_tests.rs"]
mod tests;
