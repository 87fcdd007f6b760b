//! Reads lines from a person at a terminal: editing, history, several lines in one.
//!
//! A line that ends with `\` continues on the next one; pasted text stays whole. The history is in the user's cache
//! directory, private and bounded; without one there is a history of this talk alone.

use std::path::{Path, PathBuf};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Editor, Helper};

use crate::command_error::CommandError;
use crate::failure::Failure;

/// How many lines the history keeps.
const MAX_HISTORY: usize = 1000;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// They gave a text.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal went away.
    End,
}

/// Reads lines.
pub(crate) struct LineEditor {
    editor: Editor<ContinuedLines, DefaultHistory>,
    history: Option<PathBuf>,
}

impl LineEditor {
    /// An editor with the history of talks before.
    pub(crate) fn new(cache_dir: Option<&Path>) -> Result<Self, Failure> {
        let config = Config::builder()
            .max_history_size(MAX_HISTORY)
            .map_err(CommandError::NoTerminal)?
            .history_ignore_space(true)
            .build();
        let mut editor = Editor::with_config(config).map_err(CommandError::NoTerminal)?;
        editor.set_helper(Some(ContinuedLines));
        let history = cache_dir.and_then(|cache| {
            aiwf_engine::create_dir(cache).ok()?;
            Some(cache.join("talk-history"))
        });
        if let Some(history) = &history {
            // There is no file before the first conversation.
            drop(editor.load_history(history));
        }
        Ok(Self { editor, history })
    }

    /// Reads a text.
    pub(crate) fn read(&mut self, prompt: &str) -> Result<Typed, Failure> {
        match self.editor.readline(prompt) {
            Ok(line) => {
                let line = joined(&line);
                // The conversation continues without a history.
                drop(self.editor.add_history_entry(line.as_str()));
                if let Some(history) = &self.history {
                    drop(self.editor.append_history(history));
                }
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(CommandError::NoTerminal(error).into()),
        }
    }
}

/// The lines of a text whose lines were continued.
fn joined(text: &str) -> String {
    text.replace("\\\n", "\n")
}

/// Asks for another line after a `\`.
struct ContinuedLines;

impl Validator for ContinuedLines {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_continued = context.input().ends_with('\\');
        Ok(if is_continued { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for ContinuedLines {
    type Candidate = String;
}

impl Hinter for ContinuedLines {
    type Hint = String;
}

impl Highlighter for ContinuedLines {}

impl Helper for ContinuedLines {}

#[cfg(test)]
mod tests {
    #[test]
    fn continued_lines_lose_their_mark() {
        assert_eq!(super::joined("one\\\ntwo\\three\nfour"), "one\ntwo\\three\nfour");
    }
}
