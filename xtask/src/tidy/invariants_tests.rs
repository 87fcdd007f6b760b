use super::invariants;
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

fn check_items(items: &str, expected: &[&str]) {
    let page = format!("# A\n\n## Invariants\n\n{items}\n## After\n\n1. not an invariant\n");
    let tree = Tree::of(&[
        ("ARCHITECTURE.md", &page),
        ("Cargo.toml", "[workspace.lints.clippy]\nunwrap_used = \"warn\"\n"),
        ("crates/aiwf-prompt/tests/it/fit.rs", "#[test]\nfn keeps_order() {}\n// fn only_in_a_comment()\n"),
    ]);
    check(invariants, &tree.with_members(&[("aiwf-prompt", &[])]), expected);
}

#[test]
fn holders_that_exist_pass() {
    check_items(
        "1. Order is kept,\n   always; held by: `aiwf_prompt::fit::keeps_order`\n\
         2. No `unwrap`; held by: lint `clippy::unwrap_used`, tidy `crate-edges` and\n   `aiwf-prompt::keeps_order`\n",
        &[],
    );
}

#[test]
fn an_invariant_without_a_holder_fails() {
    check_items(
        "1. Code is good: `really`\n",
        &[
            "ARCHITECTURE.md:5: nothing holds this invariant; end it with `held by:` and a test, lint or check",
        ],
    );
}

#[test]
fn holders_that_do_not_exist_fail() {
    check_items(
        "1. A; held by: `aiwf_prompt::only_in_a_comment`\n\
         2. B; held by: lint `clippy::panic`\n\
         3. C; held by: tidy `beauty`\n\
         4. D; held by: `keeps_order`\n",
        &[
            "ARCHITECTURE.md:5: test `aiwf_prompt::only_in_a_comment` does not exist in `crates/aiwf-prompt/`; \
             name the test that holds this",
            "ARCHITECTURE.md:6: lint `clippy::panic` is not set in the workspace's `Cargo.toml`; set it there",
            "ARCHITECTURE.md:7: tidy has no check `beauty`; name one of those that `xtask/src/tidy.rs` lists",
            "ARCHITECTURE.md:8: test `keeps_order` names no crate of ours; write it as `crate::path::name`",
        ],
    );
}

#[test]
fn numbers_that_repeat_or_are_left_out_fail() {
    check_items(
        "1. A; held by: `aiwf_prompt::keeps_order`\n\
         2. B; held by: `aiwf_prompt::keeps_order`\n\
         2. C; held by: `aiwf_prompt::keeps_order`\n\
         5. D; held by: `aiwf_prompt::keeps_order`\n",
        &[
            "ARCHITECTURE.md:7: this is invariant 3 of the list and has the number 2; give it the number 3",
            "ARCHITECTURE.md:8: this is invariant 4 of the list and has the number 5; give it the number 4",
        ],
    );
}

#[test]
fn a_page_without_invariants_fails() {
    check(
        invariants,
        &Tree::of(&[("ARCHITECTURE.md", "# A\n")]),
        &["ARCHITECTURE.md: has no numbered items under `## Invariants`; add them"],
    );
}
