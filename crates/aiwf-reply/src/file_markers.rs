//! Reads files that each follow a line `<<<FILE: path>>>`.
//!
//! Text before the first marker is ignored, even if it shows markers in a quote, a thought or a code fence. From the
//! first real marker on, text is taken literally: content may contain fences, tags and anything else except marker
//! lines. If markers occur only inside code fences, the model wrapped its answer, and those count.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::file_block::{FileBlock, WrapProblem, block_content};
use crate::findings::{Findings, excerpt};
use crate::line::{Line, covers, extent, slice};
use crate::outline::{Fence, Outline};
use crate::path_hint::unquoted;
use crate::problem::Parsed;
use crate::prose::Marks;
use crate::thought::Thoughts;

/// Reads the files of a reply; a reply without markers is a problem, and so is a path that occurs twice (the first
/// counts).
///
/// A marker may be indented, and spaces around the path are ignored. A file ends at the next marker, at a line
/// `<<<END>>>` or `<<<END FILE>>>`, or at the end of the reply; blank lines there are dropped, and content that is not
/// empty ends with one line ending. Indentation of four spaces or a tab that all lines share is removed, and so is a
/// code fence around the content.
pub fn parse_file_markers(reply: &str) -> Parsed<Vec<FileBlock>> {
    let outline = Outline::new(reply);
    let thoughts = Marks::new(&outline).thoughts(&outline);
    let (first, fences) = markers(&outline, &thoughts);

    let mut reader =
        Reader { text: reply, findings: Findings::new(reply), files: Vec::new(), paths: BTreeSet::new() };
    let first_at = first.and_then(|idx| outline.lines.get(idx)).map_or(reply.len(), |line| line.start);
    reader.findings.extend(thoughts.found.into_iter().filter(|(at, _)| *at < first_at));

    if let Some(first) = first {
        reader.report_early_end(&outline, &fences, first);
        reader.read(outline.lines_at(first..outline.lines.len()));
    } else {
        for fence in &fences {
            reader.report_unclosed(&outline, fence);
            reader.read(outline.lines_at(fence.body.clone()));
        }
        if fences.is_empty() {
            let message =
                "no file marker: write a line `<<<FILE: path/to/file>>>` before the content of each file";
            reader.findings.add(0, message);
        }
    }
    reader.findings.finish(reader.files)
}

/// The position of the first file in a reply; `None` if there is none.
pub(crate) fn first_file(reply: &str) -> Option<usize> {
    let outline = Outline::new(reply);
    let thoughts = Marks::new(&outline).thoughts(&outline);
    let (first, fences) = markers(&outline, &thoughts);
    match first {
        Some(idx) => outline.lines.get(idx).map(|line| line.start),
        None => fences.first().map(|fence| outline.extent(fence.lines.clone()).start),
    }
}

/// The line of the first marker in prose, and the fences that contain markers.
fn markers<'o, 'a>(outline: &'o Outline<'a>, thoughts: &Thoughts) -> (Option<usize>, Vec<&'o Fence<'a>>) {
    let is_visible = |line: &Line<'_>| !covers(&thoughts.ranges, line.content_start());
    let has_marker = |lines: &[Line<'_>]| lines.iter().any(|line| is_visible(line) && starts_file(line));
    let first = outline.prose.iter().find_map(|range| {
        let found =
            outline.lines_at(range.clone()).iter().position(|line| is_visible(line) && starts_file(line));
        found.map(|idx| range.start + idx)
    });
    let fences =
        outline.fences.iter().filter(|fence| has_marker(outline.lines_at(fence.body.clone()))).collect();
    (first, fences)
}

enum Marker<'a> {
    File(&'a str),
    /// A malformed marker, with its path if that is readable.
    Malformed(Option<&'a str>),
    End,
}

impl<'a> Marker<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let line = line.trim();
        if matches!(line, "<<<END>>>" | "<<<END FILE>>>") {
            return Some(Self::End);
        }
        let undecorated = undecorated(line);
        let inner = undecorated.strip_prefix("<<<")?.trim_start();
        let path = inner.strip_prefix("FILE:").and_then(|path| path.strip_suffix(">>>")).map(clean_path);
        if let Some(path) = path.filter(|path| !path.is_empty() && !path.contains(['<', '>'])) {
            let is_exact = line.starts_with("<<<FILE:");
            return Some(if is_exact { Self::File(path) } else { Self::Malformed(Some(path)) });
        }
        let word = inner.get(..4).filter(|word| word.eq_ignore_ascii_case("file"))?;
        let rest = inner.strip_prefix(word)?;
        let rest = match rest.get(..4) {
            Some(end) if end.eq_ignore_ascii_case("name") || end.eq_ignore_ascii_case("path") => {
                rest.strip_prefix(end)?
            }
            _ => rest,
        };
        // `<<<FILES` or `<<<filetype` is some other word.
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let path = rest.trim_start_matches([':', '=', ' ', '\t']).split('>').next().map(clean_path);
        Some(Self::Malformed(path.filter(|path| !path.is_empty())))
    }
}

/// Removes spaces and quotes around a path.
fn clean_path(path: &str) -> &str {
    unquoted(path.trim()).trim()
}

/// Removes the marks of a Markdown heading or of bold text from a line.
fn undecorated(line: &str) -> &str {
    let heading = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'));
    let line = heading.map_or(line, str::trim_start);
    line.strip_prefix("**").and_then(|line| line.strip_suffix("**")).unwrap_or(line)
}

fn starts_file(line: &Line<'_>) -> bool {
    matches!(Marker::read(line.text), Some(Marker::File(_) | Marker::Malformed(_)))
}

struct Reader<'a> {
    text: &'a str,
    findings: Findings<'a>,
    files: Vec<FileBlock>,
    paths: BTreeSet<&'a str>,
}

impl<'a> Reader<'a> {
    /// Reads the files in lines that are only content or markers.
    fn read(&mut self, lines: &[Line<'a>]) {
        let markers: Vec<(usize, Marker<'a>)> = lines
            .iter()
            .enumerate()
            .filter_map(|(idx, line)| Some((idx, Marker::read(line.text)?)))
            .collect();
        let ends = markers.iter().skip(1).map(|(idx, _)| *idx).chain([lines.len()]);
        for ((idx, marker), end) in markers.iter().zip(ends) {
            let Some(line) = lines.get(*idx) else { continue };
            let body = extent(lines.get(idx + 1..end).unwrap_or_default());
            match marker {
                Marker::End => {}
                Marker::File(path) => self.add_file(line, path, body),
                Marker::Malformed(Some(path)) => {
                    let (written, shown) = (excerpt(line.text), excerpt(path));
                    let message = format!(
                        "file marker `{written}` is malformed: write `<<<FILE: {shown}>>>` alone on its line"
                    );
                    self.findings.add(line.content_start(), message);
                    self.add_file(line, path, body);
                }
                Marker::Malformed(None) => {
                    let message = "file marker has no path, so the text after it is ignored: write `<<<FILE: path/to/file>>>`";
                    self.findings.add(line.content_start(), message);
                }
            }
        }
    }

    fn add_file(&mut self, line: &Line<'_>, path: &'a str, body: Range<usize>) {
        let shown = excerpt(path);
        if !self.paths.insert(path) {
            let message =
                format!("file `{shown}` occurs again; only the first is kept: write each file once");
            self.findings.add(line.content_start(), message);
            return;
        }
        let (content, problem) = block_content(path, slice(self.text, body));
        match problem {
            Some(WrapProblem::NotClosed { closing }) => {
                let message =
                    format!("code fence of file `{shown}` is not closed: end it with a line of {closing}");
                self.findings.add(line.content_start(), message);
            }
            Some(WrapProblem::NotOpened { closing }) => {
                let message = format!(
                    "file `{shown}` ends with {closing} that close nothing and are ignored: close only fences that you opened"
                );
                self.findings.add(line.content_start(), message);
            }
            Some(WrapProblem::TextAfter { closing }) => {
                let message = format!(
                    "text after the code fence of file `{shown}` is ignored: put nothing between its closing {closing} and the next marker"
                );
                self.findings.add(line.content_start(), message);
            }
            None => {}
        }
        self.files.push(FileBlock { path: path.to_owned(), content });
    }

    fn report_unclosed(&mut self, outline: &Outline<'_>, fence: &Fence<'_>) {
        if !fence.is_closed {
            let closing = fence.opening.closing();
            let at = outline.extent(fence.lines.clone()).start;
            let message =
                format!("code fence around the file markers is not closed: end it with a line of {closing}");
            self.findings.add(at, message);
        }
    }

    /// Reports markers in a fence before the first marker outside, if they were probably not a quoted example.
    ///
    /// If a reply is wrapped in a fence that one of its files closes too early, an unmatched fence is left at the end.
    fn report_early_end(&mut self, outline: &Outline<'_>, fences: &[&Fence<'_>], first: usize) {
        let is_odd = outline.fences.last().is_some_and(|fence| !fence.is_closed && fence.lines.start > first);
        if let Some(fence) = fences.iter().find(|fence| is_odd && fence.lines.start < first) {
            let at = outline.extent(fence.lines.clone()).start;
            let message = "the file markers in this code fence are ignored because there are others outside it: \
                           write all files without a fence around them, or use a longer fence";
            self.findings.add(at, message);
        }
    }
}

#[cfg(test)]
#[path = "file_markers_tests.rs"]
mod tests;
