#![expect(clippy::disallowed_methods, reason = "tests change files as a person would")]

use super::*;

#[test]
fn every_kind_of_change_is_found_and_links_are_not_followed() {
    let world = tempfile::tempdir().unwrap();
    let root = world.path().join("root");
    let path = |name: &str| root.join(name);
    fs::create_dir_all(path("dir")).unwrap();
    for name in ["same", "changed", "gone", "dir/link"] {
        fs::write(path(name), name).unwrap();
    }
    fs::write(world.path().join("outside"), "before").unwrap();
    replace_with_link(world.path().join("outside"), &path("dir/link"));
    let before = Tree::of(std::slice::from_ref(&root));
    assert_eq!(before.changed(&Tree::of(std::slice::from_ref(&root))), Vec::<&Path>::new());

    fs::write(world.path().join("outside"), "after").unwrap();
    fs::write(path("changed"), "CHANGED").unwrap();
    fs::remove_file(path("gone")).unwrap();
    fs::write(path("new"), "").unwrap();
    let after = Tree::of(std::slice::from_ref(&root));
    assert_eq!(before.changed(&after), [path("changed"), path("gone"), path("new")]);
}
