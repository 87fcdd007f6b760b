//! Checks that every test file is part of a test binary: one that is not listed passes by never running.

use crate::tidy::Finding;
use crate::tidy::rust_text::RustText;
use crate::tidy::tree::{SourceFile, Tree};

/// Finds test files that nothing compiles.
pub(super) fn listed_tests(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter_map(|(file, _)| in_test_binary(tree, file).or_else(|| beside_code(tree, file)))
        .collect()
}

/// A file in `tests/it/` stands as `mod x;` in the `main.rs` beside it.
fn in_test_binary(tree: &Tree, file: &SourceFile) -> Option<Finding> {
    let module = file.name().strip_suffix(".rs")?;
    if !file.dir().ends_with("tests/it/") || module == "main" {
        return None;
    }
    let main_path = format!("{}main.rs", file.dir());
    let declaration = format!("mod {module};");
    let is_declared = |rust: &RustText| rust.code.lines().any(|line| line.trim() == declaration);
    let is_listed = tree.file(&main_path).and_then(|main| main.rust.as_ref()).is_some_and(is_declared);
    (!is_listed)
        .then(|| Finding::new(&file.path, 0, format!("never runs; add `{declaration}` to `{main_path}`")))
}

/// A `foo_tests.rs` is named by a `#[path]` in a file of the same folder, or of the one above.
fn beside_code(tree: &Tree, file: &SourceFile) -> Option<Finding> {
    let name = file.name();
    if !name.ends_with("_tests.rs") {
        return None;
    }
    let is_named = tree
        .rust_files()
        .filter(|(other, _)| file.dir().starts_with(other.dir()))
        .flat_map(|(_, rust)| rust.strings_after("#[path = "))
        .any(|(_, path)| path.rsplit('/').next() == Some(name));
    (!is_named).then(|| {
        Finding::new(
            &file.path,
            0,
            format!("never runs; name it with `#[path = \"{name}\"]` in the file it tests"),
        )
    })
}

#[cfg(test)]
#[path = "listed_tests.rs"]
mod tests;
