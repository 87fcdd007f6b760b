//! Checks of single source files: names, length, leftovers, white space.
//!
//! What clippy or rustfmt finds is not checked here: `mod.rs`, `todo!`, `dbg!`, white space in Rust files.

use crate::tidy::Finding;
use crate::tidy::tree::{SourceFile, Tree, has_extension, numbered};

/// Lines that a Rust file may have, tests included.
const MAX_LINES: usize = 800;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common.rs", "helpers.rs", "types.rs", "utils.rs"];

/// Finds files whose name is no concept.
pub(super) fn file_names(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|(file, _)| EMPTY_NAMES.contains(&file.name()))
        .map(|(file, _)| Finding::new(&file.path, 0, "says nothing; name the file after its type or verb"))
        .collect()
}

/// Finds files that are too long to read.
pub(super) fn file_length(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter_map(|(file, _)| {
            let n_lines = file.text.lines().count();
            let message = format!("has {n_lines} lines, more than {MAX_LINES}; split it by concept");
            (n_lines > MAX_LINES).then(|| Finding::new(&file.path, MAX_LINES + 1, message))
        })
        .collect()
}

/// Finds ignored tests, and comments that promise later work without an issue.
pub(super) fn leftovers(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files() {
        for (line, code) in numbered(&rust.code) {
            if code.contains("#[ignore") {
                let message = "ignores a test; run it, or make it a slow suite of `cargo xtask test`";
                findings.push(Finding::new(&file.path, line, message));
            }
        }
        for (line, comment) in numbered(&rust.comments) {
            for mark in ["TODO", "FIXME"].iter().filter(|mark| has_word(comment, mark)) {
                if !links_an_issue(comment) {
                    let message = format!("has a {mark} without an issue; write `{mark}(#12)`, or do it now");
                    findings.push(Finding::new(&file.path, line, message));
                }
            }
        }
    }
    findings
}

/// Finds tests that fail on a slow machine: an upper bound on the time something takes.
pub(super) fn timed_tests(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files().filter(|(file, _)| is_test_file(&file.path)) {
        for (line, code) in numbered(&rust.code) {
            if ["elapsed() < Duration::", "elapsed() <= Duration::"].iter().any(|bound| code.contains(bound))
            {
                let message = "fails on a slow machine; make what must not be waited for take hours, so that \
                               waiting for it hangs the test";
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
    findings
}

fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("_tests.rs")
}

/// Finds trailing white space, and files that do not end with a newline.
pub(super) fn whitespace(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().filter(|file| !file.is_test_data()).flat_map(whitespace_of).collect()
}

fn whitespace_of(file: &SourceFile) -> Vec<Finding> {
    let is_text = ["toml", "md", "sh", "yml", "json"].iter().any(|end| has_extension(&file.path, end));
    if !is_text {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (line, text) in file.lines() {
        if text.ends_with([' ', '\t']) {
            findings.push(Finding::new(&file.path, line, "has trailing white space; remove it"));
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        let n_lines = file.text.lines().count();
        findings.push(Finding::new(&file.path, n_lines, "does not end with a newline; add one"));
    }
    findings
}

/// Whether `line` contains `word`, but not as the end of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Whether a comment names an issue, as `#12` or by a link.
fn links_an_issue(comment: &str) -> bool {
    ["#", "issues/"].iter().any(|mark| {
        comment.match_indices(mark).any(|(at, _)| {
            comment.get(at + mark.len()..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    })
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
