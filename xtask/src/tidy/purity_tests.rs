use super::pure_crates_stay_pure;
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

const PAGE: &str = "## Map\n\n| `p` | pure | prompts | — |\n| `s` | | files | — |\n";

fn tree(path: &str, code: &str) -> Tree {
    Tree::of(&[("ARCHITECTURE.md", PAGE), (path, code)])
        .with_members(&[("p", &["serde"]), ("s", &["rustix"])])
}

#[test]
fn the_world_is_not_used_by_a_pure_crate() {
    check(
        pure_crates_stay_pure,
        &tree("crates/p/src/a.rs", "use std::{fmt, fs};\nfn f() { std::time::Instant::now(); }\n"),
        &[
            "crates/p/src/a.rs:1: `p` is pure but uses `std::fs`; take it as an argument",
            "crates/p/src/a.rs:2: `p` is pure but uses `std::time`; take it as an argument",
        ],
    );
    check(
        pure_crates_stay_pure,
        &tree("crates/p/src/a.rs", "use std::hash::RandomState;\n"),
        &["crates/p/src/a.rs:1: `p` is pure but uses `RandomState`; take it as an argument"],
    );
}

#[test]
fn neither_a_test_hook_nor_a_long_list_hides_it() {
    let hooked = "#[cfg(test)]\nuse std::fmt;\n\nuse std::{\n    fmt::Write,\n    env,\n};\n";
    check(
        pure_crates_stay_pure,
        &tree("crates/p/src/a.rs", hooked),
        &["crates/p/src/a.rs:4: `p` is pure but uses `std::env`; take it as an argument"],
    );
}

#[test]
fn other_crates_tests_and_words_are_left_alone() {
    let world = "use std::fs;\n";
    for path in ["crates/s/src/a.rs", "crates/p/src/a_tests.rs", "crates/p/tests/it/main.rs"] {
        check(pure_crates_stay_pure, &tree(path, world), &[]);
    }
    let words =
        "// Not std::fs.\nuse std::fmt;\nuse std::io::Write;\n#[cfg(test)]\nmod tests { use std::fs; }\n";
    check(pure_crates_stay_pure, &tree("crates/p/src/a.rs", words), &[]);
}

#[test]
fn a_package_that_does_it_for_them_is_none_of_theirs() {
    let tree = Tree::of(&[("ARCHITECTURE.md", PAGE)]).with_members(&[("p", &["getrandom"]), ("s", &[])]);
    check(
        pure_crates_stay_pure,
        &tree,
        &["crates/p/Cargo.toml: `p` is pure but depends on `getrandom`; take it as an argument"],
    );
}
