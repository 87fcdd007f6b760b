//! Checks the files that a newcomer counts on: the lock file and the README's two commands.

use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// Commands that the README must show: how to test, and how to run what was built.
const COMMANDS: &[&str] = &["cargo xtask test", "cargo run -- demo"];

/// Finds what is missing at the root.
pub(super) fn house_files(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !tree.tracked.contains("Cargo.lock") || tree.file("Cargo.lock").is_none() {
        findings.push(Finding::new(
            "Cargo.lock",
            0,
            "is not tracked; commit it, so that every build is the same",
        ));
    }
    let readme = tree.file("README.md").map_or("", |file| &file.text);
    for command in COMMANDS.iter().filter(|command| !readme.contains(**command)) {
        findings.push(Finding::new("README.md", 0, format!("does not show `{command}`; add it")));
    }
    findings
}

#[cfg(test)]
#[path = "house_tests.rs"]
mod tests;
