//! Applies search/replace edits to files of one and two megabytes, and prints the times as JSON: twice the edits or twice
//! the file may cost no more than twice the time.
//!
//! `cargo run --release -p aiwf-reply --example edit_scaling`

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::fmt::Write as _;
use std::time::Instant;

use aiwf_reply::{Hunk, apply_hunks};

/// Twenty thousand lines of some fifty bytes.
const LINES_PER_MEGABYTE: usize = 20_000;
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let one = text(LINES_PER_MEGABYTE)?;
    let two = text(2 * LINES_PER_MEGABYTE)?;
    let half = best(&one, &hunks(LINES_PER_MEGABYTE, 500))?;
    let base = best(&one, &hunks(LINES_PER_MEGABYTE, 1_000))?;
    let twice = best(&two, &hunks(2 * LINES_PER_MEGABYTE, 2_000))?;
    println!(
        "{}",
        serde_json::json!({ "mb_1_edits_500_s": half, "mb_1_edits_1000_s": base, "mb_2_edits_2000_s": twice })
    );
    Ok(())
}

fn line(number: usize) -> String {
    format!("line {number:06} of some fifty characters, as code is")
}

fn text(n_lines: usize) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for number in 0..n_lines {
        writeln!(text, "{}", line(number))?;
    }
    Ok(text)
}

/// Edits spread over the whole file.
fn hunks(n_lines: usize, n_edits: usize) -> Vec<Hunk> {
    let every = n_lines / n_edits;
    let hunk = |edit: usize| {
        let line = line(edit * every);
        Hunk { line: edit, search: vec![line.clone()], replace: vec![format!("{line}!")], at: None }
    };
    (0..n_edits).map(hunk).collect()
}

/// The shortest of several times.
fn best(text: &str, hunks: &[Hunk]) -> Result<f64, Box<dyn std::error::Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let applied = apply_hunks("file", text, hunks).map_err(|problems| format!("{problems:?}"))?;
        best = best.min(start.elapsed().as_secs_f64());
        std::hint::black_box(applied);
    }
    Ok(best)
}
