//! Elements with a single word inside, like `<review>PASS</review>`, in the plain text of a reply.

use std::ops::Range;

use crate::line::slice;
use crate::prose::tags;
use crate::tag::{Tag, TagKind};

pub(crate) struct Element<'a> {
    pub(crate) tag: Tag<'a>,
    /// The text up to the next tag, trimmed.
    pub(crate) content: &'a str,
    pub(crate) is_closed: bool,
}

/// Finds the elements called `name` in the plain parts of a text.
pub(crate) fn elements<'a>(text: &'a str, plain: &[Range<usize>], name: &str) -> Vec<Element<'a>> {
    let mut elements = Vec::new();
    for part in plain {
        for tag in tags(text, part.clone()).filter(|tag| tag.is(name)) {
            match tag.kind {
                TagKind::Close => {}
                TagKind::Empty => elements.push(Element { tag, content: "", is_closed: true }),
                TagKind::Open => elements.push(read_element(text, tag, part.end)),
            }
        }
    }
    elements
}

fn read_element<'a>(text: &'a str, tag: Tag<'a>, limit: usize) -> Element<'a> {
    let rest = slice(text, tag.end..limit);
    let content = rest.split('<').next().unwrap_or_default();
    let closing = Tag::read(text, tag.end + content.len(), limit);
    let is_closed = closing.is_some_and(|closing| closing.kind == TagKind::Close && closing.is(tag.name));
    Element { tag, content: content.trim(), is_closed }
}

/// Finds an element anywhere in the text, to explain why it does not count.
pub(crate) fn quoted_element(text: &str, name: &str) -> Option<usize> {
    tags(text, 0..text.len()).find(|tag| tag.is(name) && tag.kind == TagKind::Open).map(|tag| tag.start)
}
