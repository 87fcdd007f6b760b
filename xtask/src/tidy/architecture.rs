//! Holds the table of crates in `ARCHITECTURE.md` and the manifests to each other.
//!
//! The table is the design: an edge that is only in a manifest was never decided, one that is only in the
//! table is a claim. Rows read: crate, `pure` or nothing, purpose, the crates of ours that it is built from.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::Finding;
use crate::tidy::tree::{Tree, numbered};
use crate::workspace::Member;

pub(super) const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// One crate as the table has it.
#[derive(Debug)]
struct Row {
    line: usize,
    name: String,
    is_pure: bool,
    depends_on: BTreeSet<String>,
}

/// Compares the table with what the manifests say.
pub(super) fn crate_edges(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.file(ARCHITECTURE) else {
        return vec![Finding::new(ARCHITECTURE, 0, "is missing; write it with a `## Map` of the crates")];
    };
    let rows = map_rows(&page.text);
    if rows.is_empty() {
        return vec![Finding::new(ARCHITECTURE, 0, "has no table of crates under `## Map`; add one")];
    }
    let mut findings = Vec::new();
    let mut by_name: BTreeMap<&str, &Row> = BTreeMap::new();
    for row in &rows {
        if by_name.insert(&row.name, row).is_some() {
            findings.push(Finding::new(
                ARCHITECTURE,
                row.line,
                format!("lists `{}` twice; keep one row", row.name),
            ));
        }
        if !tree.members.iter().any(|member| member.name == row.name) {
            let message = format!("lists `{}`, which is no crate of the workspace; remove the row", row.name);
            findings.push(Finding::new(ARCHITECTURE, row.line, message));
        }
    }
    let ours: BTreeSet<&str> = tree.members.iter().map(|member| member.name.as_str()).collect();
    for member in &tree.members {
        let manifest = format!("{}/Cargo.toml", member.dir);
        let Some(row) = by_name.get(member.name.as_str()) else {
            let message = format!("`{}` is not in the map of {ARCHITECTURE}; add a row for it", member.name);
            findings.push(Finding::new(manifest, 0, message));
            continue;
        };
        for dependency in member.dependencies.iter().filter(|name| ours.contains(name.as_str())) {
            if !row.depends_on.contains(dependency) {
                findings.push(Finding::new(
                    &manifest,
                    0,
                    format!(
                        "`{}` depends on `{dependency}`, which the map of {ARCHITECTURE} does not allow; \
                         remove the dependency, or decide on the edge there",
                        member.name
                    ),
                ));
            }
            if row.is_pure && by_name.get(dependency.as_str()).is_some_and(|other| !other.is_pure) {
                findings.push(Finding::new(
                    &manifest,
                    0,
                    format!(
                        "`{}` is pure but depends on `{dependency}`, which is not; move what it needs",
                        member.name
                    ),
                ));
            }
        }
        for dependency in row.depends_on.difference(&member.dependencies) {
            let message = format!(
                "says that `{}` depends on `{dependency}`, which its manifest does not; correct the row",
                member.name
            );
            findings.push(Finding::new(ARCHITECTURE, row.line, message));
        }
    }
    findings
}

/// The members that the table calls pure.
pub(super) fn pure_crates(tree: &Tree) -> Vec<&Member> {
    let rows = tree.file(ARCHITECTURE).map(|page| map_rows(&page.text)).unwrap_or_default();
    let is_pure = |member: &&Member| rows.iter().any(|row| row.is_pure && row.name == member.name);
    tree.members.iter().filter(is_pure).collect()
}

/// The rows of the table under `## Map`; lines whose first cell holds no name in backticks are skipped.
fn map_rows(page: &str) -> Vec<Row> {
    section(page, "## Map")
        .filter_map(|(line, text)| {
            let cells: Vec<&str> = text.trim().strip_prefix('|')?.split('|').map(str::trim).collect();
            let name = (*cells.first()?).strip_prefix('`')?.strip_suffix('`')?.to_owned();
            let is_pure = cells.get(1).is_some_and(|cell| *cell == "pure");
            let depends_on = backticked(cells.get(3)?);
            Some(Row { line, name, is_pure, depends_on })
        })
        .collect()
}

/// The names in a cell such as `` `a`, `b` ``; plain names count too, a dash is none.
fn backticked(cell: &str) -> BTreeSet<String> {
    cell.split(',')
        .map(|name| name.trim().trim_matches('`'))
        .filter(|name| !matches!(*name, "" | "—" | "–" | "-"))
        .map(str::to_owned)
        .collect()
}

/// The numbered lines below a heading, up to the next heading of the same or a higher level.
pub(super) fn section<'a>(page: &'a str, heading: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let level = |line: &str| line.chars().take_while(|&c| c == '#').count();
    let own_level = level(heading);
    numbered(page)
        .skip_while(move |(_, line)| line.trim_end() != heading)
        .skip(1)
        .take_while(move |(_, line)| !(1..=own_level).contains(&level(line)))
}

#[cfg(test)]
#[path = "architecture_tests.rs"]
mod tests;
