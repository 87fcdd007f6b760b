//! Copies to and pastes from the clipboard, through the terminal and through the desktop's own program.
//!
//! The terminal gets a control sequence (OSC 52), which also works over SSH; no terminal reports whether it accepted
//! it. Pasting this way is impossible: a terminal that let programs read the clipboard would let any program do so.

use std::fmt;

use aiwf_engine::clipboard::{self, ClipboardError};
use aiwf_engine::config::variable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::output;

/// The longest text a terminal is sent: some take no more than 100,000 letters of base64.
const MAX_SENT: usize = 74_000;

/// How a text was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct How {
    /// The desktop's program.
    pub(crate) tool: Option<&'static str>,
    pub(crate) by_terminal: bool,
}

impl fmt::Display for How {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tool {
            Some(tool) => write!(formatter, "copied to the clipboard with {tool}"),
            None => formatter.write_str("sent to the clipboard of your terminal, if it takes OSC 52"),
        }
    }
}

/// Puts a text on the clipboard.
pub(crate) fn copy(text: &str) -> Result<How, ClipboardError> {
    let by_terminal = text.len() <= MAX_SENT && has_clipboard() && output::control_terminal(&sequence(text));
    match clipboard::copy(text) {
        Ok(tool) => Ok(How { tool: Some(tool), by_terminal }),
        Err(_) if by_terminal => Ok(How { tool: None, by_terminal }),
        Err(error) => Err(error),
    }
}

/// The text on the clipboard.
pub(crate) fn paste() -> Result<String, ClipboardError> {
    clipboard::paste()
}

/// Whether the terminal may support OSC 52; a plain console would print the sequence.
fn has_clipboard() -> bool {
    !matches!(variable("TERM").as_deref(), None | Some("dumb" | "linux"))
}

fn sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_the_text_in_letters_only() {
        assert_eq!(sequence("é\u{7}\u{1b}"), "\u{1b}]52;c;w6kHGw==\u{7}");
        assert!(sequence(&"x".repeat(MAX_SENT)).len() < 100_000);
    }

    #[test]
    fn the_program_that_copied_is_reported() {
        let how = How { tool: Some("wl-copy"), by_terminal: true };
        assert_eq!(how.to_string(), "copied to the clipboard with wl-copy");
        let how = How { tool: None, by_terminal: true };
        assert_eq!(how.to_string(), "sent to the clipboard of your terminal, if it takes OSC 52");
    }
}
