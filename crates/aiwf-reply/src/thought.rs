//! The thoughts of a model between `<thought>` and `</thought>`, which are not part of its answer.
//!
//! `<think>` and `<thinking>`, which some models write on their own, are treated the same. A thought that is never
//! closed hides the rest of the text and is a problem: a draft of a verdict must not count as the verdict, and a
//! forgotten tag must not go unnoticed. Thoughts with the same name nest.

use std::ops::Range;

use crate::tag::{Tag, TagKind};

const NAMES: [&str; 3] = ["thought", "thinking", "think"];

/// The thoughts of a reply as byte ranges, including tags, and what is wrong with them.
pub(crate) struct Thoughts {
    pub(crate) ranges: Vec<Range<usize>>,
    pub(crate) found: Vec<(usize, String)>,
}

impl Thoughts {
    /// Pairs thought tags, given in order, in a text that ends at `end`.
    pub(crate) fn from_tags<'a>(tags: impl IntoIterator<Item = &'a Tag<'a>>, end: usize) -> Self {
        let mut thoughts = Self { ranges: Vec::new(), found: Vec::new() };
        let mut open: Option<(&Tag<'_>, usize)> = None;
        for tag in tags {
            open = match (open, tag.kind) {
                (open, TagKind::Empty) => open,
                (None, TagKind::Open) => Some((tag, 1)),
                (None, TagKind::Close) => {
                    let name = tag.name;
                    thoughts
                        .found
                        .push((tag.start, format!("`</{name}>` closes nothing: write `<{name}>` before it")));
                    None
                }
                (Some((first, depth)), _) if !tag.is(first.name) => Some((first, depth)),
                (Some((first, depth)), TagKind::Open) => Some((first, depth + 1)),
                (Some((first, 1)), TagKind::Close) => {
                    thoughts.ranges.push(first.start..tag.end);
                    None
                }
                (Some((first, depth)), TagKind::Close) => Some((first, depth - 1)),
            };
        }
        if let Some((first, _)) = open {
            let name = first.name;
            thoughts.ranges.push(first.start..end);
            let message =
                format!("`<{name}>` is not closed, so nothing after it counts: end it with `</{name}>`");
            thoughts.found.push((first.start, message));
        }
        thoughts
    }
}

pub(crate) fn is_thought(tag: &Tag<'_>) -> bool {
    NAMES.iter().any(|name| tag.is(name))
}

/// Whether a trimmed line is a single thought tag.
pub(crate) fn is_lone_tag(line: &str) -> bool {
    Tag::read(line, 0, line.len()).is_some_and(|tag| is_thought(&tag) && tag.end == line.len())
}

/// A reply without its thoughts; the lines of a thought are removed with it.
pub fn without_thoughts(reply: &str) -> String {
    crate::report::strip_thoughts(reply).value
}
