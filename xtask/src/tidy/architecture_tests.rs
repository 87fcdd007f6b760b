use super::crate_edges;
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

const PAGE: &str = "\
# Architecture

## Map

| crate | | purpose | depends on |
|---|---|---|---|
| `p` | pure | prompts | — |
| `s` | | files | — |
| `e` | | joins | `p`, s |

### More

## Invariants

| `not-a-row` | | | — |
";

fn tree(members: &[(&str, &[&str])]) -> Tree {
    Tree::of(&[("ARCHITECTURE.md", PAGE)]).with_members(members)
}

#[test]
fn table_and_manifests_that_agree_pass() {
    check(crate_edges, &tree(&[("p", &["serde"]), ("s", &[]), ("e", &["p", "s", "rayon"])]), &[]);
}

#[test]
fn an_undecided_edge_fails() {
    check(
        crate_edges,
        &tree(&[("p", &["s"]), ("s", &[]), ("e", &["p", "s"])]),
        &[
            "crates/p/Cargo.toml: `p` depends on `s`, which the map of ARCHITECTURE.md does not allow; remove \
             the dependency, or decide on the edge there",
            "crates/p/Cargo.toml: `p` is pure but depends on `s`, which is not; move what it needs",
        ],
    );
}

#[test]
fn an_edge_that_does_not_exist_fails() {
    check(
        crate_edges,
        &tree(&[("p", &[]), ("s", &[]), ("e", &["p"])]),
        &["ARCHITECTURE.md:9: says that `e` depends on `s`, which its manifest does not; correct the row"],
    );
}

#[test]
fn every_crate_is_in_the_table_and_back() {
    check(
        crate_edges,
        &tree(&[("p", &[]), ("new", &[]), ("e", &["p", "s"])]),
        &[
            "ARCHITECTURE.md:8: lists `s`, which is no crate of the workspace; remove the row",
            "crates/new/Cargo.toml: `new` is not in the map of ARCHITECTURE.md; add a row for it",
        ],
    );
}

#[test]
fn a_page_without_a_map_fails() {
    check(
        crate_edges,
        &Tree::of(&[]),
        &["ARCHITECTURE.md: is missing; write it with a `## Map` of the crates"],
    );
    check(
        crate_edges,
        &Tree::of(&[("ARCHITECTURE.md", "# A\n")]),
        &["ARCHITECTURE.md: has no table of crates under `## Map`; add one"],
    );
}
