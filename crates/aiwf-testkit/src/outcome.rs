//! What a run of the program left behind.

use std::fmt;
use std::process::Output;

/// Output, errors and exit code of one run.
///
/// Its text is made for snapshots: the directories of the test are called `[project]` and `[home]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The bytes of the standard output.
    pub stdout: Vec<u8>,
    /// The bytes of the standard error.
    pub stderr: Vec<u8>,
    /// The exit code; none when a signal ended the program.
    pub code: Option<i32>,
    names: Vec<(String, &'static str)>,
}

impl Outcome {
    pub(crate) fn new(output: Output, names: Vec<(String, &'static str)>) -> Self {
        Self { stdout: output.stdout, stderr: output.stderr, code: output.status.code(), names }
    }

    /// The standard output as text, with the test's directories named.
    pub fn stdout_text(&self) -> String {
        self.named(&self.stdout)
    }

    /// The standard error as text, with the test's directories named.
    pub fn stderr_text(&self) -> String {
        self.named(&self.stderr)
    }

    /// The first line of the standard error, where an error says what it is.
    pub fn first_error_line(&self) -> String {
        self.stderr_text().lines().next().unwrap_or_default().to_owned()
    }

    /// The exit code, when the standard output and the standard error do not matter.
    ///
    /// # Panics
    ///
    /// When a signal ended the program.
    #[track_caller]
    pub fn exit_code(&self) -> i32 {
        let Some(code) = self.code else { panic!("the program was ended by a signal:\n{self}") };
        code
    }

    /// The same outcome, checked to be a success.
    ///
    /// # Panics
    ///
    /// When the program ended with another exit code.
    #[must_use]
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "the program did not succeed:\n{self}");
        self
    }

    fn named(&self, bytes: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for (path, name) in &self.names {
            text = text.replace(path, name);
        }
        text
    }
}

impl fmt::Display for Outcome {
    /// Each stream under its name when it has something, then the exit code.
    ///
    /// A stream that does not end its last line is marked: the bytes of a prompt are part of what is tested.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, text) in [("stdout", self.stdout_text()), ("stderr", self.stderr_text())] {
            if text.is_empty() {
                continue;
            }
            write!(formatter, "--- {name}\n{text}")?;
            if !text.ends_with('\n') {
                formatter.write_str("⏎\n")?;
            }
        }
        match self.code {
            Some(code) => write!(formatter, "--- exit code {code}"),
            None => formatter.write_str("--- ended by a signal"),
        }
    }
}
