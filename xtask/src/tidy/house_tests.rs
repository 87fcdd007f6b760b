use super::house_files;
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

#[test]
fn a_complete_house_passes() {
    let readme = "    cargo xtask test\n    cargo run -- demo\n";
    check(house_files, &Tree::of(&[("Cargo.lock", ""), ("README.md", readme)]), &[]);
}

#[test]
fn what_is_missing_is_named() {
    let mut tree = Tree::of(&[("Cargo.lock", ""), ("README.md", "    cargo xtask test\n")]);
    tree.tracked.clear();
    check(
        house_files,
        &tree,
        &[
            "Cargo.lock: is not tracked; commit it, so that every build is the same",
            "README.md: does not show `cargo run -- demo`; add it",
        ],
    );
}
