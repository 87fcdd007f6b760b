//! Usage errors of the command line, as people read them.

use std::ffi::OsString;

use aiwf_engine::prompt::nearest;

use crate::shell_word::as_typed;

/// Why a command line makes no sense.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("unknown command `{word}`")]
    UnknownCommand {
        word: String,
        /// Commands to type instead, best first.
        instead: Vec<String>,
        /// All commands and profiles.
        known: Vec<String>,
    },
    #[error("unknown {takes} `{word}`")]
    UnknownSubCommand {
        /// `command` or `recipe`.
        takes: &'static str,
        word: String,
        known: Vec<String>,
    },
    /// A command of 0.1.0 that has another spelling now.
    #[error("`{old}` is now `aiwf {now}`")]
    Moved {
        old: String,
        now: String,
        /// The command to type.
        line: String,
    },
    #[error("the request is missing")]
    NoRequest,
    #[error("cannot read the text from `{path}`: {reason}")]
    TextFile { path: String, reason: String },
    #[error("`{command}` needs a {takes}")]
    NoSubCommand { command: String, takes: &'static str, known: Vec<String> },
    #[error("`{flag}` needs a value")]
    NoValue {
        flag: String,
        command: String,
        /// The values there are; empty when any will do.
        known: Vec<String>,
    },
    #[error("unknown value `{value}` for `{flag}`")]
    UnknownValue { flag: String, value: String, known: Vec<String> },
    #[error("`{value}` is not valid for `{flag}`: {reason}")]
    UnfitValue { flag: String, value: String, reason: String, command: String },
    /// A flag or an argument that the command does not have.
    #[error("unknown {} `{given}`", kind_of(given))]
    UnknownArgument { given: String, near: Option<String>, command: String },
    /// A word after a text that has no quotes around it.
    #[error("unknown argument `{given}`")]
    Unquoted { given: String, command: String },
    /// A required argument or flag is missing.
    #[error("missing {}", list(missing))]
    Missing {
        missing: Vec<String>,
        command: String,
        /// Whether a document could give all of it.
        takes_input: bool,
        /// A command line with all of it.
        example: Option<String>,
    },
    /// Two flags exclude each other.
    #[error("`{one}` and `{other}` cannot be used together")]
    Together { one: String, other: String, command: String },
    /// A flag that can be given once is given again.
    #[error("`{flag}` is specified twice")]
    Twice { flag: String },
    #[error("an argument is not UTF-8 text")]
    NotUtf8,
    /// Cannot happen with our flags; the message is clap's.
    #[error("{message}")]
    Other { message: String, command: String },
    #[error("stdin can be read only once")]
    StdinTwice,
    #[error("`--tools` needs `--for`: which tools are sent depends on the provider")]
    ToolsForNobody,
    #[error("no provider is given to send the prompt to")]
    NoProvider,
    /// A recipe whose prompts are sent without tools.
    #[error("`--tools` cannot be used with `{recipe}`")]
    ToolsElsewhere { recipe: &'static str },
    /// A flag about tools without the flag that turns them on.
    #[error("`{flag}` needs `--tools`")]
    WithoutTools { flag: &'static str },
    #[error("`{given}` is not a server name: it contains `__`")]
    ServerName { given: String },
    /// The arguments of a tool are not JSON.
    #[error("{place} is not JSON: {reason}")]
    ArgsNotJson { place: String, reason: String },
    /// The arguments of a tool are JSON of another kind.
    #[error("{place} is {found}, not a JSON object")]
    ArgsNotAnObject { place: String, found: &'static str },
    /// Neither the command nor the environment names a shell that we know.
    #[error("{}", unknown_shell(found.as_deref()))]
    NoShell {
        /// The value of `SHELL`.
        found: Option<String>,
    },
    /// A shell without a directory for completions of the user.
    #[error("completions for `{shell}` cannot be installed")]
    NotInstallable { shell: String },
    /// A flag or an argument that does not apply to runs and conversations.
    #[error("`{given}` does not apply to runs and conversations")]
    NotForRuns { given: String },
    #[error("`{given}` applies only to runs and conversations")]
    OnlyForRuns { given: &'static str },
    /// No message was given, and stdin is a terminal.
    #[error("the message is missing")]
    NothingToSay {
        /// The command with a place for the text.
        usage: &'static str,
    },
}

/// More commands than this are looked up in the help.
const MAX_LISTED: usize = 12;

/// The verbs that changes and runs had separately in 0.1.0, and that every session has now.
const MOVED: [&str; 15] = [
    "apply", "approve", "cancel", "diff", "events", "list", "preview", "reject", "respond", "restore",
    "retry", "show", "status", "step", "verify",
];

impl UsageError {
    /// The error for an unknown subcommand: a spelling of 0.1.0, or a mistake.
    pub(crate) fn moved(group: &str, words: &[OsString]) -> Self {
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let (word, rest) =
            words.split_first().map_or(("", [].as_slice()), |(word, rest)| (word.as_str(), rest));
        if !MOVED.contains(&word) {
            let command = crate::cli::command();
            let known = command.find_subcommand(group).into_iter().flat_map(clap::Command::get_subcommands);
            let known = known.map(|command| command.get_name().to_owned()).collect();
            return Self::UnknownSubCommand { takes: "command", word: word.to_owned(), known };
        }
        let more = if word == "list" {
            format!(" --flow {}", if group == "workflow" { "package" } else { group })
        } else {
            String::new()
        };
        let rest = rest.iter().map(|word| as_typed(word));
        let line = ["aiwf", word].map(str::to_owned).into_iter().chain(rest);
        let line = line.collect::<Vec<_>>().join(" ") + &more;
        Self::Moved { old: format!("{group} {word}"), now: format!("{word}{more}"), line }
    }

    /// One thing to do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::UnknownCommand { word, instead, known } => unknown_command_hint(word, instead, known),
            Self::UnknownSubCommand { word, known, .. } => choice(word, known),
            Self::NoRequest => "describe the change, as in `aiwf do 'Add a --json flag'`".to_owned(),
            Self::TextFile { path, .. } => {
                format!("fix the path, or write `@@{path}` if the text itself begins with `@`")
            }
            Self::Moved { line, .. } => format!("type `{line}`"),
            Self::UnknownValue { value, known, .. } => choice(value, known),
            Self::NoSubCommand { known, command, .. } => match known.as_slice() {
                [only] => format!("add `{only}`"),
                known if known.len() > MAX_LISTED => format!("`{command} --help` lists them"),
                known => format!("add one of {}", list(known)),
            },
            Self::UnknownArgument { near: Some(close), command, .. } => {
                format!("did you mean `{close}`? `{command} --help` lists all")
            }
            Self::UnknownArgument { near: None, command, .. } => {
                format!("`{command} --help` lists what it takes")
            }
            Self::Unquoted { command, .. } => {
                format!("put a text of several words in quotes, as in `{command} '…'`; {}", see_help(command))
            }
            Self::Missing { command, takes_input: true, .. } => {
                format!("give what is missing, or a document with `--input`; {}", see_help(command))
            }
            Self::Missing { command, example: Some(example), .. } => {
                format!("write it like `{example}`; `{command} --help` shows more")
            }
            Self::NoValue { known, .. } if !known.is_empty() => format!("add one of {}", list(known)),
            Self::Missing { command, example: None, .. }
            | Self::NoValue { command, .. }
            | Self::UnfitValue { command, .. }
            | Self::Other { command, .. } => see_help(command),
            Self::Together { command, .. } => format!("give one of them; {}", see_help(command)),
            Self::Twice { flag } => format!("give `{flag}` once"),
            Self::NotUtf8 => "pass the text in a file, or rename the file that it names".to_owned(),
            Self::StdinTwice => "give one of the inputs as a file".to_owned(),
            Self::ToolsForNobody => "name one with `--for NAME`; `aiwf providers` lists all".to_owned(),
            Self::NoProvider => "name one with `--provider NAME`; `aiwf providers` lists all".to_owned(),
            Self::ToolsElsewhere { .. } => {
                "only `aiwf prompt send reply` runs tools; sessions and changes have `[tools.grant]`"
                    .to_owned()
            }
            Self::WithoutTools { flag } => format!("add `--tools`, or omit `{flag}`"),
            Self::ServerName { .. } => {
                "give the part before `__`; `aiwf tools status SERVER__TOOL` shows one tool".to_owned()
            }
            Self::ArgsNotJson { .. } | Self::ArgsNotAnObject { .. } => {
                "write it like `--args '{\"path\": \"README.md\"}'`".to_owned()
            }
            Self::NoShell { .. } => {
                "name one: `aiwf completions bash`; known: `bash`, `elvish`, `fish`, `powershell`, `zsh`"
                    .to_owned()
            }
            Self::NotInstallable { shell } => format!("`aiwf completions {shell}` prints the script"),
            Self::NotForRuns { given } => format!("omit `{given}`"),
            Self::OnlyForRuns { given } => format!("omit `{given}`"),
            Self::NothingToSay { usage } => format!("pass a message: `{usage}`"),
        }
    }
}

fn unknown_command_hint(word: &str, instead: &[String], known: &[String]) -> String {
    if !instead.is_empty() {
        let more = if instead.iter().any(|command| command.starts_with("aiwf PROFILE")) {
            "`aiwf profiles` lists the profiles"
        } else {
            "`aiwf --help` lists the commands"
        };
        let instead: Vec<String> = instead.iter().map(|command| format!("`{command}`")).collect();
        return format!("did you mean {}? {more}", instead.join(" or "));
    }
    match nearest(word, known.iter().map(String::as_str)) {
        Some(close) => format!("did you mean `{close}`? `aiwf --help` lists the commands"),
        None => "`aiwf --help` lists the commands, `aiwf profiles` the profiles".to_owned(),
    }
}

fn unknown_shell(found: Option<&str>) -> String {
    match found {
        Some(found) => format!("no completions for the shell `{found}`"),
        None => "no shell is given and `SHELL` is not set".to_owned(),
    }
}

fn kind_of(argument: &str) -> &'static str {
    if argument.starts_with('-') { "flag" } else { "argument" }
}

fn see_help(command: &str) -> String {
    format!("`{command} --help` shows its usage")
}

fn choice(given: &str, known: &[String]) -> String {
    match nearest(given, known.iter().map(String::as_str)) {
        Some(close) => format!("did you mean `{close}`? known: {}", list(known)),
        None => format!("known: {}", list(known)),
    }
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
