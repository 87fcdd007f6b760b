//! Reads edits: whole files, search/replace hunks, deletions, renames and unified diffs.
//!
//! In: a reply. Out: the edits in order, and problems that name block and line. Nothing is applied and no file is read
//! here: [`apply_hunks`](crate::apply_hunks) does that with the bytes the model was shown.
//!
//! Text before the first marker is ignored, even if it shows markers in a quote, a thought or a code fence. If markers
//! occur only inside code fences, the model wrapped its answer, and those count.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::edit_diff::read_diff;
use crate::file_block::{FileBlock, block_content};
use crate::findings::{Findings, excerpt};
use crate::line::{Line, covers, extent, slice};
use crate::outline::Outline;
use crate::path_hint::unquoted;
use crate::problem::Parsed;
use crate::prose::Marks;

/// One change that a reply requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Line of the reply where the block starts, counted from 1.
    pub line: usize,
    pub kind: EditKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditKind {
    /// Writes a whole file.
    Write(FileBlock),
    /// Replaces lines of an existing file; the hunks apply in order.
    Change {
        /// The path as written in the reply; never empty, not validated here.
        path: String,
        /// Never empty.
        hunks: Vec<Hunk>,
    },
    /// Deletes an existing file.
    Delete {
        /// The path as written in the reply.
        path: String,
    },
    /// Renames an existing file; a later edit may change it under its new name.
    Rename { from: String, to: String },
}

/// Lines to find and the lines that replace them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Line of the reply where the hunk starts, counted from 1.
    pub line: usize,
    /// Lines that must occur exactly once in the file, without their line endings.
    pub search: Vec<String>,
    /// Their replacement; if empty, the lines are deleted.
    pub replace: Vec<String>,
    /// Line of the file that a unified diff points to, counted from 1; used to choose between equal matches.
    pub at: Option<usize>,
}

/// Reads the edits of a reply; a reply without edits is a problem, and so is anything incomplete.
///
/// `<<<FILE: path>>>` starts a whole file, `<<<EDIT: path>>>` one or more hunks of `<<<<<<< SEARCH`, `=======`,
/// `>>>>>>> REPLACE`; `<<<DELETE: path>>>` and `<<<RENAME: old -> new>>>` are single lines; a `diff` or `patch` fence
/// contains a unified diff. A hunk whose text contains such marks uses longer ones.
pub fn parse_edits(reply: &str) -> Parsed<Vec<Edit>> {
    let outline = Outline::new(reply);
    let thoughts = Marks::new(&outline).thoughts(&outline);
    let is_visible = |line: &Line<'_>| !covers(&thoughts.ranges, line.content_start());
    let is_marker =
        |line: &Line<'_>| is_visible(line) && matches!(Marker::read(line.text), Some(Ok(_) | Err(_)));
    let first = outline.prose.iter().find_map(|range| {
        let found = outline.lines_at(range.clone()).iter().position(is_marker);
        found.map(|idx| range.start + idx)
    });
    let mut reader = Reader {
        text: reply,
        findings: Findings::new(reply),
        edits: Vec::new(),
        seen: BTreeMap::new(),
        never_closed: BTreeSet::new(),
    };
    let first_at = first.and_then(|idx| outline.lines.get(idx)).map_or(reply.len(), |line| line.start);
    reader.findings.extend(thoughts.found.iter().filter(|(at, _)| *at < first_at).cloned());

    let diffs = outline.fences.iter().filter(|fence| {
        let is_before = first.is_none_or(|first| fence.lines.start < first);
        let is_diff = matches!(fence.opening.info.to_ascii_lowercase().as_str(), "diff" | "patch");
        is_before && is_diff && outline.lines.get(fence.lines.start).is_some_and(is_visible)
    });
    for fence in diffs {
        let base = fence.body.start;
        for diffed in read_diff(outline.lines_at(fence.body.clone()), base, &mut reader.findings) {
            reader.keep(outline.lines.get(diffed.line.saturating_sub(1)), diffed);
        }
        if !fence.is_closed {
            let closing = fence.opening.closing();
            let at = outline.extent(fence.lines.clone()).start;
            let message = format!("code fence of this diff is not closed: end it with a line of {closing}");
            reader.findings.add(at, message);
        }
    }
    if let Some(first) = first {
        reader.read(outline.lines_at(first..outline.lines.len()), first);
    } else if reader.edits.is_empty() {
        for fence in
            outline.fences.iter().filter(|fence| outline.lines_at(fence.body.clone()).iter().any(is_marker))
        {
            reader.read(outline.lines_at(fence.body.clone()), fence.body.start);
        }
    }
    if reader.edits.is_empty() && reader.findings.len() == 0 {
        let message = "no edit: write `<<<EDIT: path/to/file>>>` before its SEARCH/REPLACE hunks, \
                       or `<<<FILE: path/to/file>>>` before a whole file";
        reader.findings.add(0, message);
    }
    reader.findings.finish(reader.edits)
}

/// A line that starts or ends a block.
#[derive(Debug, PartialEq, Eq)]
enum Marker<'a> {
    File(&'a str),
    Edit(&'a str),
    Delete(&'a str),
    Rename(&'a str, &'a str),
    End,
}

impl<'a> Marker<'a> {
    /// `Err` is the correct form of a malformed marker.
    fn read(line: &'a str) -> Option<Result<Self, &'static str>> {
        let line = line.trim();
        // Seven or more are the marks of a hunk.
        let inner = line.strip_prefix("<<<").filter(|inner| !inner.starts_with('<'))?;
        if matches!(line, "<<<END>>>" | "<<<END FILE>>>" | "<<<END EDIT>>>") {
            return Some(Ok(Self::End));
        }
        let (word, rest) = inner.trim_start().split_once(':')?;
        let shape = match word.trim().to_ascii_uppercase().as_str() {
            "FILE" => "<<<FILE: path/to/file>>>",
            "EDIT" => "<<<EDIT: path/to/file>>>",
            "DELETE" => "<<<DELETE: path/to/file>>>",
            "RENAME" => "<<<RENAME: old/path -> new/path>>>",
            _ => return None,
        };
        let Some(argument) = rest.strip_suffix(">>>").map(clean).filter(|argument| !argument.is_empty())
        else {
            return Some(Err(shape));
        };
        if argument.contains("<<<") || argument.contains(">>>") {
            return Some(Err(shape));
        }
        Some(match word.trim() {
            "FILE" => Ok(Self::File(argument)),
            "EDIT" => Ok(Self::Edit(argument)),
            "DELETE" => Ok(Self::Delete(argument)),
            "RENAME" => match argument.split_once(" -> ") {
                Some((from, to)) if !clean(from).is_empty() && !clean(to).is_empty() => {
                    Ok(Self::Rename(clean(from), clean(to)))
                }
                _ => Err(shape),
            },
            _ => Err(shape),
        })
    }
}

fn clean(path: &str) -> &str {
    unquoted(path.trim()).trim()
}

struct Reader<'a> {
    text: &'a str,
    findings: Findings<'a>,
    edits: Vec<Edit>,
    /// What the edits do to each path, and on which line, so that no file is written or deleted twice.
    seen: BTreeMap<String, (&'static str, usize)>,
    /// Lengths of marks that close no hunk in the rest of the reply.
    never_closed: BTreeSet<usize>,
}

impl<'a> Reader<'a> {
    /// Reads blocks; `base` is the index of the first line in the reply.
    fn read(&mut self, lines: &[Line<'a>], base: usize) {
        let mut idx = 0;
        while let Some(line) = lines.get(idx) {
            let number = base + idx + 1;
            let body = idx + 1;
            let marker = Marker::read(line.text);
            let edit = match marker {
                Some(Ok(Marker::Edit(path))) => {
                    let n_found = self.findings.len();
                    let (hunks, end) = self.read_hunks(lines, body, base, path);
                    idx = end;
                    if hunks.is_empty() && self.findings.len() > n_found {
                        continue;
                    }
                    if hunks.is_empty() {
                        let message = format!(
                            "edit of `{}` has no hunk: write `<<<<<<< SEARCH`, the lines to find, `=======`, \
                             the new lines, `>>>>>>> REPLACE`",
                            excerpt(path)
                        );
                        self.findings.add(line.content_start(), message);
                        continue;
                    }
                    EditKind::Change { path: path.to_owned(), hunks }
                }
                Some(Ok(Marker::File(path))) => {
                    let end = end_of_block(lines, body);
                    let content = slice(self.text, extent(lines.get(body..end).unwrap_or_default()));
                    let (content, problem) = block_content(path, content);
                    if problem.is_some() {
                        let message = format!(
                            "code fence of file `{}` ends too early: close it after the last line",
                            excerpt(path)
                        );
                        self.findings.add(line.content_start(), message);
                    }
                    idx = end;
                    EditKind::Write(FileBlock { path: path.to_owned(), content })
                }
                Some(Ok(Marker::Delete(path))) => {
                    idx = body;
                    EditKind::Delete { path: path.to_owned() }
                }
                Some(Ok(Marker::Rename(from, to))) => {
                    idx = body;
                    EditKind::Rename { from: from.to_owned(), to: to.to_owned() }
                }
                Some(Err(shape)) => {
                    let message = format!(
                        "marker `{}` is malformed: write `{shape}` alone on its line",
                        excerpt(line.text)
                    );
                    self.findings.add(line.content_start(), message);
                    idx = end_of_block(lines, body);
                    continue;
                }
                None if is_mark(line.text, '<', "SEARCH").is_some() => {
                    let message = "hunk belongs to no file: write `<<<EDIT: path/to/file>>>` before it";
                    self.findings.add(line.content_start(), message);
                    idx = body;
                    continue;
                }
                Some(Ok(Marker::End)) | None => {
                    idx = body;
                    continue;
                }
            };
            self.keep(Some(line), Edit { line: number, kind: edit });
        }
    }

    /// Adds an edit unless another one already covers its file.
    fn keep(&mut self, line: Option<&Line<'a>>, edit: Edit) {
        let (path, what) = match &edit.kind {
            EditKind::Write(file) => (&file.path, "written"),
            EditKind::Change { path, .. } => (path, "changed"),
            EditKind::Delete { path } => (path, "deleted"),
            EditKind::Rename { from, .. } => (from, "renamed"),
        };
        let Some((earlier, idx)) = self.seen.get(path).copied() else {
            self.seen.insert(path.clone(), (what, self.edits.len()));
            self.edits.push(edit);
            return;
        };
        // Several blocks that change one file are merged.
        let same = self.edits.get_mut(idx).map(|edit| &mut edit.kind);
        if let (EditKind::Change { hunks, .. }, Some(EditKind::Change { hunks: before, .. })) =
            (&edit.kind, same)
        {
            before.extend(hunks.iter().cloned());
            return;
        }
        let message =
            format!("`{}` is {what} here and {earlier} before: keep only one of them", excerpt(path));
        let at = line.map_or(0, Line::content_start);
        self.findings.add(at, message);
    }

    /// Reads the hunks of an edit; also returns the index of the line after the block.
    fn read_hunks(
        &mut self,
        lines: &[Line<'a>],
        start: usize,
        base: usize,
        path: &str,
    ) -> (Vec<Hunk>, usize) {
        let mut hunks = Vec::new();
        let mut idx = start;
        while let Some(line) = lines.get(idx) {
            let Some(width) = is_mark(line.text, '<', "SEARCH") else {
                if Marker::read(line.text).is_some() {
                    break;
                }
                idx += 1;
                continue;
            };
            let found =
                if self.never_closed.contains(&width) { None } else { closed_hunk(lines, idx, width) };
            match found {
                Some(Closed::At { middle, end }) => {
                    let text = |range: Range<usize>| -> Vec<String> {
                        lines.get(range).unwrap_or_default().iter().map(|line| line.text.to_owned()).collect()
                    };
                    let (search, replace) = (text(idx + 1..middle), text(middle + 1..end));
                    hunks.push(Hunk { line: base + idx + 1, search, replace, at: None });
                    idx = end + 1;
                }
                Some(Closed::Reopened { at, lacks_middle }) => {
                    self.report_open(line, path, lacks_middle, width);
                    idx = at;
                }
                None => {
                    // A mark that closes nothing here closes no later hunk with marks of the same length either.
                    self.never_closed.insert(width);
                    let rest = lines.get(idx + 1..).unwrap_or_default();
                    let lacks_middle = !rest.iter().any(|line| is_mark(line.text, '=', "") == Some(width));
                    self.report_open(line, path, lacks_middle, width);
                    idx = end_of_block(lines, idx + 1);
                    break;
                }
            }
        }
        (hunks, idx)
    }

    fn report_open(&mut self, line: &Line<'_>, path: &str, lacks_middle: bool, width: usize) {
        let (missing, mark) = if lacks_middle {
            ("separator", "=".repeat(width))
        } else {
            ("end", format!("{} REPLACE", ">".repeat(width)))
        };
        let message = format!("hunk of `{}` has no {missing}: write a line `{mark}`", excerpt(path));
        self.findings.add(line.content_start(), message);
    }
}

/// How a hunk continues after its opening line.
enum Closed {
    At {
        middle: usize,
        end: usize,
    },
    /// Another hunk starts before this one ends.
    Reopened {
        at: usize,
        lacks_middle: bool,
    },
}

fn closed_hunk(lines: &[Line<'_>], opening: usize, width: usize) -> Option<Closed> {
    let mut middle = None;
    for (idx, line) in lines.iter().enumerate().skip(opening + 1) {
        if is_mark(line.text, '<', "SEARCH") == Some(width) {
            return Some(Closed::Reopened { at: idx, lacks_middle: middle.is_none() });
        }
        match middle {
            None if is_mark(line.text, '=', "") == Some(width) => middle = Some(idx),
            Some(middle) if is_mark(line.text, '>', "REPLACE") == Some(width) => {
                return Some(Closed::At { middle, end: idx });
            }
            None | Some(_) => {}
        }
    }
    None
}

/// The index of the next marker line.
fn end_of_block(lines: &[Line<'_>], start: usize) -> usize {
    let rest = lines.get(start..).unwrap_or_default();
    start + rest.iter().position(|line| Marker::read(line.text).is_some()).unwrap_or(rest.len())
}

/// The number of repetitions of a mark in a line that consists of the mark and its word; at least seven.
fn is_mark(line: &str, mark: char, word: &str) -> Option<usize> {
    let line = line.trim_end();
    let rest = line.trim_start_matches(mark);
    let width = line.len() - rest.len();
    let is_word = if word.is_empty() { rest.is_empty() } else { rest.strip_prefix(' ') == Some(word) };
    (width >= 7 && is_word).then_some(width)
}

#[cfg(test)]
#[path = "edits_tests.rs"]
mod tests;
