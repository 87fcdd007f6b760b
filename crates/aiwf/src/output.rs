//! Prints results to stdout and everything else to stderr.
//!
//! The only file that writes to either, so that text of others cannot reach a terminal unescaped: on a terminal
//! everything goes through [`Escaped`], and only the colours put in here pass. In a pipe bytes stay as they are.
//! `--json` prints one line with `schema_version`, `command` and `exit_code`, for failures too.

#![expect(clippy::disallowed_methods, reason = "this is where it is printed")]

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use aiwf_engine::left_out_lines;
use aiwf_engine::machine::LeftOut;
use aiwf_engine::prompt::Problem;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::Value;

use crate::command_error::CommandError;
use crate::escape::{EscapeMode, Escaped, escaped, escaped_line};
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
    error: ErrorJson<'a>,
    #[serde(flatten)]
    fields: &'a BTreeMap<&'static str, Value>,
}

/// An error: a code for programs, a message for people, and one thing to do.
#[derive(Serialize)]
pub(crate) struct ErrorJson<'a> {
    code: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl<'a> ErrorJson<'a> {
    pub(crate) fn of(failure: &'a Failure) -> Self {
        let texts = [failure.message.as_str()].into_iter().chain(failure.causes.iter().map(String::as_str));
        Self { code: &failure.code, message: texts.collect::<Vec<_>>().join(": "), hint: failure.hint() }
    }
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
        print_json(&envelope)?;
        Ok(exit)
    }

    /// Prints a failure.
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

/// Where a result goes.
pub(crate) type Out = BufWriter<Escaped<io::StdoutLock<'static>>>;

/// Prints a result: unchanged in a pipe, escaped on a terminal.
pub(crate) fn print(write: impl FnOnce(&mut Out) -> io::Result<()>) -> Result<(), Failure> {
    print_as(EscapeMode::Text, write)
}

fn print_as(on_terminal: EscapeMode, write: impl FnOnce(&mut Out) -> io::Result<()>) -> Result<(), Failure> {
    let stdout = io::stdout().lock();
    let mode = if stdout.is_terminal() { on_terminal } else { EscapeMode::Raw };
    let mut out = BufWriter::with_capacity(256 * 1024, Escaped::new(stdout, mode));
    write(&mut out)
        .and_then(|()| out.flush())
        .and_then(|()| out.get_mut().finish())
        .map_err(|error| CommandError::Unprintable(error).into())
}

fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print_as(EscapeMode::Json, |out| {
        serde_json::to_writer(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

fn print_failure_json(command: &str, failure: &Failure) {
    let envelope = Envelope {
        schema_version: SCHEMA_VERSION,
        command,
        exit_code: failure.exit.code(),
        result: FailureJson {
            success: command.ends_with("preview").then_some(false),
            error: ErrorJson::of(failure),
            fields: &failure.fields,
        },
    };
    if print_json(&envelope).is_err() {
        note_failure(failure);
    }
}

/// Prints a failure to stderr.
pub(crate) fn note_failure(failure: &Failure) {
    let error = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
    let hint = Style::new().fg_color(Some(AnsiColor::Cyan.into())).bold();
    let mut text = format!(" {}\n", failure.message);
    if let Some(place) = failure.place() {
        text.push_str("  ");
        text.push_str(&place);
        text.push('\n');
    }
    for cause in &failure.causes {
        text.push_str("  caused by: ");
        text.push_str(cause);
        text.push('\n');
    }
    let mut parts = vec![(error, "error:".to_owned()), (PLAIN, text)];
    if let Some(advice) = failure.hint() {
        parts.extend([(PLAIN, "\n".to_owned()), (hint, "hint:".to_owned()), (PLAIN, format!(" {advice}\n"))]);
    }
    note_styled(&parts);
}

const PLAIN: Style = Style::new();

/// Prints to stderr; a write error is ignored.
pub(crate) fn note(text: &str) {
    note_styled(&[(PLAIN, text.to_owned())]);
}

/// A text in one style.
pub(crate) type Span = (Style, String);

/// Prints to the standard error, each text in its style; the texts themselves bring no style.
pub(crate) fn note_styled(parts: &[Span]) {
    let is_terminal = is_watched();
    let mut out = anstream::stderr().lock();
    for (style, text) in parts {
        let mode = if is_terminal { EscapeMode::Text } else { EscapeMode::Raw };
        let written = write!(out, "{style}").and_then(|()| {
            let mut escaped = Escaped::new(&mut out, mode);
            escaped.write_all(text.as_bytes()).and_then(|()| escaped.finish())
        });
        drop(written.and_then(|()| write!(out, "{style:#}")));
    }
}

/// The spans as text with escape sequences, for a pager; without colours if they are turned off.
pub(crate) fn styled_text(parts: &[Span]) -> String {
    let is_coloured = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let styled = |(style, text): &Span| {
        let style = if is_coloured { *style } else { PLAIN };
        format!("{style}{}{style:#}", escaped(text))
    };
    parts.iter().map(styled).collect()
}

/// Prints a piece of a longer text to the standard output at once; a terminal that went away is noticed later.
pub(crate) fn print_piece(text: &str) {
    drop(print(|out| out.write_all(text.as_bytes())));
}

/// Whether progress is printed to stderr as lines of JSON.
static IS_JSON_PROGRESS: AtomicBool = AtomicBool::new(false);

/// From now on, prints progress as lines of JSON, so that a program can read stderr.
pub(crate) fn report_progress_as_json() {
    IS_JSON_PROGRESS.store(true, Ordering::Relaxed);
}

/// Prints a progress line to stderr.
pub(crate) fn say(line: &str) {
    if IS_JSON_PROGRESS.load(Ordering::Relaxed) {
        note(&format!("{}\n", serde_json::json!({ "event": "note", "message": line })));
    } else {
        note(&format!("{line}\n"));
    }
}

/// Prints problems with the sources of a prompt.
pub(crate) fn problems(problems: &[Problem]) {
    for problem in problems {
        warn(&escaped_line(&format!("{}: {}", problem.source, problem.message)));
    }
}

/// Prints what a request leaves out, one line for each reason.
pub(crate) fn left_out(left_out: &[LeftOut]) {
    for line in left_out_lines(left_out) {
        warn(&escaped_line(&line));
    }
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    let warning = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
    note_styled(&[(warning, "warning:".to_owned()), (PLAIN, format!(" {text}\n"))]);
}

/// Says that a tool server is started that was agreed to only now.
pub(crate) fn server_starts(server: &str, command: &str) {
    note(&format!("starting `{server}`: {}\n", escaped_line(command)));
}

/// Reports that a foreign ledger is trusted from now on.
pub(crate) fn adopts(kind: &str, id: &str) {
    note(&format!("adopted {kind} {}\n", escaped_line(id)));
}

/// Says that the program is waiting for input, if it reads from a terminal.
pub(crate) fn note_waiting_for_input() {
    if io::stdin().is_terminal() {
        note("reading from the terminal; press Ctrl-D to finish\n");
    }
}

/// Whether the user can be asked.
pub(crate) fn can_ask(output: &Output<'_>) -> bool {
    !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Sends a control sequence to the terminal; returns false if there is none.
pub(crate) fn control_terminal(sequence: &str) -> bool {
    let send =
        |mut out: Box<dyn Write>| out.write_all(sequence.as_bytes()).and_then(|()| out.flush()).is_ok();
    (is_watched() && send(Box::new(io::stderr()))) || (is_stdout_watched() && send(Box::new(io::stdout())))
}

/// Whether stderr is a terminal.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether stdout is a terminal.
pub(crate) fn is_stdout_watched() -> bool {
    io::stdout().is_terminal()
}

/// Whether the command line asks for JSON, when it could not be read as a whole.
pub(crate) fn is_json_asked_for() -> bool {
    std::env::args_os().any(|word| word == "--json")
}

/// Prints help, the version, or a usage error.
pub(crate) fn usage(error: &clap::Error, root: &clap::Command) -> Exit {
    use clap::error::ErrorKind;
    if !error.use_stderr() && is_json_asked_for() {
        let key = if error.kind() == ErrorKind::DisplayVersion { "version" } else { "help" };
        let text = error.render().to_string();
        let text = if key == "version" { text.trim().trim_start_matches("aiwf ") } else { text.as_str() };
        let command = KnownCommand::of(root, std::env::args_os());
        let output = Output::new(true, &command.name);
        return output
            .json(serde_json::json!({ key: text }), Exit::Done)
            .unwrap_or_else(|failure| output.failure(&failure));
    }
    if !error.use_stderr() {
        return match print_help(error).map_err(|error| Failure::from(CommandError::Unprintable(error))) {
            Ok(()) => Exit::Done,
            Err(failure) => Output::new(false, "").failure(&failure),
        };
    }
    let is_json = is_json_asked_for();
    if !is_json && error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // No command was given: the help lists them.
        drop(print_help(error));
        return Exit::Usage;
    }
    let command = KnownCommand::of(root, std::env::args_os());
    Output::new(is_json, &command.name).failure(&usage::error_of(error, &command).into())
}

/// Prints clap's text; on a terminal with its colours but no other control sequences.
///
/// Texts of profiles in the help are escaped when the command line is built.
fn print_help(error: &clap::Error) -> io::Result<()> {
    let is_terminal = if error.use_stderr() { is_watched() } else { is_stdout_watched() };
    if !is_terminal {
        return error.print();
    }
    let text = error.render().ansi().to_string();
    let write = |out: &mut dyn Write| {
        let mut escaped = Escaped::new(out, EscapeMode::Styled);
        escaped.write_all(text.as_bytes()).and_then(|()| escaped.finish())
    };
    if error.use_stderr() {
        write(&mut anstream::stderr().lock())
    } else {
        write(&mut anstream::stdout().lock())
    }
}

/// The width of tables: that of the terminal, else 80.
pub(crate) fn width() -> usize {
    const NARROW: usize = 80;
    match terminal_size::terminal_size_of(io::stdout()) {
        Some((terminal_size::Width(width), _)) => usize::from(width).max(NARROW),
        None => NARROW,
    }
}

/// How much a terminal shows at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// The screen that shows the standard error.
pub(crate) fn screen() -> Screen {
    match terminal_size::terminal_size_of(io::stderr()) {
        Some((terminal_size::Width(columns @ 1..), terminal_size::Height(rows @ 1..))) => {
            Screen { columns: usize::from(columns), rows: usize::from(rows) }
        }
        _ => Screen { columns: 80, rows: 24 },
    }
}
