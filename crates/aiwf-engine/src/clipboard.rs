//! The desktop's clipboard, through the platform's own program.
//!
//! On Wayland and X11, the program provides the copied text as long as it runs, so it stays in the background after
//! aiwf exits.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use aiwf_process::{CHUNK, Child, ChildError, Ended, Limits, Program, Stop};

/// A program that asks a hanging window would never end.
const WAIT: Duration = Duration::from_secs(10);
/// The largest text that is pasted.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum ClipboardError {
    #[error("no clipboard program was found; looked for {}", tools.join(", "))]
    NoProgram {
        /// The programs that were tried.
        tools: Vec<&'static str>,
    },
    #[error("there is no desktop session, so there is no clipboard")]
    NoDesktop,
    #[error("`{tool}` failed: {message}")]
    Failed {
        tool: &'static str,
        /// Its message, or how it ended.
        message: String,
    },
    #[error("the clipboard is empty")]
    Empty,
    #[error("the clipboard does not contain UTF-8 text")]
    NotText,
}

impl ClipboardError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoProgram { .. } => "install one of them, or use a file or a pipe instead",
            Self::NoDesktop => "use a file or a pipe instead",
            Self::Failed { .. } => "run the program yourself to see what is wrong, or use a file instead",
            Self::Empty | Self::NotText => "copy the text again, or save it to a file",
        }
    }

    pub fn code(&self) -> &'static str {
        "CLIPBOARD_UNAVAILABLE"
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tool {
    name: &'static str,
    args: &'static [&'static str],
}

const fn tool(name: &'static str, args: &'static [&'static str]) -> Tool {
    Tool { name, args }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Desktops {
    wayland: bool,
    x11: bool,
    mac: bool,
}

impl Desktops {
    fn here() -> Self {
        let has = |name| aiwf_config::variable(name).is_some();
        Self { wayland: has("WAYLAND_DISPLAY"), x11: has("DISPLAY"), mac: cfg!(target_os = "macos") }
    }

    fn copying(self) -> Vec<Tool> {
        self.tools(
            tool("pbcopy", &[]),
            tool("wl-copy", &[]),
            [tool("xclip", &["-selection", "clipboard"]), tool("xsel", &["--clipboard", "--input"])],
        )
    }

    fn pasting(self) -> Vec<Tool> {
        self.tools(
            tool("pbpaste", &[]),
            tool("wl-paste", &["--no-newline"]),
            [tool("xclip", &["-selection", "clipboard", "-o"]), tool("xsel", &["--clipboard", "--output"])],
        )
    }

    fn tools(self, mac: Tool, wayland: Tool, x11: [Tool; 2]) -> Vec<Tool> {
        let mac = self.mac.then_some(mac);
        let wayland = self.wayland.then_some(wayland);
        let x11 = x11.into_iter().filter(|_| self.x11);
        mac.into_iter().chain(wayland).chain(x11).collect()
    }
}

/// Copies a text; returns the program that took it.
pub fn copy(text: &str) -> Result<&'static str, ClipboardError> {
    let (tool, _) = first_installed(&Desktops::here().copying(), text.as_bytes())?;
    Ok(tool)
}

pub fn paste() -> Result<String, ClipboardError> {
    let (_, bytes) = first_installed(&Desktops::here().pasting(), &[])?;
    let text = String::from_utf8(bytes).or(Err(ClipboardError::NotText))?;
    if text.trim().is_empty() { Err(ClipboardError::Empty) } else { Ok(text) }
}

/// Runs the first of these programs that is installed; its result is final.
fn first_installed(tools: &[Tool], input: &[u8]) -> Result<(&'static str, Vec<u8>), ClipboardError> {
    if tools.is_empty() {
        return Err(ClipboardError::NoDesktop);
    }
    for tool in tools {
        match run(*tool, input) {
            Err(ChildError::NotStarted(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
            ran => return ended(tool.name, ran).map(|printed| (tool.name, printed)),
        }
    }
    Err(ClipboardError::NoProgram { tools: tools.iter().map(|tool| tool.name).collect() })
}

fn run(tool: Tool, input: &[u8]) -> Result<(Vec<u8>, Ended), ChildError> {
    let args: Vec<OsString> = tool.args.iter().map(OsString::from).collect();
    // The program's background process provides the text, so only the program itself is killed.
    let program = Program { is_in_front: true, ..Program::new(OsStr::new(tool.name), &args) };
    let limits = Limits { first_byte: WAIT, total: WAIT, max_bytes: MAX_BYTES };
    let stop = Stop::default();
    let mut child = Child::start(&program, limits, &stop)?;
    child.send(input.to_vec());
    child.close_stdin();
    let mut printed = Vec::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match child.read(&mut buffer)? {
            0 => return Ok((printed, child.end(Duration::ZERO))),
            n_read => printed.extend(buffer.iter().take(n_read)),
        }
    }
}

fn ended(tool: &'static str, ran: Result<(Vec<u8>, Ended), ChildError>) -> Result<Vec<u8>, ClipboardError> {
    let failed = |message: String| Err(ClipboardError::Failed { tool, message });
    match ran {
        Ok((printed, ended)) if ended.code == Some(0) => Ok(printed),
        Ok((_, ended)) => {
            let said = ended.stderr.lines().find(|line| !line.trim().is_empty());
            let code = || {
                ended.code.map_or("it was killed by a signal".to_owned(), |code| format!("exit code {code}"))
            };
            failed(said.map_or_else(code, |line| line.trim().chars().take(200).collect()))
        }
        Err(ChildError::NotStarted(error) | ChildError::Pipe(error)) => failed(error.kind().to_string()),
        Err(ChildError::TimedOut { after, .. }) => {
            failed(format!("it did not end within {} s", after.as_secs()))
        }
        Err(ChildError::TooLarge { limit }) => failed(format!("it printed more than {limit} bytes")),
        Err(ChildError::Stopped) => failed("it was interrupted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[Tool]) -> Vec<&'static str> {
        tools.iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn each_desktop_has_its_programs() {
        let none = Desktops { wayland: false, x11: false, mac: false };
        assert_eq!(names(&none.copying()), Vec::<&str>::new());
        let both = Desktops { wayland: true, x11: true, ..none };
        assert_eq!(names(&both.copying()), ["wl-copy", "xclip", "xsel"]);
        assert_eq!(names(&both.pasting()), ["wl-paste", "xclip", "xsel"]);
        let mac = Desktops { mac: true, ..none };
        assert_eq!((names(&mac.copying()), names(&mac.pasting())), (vec!["pbcopy"], vec!["pbpaste"]));
    }

    #[test]
    fn without_a_desktop_or_a_program_nothing_is_started() {
        assert!(matches!(first_installed(&[], b"x"), Err(ClipboardError::NoDesktop)));
        let missing = [tool("aiwf-no-such-program", &[]), tool("aiwf-none-either", &[])];
        let error = first_installed(&missing, b"x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no clipboard program was found; looked for aiwf-no-such-program, aiwf-none-either"
        );
    }

    #[test]
    fn a_program_gets_the_text_and_what_it_prints_is_taken() {
        let tools = [tool("aiwf-no-such-program", &[]), tool("cat", &[])];
        let text = "é\n".repeat(100_000);
        let (name, printed) = first_installed(&tools, text.as_bytes()).unwrap();
        assert_eq!((name, printed == text.as_bytes()), ("cat", true));
    }

    #[test]
    fn a_program_that_fails_is_named_with_its_words() {
        let shown = |script: &'static [&'static str]| {
            first_installed(&[tool("sh", script)], b"").unwrap_err().to_string()
        };
        assert_eq!(shown(&["-c", "echo 'no seat' >&2; exit 3"]), "`sh` failed: no seat");
        assert_eq!(shown(&["-c", "exit 3"]), "`sh` failed: exit code 3");
    }

    #[test]
    fn a_background_process_of_the_program_keeps_running() {
        let directory = tempfile::tempdir().unwrap();
        let fifo = directory.path().join("fifo");
        // It waits in the background for somebody to read, as a program does that holds a selection.
        let script = format!("mkfifo '{0}'; (cat > /dev/null; echo kept > '{0}') &", fifo.display());
        let script: &'static str = Box::leak(script.into_boxed_str());
        let args: &'static [&'static str] = Box::leak(Box::new(["-c", script]));
        first_installed(&[tool("sh", args)], b"").unwrap();
        assert_eq!(std::fs::read_to_string(&fifo).unwrap(), "kept\n");
    }
}
