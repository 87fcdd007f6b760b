use super::{file_length, file_names, leftovers, timed_tests, whitespace};
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

#[test]
fn names_that_say_nothing_fail() {
    let tree = Tree::of(&[
        ("crates/a/src/budget.rs", ""),
        ("crates/a/src/utils.rs", ""),
        ("crates/a/tests/it/cases/x/utils.rs", "what a prompt shows"),
    ]);
    check(file_names, &tree, &["crates/a/src/utils.rs: says nothing; name the file after its type or verb"]);
}

#[test]
fn long_files_fail() {
    let tree =
        Tree::of(&[("a.rs", &"\n".repeat(800)), ("b.rs", &"\n".repeat(801)), ("c.md", &"\n".repeat(801))]);
    check(file_length, &tree, &["b.rs:801: has 801 lines, more than 800; split it by concept"]);
}

#[test]
fn ignored_tests_fail_and_strings_do_not() {
    let tree = Tree::of(&[("a.rs", "#[ignore = \"slow\"]\nlet s = \"#[ignore]\";\n")]);
    let expected = "a.rs:1: ignores a test; run it, or make it a slow suite of `cargo xtask test`";
    check(leftovers, &tree, &[expected]);
}

#[test]
fn a_todo_needs_an_issue() {
    let tree = Tree::of(&[(
        "a.rs",
        "// TODO: later\n// TODO(#12): later\n// FIXME, see issues/7\nlet s = \"TODO\";\n/// FIXME #x\n",
    )]);
    check(
        leftovers,
        &tree,
        &[
            "a.rs:1: has a TODO without an issue; write `TODO(#12)`, or do it now",
            "a.rs:5: has a FIXME without an issue; write `FIXME(#12)`, or do it now",
        ],
    );
}

#[test]
fn trailing_white_space_fails_outside_rust_files() {
    let tree =
        Tree::of(&[("a.rs", "let a = \"b \n\"; \n"), ("b.md", "a \nb"), ("c.snap", "a \n"), ("d.json", "")]);
    check(
        whitespace,
        &tree,
        &["b.md:1: has trailing white space; remove it", "b.md:2: does not end with a newline; add one"],
    );
}

#[test]
fn an_upper_bound_on_time_in_a_test_fails() {
    let code = "fn a() { assert!(started_at.elapsed() < Duration::from_secs(5)); }\n";
    let at_least = "fn a() { assert!(started_at.elapsed() >= Duration::from_millis(5)); }\n";
    let tree = Tree::of(&[
        ("crates/a/tests/it/waits.rs", code),
        ("crates/a/tests/it/pauses.rs", at_least),
        ("crates/a/src/wait.rs", code),
    ]);
    check(
        timed_tests,
        &tree,
        &[
            "crates/a/tests/it/waits.rs:1: fails on a slow machine; make what must not be waited for take hours, so that waiting for it hangs the test",
        ],
    );
}
