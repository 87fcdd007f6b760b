//! Lines of a text with their byte offsets.

use std::ops::Range;

/// One line, without its ending.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Offset of the first byte.
    pub(crate) start: usize,
    /// Offset after the line ending.
    pub(crate) end: usize,
    pub(crate) text: &'a str,
}

impl<'a> Line<'a> {
    /// Offset of the first character that is not white space, or of the end of the line.
    pub(crate) fn content_start(&self) -> usize {
        self.start + self.text.len() - self.text.trim_start().len()
    }

    pub(crate) fn trimmed(&self) -> &'a str {
        self.text.trim()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.trimmed().is_empty()
    }
}

/// Splits a text at `\n` and `\r\n`; a byte order mark belongs to no line.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut end = text.len() - text.trim_start_matches('\u{feff}').len();
    slice(text, end..text.len())
        .split_inclusive('\n')
        .map(|with_ending| {
            let start = end;
            end += with_ending.len();
            let text = with_ending.strip_suffix('\n').unwrap_or(with_ending);
            Line { start, end, text: text.strip_suffix('\r').unwrap_or(text) }
        })
        .collect()
}

/// The byte range of some lines of `text`, including line endings.
pub(crate) fn extent(lines: &[Line<'_>]) -> Range<usize> {
    match (lines.first(), lines.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..0,
    }
}

/// A part of `text`; empty if the range is out of bounds.
pub(crate) fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// Whether `offset` is in one of `ranges`, which are sorted and do not overlap.
pub(crate) fn covers(ranges: &[Range<usize>], offset: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= offset);
    next.checked_sub(1).and_then(|last| ranges.get(last)).is_some_and(|range| offset < range.end)
}
