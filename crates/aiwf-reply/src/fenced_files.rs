//! Reads files from code fences that name their path.
//!
//! The path is in a comment on the first line of the fence, which is not part of the file, or in the fence's info
//! string. Fences without a path, and those in a quote or a thought, are not files. The content is the text between the
//! fence lines, byte for byte, without the indentation of the fence itself.

use std::collections::BTreeSet;

use crate::file_block::{FileBlock, with_line_ending};
use crate::findings::{Findings, excerpt};
use crate::line::{Line, covers, slice};
use crate::outline::{Fence, Outline};
use crate::path_hint::{must_stay_first, path_in_comment, path_in_info};
use crate::problem::Parsed;
use crate::prose::Prose;

/// Reads the files of a reply; a reply without files is a problem, and so is a path that occurs twice (the first
/// counts).
///
/// The comment may use `//`, `#`, `--`, `;`, `%`, `/* */`, `<!-- -->` and similar, with or without `File:` before the
/// path. A path contains no spaces, and has a `/` or an extension. After a line that must stay first (`#!…`, `<?php`,
/// `<!doctype html>`) the comment may be on the second line.
pub fn parse_fenced_files(reply: &str) -> Parsed<Vec<FileBlock>> {
    let outline = Outline::new(reply);
    let prose = Prose::new(&outline);
    let mut findings = Findings::new(reply);
    findings.extend(prose.thoughts.found);
    let mut files = Vec::new();
    let mut paths = BTreeSet::new();
    for fence in &outline.fences {
        let at = outline.lines.get(fence.lines.start).map_or(0, Line::content_start);
        if covers(&prose.thoughts.ranges, at) {
            continue;
        }
        let Some(named) = NamedFence::read(&outline, fence) else { continue };
        let path = named.path;
        let (shown, closing) = (excerpt(path), fence.opening.closing());
        if let Some(other) = named.conflict {
            let other = excerpt(other);
            let message = format!(
                "the code fence names file `{shown}` but its first line names `{other}`, so `{shown}` is used: name one path"
            );
            findings.add(at, message);
        }
        if !fence.is_closed {
            findings.add(at, format!("file block `{shown}` is not closed: end it with a line of {closing}"));
        }
        let body = outline.lines_at(fence.body.clone());
        if let Some(inner) = body.iter().find(|line| fence.opening.seems_reopened_by(line.text)) {
            let message = format!(
                "file block `{shown}` contains a code fence as long as its own, so it ends too early: \
                 open and close it with more than {closing}"
            );
            findings.add(inner.content_start(), message);
        }
        if !paths.insert(path) {
            let message =
                format!("file `{shown}` occurs again; only the first is kept: write each file once");
            findings.add(at, message);
            continue;
        }
        files.push(FileBlock { path: path.to_owned(), content: named.content(&outline, fence) });
    }
    if files.is_empty() {
        let message = "no file block: start the text in each code fence with a comment that contains the path, \
                       like `// src/a.rs`";
        findings.add(0, message);
    }
    findings.finish(files)
}

/// A fence that names its file.
struct NamedFence<'a> {
    path: &'a str,
    /// The line that contains only the path and is not part of the file.
    comment_line: Option<usize>,
    /// A second, different path that the fence names.
    conflict: Option<&'a str>,
}

impl<'a> NamedFence<'a> {
    fn read(outline: &Outline<'a>, fence: &Fence<'a>) -> Option<Self> {
        let body = outline.lines_at(fence.body.clone());
        let first = body.first().filter(|line| !must_stay_first(line.text));
        let candidate = first.map_or((1, body.get(1)), |line| (0, Some(line)));
        let comment = candidate.1.and_then(|line| path_in_comment(line.text));
        let comment_line = fence.body.start + candidate.0;
        match (path_in_info(fence.opening.info), comment) {
            (None, None) => None,
            (None, Some(path)) => Some(Self { path, comment_line: Some(comment_line), conflict: None }),
            (Some(path), None) => Some(Self { path, comment_line: None, conflict: None }),
            (Some(in_info), Some(in_comment)) if is_path_suffix(in_info, in_comment) => {
                Some(Self { path: in_comment, comment_line: Some(comment_line), conflict: None })
            }
            (Some(in_info), Some(in_comment)) if is_path_suffix(in_comment, in_info) => {
                Some(Self { path: in_info, comment_line: Some(comment_line), conflict: None })
            }
            (Some(path), Some(other)) => Some(Self { path, comment_line: None, conflict: Some(other) }),
        }
    }

    fn content(&self, outline: &Outline<'_>, fence: &Fence<'_>) -> String {
        let content = fence
            .body
            .clone()
            .filter(|idx| Some(*idx) != self.comment_line)
            .filter_map(|idx| outline.lines.get(idx))
            .map(|line| fence.opening.unindented(slice(outline.text, line.start..line.end)))
            .collect();
        with_line_ending(content)
    }
}

/// Whether `short` equals `long` or its last components, as `A.java` in `src/A.java`.
fn is_path_suffix(short: &str, long: &str) -> bool {
    long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
#[path = "fenced_files_tests.rs"]
mod tests;
