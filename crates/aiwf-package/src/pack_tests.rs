use super::*;
use crate::fixture::Fixture;

#[test]
fn same_files_give_same_bytes() {
    let package = Package::from_files(Fixture::new().files).unwrap();
    assert_eq!(pack(&package).unwrap(), pack(&package).unwrap());
}

#[test]
fn the_name_of_an_archive_is_a_file_name() {
    for (name, expected) in [
        ("shop", "shop.bmad"),
        ("a/b:c*?", "a-b-c--.bmad"),
        ("", "Untitled.bmad"),
        ("..", "Untitled.bmad"),
        (" x ", "x.bmad"),
    ] {
        assert_eq!(archive_name(name), expected);
    }
    assert_eq!(archive_name(&"x".repeat(200)).len(), 125);
}
