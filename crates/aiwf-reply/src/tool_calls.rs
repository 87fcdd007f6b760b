//! Reads the tool calls that a model writes into its text.
//!
//! Calls are in code fences of any kind, in `<tool_call>` elements, or bare JSON in prose; see `call_reader.rs` for the
//! shapes. Text that is quoted with `>`, inline code or part of a thought is not a call. JSON that is just data is left
//! alone; broken JSON that was meant as a call is a problem. Nothing is lost silently: a reply without calls is a
//! message, and not a problem.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::bare_json::{Piece, PieceKind, find_pieces};
use crate::call_reader::{CallReader, Place};
use crate::findings::Findings;
use crate::json_text::{looks_like_call, offset_of, read_json};
use crate::line::{covers, slice};
use crate::outline::{Fence, Outline};
use crate::problem::Parsed;
use crate::prose::{Marks, without};

#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id that the model gave the call, if any.
    pub id: Option<String>,
    /// The name of the tool; never empty, not validated here.
    pub name: String,
    /// The arguments; empty if the call has none.
    pub arguments: Map<String, Value>,
}

/// The calls of a reply and the text around them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCalls {
    pub calls: Vec<ToolCall>,
    /// The `message` in the JSON of the calls, otherwise the text around the calls without thoughts; `None` if blank.
    pub message: Option<String>,
}

/// Reads the tool calls of a reply.
pub fn parse_tool_calls(reply: &str) -> Parsed<ToolCalls> {
    let outline = Outline::new(reply);
    let mut marks = Marks::new(&outline);
    let pieces: Vec<Piece<'_>> = outline
        .prose
        .iter()
        .flat_map(|lines| find_pieces(reply, outline.extent(lines.clone()), &marks.code))
        .collect();
    // A thought tag in the arguments of a call is not a thought.
    let ranges: Vec<Range<usize>> =
        pieces.iter().filter(|piece| piece.kind.is_complete()).map(|piece| piece.range.clone()).collect();
    marks.thought_tags.retain(|tag| !covers(&ranges, tag.start));
    let thoughts = marks.thoughts(&outline);

    let mut findings = Findings::new(reply);
    findings.extend(thoughts.found);
    let mut reader = CallReader::new(reply, &mut findings);
    let mut used = Vec::new();
    let mut pieces =
        pieces.into_iter().filter(|piece| !covers(&thoughts.ranges, piece.range.start)).peekable();
    for fence in &outline.fences {
        let extent = outline.extent(fence.lines.clone());
        while let Some(piece) = pieces.next_if(|piece| piece.range.start < extent.start) {
            used.extend(read_piece(&mut reader, piece));
        }
        if !covers(&thoughts.ranges, extent.start) && read_fence(&mut reader, &outline, fence) {
            used.push(extent);
        }
    }
    for piece in pieces {
        used.extend(read_piece(&mut reader, piece));
    }

    let CallReader { calls, messages, .. } = reader;
    used.extend(thoughts.ranges);
    used.sort_by_key(|range| range.start);
    let message = if messages.is_empty() { text_around(reply, &used) } else { messages.join("\n\n") };
    let message = Some(message).filter(|message| !message.trim().is_empty());
    findings.finish(ToolCalls { calls, message })
}

/// Reads a piece of prose; returns its range if it was meant as a call.
fn read_piece<'a>(reader: &mut CallReader<'a, '_>, piece: Piece<'a>) -> Option<Range<usize>> {
    let is_call = match piece.kind {
        PieceKind::Value(value) => reader.read(value, Place::Prose),
        PieceKind::Element(values) => {
            for value in values {
                reader.read_explicit(value);
            }
            true
        }
        PieceKind::Broken(error) => {
            reader.report(&error);
            true
        }
        PieceKind::Empty => {
            reader.report_empty(piece.range.start);
            true
        }
        PieceKind::Tag => true,
    };
    is_call.then_some(piece.range)
}

/// Reads a code fence; returns whether it was meant as calls.
fn read_fence<'a>(reader: &mut CallReader<'a, '_>, outline: &Outline<'a>, fence: &Fence<'a>) -> bool {
    let body = outline.extent(fence.body.clone());
    let content = slice(outline.text, body.clone());
    let mut is_call = false;
    if content.trim_start().starts_with("<tool_call") {
        for piece in find_pieces(outline.text, body, &[]) {
            is_call |= read_piece(reader, piece).is_some();
        }
        return is_call;
    }
    if !content.trim_start().starts_with(['{', '[']) {
        return false;
    }
    let mut at = body.start;
    while !slice(outline.text, at..body.end).trim_start().is_empty() {
        match read_json(outline.text, at..body.end) {
            Ok(value) => {
                is_call |= reader.read(value, Place::Fence);
                at = offset_of(outline.text, value) + value.get().len();
            }
            Err(error) => {
                if looks_like_call(slice(outline.text, at..body.end)) {
                    reader.report(&error);
                    is_call = true;
                }
                break;
            }
        }
    }
    is_call
}

/// The text outside the given ranges, its parts separated by blank lines.
fn text_around(reply: &str, used: &[Range<usize>]) -> String {
    let parts = without(std::iter::once(0..reply.len()), used);
    let parts: Vec<&str> = parts
        .into_iter()
        .map(|part| slice(reply, part).trim_start_matches('\u{feff}').trim())
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n\n")
}

#[cfg(test)]
#[path = "tool_calls_tests.rs"]
mod tests;
