//! Formats untrusted text for messages.

/// Maximum number of characters of a server's text in a message.
const MAX_CHARACTERS: usize = 300;

/// The text on one line, shortened, and without control characters.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    for (index, character) in text.trim().chars().enumerate() {
        if index == MAX_CHARACTERS {
            shown.push('…');
            break;
        }
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            shown.push(' ');
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Quotes a word of a command line for a shell.
pub(crate) fn word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@%+,${}".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    let is_printable = word.chars().all(|character| !character.is_control());
    if is_printable { format!("'{}'", word.replace('\'', r"'\''")) } else { format!("{word:?}") }
}

/// The largest character boundary of at most `limit` bytes.
pub(crate) fn floor_boundary(text: &str, limit: usize) -> usize {
    text.floor_char_boundary(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line_without_control_characters() {
        assert_eq!(excerpt("a\u{1b}[2Jb\nc"), "a [2Jb c");
        assert_eq!(excerpt(&"x".repeat(301)).chars().count(), 301);
        assert!(excerpt(&"x".repeat(301)).ends_with('…'));
    }

    #[test]
    fn the_words_of_a_shown_command_are_distinguishable() {
        assert_eq!(word("npx"), "npx");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word(""), "''");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("a\nb"), r#""a\nb""#);
    }
}
