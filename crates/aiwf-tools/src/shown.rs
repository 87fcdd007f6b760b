//! Text of others as it can stand in a message.

/// The most that a message repeats of what a server said.
const MAX_CHARACTERS: usize = 300;

/// On one line, shortened, and without what moves a cursor.
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

/// A word of a command line as a shell would take it.
pub(crate) fn word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@%+,${}".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    let is_printable = word.chars().all(|character| !character.is_control());
    if is_printable { format!("'{}'", word.replace('\'', r"'\''")) } else { format!("{word:?}") }
}

/// How many bytes at the start of a text make at most `limit` and end with a whole character.
pub(crate) fn floor_boundary(text: &str, limit: usize) -> usize {
    text.floor_char_boundary(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_repeats_one_short_line_without_control_characters() {
        assert_eq!(excerpt("a\u{1b}[2Jb\nc"), "a [2Jb c");
        assert_eq!(excerpt(&"x".repeat(301)).chars().count(), 301);
        assert!(excerpt(&"x".repeat(301)).ends_with('…'));
    }

    #[test]
    fn a_command_is_shown_so_that_its_words_can_be_told_apart() {
        assert_eq!(word("npx"), "npx");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word(""), "''");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("a\nb"), r#""a\nb""#);
    }
}
