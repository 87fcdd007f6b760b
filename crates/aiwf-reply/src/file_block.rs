//! A file in a reply, and how its lines become the file's content.

use std::borrow::Cow;

use crate::fence::FenceOpening;

/// A file that a reply wants to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBlock {
    /// The path as written in the reply; never empty, not validated here.
    pub path: String,
    /// The whole content; empty, or ending with a line ending.
    pub content: String,
}

/// Formats whose files may contain code fences, as extensions and as tags of a fence.
const TEXT_EXTENSIONS: [&str; 9] = ["md", "markdown", "mdx", "rmd", "qmd", "txt", "text", "rst", "adoc"];

/// A problem with the fence around a file's content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WrapProblem {
    NotClosed { closing: String },
    NotOpened { closing: String },
    TextAfter { closing: String },
}

/// Turns the lines after a file marker into the content of the file.
///
/// Removes blank lines at the end, indentation that the whole block shares (see [`dedented`]) and a code fence around
/// the whole content. The rest ends with exactly one line ending unless it is empty.
pub(crate) fn block_content(path: &str, lines: &str) -> (String, Option<WrapProblem>) {
    let content = dedented(without_blank_end(lines));
    let is_text = TEXT_EXTENSIONS.contains(&extension(path).as_str());
    let unwrapped = unwrap_fence(&content, is_text).or_else(|| without_stray_fence(&content, is_text));
    let (content, problem) = match unwrapped {
        Some((inner, problem)) => (dedented(without_blank_end(inner)).into_owned(), problem),
        None => (content.into_owned(), None),
    };
    (with_line_ending(content), problem)
}

/// Adds the line ending that may be missing at the end of a reply.
pub(crate) fn with_line_ending(mut content: String) -> String {
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content
}

/// Removes blank lines at the end; the ending of the last line stays.
fn without_blank_end(text: &str) -> &str {
    let end = text.trim_end().len();
    let (kept, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let line_rest = rest.split_inclusive('\n').next().unwrap_or_default();
    if kept.is_empty() { "" } else { text.get(..end + line_rest.len()).unwrap_or(kept) }
}

/// Removes the leading white space that all lines share, if it is at least four spaces or a tab.
///
/// A prompt may tell the model to indent code by four; hardly any real file has no line at the margin. Blank lines are
/// ignored.
fn dedented(text: &str) -> Cow<'_, str> {
    let mut shared: Option<&str> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let rest = line.trim_start_matches([' ', '\t']);
        let indent = line.get(..line.len() - rest.len()).unwrap_or_default();
        shared = Some(shared.map_or(indent, |shared| common_prefix(shared, indent)));
        if shared.is_some_and(str::is_empty) {
            break;
        }
    }
    let Some(shared) = shared.filter(|shared| shared.starts_with("    ") || shared.starts_with('\t')) else {
        return Cow::Borrowed(text);
    };
    let lines = text.split_inclusive('\n');
    Cow::Owned(lines.map(|line| line.strip_prefix(common_prefix(line, shared)).unwrap_or(line)).collect())
}

fn common_prefix<'a>(one: &'a str, other: &str) -> &'a str {
    let length = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.get(..length).unwrap_or_default()
}

/// Removes the code fence around content; `None` if there is none.
///
/// A text file may itself start with a fence, so that fence is removed only if it surrounds the whole content and its
/// tag names no other language. In other files a fence at the start is always added by the model.
fn unwrap_fence(content: &str, is_text: bool) -> Option<(&str, Option<WrapProblem>)> {
    let opening_at = content.len() - content.trim_start().len();
    let from_opening = content.get(opening_at..)?;
    let opening_line = from_opening.split_inclusive('\n').next()?;
    let opening = FenceOpening::read(opening_line)?;
    let tag = opening.info.to_ascii_lowercase();
    let is_tagged_text = TEXT_EXTENSIONS.contains(&tag.as_str());
    if is_text && !is_tagged_text && !tag.is_empty() {
        return None;
    }
    let body = from_opening.strip_prefix(opening_line)?;
    let mut closing_at = 0;
    let closing_line = body.split_inclusive('\n').find(|line| {
        let is_closing = opening.is_closed_by(line);
        closing_at += if is_closing { 0 } else { line.len() };
        is_closing
    });
    let inside = body.get(..closing_at)?;
    let after = closing_line.and_then(|line| body.get(closing_at + line.len()..));
    let last_line = body.trim_end().lines().next_back().unwrap_or_default();
    let closing = opening.closing();
    match after {
        Some(after) if after.trim().is_empty() => Some((inside, None)),
        // With inner fences of the same length, the last line closes the outer one.
        Some(_) if is_tagged_text && opening.is_closed_by(last_line) => {
            Some((body.trim_end().strip_suffix(last_line)?, None))
        }
        _ if is_text => None,
        Some(_) => Some((inside, Some(WrapProblem::TextAfter { closing }))),
        None => Some((body, Some(WrapProblem::NotClosed { closing }))),
    }
}

/// Removes a last line that only closes a fence which the content does not open.
fn without_stray_fence(content: &str, is_text: bool) -> Option<(&str, Option<WrapProblem>)> {
    let mut open: Option<(usize, FenceOpening<'_>)> = None;
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        open = match open {
            Some((_, opening)) if opening.is_closed_by(line) => None,
            Some(open) => Some(open),
            None => FenceOpening::read(line).map(|opening| (at, opening)),
        };
        at += line.len();
    }
    let (at, opening) = open.filter(|(at, opening)| !is_text && *at > 0 && opening.info.is_empty())?;
    let is_last = content.get(at..)?.trim_end().lines().nth(1).is_none();
    is_last.then_some((content.get(..at)?, Some(WrapProblem::NotOpened { closing: opening.closing() })))
}

fn extension(path: &str) -> String {
    path.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_ascii_lowercase())
}

#[cfg(test)]
#[path = "file_block_tests.rs"]
mod tests;
