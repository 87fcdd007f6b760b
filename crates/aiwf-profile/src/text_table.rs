//! Formats rows of cells as text with aligned columns.

/// The widest cell, in characters; longer ones are cut.
const MAX_WIDTH: usize = 60;

/// Writes rows, each line after `indent`, columns two spaces apart, without trailing spaces.
pub(crate) fn text_table(rows: Vec<Vec<String>>, indent: &str) -> String {
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|row| row.iter().map(|cell| shortened(cell)).collect()).collect();
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..n_columns)
        .map(|idx| {
            rows.iter().filter_map(|row| row.get(idx)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = indent.to_owned();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            let n_blanks = width + 2 - cell.chars().count().min(*width);
            line.extend(std::iter::repeat_n(' ', n_blanks));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn shortened(cell: &str) -> String {
    let cell: String = cell.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if cell.chars().count() <= MAX_WIDTH {
        return cell;
    }
    cell.chars().take(MAX_WIDTH - 1).chain(['…']).collect()
}
