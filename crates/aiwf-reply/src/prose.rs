//! The plain text of a reply: everything outside fences, quotes, inline code and thoughts.
//!
//! A tag or a marker counts as an answer only here; anywhere else it is quoted, explained or part of a thought.

use std::ops::Range;

use crate::code_span::code_spans;
use crate::outline::Outline;
use crate::tag::Tag;
use crate::thought::{Thoughts, is_thought};

/// Inline code and thought tags in the prose of a reply, in order.
pub(crate) struct Marks<'a> {
    pub(crate) code: Vec<Range<usize>>,
    pub(crate) thought_tags: Vec<Tag<'a>>,
}

impl<'a> Marks<'a> {
    pub(crate) fn new(outline: &Outline<'a>) -> Self {
        let mut marks = Self { code: Vec::new(), thought_tags: Vec::new() };
        for prose in &outline.prose {
            let code = code_spans(outline, prose.clone());
            for plain in without([outline.extent(prose.clone())], &code) {
                marks.thought_tags.extend(tags(outline.text, plain).filter(is_thought));
            }
            marks.code.extend(code);
        }
        marks
    }

    pub(crate) fn thoughts(&self, outline: &Outline<'_>) -> Thoughts {
        Thoughts::from_tags(&self.thought_tags, outline.text.len())
    }
}

/// The plain parts of a reply as byte ranges in order, and its thoughts.
pub(crate) struct Prose {
    pub(crate) plain: Vec<Range<usize>>,
    pub(crate) thoughts: Thoughts,
}

impl Prose {
    pub(crate) fn new(outline: &Outline<'_>) -> Self {
        let marks = Marks::new(outline);
        let thoughts = marks.thoughts(outline);
        let prose = outline.prose.iter().map(|lines| outline.extent(lines.clone()));
        let plain = without(without(prose, &marks.code), &thoughts.ranges);
        Self { plain, thoughts }
    }
}

/// Reads all tags in a part of a text.
pub(crate) fn tags(text: &str, part: Range<usize>) -> impl Iterator<Item = Tag<'_>> {
    let bytes = text.as_bytes().get(part.clone()).unwrap_or_default();
    memchr::memchr_iter(b'<', bytes)
        .filter_map(move |at| Tag::read(text, part.start + at, part.end))
        .filter(|tag| !tag.is_type_parameter(text))
}

/// Removes `holes` from `ranges`; both are sorted and do not overlap among themselves.
pub(crate) fn without(
    ranges: impl IntoIterator<Item = Range<usize>>,
    holes: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    let mut holes = holes.iter().peekable();
    for range in ranges {
        let mut start = range.start;
        while let Some(hole) = holes.next_if(|hole| hole.end <= range.end) {
            if start < hole.start {
                left.push(start..hole.start);
            }
            start = start.max(hole.end);
        }
        // A hole that extends beyond this range also applies to the next one.
        let end = holes.peek().map_or(range.end, |hole| range.end.min(hole.start.max(start)));
        if start < end {
            left.push(start..end);
        }
    }
    left
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
