use super::{manifests, one_clippy_toml};
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

fn check_manifest(text: &str, expected: &[&str]) {
    check(manifests, &Tree::of(&[("crates/a/Cargo.toml", text)]).with_members(&[("a", &[])]), expected);
}

#[test]
fn workspace_dependencies_pass_in_every_spelling() {
    check_manifest(
        "[package]\nversion = \"1\"\n[lints]\nworkspace = true\n\
         [dependencies]\nb.workspace = true\nc = { workspace = true, features = [\n  \"x\",\n] }\n\
         [dev-dependencies.d]\nworkspace = true\nfeatures = [\"y\"]\n\
         [target.'cfg(unix)'.dependencies]\ne = { workspace = true } # why\n",
        &[],
    );
}

#[test]
fn own_versions_fail() {
    let message = |line: usize, name: &str| {
        format!(
            "crates/a/Cargo.toml:{line}: dependency `{name}` is not the workspace's; declare it in the root \
             manifest and write `{name}.workspace = true`"
        )
    };
    check_manifest(
        "[lints]\nworkspace = true\n[dependencies]\nb = \"1\"\nc = { path = \"../c\" }\n\
         [build-dependencies.d]\nversion = \"1\"\nfeatures = []\n",
        &[&message(4, "b"), &message(5, "c"), &message(7, "d")],
    );
}

#[test]
fn a_crate_without_the_workspace_lints_fails() {
    check_manifest(
        "[package]\n[lints.rust]\nunsafe_code = \"allow\"\n",
        &["crates/a/Cargo.toml: does not take the workspace's lints; add `[lints]` with `workspace = true`"],
    );
}

#[test]
fn only_the_root_has_a_clippy_toml() {
    check(
        one_clippy_toml,
        &Tree::of(&[("clippy.toml", ""), ("crates/a/clippy.toml", "")]),
        &["crates/a/clippy.toml: replaces the root's bans for its crate; lift a ban with a reasoned \
           `#![expect]` instead"],
    );
}
