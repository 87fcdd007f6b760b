use super::listed_tests;
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

#[test]
fn listed_files_pass() {
    let tree = Tree::of(&[
        ("crates/a/tests/it/main.rs", "#![allow(clippy::panic)]\nmod build;\n"),
        ("crates/a/tests/it/build.rs", ""),
        ("crates/a/tests/it/cases/x/input.rs", ""),
        ("crates/a/src/fit.rs", "#[cfg(test)]\n#[path = \"fit_tests.rs\"]\nmod tests;\n"),
        ("crates/a/src/fit_tests.rs", ""),
    ]);
    check(listed_tests, &tree, &[]);
}

#[test]
fn files_that_nothing_compiles_fail() {
    let tree = Tree::of(&[
        ("crates/a/tests/it/main.rs", "// mod build;\n"),
        ("crates/a/tests/it/build.rs", ""),
        ("crates/a/src/fit.rs", "// #[path = \"fit_tests.rs\"]\n"),
        ("crates/a/src/fit_tests.rs", ""),
    ]);
    check(
        listed_tests,
        &tree,
        &[
            "crates/a/tests/it/build.rs: never runs; add `mod build;` to `crates/a/tests/it/main.rs`",
            "crates/a/src/fit_tests.rs: never runs; name it with `#[path = \"fit_tests.rs\"]` in the file it tests",
        ],
    );
}
