//! The difference of two texts as rows of a table: unified or side by side, with what changed inside of a line.

use std::time::Duration;

use serde::Serialize;
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Lines longer than this are cut; the raw file has them whole.
pub(crate) const MAX_LINE: usize = 2_000;
/// Lines longer than this are not compared word by word.
const MAX_WORDS: usize = 1_000;
/// A difference that takes longer is less exact.
const PATIENCE: Duration = Duration::from_millis(800);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RowKind {
    Same,
    Added,
    Deleted,
    /// Unchanged lines that are not shown.
    Gap,
}

/// A stretch of a line, and whether it differs from the other side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Stretch {
    pub(crate) text: String,
    pub(crate) differs: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub(crate) kind: RowKind,
    pub(crate) old: Option<usize>,
    pub(crate) new: Option<usize>,
    pub(crate) line: Vec<Stretch>,
    /// Whether a change begins here.
    pub(crate) starts_change: bool,
}

/// A row of the view side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Pair {
    pub(crate) left: Option<Row>,
    pub(crate) right: Option<Row>,
    pub(crate) is_gap: bool,
    pub(crate) starts_change: bool,
}

/// The difference, unified.
pub(crate) fn rows(before: &str, after: &str) -> Vec<Row> {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(before, after);
    let old = |at: usize| diff.old_slice(at).unwrap_or_default().to_owned();
    let new = |at: usize| diff.new_slice(at).unwrap_or_default().to_owned();
    let n_old = diff.old_len();
    let mut rows = Vec::new();
    let mut shown_to = 0;
    for group in diff.grouped_ops(CONTEXT) {
        let start = group.first().map_or(0, |op| op.old_range().start);
        if start > shown_to {
            rows.push(gap(start - shown_to));
        }
        shown_to = group.last().map_or(shown_to, |op| op.old_range().end);
        for op in group {
            let first = rows.len();
            let (olds, news) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                rows.extend(olds.zip(news).map(|(old_at, new_at)| Row {
                    kind: RowKind::Same,
                    old: Some(old_at + 1),
                    new: Some(new_at + 1),
                    line: plain(&old(old_at)),
                    starts_change: false,
                }));
                continue;
            }
            let inner: Vec<_> =
                olds.clone().zip(news.clone()).map(|(o, n)| inside(&old(o), &new(n))).collect();
            for (at, old_at) in olds.enumerate() {
                let text = inner.get(at).map(|(left, _)| left.clone());
                rows.push(Row {
                    kind: RowKind::Deleted,
                    old: Some(old_at + 1),
                    new: None,
                    line: text.unwrap_or_else(|| plain(&old(old_at))),
                    starts_change: false,
                });
            }
            for (at, new_at) in news.enumerate() {
                let text = inner.get(at).map(|(_, right)| right.clone());
                rows.push(Row {
                    kind: RowKind::Added,
                    old: None,
                    new: Some(new_at + 1),
                    line: text.unwrap_or_else(|| plain(&new(new_at))),
                    starts_change: false,
                });
            }
            if let Some(row) = rows.get_mut(first) {
                row.starts_change = true;
            }
        }
    }
    if !rows.is_empty() && n_old > shown_to {
        rows.push(gap(n_old - shown_to));
    }
    rows
}

/// The rows side by side: deleted lines beside those that replace them.
pub(crate) fn pairs(rows: &[Row]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut rest = rows;
    while let Some(row) = rest.first() {
        let n_deleted = rest.iter().take_while(|row| row.kind == RowKind::Deleted).count();
        let (deleted, after) = rest.split_at(n_deleted);
        let n_added = after.iter().take_while(|row| row.kind == RowKind::Added).count();
        let (added, after) = after.split_at(n_added);
        if n_deleted + n_added == 0 {
            let side = Some(row.clone());
            let is_gap = row.kind == RowKind::Gap;
            pairs.push(Pair { left: side.clone(), right: side, is_gap, starts_change: false });
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        for at in 0..n_deleted.max(n_added) {
            let (left, right) = (deleted.get(at).cloned(), added.get(at).cloned());
            let starts_change =
                [&left, &right].iter().any(|side| side.as_ref().is_some_and(|row| row.starts_change));
            pairs.push(Pair { left, right, is_gap: false, starts_change });
        }
        rest = after;
    }
    pairs
}

fn gap(n_lines: usize) -> Row {
    let noun = if n_lines == 1 { "line" } else { "lines" };
    Row {
        kind: RowKind::Gap,
        old: None,
        new: None,
        line: vec![Stretch { text: format!("{n_lines} unchanged {noun}"), differs: false }],
        starts_change: false,
    }
}

fn plain(line: &str) -> Vec<Stretch> {
    vec![Stretch { text: cut(line), differs: false }]
}

/// A line without its end, and not longer than a page can show.
pub(crate) fn cut(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => {
            let n_more = line.len() - end;
            format!("{}… {n_more} more bytes", line.get(..end).unwrap_or_default())
        }
        None => line.to_owned(),
    }
}

/// What differs inside of two lines, word by word.
fn inside(old: &str, new: &str) -> (Vec<Stretch>, Vec<Stretch>) {
    let (old, new) = (old.trim_end_matches(['\n', '\r']), new.trim_end_matches(['\n', '\r']));
    if old.len() > MAX_WORDS || new.len() > MAX_WORDS {
        return (plain(old), plain(new));
    }
    let diff = TextDiff::from_words(old, new);
    // Lines that share little are easier to read whole.
    if diff.ratio() < 0.4 {
        return (plain(old), plain(new));
    }
    let mut sides: (Vec<Stretch>, Vec<Stretch>) = (Vec::new(), Vec::new());
    let push = |side: &mut Vec<Stretch>, text: &str, differs: bool| match side.last_mut() {
        Some(last) if last.differs == differs => last.text.push_str(text),
        _ => side.push(Stretch { text: text.to_owned(), differs }),
    };
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => {
                push(&mut sides.0, change.value(), false);
                push(&mut sides.1, change.value(), false);
            }
            ChangeTag::Delete => push(&mut sides.0, change.value(), true),
            ChangeTag::Insert => push(&mut sides.1, change.value(), true),
        }
    }
    sides
}

/// How many lines are added and deleted.
pub(crate) fn counts(rows: &[Row]) -> (usize, usize) {
    let count = |kind| rows.iter().filter(|row| row.kind == kind).count();
    (count(RowKind::Added), count(RowKind::Deleted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[Row]) -> String {
        let mark = |row: &Row| match row.kind {
            RowKind::Same => ' ',
            RowKind::Added => '+',
            RowKind::Deleted => '-',
            RowKind::Gap => '@',
        };
        let text = |row: &Row| -> String {
            row.line
                .iter()
                .map(|s| if s.differs { format!("[{}]", s.text) } else { s.text.clone() })
                .collect()
        };
        rows.iter().fold(String::new(), |all, row| all + &format!("{}{}\n", mark(row), text(row)))
    }

    #[test]
    fn a_changed_line_shows_which_words_changed() {
        let (before, after) = ("a\nlet count = items.len();\nz\n", "a\nlet total = items.len();\nz\n");
        assert_eq!(
            shown(&rows(before, after)),
            " a\n-let [count] = items.len();\n+let [total] = items.len();\n z\n"
        );
    }

    #[test]
    fn unchanged_lines_are_collapsed() {
        let before: String = (1..=20).fold(String::new(), |text, n| text + &format!("{n}\n"));
        let rows = rows(&before, &before.replace("10\n", "ten\n"));
        assert_eq!(
            shown(&rows),
            "@6 unchanged lines\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n@7 unchanged lines\n"
        );
        assert_eq!((rows[5].new, rows[5].starts_change, rows[4].starts_change), (Some(10), false, true));
        assert_eq!(counts(&rows), (1, 1));
    }

    #[test]
    fn equal_texts_have_no_rows() {
        assert!(rows("a\n", "a\n").is_empty());
        assert_eq!(shown(&rows("", "new\n")), "+new\n");
        assert_eq!(shown(&rows("old\n", "")), "-old\n");
    }

    #[test]
    fn sides_stand_beside_each_other() {
        let pairs = pairs(&rows("a\nb\nc\n", "a\nB\nC\nd\n"));
        let numbers: Vec<_> = pairs
            .iter()
            .map(|pair| {
                (pair.left.as_ref().and_then(|row| row.old), pair.right.as_ref().and_then(|row| row.new))
            })
            .collect();
        assert_eq!(numbers, [(Some(1), Some(1)), (Some(2), Some(2)), (Some(3), Some(3)), (None, Some(4))]);
        assert_eq!(pairs.iter().filter(|pair| pair.starts_change).count(), 1);
    }

    #[test]
    fn a_line_of_a_megabyte_is_cut() {
        let long = "x".repeat(1 << 20);
        let rows = rows("", &long);
        assert!(rows[0].line[0].text.len() < MAX_LINE + 40, "{}", rows[0].line[0].text.len());
        assert!(rows[0].line[0].text.ends_with("more bytes"));
    }
}
