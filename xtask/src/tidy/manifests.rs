//! Checks that every crate takes its lints and its dependencies from the workspace.

use crate::tidy::Finding;
use crate::tidy::tree::{Tree, numbered};

/// Finds crates that opt out of the workspace's lints, or name a dependency's version themselves.
pub(super) fn manifests(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &tree.members {
        let path = format!("{}/Cargo.toml", member.dir);
        let Some(file) = tree.file(&path) else {
            findings.push(Finding::new(path, 0, "is not known to git; add it"));
            continue;
        };
        let entries = entries(&file.text);
        if !entries.iter().any(|entry| entry.table == "lints" && entry.is("workspace", "true")) {
            let message = "does not take the workspace's lints; add `[lints]` with `workspace = true`";
            findings.push(Finding::new(&path, 0, message));
        }
        for entry in &entries {
            if let Some(name) = entry.own_dependency(&entries) {
                let message = format!(
                    "dependency `{name}` is not the workspace's; declare it in the root manifest and write \
                     `{name}.workspace = true`"
                );
                findings.push(Finding::new(&path, entry.line, message));
            }
        }
    }
    findings
}

/// Finds `clippy.toml` files below the root.
pub(super) fn one_clippy_toml(tree: &Tree) -> Vec<Finding> {
    let message = "replaces the root's bans for its crate; lift a ban with a reasoned `#![expect]` instead";
    tree.files
        .iter()
        .filter(|file| matches!(file.name(), "clippy.toml" | ".clippy.toml") && !file.dir().is_empty())
        .map(|file| Finding::new(&file.path, 0, message))
        .collect()
}

/// A `key = value` of a manifest, as far as these checks must know it.
#[derive(Debug)]
struct Entry<'a> {
    line: usize,
    table: &'a str,
    key: &'a str,
    value: &'a str,
}

impl Entry<'_> {
    fn is(&self, key: &str, value: &str) -> bool {
        self.key == key && self.value == value
    }

    /// The name of the dependency, if this entry declares one without the workspace.
    fn own_dependency(&self, all: &[Entry<'_>]) -> Option<String> {
        let is_list = |table: &str| table == "dependencies" || table.ends_with("-dependencies");
        let last = self.table.rsplit('.').next()?;
        if is_list(last) {
            let (name, field) = self.key.split_once('.').unwrap_or((self.key, ""));
            let from_workspace = match field {
                "" => self.value.replace(' ', "").contains("workspace=true"),
                "workspace" => self.value == "true",
                _ => all
                    .iter()
                    .any(|entry| entry.table == self.table && entry.is(&format!("{name}.workspace"), "true")),
            };
            return (!from_workspace).then(|| name.to_owned());
        }
        // A table of its own, such as `[dependencies.serde]`; reported once, at its first entry.
        let (parent, name) = self.table.rsplit_once('.')?;
        let siblings = || all.iter().filter(|entry| entry.table == self.table);
        let is_first = siblings().next().is_some_and(|entry| entry.line == self.line);
        let from_workspace = siblings().any(|entry| entry.is("workspace", "true"));
        let is_dependency = is_list(parent.rsplit('.').next()?);
        (is_dependency && is_first && !from_workspace).then(|| name.to_owned())
    }
}

/// Reads a manifest line by line; the further lines of a value that spans several are passed over.
fn entries(manifest: &str) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut table = "";
    let mut depth = 0_usize;
    for (line, text) in numbered(manifest) {
        let text = text.split('#').next().unwrap_or(text).trim();
        let opened = text.matches(['[', '{']).count();
        let closed = text.matches([']', '}']).count();
        if depth == 0 {
            if let Some(name) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
                table = name.trim_matches(['[', ']']);
                continue;
            }
            if let Some((key, value)) = text.split_once('=') {
                entries.push(Entry { line, table, key: key.trim(), value: value.trim() });
            }
        }
        depth = (depth + opened).saturating_sub(closed);
    }
    entries
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
