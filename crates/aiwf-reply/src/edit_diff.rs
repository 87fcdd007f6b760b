//! Reads a unified diff into the same edits as search/replace hunks.

use crate::edits::{Edit, EditKind, Hunk};
use crate::file_block::FileBlock;
use crate::findings::{Findings, excerpt};
use crate::line::Line;

/// Reads the files of a diff; `base` is the index of its first line in the reply.
pub(crate) fn read_diff(lines: &[Line<'_>], base: usize, findings: &mut Findings<'_>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let (mut idx, mut rename_from) = (0, None);
    while let Some(line) = lines.get(idx) {
        if let Some(from) = line.text.strip_prefix("rename from ") {
            rename_from = Some(from.trim());
        } else if let (Some(to), Some(from)) = (line.text.strip_prefix("rename to "), rename_from.take()) {
            let kind = EditKind::Rename { from: from.to_owned(), to: to.trim().to_owned() };
            edits.push(Edit { line: base + idx + 1, kind });
        } else if let (Some(old), Some(new)) = (header(line.text, "--- "), plus_header(lines, idx + 1)) {
            let start = idx;
            let (hunks, end) = read_hunks(lines, idx + 2, base, findings);
            idx = end;
            if let Some(kind) = file_edit(old, new, hunks, line, findings) {
                edits.push(Edit { line: base + start + 1, kind });
            }
            continue;
        } else if line.text.starts_with("@@") {
            findings.add(
                line.start,
                "diff hunk belongs to no file: write `--- a/path` and `+++ b/path` before it",
            );
        } else if line.text.starts_with("Binary files ") {
            findings.add(line.start, "binary files cannot be changed by a diff: remove this line");
        }
        idx += 1;
    }
    edits
}

/// The path in a file header; `None` is `/dev/null`.
type DiffPath<'a> = Option<&'a str>;

fn header<'a>(line: &'a str, start: &str) -> Option<DiffPath<'a>> {
    let path = line.strip_prefix(start)?;
    // Some tools append a time to the path.
    let path = path.split('\t').next().unwrap_or(path).trim();
    if path == "/dev/null" {
        return Some(None);
    }
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    (!path.is_empty()).then_some(Some(path))
}

fn plus_header<'a>(lines: &[Line<'a>], idx: usize) -> Option<DiffPath<'a>> {
    header(lines.get(idx)?.text, "+++ ")
}

fn file_edit(
    old: DiffPath<'_>,
    new: DiffPath<'_>,
    hunks: Vec<Hunk>,
    line: &Line<'_>,
    findings: &mut Findings<'_>,
) -> Option<EditKind> {
    match (old, new) {
        (None, None) => {
            findings.add(line.start, "diff names no file: write its path after `---` or `+++`");
            None
        }
        (None, Some(path)) => {
            let lines = hunks.into_iter().flat_map(|hunk| hunk.replace);
            let content = lines.fold(String::new(), |content, line| content + &line + "\n");
            Some(EditKind::Write(FileBlock { path: path.to_owned(), content }))
        }
        (Some(path), None) => Some(EditKind::Delete { path: path.to_owned() }),
        (Some(_), Some(path)) if hunks.is_empty() => {
            findings.add(line.start, format!("diff of `{}` has no hunk: add one", excerpt(path)));
            None
        }
        (Some(_), Some(path)) => Some(EditKind::Change { path: path.to_owned(), hunks }),
    }
}

/// Reads the hunks of one file; also returns the index of the next line.
fn read_hunks(
    lines: &[Line<'_>],
    start: usize,
    base: usize,
    findings: &mut Findings<'_>,
) -> (Vec<Hunk>, usize) {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut idx = start;
    // The numbers of old and new lines that the hunk header still promises.
    let mut left: Option<(usize, usize)> = None;
    while let Some(line) = lines.get(idx) {
        if let Some(head) = line.text.strip_prefix("@@") {
            let ranges = hunk_ranges(head);
            left = ranges.map(|(_, old, new)| (old, new));
            let at = ranges.map(|(at, _, _)| at).filter(|at| *at > 0);
            hunks.push(Hunk { line: base + idx + 1, search: Vec::new(), replace: Vec::new(), at });
            idx += 1;
            continue;
        }
        let is_complete = left == Some((0, 0));
        let is_next_file = line.text.starts_with("--- ") && plus_header(lines, idx + 1).is_some()
            || line.text.starts_with("diff --git ");
        if hunks.is_empty() || is_complete && !line.text.starts_with('\\') || left.is_none() && is_next_file {
            break;
        }
        let Some(hunk) = hunks.last_mut() else { break };
        let (mark, text) = match line.text.split_at_checked(1) {
            Some((mark, text)) => (mark, text),
            // Editors strip the space of an empty context line.
            None => (" ", ""),
        };
        let mut count = |old: usize, new: usize| {
            left = left.map(|(n_old, n_new)| (n_old.saturating_sub(old), n_new.saturating_sub(new)));
        };
        match mark {
            " " => {
                hunk.search.push(text.to_owned());
                hunk.replace.push(text.to_owned());
                count(1, 1);
            }
            "-" => {
                hunk.search.push(text.to_owned());
                count(1, 0);
            }
            "+" => {
                hunk.replace.push(text.to_owned());
                count(0, 1);
            }
            "\\" => {}
            _ if is_next_file => break,
            _ => {
                let message = format!(
                    "line `{}` of a diff hunk has no prefix: start it with ` `, `-` or `+`",
                    excerpt(line.text)
                );
                findings.add(line.start, message);
            }
        }
        idx += 1;
    }
    (hunks, idx)
}

/// First line, number of old lines and number of new lines of ` -12,3 +12,4 @@`; a bare `@@` has none.
fn hunk_ranges(head: &str) -> Option<(usize, usize, usize)> {
    let mut words = head.split_whitespace();
    let (at, old) = range(words.next()?.strip_prefix('-')?)?;
    let (_, new) = range(words.next()?.strip_prefix('+')?)?;
    Some((at, old, new))
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((at, count)) => Some((at.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}
