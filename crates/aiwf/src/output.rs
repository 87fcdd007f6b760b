//! Prints results to the standard output and everything else to the standard error.
//!
//! `--json` prints one line with `schema_version`, `command` and `exit_code`, for failures too.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use aiwf_engine::prompt::Problem;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::Value;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::failure::{About, Failure};
use crate::usage::{self, KnownCommand};

/// The version of the JSON shapes.
const SCHEMA_VERSION: u32 = 1;

/// Where a command prints.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    is_json: bool,
    command: &'a str,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    schema_version: u32,
    command: &'a str,
    exit_code: u8,
    #[serde(flatten)]
    result: T,
}

#[derive(Serialize)]
struct FailureJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<bool>,
    error: ErrorJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(flatten)]
    fields: &'a BTreeMap<&'static str, Value>,
}

/// What went wrong: in words, or with a code for those who ask about runs.
#[derive(Serialize)]
#[serde(untagged)]
enum ErrorJson {
    Words(String),
    Coded { code: &'static str, message: String },
}

/// Whether a command tells about runs, whose errors have codes everywhere.
fn is_about_runs(command: &str) -> bool {
    matches!(command.split(' ').next(), Some("workflow" | "agent" | "chat"))
}

impl<'a> Output<'a> {
    pub(crate) fn new(is_json: bool, command: &'a str) -> Self {
        Self { is_json, command }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Prints a result as JSON.
    pub(crate) fn json(&self, result: impl Serialize, exit: Exit) -> Result<Exit, Failure> {
        let envelope = Envelope {
            schema_version: SCHEMA_VERSION,
            command: self.command,
            exit_code: exit.code(),
            result,
        };
        print(|out| {
            serde_json::to_writer(&mut *out, &envelope)?;
            out.write_all(b"\n")
        })?;
        Ok(exit)
    }

    /// Prints what went wrong.
    pub(crate) fn failure(&self, failure: &Failure) -> Exit {
        if failure.is_about == About::ReaderGone {
            return Exit::Done;
        }
        // Without a standard output there is still the standard error.
        if self.is_json && failure.is_about != About::Printing {
            print_failure_json(self.command, failure);
        } else {
            note_failure(failure);
        }
        failure.exit
    }
}

/// Prints a result as it is.
pub(crate) fn print(
    write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(256 * 1024, io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| CommandError::Unprintable(error).into())
}

fn print_failure_json(command: &str, failure: &Failure) {
    let mut error = failure.message.clone();
    for cause in &failure.causes {
        error.push_str(": ");
        error.push_str(cause);
    }
    let envelope = Envelope {
        schema_version: SCHEMA_VERSION,
        command,
        exit_code: failure.exit.code(),
        result: FailureJson {
            success: command.ends_with("preview").then_some(false),
            error: if is_about_runs(command) {
                ErrorJson::Coded { code: failure.code(), message: error }
            } else {
                ErrorJson::Words(error)
            },
            hint: failure.hint.as_deref(),
            fields: &failure.fields,
        },
    };
    let printed = print(|out| {
        serde_json::to_writer(&mut *out, &envelope)?;
        out.write_all(b"\n")
    });
    if printed.is_err() {
        note_failure(failure);
    }
}

/// Prints what went wrong to the standard error.
pub(crate) fn note_failure(failure: &Failure) {
    let error = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
    let hint = Style::new().fg_color(Some(AnsiColor::Cyan.into())).bold();
    let mut lines = vec![format!("{error}error:{error:#} {}", failure.message)];
    lines.extend(failure.causes.iter().map(|cause| format!("  caused by: {cause}")));
    if let Some(advice) = &failure.hint {
        lines.push(format!("\n{hint}hint:{hint:#} {advice}"));
    }
    note(&(lines.join("\n") + "\n"));
}

/// Prints to the standard error; nothing is lost if that does not work.
pub(crate) fn note(text: &str) {
    drop(anstream::stderr().lock().write_all(text.as_bytes()));
}

/// Whether what is said on the way stands on the standard error as lines of JSON.
static IS_SAID_AS_EVENTS: AtomicBool = AtomicBool::new(false);

/// From now on, what is said on the way is a line of JSON each, so that a program can read the standard error.
pub(crate) fn say_as_events() {
    IS_SAID_AS_EVENTS.store(true, Ordering::Relaxed);
}

/// Says on the standard error what is being done.
pub(crate) fn say(line: &str) {
    if IS_SAID_AS_EVENTS.load(Ordering::Relaxed) {
        note(&format!("{}\n", serde_json::json!({ "event": "note", "message": line })));
    } else {
        note(&format!("{line}\n"));
    }
}

/// Text of others without what would move the cursor, colour the terminal or start a line.
pub(crate) fn printable(text: &str) -> String {
    let is_harmless = |character: char| !character.is_control();
    text.chars().map(|character| if is_harmless(character) { character } else { '\u{fffd}' }).collect()
}

/// Words of a model, its lines kept, without the characters that a terminal obeys.
pub(crate) fn harmless(text: &str) -> String {
    let shown = |character: char| match character {
        '\n' | '\t' => Some(character),
        // Half of a line's end; alone it would overwrite the line.
        '\r' => None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some('\u{fffd}'),
        character if character.is_control() => Some('\u{fffd}'),
        character => Some(character),
    };
    text.chars().filter_map(shown).collect()
}

/// Prints what a person should know about the sources of a prompt.
pub(crate) fn problems(problems: &[Problem]) {
    for problem in problems {
        warn(&printable(&format!("{}: {}", problem.source, problem.message)));
    }
}

/// Prints what a person should know although it stops nothing.
pub(crate) fn warn(text: &str) {
    let warning = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
    note(&format!("{warning}warning:{warning:#} {text}\n"));
}

/// Says that a tool server is started that was agreed to only now.
pub(crate) fn server_starts(server: &str, command: &str) {
    note(&format!("starting `{server}`: {}\n", printable(command)));
}

/// Says that the program waits, when it waits for a person.
pub(crate) fn note_waiting_for_input() {
    if io::stdin().is_terminal() {
        note("reading from the terminal; end it with Ctrl-D\n");
    }
}

/// Whether a person watches the standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether a person watches the standard output.
pub(crate) fn is_stdout_watched() -> bool {
    io::stdout().is_terminal()
}

/// Whether the command line asks for JSON, when it could not be read as a whole.
pub(crate) fn is_json_asked_for() -> bool {
    std::env::args_os().any(|word| word == "--json")
}

/// Prints help, the version, or what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error, root: &clap::Command) -> Exit {
    use clap::error::ErrorKind;
    if !error.use_stderr() {
        return match error.print().map_err(|error| Failure::from(CommandError::Unprintable(error))) {
            Ok(()) => Exit::Done,
            Err(failure) => Output::new(false, "").failure(&failure),
        };
    }
    let is_json = is_json_asked_for();
    if !is_json && error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Nothing was asked for yet: the help says what there is.
        drop(error.print());
        return Exit::Usage;
    }
    let command = KnownCommand::of(root, std::env::args_os());
    Output::new(is_json, &command.name).failure(&usage::error_of(error, &command).into())
}
