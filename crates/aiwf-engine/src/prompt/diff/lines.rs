//! The lines that differ between two texts, in bounded time.

use std::fmt::Write as _;

use similar::{Algorithm, ChangeTag, capture_diff_slices};

/// Lines shown around a difference.
const CONTEXT: usize = 2;
/// Aligning lines takes time in the product of their numbers, so longer differences are only summed up.
const MAX_LINES: usize = 2_000;

/// A unified diff without file names; for long differences, one line that sums it up.
pub(super) fn diff(before: &str, after: &str) -> Option<String> {
    if before == after {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let shorter = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let (n_old, n_new) = (old.len() - start - end, new.len() - start - end);
    if n_old.max(n_new) > MAX_LINES {
        return Some(format!("@@ {n_old} lines from line {} are now {n_new} lines @@\n", start + 1));
    }
    let from = start.saturating_sub(CONTEXT);
    let until = |n_lines: usize| (n_lines - end + CONTEXT).min(n_lines);
    let old_part = old.get(from..until(old.len())).unwrap_or_default();
    let new_part = new.get(from..until(new.len())).unwrap_or_default();
    let ops = capture_diff_slices(Algorithm::Myers, old_part, new_part);
    let mut text = String::new();
    for group in similar::group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let span = |start: usize, end: usize| format!("{},{}", from + start + 1, end - start);
        let old_span = span(first.old_range().start, last.old_range().end);
        let new_span = span(first.new_range().start, last.new_range().end);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "@@ -{old_span} +{new_span} @@");
        for op in &group {
            for change in op.iter_changes(old_part, new_part) {
                text.push(match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                });
                let line = change.value();
                text.push_str(line);
                if !line.ends_with('\n') {
                    text.push('\n');
                }
            }
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_shown_with_their_numbers_and_neighbours() {
        let before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
        let after = "one\ntwo\nthree\nFOUR\nfive\nsix\nseven\n";
        let shown = diff(before, after).unwrap();
        assert_eq!(shown, "@@ -2,5 +2,5 @@\n two\n three\n-four\n+FOUR\n five\n six\n");
        assert_eq!(diff("a", "a"), None);
        assert_eq!(diff("a\n", "b").unwrap(), "@@ -1,1 +1,1 @@\n-a\n+b\n");
        assert_eq!(diff("", "b\n").unwrap(), "@@ -1,0 +1,1 @@\n+b\n");
    }

    #[test]
    fn a_long_difference_is_summed_up() {
        let lines = |word: &str| {
            let lines: Vec<String> = (0..3_000).map(|n| format!("{word} {n}\n")).collect();
            lines.concat()
        };
        let (before, after) = (format!("same\n{}", lines("old")), format!("same\n{}end\n", lines("new")));
        let shown = diff(&before, &after).unwrap();
        assert_eq!(shown, "@@ 3000 lines from line 2 are now 3001 lines @@\n");
    }
}
