//! Prints results to the standard output and everything else to the standard error.
//!
//! `--json` prints one line with `schema_version`, `command` and `exit_code`, for failures too.

use std::io::{self, BufWriter, IsTerminal as _, Write};

use aiwf_engine::prompt::Problem;
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;

/// The version of the JSON shapes.
const SCHEMA_VERSION: u32 = 1;

/// Where a command prints.
#[derive(Debug)]
pub(crate) struct Output {
    is_json: bool,
    command: &'static str,
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
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl Output {
    pub(crate) fn new(is_json: bool, command: &'static str) -> Self {
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
        self.print(|out| {
            serde_json::to_writer(&mut *out, &envelope)?;
            out.write_all(b"\n")
        })?;
        Ok(exit)
    }

    /// Prints a result as it is.
    pub(crate) fn print(
        &self,
        write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(256 * 1024, io::stdout().lock());
        write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::printing(&error))
    }

    /// Prints what went wrong.
    pub(crate) fn failure(&self, failure: &Failure) -> Exit {
        if failure.is_reader_gone {
            return crate::READER_GONE;
        }
        if self.is_json {
            print_failure_json(self.command, failure);
        } else {
            print_failure(failure);
        }
        failure.exit
    }
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
            error,
            hint: failure.hint.as_deref(),
        },
    };
    let mut out = io::stdout().lock();
    // A failure that cannot be printed still has its exit code.
    drop(
        serde_json::to_writer(&mut out, &envelope)
            .map_err(io::Error::from)
            .and_then(|()| out.write_all(b"\n")),
    );
}

fn print_failure(failure: &Failure) {
    let error = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
    let hint = Style::new().fg_color(Some(AnsiColor::Cyan.into())).bold();
    let mut text = format!("{error}error:{error:#} {}\n", failure.message);
    for cause in &failure.causes {
        text.push_str("  caused by: ");
        text.push_str(cause);
        text.push('\n');
    }
    if let Some(advice) = &failure.hint {
        text.push_str(&format!("\n{hint}hint:{hint:#} {advice}\n"));
    }
    note(&text);
}

/// Prints to the standard error; nothing is lost if that does not work.
pub(crate) fn note(text: &str) {
    drop(anstream::stderr().lock().write_all(text.as_bytes()));
}

/// Prints what a person should know about the sources of a prompt.
pub(crate) fn problems(problems: &[Problem]) {
    let warning = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
    for problem in problems {
        note(&format!("{warning}warning:{warning:#} {}: {}\n", problem.source, problem.message));
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

/// Prints help, the version, or what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let is_answer = !error.use_stderr();
    if is_answer || !std::env::args().any(|word| word == "--json") {
        drop(error.print());
        return if is_answer { Exit::Done } else { Exit::Usage };
    }
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines.next().unwrap_or_default();
    let failure = Failure::usage(
        message.strip_prefix("error: ").unwrap_or(message),
        lines.find_map(|line| line.strip_prefix("tip: ")).unwrap_or("`aiwf --help` lists the commands"),
    );
    print_failure_json("", &failure);
    Exit::Usage
}
