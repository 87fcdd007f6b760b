//! The Markdown blocks of a reply that decide what its text means: fenced code, quotes, and the prose between them.
//!
//! In: a text. Out: its lines, and which of them are fenced or prose. Fences and quotes are found first and their
//! content is not examined: a tag in a fence opens nothing. Every line that starts with `>` is a quote; unlike in
//! `CommonMark`, the next line is quoted only if it starts with `>` itself, because a verdict right below a quote is
//! meant as a verdict.

use std::ops::Range;

use crate::fence::{FenceOpening, after_list_markers};
use crate::line::{Line, extent, lines};

pub(crate) struct Outline<'a> {
    pub(crate) text: &'a str,
    pub(crate) lines: Vec<Line<'a>>,
    pub(crate) fences: Vec<Fence<'a>>,
    /// Runs of lines that are neither fenced nor quoted, as line indexes.
    pub(crate) prose: Vec<Range<usize>>,
}

/// A fenced code block, as line indexes; one that is never closed extends to the end of the text.
#[derive(Debug)]
pub(crate) struct Fence<'a> {
    pub(crate) opening: FenceOpening<'a>,
    /// All its lines, including the fence lines.
    pub(crate) lines: Range<usize>,
    pub(crate) body: Range<usize>,
    pub(crate) is_closed: bool,
}

impl<'a> Outline<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let lines = lines(text);
        let mut fences = Vec::new();
        let mut prose: Vec<Range<usize>> = Vec::new();
        let mut idx = 0;
        while let Some(line) = lines.get(idx) {
            if let Some(opening) = FenceOpening::read(line.text) {
                let fence = Fence::from_opening(opening, &lines, idx);
                idx = fence.lines.end;
                fences.push(fence);
                continue;
            }
            if !after_list_markers(line.text).starts_with('>') {
                match prose.last_mut() {
                    Some(run) if run.end == idx => run.end += 1,
                    _ => prose.push(idx..idx + 1),
                }
            }
            idx += 1;
        }
        Self { text, lines, fences, prose }
    }

    pub(crate) fn lines_at(&self, range: Range<usize>) -> &[Line<'a>] {
        self.lines.get(range).unwrap_or_default()
    }

    /// The byte range of some lines.
    pub(crate) fn extent(&self, range: Range<usize>) -> Range<usize> {
        extent(self.lines_at(range))
    }
}

impl<'a> Fence<'a> {
    fn from_opening(opening: FenceOpening<'a>, lines: &[Line<'_>], start: usize) -> Self {
        let body_start = start + 1;
        let closing = lines
            .iter()
            .enumerate()
            .skip(body_start)
            .find(|(_, line)| opening.is_closed_by(line.text))
            .map(|(idx, _)| idx);
        let body_end = closing.unwrap_or(lines.len());
        let end = closing.map_or(lines.len(), |closing| closing + 1);
        Self { opening, lines: start..end, body: body_start..body_end, is_closed: closing.is_some() }
    }
}
