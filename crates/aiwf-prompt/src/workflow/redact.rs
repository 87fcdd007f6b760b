//! Hides real paths from the model: known roots become aliases, other absolute paths a placeholder.

use std::borrow::Cow;

use crate::section::{PartBody, Section, Text};

/// Directories whose real paths must not appear in messages.
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
    /// Other paths to one of them, with its alias.
    pub others: Vec<(String, &'static str)>,
}

impl Roots {
    /// Every spelling of every root with its alias, longest first: a project may be inside the home directory.
    fn aliases(&self) -> Vec<(String, &'static str)> {
        let roots = [
            (&self.package, "@pkg"),
            (&self.state, "@state"),
            (&self.project, "@project"),
            (&self.home, "~"),
        ];
        let named = roots.into_iter().filter_map(|(root, alias)| Some((root.as_deref()?, alias)));
        let others = self.others.iter().map(|(root, alias)| (root.as_str(), *alias));
        let mut aliases = Vec::new();
        for (root, alias) in named.chain(others) {
            let root = root.trim().trim_end_matches(['/', '\\']);
            // A plain word is not a path, and `/` or `C:` alone would alias part of every path.
            if !root.contains(['/', '\\']) {
                continue;
            }
            let forward = root.replace('\\', "/");
            let backward = root.replace('/', "\\");
            for spelling in [
                root.to_owned(),
                // In JSON, in a URL, in a shell.
                backward.replace('\\', "\\\\"),
                forward.replace('/', "\\/"),
                forward.replace(' ', "%20"),
                forward.replace(' ', "\\ "),
                forward,
                backward,
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

/// Replaces the known roots in `text` by their aliases; other text is unchanged.
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
        let mut before = text.get(..start).unwrap_or_default().chars().rev();
        let mut after = text.get(end..).unwrap_or_default().chars();
        let starts = match before.next() {
            None => true,
            Some(character) if is_escape(before.next(), character) => true,
            // Only ASCII name characters prevent a path from starting: in other scripts a path may follow directly, and
            // hiding too much costs less than showing a root. A path after `~` is part of a longer path.
            Some(character) => character != '~' && !(character.is_ascii() && is_name(character)),
        };
        let ends = match after.next() {
            Some('.') => !after.next().is_some_and(joins_name),
            character => !character.is_some_and(joins_name),
        };
        if starts && ends {
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

/// Whether a character can continue a file name.
fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

/// Whether a character after a path makes it a longer name.
fn joins_name(character: char) -> bool {
    is_name(character) && !is_unspaced(character)
}

/// Whether the character belongs to a script without spaces between words, so that a path may follow directly.
fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..)
}

/// Whether the two characters are a line end or a tab, escaped as in JSON.
fn is_escape(before: Option<char>, character: char) -> bool {
    before == Some('\\') && matches!(character, 'n' | 'r' | 't')
}

/// The placeholder for a hidden path.
const HIDDEN: &str = "[path]";

/// Replaces every absolute path in `text` by a placeholder: POSIX, drive, UNC and `file:` paths.
pub fn redact_paths(text: &str) -> Cow<'_, str> {
    let mut written = String::new();
    let mut copied = 0;
    let mut position = 0;
    let mut previous = (None, None);
    while let Some(character) = text.get(position..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(position..).unwrap_or_default();
        if can_start_after(previous, rest) && starts_absolute_path(rest) {
            let length = path_length(rest);
            written.push_str(text.get(copied..position).unwrap_or_default());
            written.push_str(HIDDEN);
            position += length;
            copied = position;
            previous = (None, Some(']'));
        } else {
            position += character.len_utf8();
            previous = (previous.1, Some(character));
        }
    }
    if copied == 0 {
        return text.into();
    }
    written.push_str(text.get(copied..).unwrap_or_default());
    written.into()
}

/// Whether a path can start after these two characters: not inside a word, a URL, a closing tag or an alias.
fn can_start_after((before, previous): (Option<char>, Option<char>), rest: &str) -> bool {
    match previous {
        None => true,
        Some(':') => !rest.starts_with("//"),
        // A closing tag has no second slash.
        Some('<') => !rest.starts_with('/') || has_two_names(rest),
        Some(character) if is_escape(before, character) => true,
        // Here a slash may also separate two words of a relative path.
        Some(character) if is_unspaced(character) => {
            !rest.starts_with('/') || TOP_LEVEL.iter().any(|top| rest.starts_with(top))
        }
        Some(character) => {
            !is_name(character) && !matches!(character, '.' | '~' | '@' | '/' | '\\' | ')' | ']' | '}' | '*')
        }
    }
}

/// Directories that mark an absolute path anywhere.
const TOP_LEVEL: [&str; 10] =
    ["/etc/", "/home/", "/mnt/", "/opt/", "/private/", "/srv/", "/tmp/", "/usr/", "/var/", "/Users/"];

/// Whether a path that starts with a slash has more than one component.
fn has_two_names(path: &str) -> bool {
    let mut names = path.split(|c: char| c == ' ' || is_path_end(c)).next().unwrap_or_default().split('/');
    names.next() == Some("") && names.filter(|name| !name.is_empty()).count() > 1
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

/// The length of the path, including spaces if the path continues after them.
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
            // A colon or an equals sign starts something new: a URL, or a key with another path.
            let goes_on = next_word
                .split_once(['/', '\\'])
                .is_some_and(|(name, _)| name.starts_with(is_name) && !name.contains([':', '=']));
            if !goes_on {
                break;
            }
        }
        end = start + character.len_utf8();
    }
    // A trailing full stop or colon belongs to the sentence.
    let path = rest.get(..end).unwrap_or_default();
    path.trim_end_matches(['.', ':', '!', '?']).len().max(1)
}

fn is_path_end(character: char) -> bool {
    (character.is_whitespace() && character != ' ')
        || matches!(character, '"' | '\'' | '`' | '<' | '>' | '|' | ',' | ';' | ')' | ']' | '}' | '*')
}

/// Replaces the roots by aliases in all text of a section.
pub(super) fn hide_in_section(section: &mut Section, roots: &Roots) {
    let aliased = |text: &Text| match alias_roots(text, roots) {
        Cow::Borrowed(_) => None,
        Cow::Owned(aliased) => Some(aliased),
    };
    if let Some(body) = aliased(&section.body) {
        section.body = Text::from(body);
    }
    // `xml` writes the title as an attribute.
    section.title = alias_roots(&section.title, roots).into_owned();
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
