//! Checks that each invariant in `ARCHITECTURE.md` is held by something that exists.
//!
//! An item reads `1. … held by: …` and then names, in backticks, a test as `crate::path::name`, a lint as
//! ``lint `clippy::name` ``, or a check of this tool as ``tidy `name` ``. An invariant that nothing holds is a wish.

use crate::tidy::architecture::{ARCHITECTURE, section};
use crate::tidy::tree::Tree;
use crate::tidy::{CHECKS, Finding};

const MARK: &str = "held by:";

/// Something that holds an invariant, by its name.
#[derive(Debug, PartialEq, Eq)]
enum Holder<'a> {
    Test(&'a str),
    Lint(&'a str),
    Tidy(&'a str),
}

/// Finds invariants without a holder, holders that do not exist, and numbers that are not counted up from 1.
pub(super) fn invariants(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.file(ARCHITECTURE) else {
        return Vec::new();
    };
    let items = numbered_items(&page.text);
    if items.is_empty() {
        return vec![Finding::new(ARCHITECTURE, 0, "has no numbered items under `## Invariants`; add them")];
    }
    let mut findings = Vec::new();
    for (number, (line, item)) in (1_usize..).zip(&items) {
        let written = item.split_once(". ").map_or("", |(written, _)| written);
        if written != number.to_string() {
            let message = format!(
                "this is invariant {number} of the list and has the number {written}; give it the number {number}"
            );
            findings.push(Finding::new(ARCHITECTURE, *line, message));
        }
        let holders = holders(item);
        if holders.is_empty() {
            let message =
                format!("nothing holds this invariant; end it with `{MARK}` and a test, lint or check");
            findings.push(Finding::new(ARCHITECTURE, *line, message));
        }
        let missing = holders.iter().filter_map(|holder| missing(tree, holder));
        findings.extend(missing.map(|message| Finding::new(ARCHITECTURE, *line, message)));
    }
    findings
}

/// The numbered items with the line each starts at; a following line without a number belongs to its item.
fn numbered_items(page: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    for (line, text) in section(page, "## Invariants") {
        let is_start = text
            .split_once(". ")
            .is_some_and(|(number, _)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()));
        if is_start {
            items.push((line, text.to_owned()));
        } else if let Some((_, item)) = items.last_mut() {
            item.push(' ');
            item.push_str(text.trim());
        }
    }
    items
}

/// What stands in backticks after the mark; the word before each tells its kind.
fn holders(item: &str) -> Vec<Holder<'_>> {
    let Some((_, claims)) = item.split_once(MARK) else {
        return Vec::new();
    };
    let pieces: Vec<&str> = claims.split('`').collect();
    let pairs = pieces.chunks_exact(2).filter_map(|pair| Some((pair.first()?, pair.get(1)?)));
    pairs
        .map(|(before, name)| match before.split_whitespace().last() {
            Some("lint" | "lints") => Holder::Lint(name),
            Some("tidy") => Holder::Tidy(name),
            _ if name.starts_with("clippy::") => Holder::Lint(name),
            _ => Holder::Test(name),
        })
        .collect()
}

/// Says why the holder does not hold anything, if so.
fn missing(tree: &Tree, holder: &Holder<'_>) -> Option<String> {
    match holder {
        Holder::Tidy(name) => (!CHECKS.iter().any(|check| check.name == *name))
            .then(|| format!("tidy has no check `{name}`; name one of those that `xtask/src/tidy.rs` lists")),
        Holder::Lint(name) => {
            let key = name.rsplit("::").next().unwrap_or(name);
            let is_set = |line: &str| line.split_once('=').is_some_and(|(left, _)| left.trim() == key);
            let manifest = tree.file("Cargo.toml")?;
            (!manifest.text.lines().any(is_set))
                .then(|| format!("lint `{name}` is not set in the workspace's `Cargo.toml`; set it there"))
        }
        Holder::Test(path) => {
            let (krate, test) = (path.split("::").next()?, path.rsplit("::").next()?);
            let name = krate.replace('_', "-");
            let Some(member) = tree.members.iter().find(|member| member.name == name) else {
                return Some(format!(
                    "test `{path}` names no crate of ours; write it as `crate::path::name`"
                ));
            };
            let dir = format!("{}/", member.dir);
            let definition = format!("fn {test}(");
            let exists = tree
                .rust_files()
                .filter(|(file, _)| file.path.starts_with(&dir))
                .any(|(_, rust)| rust.code.contains(&definition));
            (!exists)
                .then(|| format!("test `{path}` does not exist in `{dir}`; name the test that holds this"))
        }
    }
}

#[cfg(test)]
#[path = "invariants_tests.rs"]
mod tests;
