use std::collections::BTreeSet;

use super::tree::Tree;
use super::{CHECKS, Finding};

/// Runs one check over files given as (path, text) and compares its findings as printed.
pub(super) fn check(find: fn(&Tree) -> Vec<Finding>, tree: &Tree, expected: &[&str]) {
    let found: Vec<String> = find(tree).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_check_has_its_own_name() {
    let names: BTreeSet<&str> = CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names.len(), CHECKS.len());
}

#[test]
fn a_finding_names_its_place() {
    assert_eq!(Finding::new("a.rs", 3, "is odd").to_string(), "a.rs:3: is odd");
    assert_eq!(Finding::new("a.rs", 0, "is odd").to_string(), "a.rs: is odd");
}
