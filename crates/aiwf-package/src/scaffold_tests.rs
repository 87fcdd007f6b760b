use super::*;

#[test]
fn a_new_package_passes_without_a_word() {
    let checked = crate::check(scaffold("my-flow").unwrap());
    assert_eq!(checked.findings, []);
    let package = checked.package.unwrap();
    assert_eq!(package.manifest.name, "my-flow");
    assert_eq!(package.workflow(None).unwrap().id, "my-flow");
}

#[test]
fn names_that_are_no_names_give_nothing() {
    for name in ["", "-x", "a b", "a/b", "..", "a:b", "a\"b", "x."] {
        assert_eq!(scaffold(name), None, "{name:?}");
    }
}
