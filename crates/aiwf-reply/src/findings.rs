//! Collects problems by byte offset while a parser runs and turns them into lines and columns at the end.
//!
//! Counting lines once for all problems keeps a reply with many problems linear.

use crate::problem::{Parsed, Problem};

/// Longest excerpt of a reply in a message, in characters.
const EXCERPT_LENGTH: usize = 60;

pub(crate) struct Findings<'a> {
    text: &'a str,
    found: Vec<(usize, String)>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, found: Vec::new() }
    }

    #[cfg_attr(test, track_caller)]
    pub(crate) fn add(&mut self, offset: usize, message: impl Into<String>) {
        #[cfg(test)]
        crate::problem::tests::note_place(std::panic::Location::caller());
        self.found.push((offset, message.into()));
    }

    pub(crate) fn extend(&mut self, found: impl IntoIterator<Item = (usize, String)>) {
        self.found.extend(found);
    }

    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    pub(crate) fn finish<T>(self, value: T) -> Parsed<T> {
        Parsed { value, problems: self.into_problems() }
    }

    fn into_problems(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|(offset, _)| *offset);
        let mut characters = self.text.char_indices().peekable();
        let (mut line, mut column) = (1, 1);
        let mut problems = Vec::with_capacity(self.found.len());
        for (offset, message) in self.found {
            while let Some((_, character)) = characters.next_if(|(at, _)| *at < offset) {
                match character {
                    '\n' => (line, column) = (line + 1, 1),
                    // A byte order mark is not a visible character of the first line.
                    '\u{feff}' if (line, column) == (1, 1) => {}
                    _ => column += 1,
                }
            }
            problems.push(Problem { line, column, message });
        }
        problems
    }
}

/// Shortens a piece of a reply to one line for a message.
pub(crate) fn excerpt(text: &str) -> String {
    shortened(text, EXCERPT_LENGTH)
}

/// A value in backticks, or `empty`.
pub(crate) fn shown(value: &str) -> String {
    match excerpt(value) {
        value if value.is_empty() => "empty".to_owned(),
        value => format!("`{value}`"),
    }
}

/// Cuts a text after some characters and keeps it on one line.
pub(crate) fn shortened(text: &str, length: usize) -> String {
    let mut characters = text.trim().chars();
    let one_line = |character: char| if character.is_control() { ' ' } else { character };
    let mut short: String = characters.by_ref().take(length).map(one_line).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
