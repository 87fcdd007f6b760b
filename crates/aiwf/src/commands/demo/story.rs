//! The output of a demo: sentences for people, and the commands they would type.

use std::io::Write as _;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Tells a demo as it goes.
pub(super) struct Story {
    out: Vec<u8>,
    is_quiet: bool,
    /// The error if the output could not be printed.
    unprinted: Option<Failure>,
}

impl Story {
    pub(super) fn new(is_quiet: bool) -> Self {
        Self { out: Vec::new(), is_quiet, unprinted: None }
    }

    pub(super) fn say(&mut self, text: &str) {
        if self.is_quiet {
            return;
        }
        self.out.clear();
        self.out.extend_from_slice(text.as_bytes());
        if let Err(failure) = output::print(|out| out.write_all(&self.out)) {
            // The demo continues: its files are useful without the output.
            self.is_quiet = true;
            self.unprinted = Some(failure);
        }
    }

    pub(super) fn command(&mut self, words: &str) {
        self.say(&format!("\n$ aiwf {words}\n"));
    }

    /// Lines of a text, set off from the story.
    pub(super) fn quote<'t>(&mut self, lines: impl IntoIterator<Item = &'t str>) {
        let lines = lines.into_iter().map(|line| format!("  | {line}").trim_end().to_owned() + "\n");
        self.say(&lines.collect::<String>());
    }

    pub(super) fn end(self) -> Result<Exit, Failure> {
        self.unprinted.map_or(Ok(Exit::Done), Err)
    }
}

/// A word quoted for a shell, if it needs quotes.
pub(super) fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./+,:@%".contains(letter);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let quoted = word.replace('\'', "'\\''");
    if word.starts_with('-') { format!("'./{quoted}'") } else { format!("'{quoted}'") }
}
