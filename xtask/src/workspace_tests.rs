use std::process::Command;

use serde_json::json;

use super::{members, shown};

#[test]
fn members_come_without_their_dev_dependencies() {
    let metadata = json!({
        "workspace_root": "/r",
        "packages": [
            {"name": "b", "manifest_path": "/r/crates/b/Cargo.toml", "dependencies": [
                {"name": "a", "kind": null}, {"name": "kit", "kind": "dev"}, {"name": "gen", "kind": "build"},
            ]},
            {"name": "a", "manifest_path": "/r/crates/a/Cargo.toml", "dependencies": []},
        ],
    });
    let members = members(&metadata).unwrap();
    let dirs: Vec<&str> = members.iter().map(|member| member.dir.as_str()).collect();
    assert_eq!(dirs, ["crates/a", "crates/b"]);
    let dependencies: Vec<&str> = members[1].dependencies.iter().map(String::as_str).collect();
    assert_eq!(dependencies, ["a", "gen"]);
}

#[test]
fn a_command_is_shown_as_typed() {
    let mut command = Command::new("/opt/bin/cargo");
    command.args(["nextest", "-E", "test(a) | test(b)", "it's"]).env("CASES", "20");
    assert_eq!(shown(&command), r"CASES=20 cargo nextest -E 'test(a) | test(b)' 'it'\''s'");
}
