//! Checks that no file names one machine: a path of somebody's disk, or a package registry.
//!
//! What is committed must work anywhere, and where packages come from is the machine's own set-up.

use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// Folders that exist on one machine. In two halves, so that this file passes its own check.
const MACHINE_DIRS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];
const HOME: &str = "/home/";

/// Names of people that only examples and tests know.
const EXAMPLE_USERS: &[&str] =
    &["u", "user", "me", "you", "name", "someone", "alice", "ann", "bob", "dev", "jane", "sam"];

/// Settings that choose a registry, and first parts of the hosts that serve one.
const REGISTRY_WORDS: &[&str] = &[
    concat!("index", "-url"),
    concat!("replace", "-with"),
    concat!("[regis", "tries"),
    concat!("\"resol", "ved\": \"http"),
    concat!("--regis", "try "),
    concat!("://regis", "try."),
    concat!("://in", "dex."),
    concat!("://py", "pi."),
    concat!("://de", "b."),
    concat!("://mir", "ror"),
];

/// Finds absolute paths of a developer's machine.
pub(super) fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (line, text) in file.lines() {
            if let Some(path) = machine_path(text) {
                let message =
                    format!("names `{path}`, a path of one machine; use a relative or an invented one");
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
    findings
}

/// Finds settings and addresses of package registries.
pub(super) fn registries(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (line, text) in file.lines() {
            if REGISTRY_WORDS.iter().any(|word| text.contains(word)) {
                let message = "names a package registry; leave that to the machine's own set-up";
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
    findings
}

/// The first path in `line` that belongs to one machine.
fn machine_path(line: &str) -> Option<String> {
    let starts = |prefix: &'static str| line.match_indices(prefix).filter(|(at, _)| starts_path(line, *at));
    let fixed = MACHINE_DIRS.iter().find_map(|&dir| starts(dir).next().map(|_| dir.to_owned()));
    fixed.or_else(|| {
        starts(HOME).find_map(|(at, _)| {
            let rest = line.get(at + HOME.len()..)?;
            let user: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || "-_.".contains(*c)).collect();
            let is_example = user.is_empty() || EXAMPLE_USERS.contains(&user.as_str());
            (!is_example && rest.get(user.len()..)?.starts_with('/')).then(|| format!("{HOME}{user}/"))
        })
    })
}

/// Whether a path begins at byte `at`, and not in the middle of a longer one.
fn starts_path(line: &str, at: usize) -> bool {
    let before = line.get(..at).and_then(|before| before.chars().next_back());
    !before.is_some_and(|c| c.is_alphanumeric() || "_-.~/})>$".contains(c))
}

#[cfg(test)]
#[path = "machine_words_tests.rs"]
mod tests;
