use super::{file_length, file_names, leftovers, timed_tests, whitespace};
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

#[test]
fn names_that_say_nothing_fail() {
    let tree = Tree::of(&[
        ("crates/a/src/budget.rs", ""),
        ("crates/a/src/fit/mod.rs", ""),
        ("crates/a/src/utils.rs", ""),
        ("crates/a/tests/it/cases/x/utils.rs", "what a prompt shows"),
    ]);
    check(
        file_names,
        &tree,
        &[
            "crates/a/src/fit/mod.rs: is named after nothing; use `foo.rs` beside `foo/`",
            "crates/a/src/utils.rs: says nothing; name the file after its type or verb",
        ],
    );
}

#[test]
fn long_files_fail() {
    let tree =
        Tree::of(&[("a.rs", &"\n".repeat(800)), ("b.rs", &"\n".repeat(801)), ("c.md", &"\n".repeat(801))]);
    check(file_length, &tree, &["b.rs:801: has 801 lines, more than 800; split it by concept"]);
}

#[test]
fn leftovers_in_code_fail_and_in_strings_do_not() {
    let tree = Tree::of(&[(
        "a.rs",
        "fn a() { todo!() }\nlet x = dbg!(1);\n#[ignore = \"slow\"]\nlet s = \"todo!() #[ignore]\";\nmy_dbg!();\n",
    )]);
    check(
        leftovers,
        &tree,
        &[
            "a.rs:1: has `todo!`; finish or remove it",
            "a.rs:2: has `dbg!`; finish or remove it",
            "a.rs:3: ignores a test; run it, or make it a slow suite of `cargo xtask test`",
        ],
    );
}

#[test]
fn a_promise_needs_an_issue() {
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
fn unseen_white_space_fails_outside_literals() {
    let tree = Tree::of(&[
        ("a.rs", "let a = 1; \n\tlet b = \"c \n\td\"; // e \n"),
        ("b.md", "a \nb"),
        ("c.snap", "a \n"),
        ("d.json", ""),
    ]);
    check(
        whitespace,
        &tree,
        &[
            "a.rs:1: has trailing white space; remove it",
            "a.rs:2: has a tab; use spaces",
            "a.rs:3: has trailing white space; remove it",
            "b.md:1: has trailing white space; remove it",
            "b.md:2: does not end with a line end; add one",
        ],
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
            "crates/a/tests/it/waits.rs:1: fails on a slow machine; let what must not be waited for take hours, so that waiting is a hang",
        ],
    );
}
