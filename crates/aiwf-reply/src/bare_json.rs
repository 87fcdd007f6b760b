//! Finds JSON and `<tool_call>` elements in prose that contains other braces.
//!
//! In: a part of a reply and its inline code. Out: the JSON values and elements in it, in order; whether they are tool
//! calls is decided later. Each byte is read a bounded number of times: after a broken value the search continues where
//! it broke, not at the next brace inside it.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::json_text::{JsonError, looks_like_call, offset_of, read_json};
use crate::line::slice;
use crate::prose::tags;
use crate::tag::{Tag, TagKind};
use crate::thought::is_thought;

const ELEMENT: &str = "tool_call";

/// The longest first key, in bytes, for which an object in prose is considered.
const MAX_KEY_LENGTH: usize = 100;

pub(crate) struct Piece<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) kind: PieceKind<'a>,
}

pub(crate) enum PieceKind<'a> {
    Value(&'a RawValue),
    /// The content of a `<tool_call>` element.
    Element(Vec<&'a RawValue>),
    /// Invalid JSON that was meant as a call.
    Broken(JsonError),
    /// A `<tool_call>` element without JSON.
    Empty,
    /// A tag whose JSON is in a code fence next to it.
    Tag,
}

impl PieceKind<'_> {
    /// Whether the whole piece is valid JSON.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Value(_) | Self::Element(_) => true,
            Self::Broken(_) | Self::Empty | Self::Tag => false,
        }
    }
}

pub(crate) fn find_pieces<'a>(text: &'a str, part: Range<usize>, code: &[Range<usize>]) -> Vec<Piece<'a>> {
    let mut scanner = Scanner { text, end: part.end, at: part.start, used: part.start };
    let mut pieces = Vec::new();
    while let Some(at) = scanner.next_mark(code) {
        scanner.at = at + 1;
        let piece =
            if text.as_bytes().get(at) == Some(&b'<') { scanner.element(at) } else { scanner.value(at) };
        if let Some(piece) = piece {
            scanner.at = piece.range.end.max(scanner.at);
            scanner.used = scanner.at;
            pieces.push(piece);
        }
    }
    pieces
}

struct Scanner<'a> {
    text: &'a str,
    end: usize,
    at: usize,
    /// End of the last piece: inline code that starts before it is part of that piece.
    used: usize,
}

impl<'a> Scanner<'a> {
    /// The next position where a piece may start.
    fn next_mark(&mut self, code: &[Range<usize>]) -> Option<usize> {
        loop {
            let rest = self.text.as_bytes().get(self.at..self.end)?;
            let at = self.at + memchr::memchr3(b'{', b'[', b'<', rest)?;
            let next_span = code.partition_point(|span| span.start <= at);
            let span = next_span.checked_sub(1).and_then(|last| code.get(last));
            match span.filter(|span| span.start >= self.used && at < span.end) {
                Some(span) => self.at = span.end,
                None => return Some(at),
            }
        }
    }

    fn value(&mut self, at: usize) -> Option<Piece<'a>> {
        if !may_start_json(slice(self.text, at..self.end)) {
            return None;
        }
        match read_json(self.text, at..self.end) {
            Ok(value) => Some(Piece { range: at..at + value.get().len(), kind: PieceKind::Value(value) }),
            Err(error) => {
                self.at = self.at.max(error.at);
                // A missing comma breaks the JSON before the keys that identify it as a call.
                let rest = self.text.as_bytes().get(self.at..self.end)?;
                let next_open = memchr::memchr2(b'{', b'[', rest).map_or(self.end, |next| self.at + next);
                let is_call = looks_like_call(slice(self.text, at..next_open));
                is_call.then(|| Piece { range: at..self.end_of_broken(at), kind: PieceKind::Broken(error) })
            }
        }
    }

    /// The end of broken JSON: where its brackets balance, at a blank line, or where a call or thought starts.
    fn end_of_broken(&self, start: usize) -> usize {
        let mut depth = 0_usize;
        let mut is_string = false;
        let mut is_escaped = false;
        for (offset, byte) in slice(self.text, start..self.end).bytes().enumerate() {
            let at = start + offset;
            match byte {
                b'\n' if self.starts_other_text(at + 1) => return at,
                b'\n' => (is_string, is_escaped) = (false, false),
                b'<' if Tag::read(self.text, at, self.end).is_some_and(|tag| is_thought(&tag)) => return at,
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = is_string,
                b'"' => is_string = !is_string,
                b'{' | b'[' if !is_string => depth += 1,
                b'}' | b']' if !is_string => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        self.end
    }

    /// Whether the line at `at` is blank or starts a call.
    fn starts_other_text(&self, at: usize) -> bool {
        let line = slice(self.text, at..self.end).trim_start_matches([' ', '\t', '\r']);
        line.is_empty()
            || ["\n", "{\"tool_calls\"", "<tool_call>"].iter().any(|start| line.starts_with(start))
    }

    fn element(&mut self, at: usize) -> Option<Piece<'a>> {
        let tag = Tag::read(self.text, at, self.end).filter(|tag| tag.is(ELEMENT))?;
        let mut cursor = self.skip_blanks(tag.end);
        let is_alone = tag.kind == TagKind::Close || (cursor == self.end && self.end < self.text.len());
        if is_alone {
            return Some(Piece { range: at..tag.end, kind: PieceKind::Tag });
        }
        let mut values = Vec::new();
        while slice(self.text, cursor..self.end).starts_with(['{', '[']) {
            match read_json(self.text, cursor..self.end) {
                Ok(value) => {
                    cursor = self.skip_blanks(offset_of(self.text, value) + value.get().len());
                    values.push(value);
                }
                Err(error) => {
                    let range = at..self.end_of_element(error.at, self.end);
                    return Some(Piece { range, kind: PieceKind::Broken(error) });
                }
            }
        }
        let range = at..self.end_of_element(cursor, cursor);
        let kind = if values.is_empty() { PieceKind::Empty } else { PieceKind::Element(values) };
        Some(Piece { range, kind })
    }

    /// The end of the closing tag after `from`, or `otherwise` if another element or nothing follows.
    fn end_of_element(&self, from: usize, otherwise: usize) -> usize {
        match tags(self.text, from..self.end).find(|tag| tag.is(ELEMENT)) {
            Some(tag) if tag.kind == TagKind::Close => tag.end,
            Some(tag) => otherwise.min(tag.start),
            None => otherwise,
        }
    }

    fn skip_blanks(&self, at: usize) -> usize {
        self.end - slice(self.text, at..self.end).trim_start().len()
    }
}

/// Whether a brace or bracket may start a tool call rather than belong to prose or code.
fn may_start_json(text: &str) -> bool {
    if let Some(inside) = text.strip_prefix('[') {
        return inside.trim_start().starts_with('{');
    }
    let inside = text.strip_prefix('{').unwrap_or_default().trim_start();
    let key = inside.trim_start_matches(['"', '\'', '“', '`']);
    inside.starts_with('}') || key.starts_with("tool_calls") || starts_with_key(inside)
}

/// Whether the text after a `{` starts with a key as calls have them: short, with no code in the quotes.
fn starts_with_key(inside: &str) -> bool {
    let Some(key) = inside.strip_prefix('"') else { return false };
    let end = key.bytes().take(MAX_KEY_LENGTH).position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'\n'));
    let after = end.and_then(|end| key.get(end..)?.strip_prefix('"'));
    after.is_some_and(|after| after.trim_start().starts_with(':'))
}
