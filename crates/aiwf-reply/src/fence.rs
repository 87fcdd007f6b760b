//! The first line of a fenced code block, and which line closes it.

/// Maximum indentation of a closing fence, as in `CommonMark`.
const CLOSING_INDENT: usize = 3;

/// A line like ```` ```java title="a" ````.
///
/// The line may be indented by any amount and follow a list marker, because models put fences into lists without the
/// exact indentation that `CommonMark` requires.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FenceOpening<'a> {
    mark: char,
    length: usize,
    indent: usize,
    /// The trimmed text after the marks: a language, a path, attributes or nothing.
    pub(crate) info: &'a str,
}

impl<'a> FenceOpening<'a> {
    pub(crate) fn read(line: &'a str) -> Option<Self> {
        let rest = after_list_markers(line);
        let indent = width(line.get(..line.len() - rest.len())?);
        let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        // Backticks after the marks make it inline code, as in "```code``` in a sentence".
        let is_opening = length >= 3 && !(mark == '`' && info.contains('`'));
        is_opening.then(|| Self { mark, length, indent, info: info.trim() })
    }

    pub(crate) fn is_closed_by(&self, line: &str) -> bool {
        let rest = line.trim_start_matches([' ', '\t']);
        let indent = width(line.get(..line.len() - rest.len()).unwrap_or_default());
        let tail = rest.trim_start_matches(self.mark);
        let allowed =
            if self.indent <= CLOSING_INDENT { CLOSING_INDENT } else { self.indent + CLOSING_INDENT };
        indent <= allowed && rest.len() - tail.len() >= self.length && tail.trim().is_empty()
    }

    /// Whether `line`, inside this fence, looks like the start of another one.
    ///
    /// Such a line is content, but the writer meant to nest fences, so this one ends earlier than intended.
    pub(crate) fn seems_reopened_by(&self, line: &str) -> bool {
        FenceOpening::read(line).is_some_and(|inner| {
            inner.mark == self.mark
                && inner.length >= self.length
                && inner.indent <= self.indent.max(CLOSING_INDENT)
                && !inner.info.is_empty()
        })
    }

    /// The line that closes this fence, in words.
    pub(crate) fn closing(&self) -> String {
        let mark = if self.mark == '`' { "backticks" } else { "tildes" };
        match self.length {
            3 => format!("three {mark}"),
            4 => format!("four {mark}"),
            5 => format!("five {mark}"),
            length => format!("{length} {mark}"),
        }
    }

    /// Removes the indentation of the fence from a line of its content.
    pub(crate) fn unindented<'l>(&self, line: &'l str) -> &'l str {
        let mut left = self.indent;
        line.trim_start_matches(|character| {
            let width = if character == '\t' { 4 } else { usize::from(character == ' ') };
            let is_indent = width > 0 && left > 0;
            left = left.saturating_sub(width);
            is_indent
        })
    }
}

/// The rest of a line after its indentation and list markers (`- `, `1. `).
pub(crate) fn after_list_markers(line: &str) -> &str {
    let mut rest = line.trim_start_matches([' ', '\t']);
    loop {
        let after_digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let marks: &[char] = if after_digits.len() < rest.len() { &['.', ')'] } else { &['-', '*', '+'] };
        let Some(after_marker) =
            after_digits.strip_prefix(marks).filter(|after| after.starts_with([' ', '\t']))
        else {
            return rest;
        };
        rest = after_marker.trim_start_matches([' ', '\t']);
    }
}

/// The width of the start of a line, counting a tab as four.
fn width(start: &str) -> usize {
    start.chars().map(|character| if character == '\t' { 4 } else { 1 }).sum()
}
