//! Shows long texts a screen at a time: in `less` where it is installed, else page by page.
//!
//! In: spans with a style each. A text that fits the screen is printed and not paged.

use aiwf_engine::Engine;
use unicode_width::UnicodeWidthStr as _;

use crate::failure::Failure;
use crate::key_press::{self, KeyPress};
use crate::output::{self, Screen, Span};

/// The rows that the question below a text takes.
const N_RESERVED: usize = 6;

/// Shows a text.
pub(crate) fn show(engine: &Engine, spans: &[Span]) -> Result<(), Failure> {
    let screen = output::screen();
    let lines = lines(spans);
    let n_rows: usize = lines.iter().map(|line| rows(line, screen)).sum();
    if n_rows + N_RESERVED <= screen.rows {
        output::note_styled(spans);
        return Ok(());
    }
    if output::is_stdout_watched() && engine.page_text(&output::styled_text(spans))? {
        return Ok(());
    }
    let pages = pages(lines, screen);
    let n_pages = pages.len();
    for (number, page) in (1..).zip(pages) {
        output::note_styled(&page);
        let ask = || output::note(&format!("-- page {number} of {n_pages}: any key shows more, q ends --"));
        if number < n_pages {
            let pressed = key_press::press(ask);
            output::note("\n");
            if matches!(pressed, Err(_) | Ok(KeyPress::End | KeyPress::Key('q'))) {
                break;
            }
        }
    }
    Ok(())
}

/// The lines of a text, each with its line end.
fn lines(spans: &[Span]) -> Vec<Vec<Span>> {
    let mut lines = vec![Vec::new()];
    for (style, text) in spans {
        for part in text.split_inclusive('\n') {
            if let Some(line) = lines.last_mut() {
                line.push((*style, part.to_owned()));
            }
            if part.ends_with('\n') {
                lines.push(Vec::new());
            }
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// How many rows a line takes on the screen.
fn rows(line: &[Span], screen: Screen) -> usize {
    let n_columns: usize = line.iter().map(|(_, text)| text.trim_end_matches('\n').width()).sum();
    n_columns.div_ceil(screen.columns.max(1)).max(1)
}

/// Groups lines into pages that fit the screen with a row for the question; a line longer than the screen has its own
/// page.
fn pages(lines: Vec<Vec<Span>>, screen: Screen) -> Vec<Vec<Span>> {
    let room = screen.rows.saturating_sub(1).max(1);
    let mut pages: Vec<Vec<Span>> = Vec::new();
    let mut n_used = 0;
    for line in lines {
        let n_rows = rows(&line, screen);
        match pages.last_mut() {
            Some(page) if n_used + n_rows <= room => {
                page.extend(line);
                n_used += n_rows;
            }
            _ => {
                pages.push(line);
                n_used = n_rows;
            }
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use anstyle::Style;

    use super::*;

    #[test]
    fn pages_have_as_many_rows_as_fit_and_lose_nothing() {
        let bold = Style::new().bold();
        let spans =
            vec![(bold, "one\ntw".to_owned()), (Style::new(), format!("o\n{}\nthree\n", "x".repeat(25)))];
        let screen = Screen { columns: 10, rows: 4 };
        let text = |page: &Vec<Span>| page.iter().map(|(_, text)| text.as_str()).collect::<String>();
        let pages = pages(lines(&spans), screen);
        let texts: Vec<String> = pages.iter().map(text).collect();
        let long = "x".repeat(25);
        assert_eq!(texts, ["one\ntwo\n".to_owned(), format!("{long}\n"), "three\n".to_owned()]);
        assert_eq!(pages[0][1], (bold, "tw".to_owned()));
    }
}
