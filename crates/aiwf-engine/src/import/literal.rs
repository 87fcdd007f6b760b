//! Makes text that a template gives back byte for byte.

/// The text with every piece of template syntax escaped.
///
/// A `{` at the end is escaped as well: what a converter writes after it may begin with another.
pub(super) fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '{' {
            escaped.push(character);
            continue;
        }
        match characters.peek().copied() {
            Some(second @ ('{' | '%' | '#')) => {
                characters.next();
                escaped.push_str("{{ \"{");
                escaped.push(second);
                escaped.push_str("\" }}");
            }
            Some(_) => escaped.push('{'),
            None => escaped.push_str("{{ \"{\" }}"),
        }
    }
    escaped
}

/// The text in a fence that nothing in it closes, escaped.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", literal(text.trim_end()))
}

/// Text on one line, for a comment or a sentence: no control characters, and not too long.
pub(super) fn one_line(text: &str) -> String {
    const MAX_CHARACTERS: usize = 160;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|character| !character.is_control()).collect();
    if line.chars().count() <= MAX_CHARACTERS {
        return line;
    }
    line.chars().take(MAX_CHARACTERS).chain(['…']).collect()
}

/// A name for flows, phases and files from any text; `None` when nothing is left of it.
pub(super) fn plain_name(text: &str) -> Option<String> {
    const MAX_LENGTH: usize = 31;
    let mut name = String::new();
    for character in text.chars() {
        match character.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9') => name.push(letter),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
        if name.len() == MAX_LENGTH {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    aiwf_session::Phase::from_name(name).is_some().then(|| name.to_owned())
}

#[cfg(test)]
#[path = "literal_tests.rs"]
mod tests;
