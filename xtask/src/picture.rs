//! Draws a run of `aiwf demo` as an SVG of a terminal, for the README.
//!
//! In: the program. Out: what the demo prints between its first lines and its last, as text that can be selected. What is
//! left out is shown as `…`; nothing is added, and a test compares the lines with what the demo prints.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::workspace;

const COLUMNS: usize = 104;
const LETTER_WIDTH: f64 = 7.8;
const LINE_HEIGHT: usize = 19;
const MARGIN: usize = 20;
const BAR: usize = 34;

pub(crate) fn draw(program: &Path, target: &Path) -> Result<(), Failure> {
    let home = tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error))?;
    let mut demo = Command::new(program);
    demo.arg("demo").current_dir(home.path()).env("HOME", home.path()).env("NO_COLOR", "1");
    demo.env_remove("XDG_CACHE_HOME");
    let story = workspace::capture(&mut demo)?;
    let drawn = svg(&picked(&story));
    if fs::read_to_string(target).is_ok_and(|before| without_ids(&before) == without_ids(&drawn)) {
        return Ok(());
    }
    fs::write(target, drawn).map_err(|error| Failure::io(format!("write `{}`", target.display()), &error))
}

/// A picture without the commit's id, the only thing that differs from run to run.
fn without_ids(svg: &str) -> String {
    let is_commit = |line: &&str| line.contains(">  commit ");
    svg.lines().filter(|line| !is_commit(line)).collect::<Vec<_>>().join("\n")
}

/// The whole story, but for what it begins and ends with.
fn picked(story: &str) -> Vec<String> {
    let told = story.split_once("\n$ cd ").map_or(story, |(_, told)| told);
    let told = told.split_once('\n').map_or(told, |(_, told)| told);
    let told = told.split("\n\nexplore:").next().unwrap_or(told);
    let mut lines = vec!["$ aiwf demo".to_owned(), "…".to_owned()];
    lines.extend(told.lines().map(shortened));
    lines
}

fn shortened(line: &str) -> String {
    let line = line.trim_end();
    if line.chars().count() <= COLUMNS {
        return line.to_owned();
    }
    line.chars().take(COLUMNS - 1).chain(['…']).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred columns and lines")]
fn svg(lines: &[String]) -> String {
    let width = (COLUMNS as f64).mul_add(LETTER_WIDTH, 2.0 * MARGIN as f64).ceil();
    let height = BAR + MARGIN + lines.len() * LINE_HEIGHT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"A terminal that runs aiwf demo\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n\
         <circle cx=\"20\" cy=\"17\" r=\"5\" fill=\"#e06c75\"/><circle cx=\"38\" cy=\"17\" r=\"5\" fill=\"#e5c07b\"/>\
         <circle cx=\"56\" cy=\"17\" r=\"5\" fill=\"#98c379\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"13\" xml:space=\"preserve\">\n"
    );
    for (idx, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let y = BAR + MARGIN + idx * LINE_HEIGHT;
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" fill=\"{}\">{}</text>",
            colour(line),
            escaped(line)
        );
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn colour(line: &str) -> &'static str {
    match line {
        _ if line.starts_with("$ ") => "#e5e9f0",
        _ if line.contains("FAILED") || line.contains(": failed") => "#e06c75",
        _ if line.contains("PASS") || line.contains(": passed") || line.contains("intact") => "#98c379",
        _ if line.starts_with(|c: char| c.is_alphabetic()) => "#61afef",
        _ => "#9aa3b2",
    }
}

fn escaped(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
#[path = "picture_tests.rs"]
mod tests;
