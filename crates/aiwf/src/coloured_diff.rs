//! Colours a unified diff: added, removed, hunk headers, file headers.
//!
//! In: a diff whose lines belong to others. Out: the same lines, each with its style. The counts of the hunk headers
//! decide what a line is, so that a removed line that starts with `--` is not a file header.

use anstyle::{AnsiColor, Style};

use crate::escape::escaped;
use crate::output::Span;

pub(crate) const ADDED: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
pub(crate) const REMOVED: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
const HUNK: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
const HEADER: Style = Style::new().bold();
const NOTE: Style = Style::new().dimmed();
const PLAIN: Style = Style::new();

/// The lines of a diff, each in its colour.
pub(crate) fn coloured(diff: &str) -> Vec<Span> {
    let mut left = (0, 0);
    escaped(diff).split_inclusive('\n').map(|line| (style_of(line, &mut left), line.to_owned())).collect()
}

/// The style of the next line; `left` counts the lines that the current hunk still has before and after.
fn style_of(line: &str, left: &mut (u64, u64)) -> Style {
    let (before, after) = *left;
    match line.as_bytes().first() {
        Some(b'\\') => NOTE,
        Some(b'-') if before > 0 => {
            left.0 -= 1;
            REMOVED
        }
        Some(b'+') if after > 0 => {
            left.1 -= 1;
            ADDED
        }
        // An empty line of both sides may have lost its blank.
        Some(b' ' | b'\n') if before > 0 && after > 0 => {
            *left = (before - 1, after - 1);
            PLAIN
        }
        _ => {
            if let Some(counts) = hunk(line) {
                *left = counts;
                HUNK
            } else {
                *left = (0, 0);
                HEADER
            }
        }
    }
}

/// How many lines a hunk has before and after, from its header.
fn hunk(line: &str) -> Option<(u64, u64)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (before, after) = ranges.split_once(" +")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(before)?, count(after)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(diff: &str, expected: &[Style]) {
        let lines = coloured(diff);
        assert_eq!(lines.iter().map(|(style, _)| *style).collect::<Vec<_>>(), expected, "{diff}");
        assert_eq!(lines.into_iter().map(|(_, line)| line).collect::<String>(), escaped(diff));
    }

    #[test]
    fn added_removed_and_headers_have_their_colours() {
        check(
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn\n one\n-two\n+deux\n\\ No newline at end of file\n--- a/y\n",
            &[HEADER, HEADER, HUNK, PLAIN, REMOVED, ADDED, NOTE, HEADER],
        );
    }

    #[test]
    fn lines_that_look_like_headers_are_what_the_counts_say() {
        check(
            "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a/other\n-- gone\n+++ kept\n",
            &[HEADER, HEADER, HUNK, REMOVED, REMOVED, ADDED],
        );
        check("@@ -1 +0,0 @@\n-one\n+two\n", &[HUNK, REMOVED, HEADER]);
        check("@@ nonsense\n+one", &[HEADER, HEADER]);
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        let lines = coloured("@@ -0,0 +1 @@\n+a\u{1b}[2J\n");
        assert_eq!(lines[1], (ADDED, "+a\\u{1b}[2J\n".to_owned()));
    }
}
