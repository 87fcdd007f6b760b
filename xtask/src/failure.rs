//! What went wrong in a task, in the project's shape of an error: one fact, details, one hint.

use std::fmt;

/// Why a task ended early.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    details: Vec<String>,
    hint: Option<String>,
    is_usage: bool,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: Vec::new(), hint: None, is_usage: false }
    }

    /// Marks a mistake in the command line, which has its own exit code.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { is_usage: true, ..Self::new(message) }
    }

    pub(crate) fn io(what: impl fmt::Display, source: &std::io::Error) -> Self {
        Self::new(format!("could not {what}")).detail(format!("caused by: {source}"))
    }

    #[must_use]
    pub(crate) fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint where nobody who knew more gave one.
    #[must_use]
    pub(crate) fn or_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.get_or_insert_with(|| hint.into());
        self
    }

    pub(crate) fn exit_code(&self) -> u8 {
        if self.is_usage { 2 } else { 1 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        for line in self.details.iter().flat_map(|detail| detail.lines()) {
            writeln!(f, "  {line}")?;
        }
        if let Some(hint) = &self.hint {
            writeln!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}
