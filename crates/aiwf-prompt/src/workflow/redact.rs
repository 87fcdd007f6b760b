//! Keeps real paths from the model: known roots get an alias, other absolute paths a stand-in.

use std::borrow::Cow;

use crate::section::{PartBody, Section, Text};

/// Directories whose real paths no message may show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The user's project, `@project`.
    pub project: Option<String>,
    /// The workflow package, `@pkg`.
    pub package: Option<String>,
    /// The run's private state, `@state`.
    pub state: Option<String>,
    /// The user's home, `~`.
    pub home: Option<String>,
}

impl Roots {
    /// Every spelling of every root with its alias, the longest first: a project lies inside a home.
    fn aliases(&self) -> Vec<(String, &'static str)> {
        let roots = [
            (&self.package, "@pkg"),
            (&self.state, "@state"),
            (&self.project, "@project"),
            (&self.home, "~"),
        ];
        let mut aliases = Vec::new();
        for (root, alias) in roots {
            let Some(root) = root.as_deref().map(|root| root.trim_end_matches(['/', '\\'])) else { continue };
            // A root this short would alias half of every path.
            if root.len() < 2 {
                continue;
            }
            for spelling in [
                root.to_owned(),
                root.replace('\\', "/"),
                root.replace('/', "\\"),
                root.replace('\\', "\\\\"),
            ] {
                if !aliases.iter().any(|(known, _)| *known == spelling) {
                    aliases.push((spelling, alias));
                }
            }
        }
        aliases.sort_by_key(|(root, _)| std::cmp::Reverse(root.len()));
        aliases
    }
}

/// `text` with the known roots replaced by their aliases; other text is not touched.
pub fn alias_roots<'a>(text: &'a str, roots: &Roots) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for (root, alias) in roots.aliases() {
        if let Some(replaced) = replace_root(&text, &root, alias) {
            text = replaced.into();
        }
    }
    text
}

fn replace_root(text: &str, root: &str, alias: &str) -> Option<String> {
    let mut written = String::new();
    let mut copied = 0;
    for (start, _) in text.match_indices(root) {
        let end = start + root.len();
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let mut after = text.get(end..).unwrap_or_default().chars();
        let ends = match after.next() {
            None => true,
            Some('.') => !after.next().is_some_and(is_name),
            Some(character) => !is_name(character),
        };
        if ends && !before.is_some_and(is_name) {
            written.push_str(text.get(copied..start).unwrap_or_default());
            written.push_str(alias);
            copied = end;
        }
    }
    if copied == 0 {
        return None;
    }
    written.push_str(text.get(copied..).unwrap_or_default());
    Some(written)
}

/// Whether a character can be part of a file name that goes on.
fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

/// What stands for a path that must not be seen.
const HIDDEN: &str = "[path]";

/// `text` with a stand-in for every absolute path: POSIX, drive, UNC and `file:` ones.
pub fn redact_paths(text: &str) -> Cow<'_, str> {
    let mut written = String::new();
    let mut copied = 0;
    let mut position = 0;
    let mut previous = None;
    while let Some(character) = text.get(position..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(position..).unwrap_or_default();
        if can_start_after(previous, rest) && starts_absolute_path(rest) {
            let length = path_length(rest);
            written.push_str(text.get(copied..position).unwrap_or_default());
            written.push_str(HIDDEN);
            position += length;
            copied = position;
            previous = Some(']');
        } else {
            position += character.len_utf8();
            previous = Some(character);
        }
    }
    if copied == 0 {
        return text.into();
    }
    written.push_str(text.get(copied..).unwrap_or_default());
    written.into()
}

/// Whether a path can start after this character: not in the middle of a word, a URL, a closing tag or an alias.
fn can_start_after(previous: Option<char>, rest: &str) -> bool {
    match previous {
        None => true,
        Some(':') => !rest.starts_with("//"),
        Some(character) => {
            !is_name(character)
                && !matches!(character, '.' | '~' | '@' | '/' | '\\' | '<' | ')' | ']' | '}' | '*')
        }
    }
}

fn starts_absolute_path(rest: &str) -> bool {
    let mut characters = rest.chars();
    let starts_name = |character: Option<char>| {
        character.is_some_and(|character| is_name(character) || matches!(character, '.' | '~' | '$' | '@'))
    };
    match characters.next() {
        Some('/') => starts_name(characters.next()),
        Some('\\') => characters.next() == Some('\\') && starts_name(characters.next()),
        Some('f' | 'F') => rest.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://")),
        Some(drive) if drive.is_ascii_alphabetic() => {
            characters.next() == Some(':') && matches!(characters.next(), Some('\\' | '/'))
        }
        _ => false,
    }
}

/// How far the path goes: over a blank too, when what follows it is still the same path.
fn path_length(rest: &str) -> usize {
    let mut end = 0;
    for (start, character) in rest.char_indices() {
        if is_path_end(character) {
            break;
        }
        if character == ' ' {
            let next_word: &str = rest
                .get(start + 1..)
                .unwrap_or_default()
                .split(|c: char| c.is_whitespace() || is_path_end(c))
                .next()
                .unwrap_or_default();
            let goes_on = next_word.chars().next().is_some_and(is_name) && next_word.contains(['/', '\\']);
            if !goes_on {
                break;
            }
        }
        end = start + character.len_utf8();
    }
    // A full stop or colon at the end belongs to the sentence.
    let path = rest.get(..end).unwrap_or_default();
    path.trim_end_matches(['.', ':', '!', '?']).len().max(1)
}

fn is_path_end(character: char) -> bool {
    (character.is_whitespace() && character != ' ')
        || matches!(character, '"' | '\'' | '`' | '<' | '>' | '|' | ',' | ';' | ')' | ']' | '}' | '*')
}

/// Aliases the roots in everything a section says.
pub(super) fn hide_in_section(section: &mut Section, roots: &Roots) {
    let aliased = |text: &Text| match alias_roots(text, roots) {
        Cow::Borrowed(_) => None,
        Cow::Owned(aliased) => Some(aliased),
    };
    if let Some(body) = aliased(&section.body) {
        section.body = Text::from(body);
    }
    if let Some(heading) = &section.heading {
        section.heading = Some(alias_roots(heading, roots).into_owned());
    }
    for part in &mut section.parts {
        part.name = alias_roots(&part.name, roots).into_owned();
        match &mut part.body {
            PartBody::Inline(text) => {
                if let Some(aliased) = aliased(text) {
                    *text = Text::from(aliased);
                }
            }
            PartBody::Reference(text) | PartBody::Note(text) => {
                *text = alias_roots(text, roots).into_owned();
            }
        }
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
