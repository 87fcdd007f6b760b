//! Tags like `<review>`, `</thought>` and `<task_status id="1.2">` in a text that is not XML as a whole.

use crate::line::slice;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagKind {
    Open,
    Close,
    /// `<name/>`
    Empty,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag<'a> {
    pub(crate) kind: TagKind,
    pub(crate) name: &'a str,
    attributes: &'a str,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> Tag<'a> {
    /// Reads the tag that starts at `start`, the offset of a `<`.
    ///
    /// Stops at the next `<` and at the offset `limit`, so reading at every `<` of a text is linear.
    pub(crate) fn read(text: &'a str, start: usize, limit: usize) -> Option<Self> {
        let after = slice(text, start..limit).strip_prefix('<')?;
        let is_close = after.starts_with('/');
        let after = after.strip_prefix('/').unwrap_or(after);
        let after_name =
            after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let name = slice(after, 0..after.len() - after_name.len());
        let is_name_over = after_name.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
        if name.is_empty() || !is_name_over {
            return None;
        }
        let attributes = slice(after_name, 0..tag_length(after_name)?);
        let end = limit - after_name.len() + attributes.len() + 1;
        let without_slash = attributes.trim_end().strip_suffix('/');
        let kind = match (is_close, without_slash) {
            (true, _) => TagKind::Close,
            (false, Some(_)) => TagKind::Empty,
            (false, None) => TagKind::Open,
        };
        Some(Self { kind, name, attributes: without_slash.unwrap_or(attributes), start, end })
    }

    /// Whether this is a type parameter, as in `Vec<Thought>`, and not a tag.
    pub(crate) fn is_type_parameter(&self, text: &str) -> bool {
        let before = slice(text, 0..self.start).chars().next_back();
        self.kind == TagKind::Open
            && self.name.starts_with(|c: char| c.is_ascii_uppercase())
            && before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':'))
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The value of an attribute, without its quotes.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start();
            let after_key = rest.trim_start_matches(|c: char| !c.is_whitespace() && c != '=');
            let key = slice(rest, 0..rest.len() - after_key.len());
            let Some(value) = after_key.trim_start().strip_prefix('=') else {
                // A word without a value; each iteration shortens the rest or ends the loop.
                if key.is_empty() {
                    return None;
                }
                rest = after_key;
                continue;
            };
            let value = value.trim_start();
            let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''));
            let (value, after_value) = match quote {
                Some(quote) => {
                    let inside = slice(value, 1..value.len());
                    inside.split_once(quote).unwrap_or((inside, ""))
                }
                None => value.split_once(char::is_whitespace).unwrap_or((value, "")),
            };
            if key.eq_ignore_ascii_case(name) {
                return Some(value.trim());
            }
            rest = after_value;
        }
    }
}

/// Finds the `>` that ends a tag; one inside a quoted value does not, unless the quote is never closed.
fn tag_length(after_name: &str) -> Option<usize> {
    let mut quote = None;
    let mut is_after_equals = false;
    let mut first = None;
    for (at, character) in after_name.char_indices() {
        match (quote, character) {
            (_, '<') => break,
            (None, '>') => return Some(at),
            (Some(_), '>') => first = first.or(Some(at)),
            (None, '"' | '\'') if is_after_equals => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        if !character.is_whitespace() {
            is_after_equals = character == '=';
        }
    }
    first
}

#[cfg(test)]
#[path = "tag_tests.rs"]
mod tests;
