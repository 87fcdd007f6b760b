use super::{machine_path, machine_paths, registries};
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

#[test]
fn paths_of_one_machine_fail() {
    for dir in [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/kim/")] {
        assert_eq!(machine_path(&format!("see {dir}x")).as_deref(), Some(dir));
    }
    let text = format!("a\nb `{}main`\n", concat!("/wo", "rk/"));
    check(
        machine_paths,
        &Tree::of(&[("README.md", &text)]),
        &[concat!(
            "README.md:2: names `/wo",
            "rk/`, a path of one machine; use a relative or an invented one"
        )],
    );
}

#[test]
fn examples_and_parts_of_longer_paths_pass() {
    for line in [
        "/home/u/x",
        "/home/user/x",
        "/home/<name>/x",
        "/home/",
        "src/work/x",
        "{root}/work/x",
        "/workspace/x",
    ] {
        assert_eq!(machine_path(line), None, "{line}");
    }
}

#[test]
fn settings_of_a_registry_fail() {
    let text = format!("[build]\njobs = 2\n[source.x]\n{}with = \"y\"\n", "replace-");
    check(
        registries,
        &Tree::of(&[(".cargo/config.toml", &text)]),
        &[".cargo/config.toml:4: names a package registry; leave that to the machine's own set-up"],
    );
}
