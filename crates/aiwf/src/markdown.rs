//! Renders Markdown for a terminal: headings bold, lists indented, code apart, lines wrapped.
//!
//! In: text of a model, and the width. Out: styled spans. Only the marks of bold text are removed; comments, links and
//! everything else stay readable, because what is approved must be seen whole. Code and tables are not wrapped.

use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthStr as _;

use crate::escape::escaped;
use crate::output::Span;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const CODE: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Cyan)));
const FENCE: Style = Style::new().dimmed();

/// The text, laid out for a terminal of this width.
pub(crate) fn rendered(text: &str, width: usize) -> Vec<Span> {
    let text = escaped(text);
    let mut spans = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marks = fence_marks(trimmed);
        match (fence, marks) {
            (Some(open), Some(marks)) if marks.starts_with(open) && trimmed.trim_end() == marks => {
                fence = None;
                spans.push((FENCE, format!("{line}\n")));
            }
            (Some(_), _) => spans.push((CODE, format!("{line}\n"))),
            (None, Some(marks)) => {
                fence = Some(marks);
                spans.push((FENCE, format!("{line}\n")));
            }
            (None, None) if is_heading(trimmed) => wrap(vec![(BOLD, line.to_owned())], 0, width, &mut spans),
            (None, None) if trimmed.starts_with('|') => spans.push((PLAIN, format!("{line}\n"))),
            (None, None) => wrap(inline(line), hanging_indent(line), width, &mut spans),
        }
    }
    spans
}

/// The marks that open or close a block of code.
fn fence_marks(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let rest = line.trim_start_matches(mark);
    let n_marks = line.len() - rest.len();
    // Marks that are closed in the same line are code within a line.
    (n_marks >= 3 && !(mark == '`' && rest.contains('`'))).then(|| line.get(..n_marks)).flatten()
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with(' ')
}

/// The indentation of continuation lines: below the text of a list item or a quotation.
fn hanging_indent(line: &str) -> usize {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    let digits = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    let n_digits = rest.len() - digits.len();
    let marker = match rest.as_bytes() {
        [b'-' | b'*' | b'+' | b'>', b' ', ..] => 2,
        _ if n_digits > 0 && (digits.starts_with(". ") || digits.starts_with(") ")) => n_digits + 2,
        _ => 0,
    };
    indent + marker
}

/// The spans of a line: bold text without its marks, code with them.
fn inline(line: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut plain = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let found = match first {
            '`' => code_span(rest).map(|code| (CODE, code, code)),
            '*' => bold_span(rest).map(|(whole, words)| (BOLD, whole, words)),
            _ => None,
        };
        let n_bytes = if let Some((style, whole, shown)) = found {
            spans.push((PLAIN, std::mem::take(&mut plain)));
            spans.push((style, shown.to_owned()));
            whole.len()
        } else {
            // A run of marks that opens nothing is plain text.
            let n_marks = rest.len() - rest.trim_start_matches('`').len();
            let n_bytes = n_marks.max(first.len_utf8());
            plain.push_str(rest.get(..n_bytes).unwrap_or_default());
            n_bytes
        };
        rest = rest.get(n_bytes..).unwrap_or_default();
    }
    spans.push((PLAIN, plain));
    spans.retain(|(_, text)| !text.is_empty());
    spans
}

/// Code within a line, with its marks.
fn code_span(text: &str) -> Option<&str> {
    let after = text.trim_start_matches('`');
    let marks = text.get(..text.len() - after.len())?;
    let end = after.match_indices(marks).find(|(at, _)| {
        let next = after.get(at + marks.len()..).unwrap_or_default();
        !next.starts_with('`') && !after.get(..*at).unwrap_or_default().ends_with('`')
    });
    text.get(..marks.len() + end?.0 + marks.len())
}

/// Bold text: with its marks, and without.
fn bold_span(text: &str) -> Option<(&str, &str)> {
    let after = text.strip_prefix("**")?;
    let end = after.find("**")?;
    let words = after.get(..end)?;
    let is_bold = !words.is_empty() && words.trim() == words && !words.contains(['*', '`']);
    Some((text.get(..end + 4)?, words)).filter(|_| is_bold)
}

/// Breaks a line at blanks; the lines that follow are indented.
fn wrap(line: Vec<Span>, indent: usize, width: usize, spans: &mut Vec<Span>) {
    let indent = if indent * 2 > width { 0 } else { indent };
    let mut column = 0;
    let mut is_at_start = true;
    for word in words(line) {
        let n_columns: usize = word.iter().map(|(_, text)| text.width()).sum();
        // Leading blanks are words without text, for indentation.
        let has_room = column + usize::from(!is_at_start) + n_columns <= width;
        if !has_room && column > indent {
            spans.push((PLAIN, format!("\n{}", " ".repeat(indent))));
            column = indent;
            is_at_start = true;
            if n_columns == 0 {
                continue;
            }
        }
        if !is_at_start {
            spans.push((PLAIN, " ".to_owned()));
            column += 1;
        }
        column += n_columns;
        is_at_start = false;
        spans.extend(word);
    }
    spans.push((PLAIN, "\n".to_owned()));
}

/// Splits a line into words; a word may have several styles.
fn words(line: Vec<Span>) -> Vec<Vec<Span>> {
    let mut words: Vec<Vec<Span>> = vec![Vec::new()];
    for (style, text) in line {
        for (number, part) in text.split(' ').enumerate() {
            if number > 0 {
                words.push(Vec::new());
            }
            if let Some(word) = words.last_mut().filter(|_| !part.is_empty()) {
                word.push((style, part.to_owned()));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text as it would stand on a terminal, with `[b:…]` and the like for styles.
    fn shown(text: &str, width: usize) -> String {
        let mark = |(style, text): Span| match style {
            BOLD => format!("[b:{text}]"),
            CODE => format!("[c:{text}]"),
            FENCE => format!("[f:{text}]"),
            _ => text,
        };
        rendered(text, width).into_iter().map(mark).collect()
    }

    #[test]
    fn headings_lists_and_code_are_distinguished() {
        let text = "# Plan\n\n- **Add** `--json` to `list`\n  1. one\n\n```rust\nlet x = **y;\n```\nend\n";
        insta::assert_snapshot!(shown(text, 80), @r"
        [b:#] [b:Plan]

        - [b:Add] [c:`--json`] to [c:`list`]
          1. one

        [f:```rust
        ][c:let x = **y;
        ][f:```
        ]end
        ");
    }

    #[test]
    fn lines_are_wrapped_below_their_text() {
        insta::assert_snapshot!(shown("- one two three four five\n12. one two three four\n> a b c d e f g h i j k\n", 14), @"
        - one two
          three four
          five
        12. one two
            three four
        > a b c d e f
          g h i j k
        ");
    }

    #[test]
    fn nothing_but_the_marks_of_bold_words_is_left_out() {
        for text in [
            "<!-- hidden --> [link](https://example.org) a*b*c ** d ** __init__ `` ` `` `open",
            "| a | b |\n|---|---|\n",
            "~~~\n```\n~~~\nx",
            "**a*b**",
        ] {
            let plain: String = rendered(text, 200).into_iter().map(|(_, text)| text).collect();
            assert_eq!(plain.trim_end(), text.trim_end());
        }
        let bold: String = rendered("**a** b", 80).into_iter().map(|(_, text)| text).collect();
        assert_eq!(bold, "a b\n");
    }

    #[test]
    fn a_line_is_never_wider_than_the_terminal_unless_a_word_is() {
        let text = "word ".repeat(100) + &"x".repeat(100) + " 你好 ".repeat(30).as_str();
        let plain: String = rendered(&text, 40).into_iter().map(|(_, text)| text).collect();
        assert!(plain.lines().all(|line| line.width() <= 40 || !line.contains(' ')), "{plain}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&plain), words(&text));
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(shown("# a\u{1b}]0;x\u{7}\n", 80), "[b:#] [b:a\\u{1b}]0;x\\u{7}]\n");
    }
}
