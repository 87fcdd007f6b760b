//! Keeps the crates that the map calls `pure` away from the world outside of their arguments.
//!
//! The bans of clippy name functions; a pure crate may not even name the modules that hold them. Tests may.

use crate::tidy::Finding;
use crate::tidy::architecture::pure_crates;
use crate::tidy::tree::{Tree, numbered};

/// Modules of the standard library that know files, the environment, other machines, programs or clocks.
const MODULES: [&str; 6] = ["env", "fs", "net", "os", "process", "time"];
/// A type that is different in every process.
const RANDOM: &str = "RandomState";
/// Packages that do what the modules do, and chance.
const PACKAGES: [&str; 10] =
    ["fastrand", "getrandom", "ignore", "jiff", "rand", "reqwest", "rustix", "tempfile", "tokio", "uuid"];

/// Finds uses of the world in crates that are pure.
pub(super) fn pure_crates_stay_pure(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in pure_crates(tree) {
        for package in PACKAGES.iter().filter(|package| member.dependencies.contains(**package)) {
            let message =
                format!("`{}` is pure but depends on `{package}`; take it as an argument", member.name);
            findings.push(Finding::new(format!("{}/Cargo.toml", member.dir), 0, message));
        }
        let sources = format!("{}/src/", member.dir);
        for (file, rust) in tree.rust_files() {
            if !file.path.starts_with(&sources) || file.path.ends_with("_tests.rs") {
                continue;
            }
            for (line, used) in uses(without_tests(&rust.code)) {
                let message = format!("`{}` is pure but uses `{used}`; take it as an argument", member.name);
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
    findings
}

/// The code before the module of its tests, which stands at the end of a file.
fn without_tests(code: &str) -> &str {
    const FOR_TESTS: &str = "#[cfg(test)]";
    let is_module = |start: usize| {
        let mut rest = code.get(start + FOR_TESTS.len()..).unwrap_or_default().trim_start();
        // Where it stands in a file of its own, the path comes between.
        while let Some((_, after)) = rest.strip_prefix("#[").and_then(|attribute| attribute.split_once(']')) {
            rest = after.trim_start();
        }
        rest.starts_with("mod ") || rest.starts_with("pub(crate) mod ")
    };
    let end = code.match_indices(FOR_TESTS).map(|(start, _)| start).find(|start| is_module(*start));
    end.and_then(|end| code.get(..end)).unwrap_or(code)
}

/// The lines of code that name something impure, and what they name.
fn uses(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (start, root) in code.match_indices("std::") {
        let line = code.get(..start).unwrap_or_default().lines().count().max(1);
        let rest = code.get(start + root.len()..).unwrap_or_default();
        // A list may go over several lines and hold further ones.
        let names: Vec<&str> = match rest.strip_prefix('{').and_then(|list| list.split(';').next()) {
            Some(list) => list.split([',', '{', '}']).map(|name| first_word(name.trim())).collect(),
            None => vec![first_word(rest)],
        };
        let impure = names.into_iter().filter(|name| MODULES.contains(name));
        found.extend(impure.map(|module| (line, format!("std::{module}"))));
    }
    let random = numbered(code).filter(|(_, text)| text.contains(RANDOM));
    found.extend(random.map(|(line, _)| (line, RANDOM.to_owned())));
    found
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[cfg(test)]
#[path = "purity_tests.rs"]
mod tests;
