//! Quotes text for a shell, for commands that the user copies.

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a text, unless a shell reads it as one word without quotes.
pub(crate) fn as_typed(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.,:/=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { quoted(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word_of_a_shell() {
        assert_eq!(quoted("it's\n{\"a\":1}"), "'it'\\''s\n{\"a\":1}'");
    }

    #[test]
    fn a_plain_word_needs_no_quotes() {
        for (word, expected) in [
            ("--feedback=no", "--feedback=no"),
            ("src/a.rs", "src/a.rs"),
            ("it's wrong", r"'it'\''s wrong'"),
            ("src/**", "'src/**'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(as_typed(word), expected);
        }
    }
}
