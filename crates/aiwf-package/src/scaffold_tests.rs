use super::*;

#[test]
fn a_new_package_has_no_findings() {
    let checked = crate::check(scaffold("my-flow").unwrap());
    assert_eq!(checked.findings, []);
    let package = checked.package.unwrap();
    assert_eq!(package.manifest.name, "my-flow");
    assert_eq!(package.workflow(None).unwrap().id, "my-flow");
}

#[test]
fn invalid_names_give_no_files() {
    for name in ["", "-x", "a b", "a/b", "..", "a:b", "a\"b", "x."] {
        assert_eq!(scaffold(name), None, "{name:?}");
    }
}
