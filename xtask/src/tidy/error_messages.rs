//! Checks the wording of `#[error("…")]`: lower case, no final period.
//!
//! Messages are put together into chains and lines, so each must fit into the middle of one.

use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// Names that keep their capital. Words in capitals, such as JSON, do so without being listed.
const PROPER_NAMES: &[&str] =
    &["Anthropic", "Codex", "Claude", "Gemini", "Markdown", "MiniJinja", "OpenAI", "Unicode"];

/// Finds messages that start with a capital or end like a sentence.
pub(super) fn error_messages(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files() {
        for (line, message) in rust.strings_after("#[error(") {
            if starts_with_capital(&message) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("error message `{message}` starts with a capital; use lower case"),
                ));
            }
            if message.ends_with(['.', '!']) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("error message `{message}` ends like a sentence; remove the final mark"),
                ));
            }
        }
    }
    findings
}

fn starts_with_capital(message: &str) -> bool {
    let word: String = message.chars().take_while(|c| c.is_alphanumeric()).collect();
    let mut chars = word.chars();
    let is_capital = chars.next().is_some_and(char::is_uppercase);
    let is_acronym = chars.next().is_some_and(|c| !c.is_lowercase());
    is_capital && !is_acronym && !PROPER_NAMES.contains(&word.as_str())
}

#[cfg(test)]
#[path = "error_messages_tests.rs"]
mod tests;
