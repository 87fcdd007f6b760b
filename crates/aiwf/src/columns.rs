//! Text in columns, with widths as a terminal displays them: some characters take two columns, some none.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How many columns a text takes.
pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

pub(crate) fn cut(text: &str, n_columns: usize) -> String {
    if display_width(text) <= n_columns {
        return text.to_owned();
    }
    let mut room = n_columns.saturating_sub(1);
    let fits = |c: &char| {
        let width = c.width().unwrap_or_default();
        let is_in = width <= room;
        room = room.saturating_sub(width);
        is_in
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.push('…');
    kept
}

pub(crate) fn padded(text: &str, n_columns: usize) -> String {
    format!("{text}{}", " ".repeat(n_columns.saturating_sub(display_width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_takes_as_many_columns_as_there_are() {
        for (text, n_columns, expected) in [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("日本語", 6, "日本語"),
            // Half a character does not fit.
            ("日本語です", 6, "日本…"),
            ("日本語です", 5, "日本…"),
            ("e\u{301}te\u{301}s!", 4, "e\u{301}te\u{301}…"),
            ("x", 0, "…"),
        ] {
            assert_eq!(cut(text, n_columns), expected, "{text} in {n_columns}");
        }
    }

    #[test]
    fn columns_stand_below_each_other() {
        for text in ["a", "日本", "e\u{301}", "日本語です"] {
            assert_eq!(display_width(&padded(text, 10)), 10, "{text}");
        }
        assert_eq!(padded("longer", 3), "longer");
    }
}
