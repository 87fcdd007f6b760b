#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]
#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use super::super::mounts::tests::World;
use super::super::parse_args;
use super::*;

fn call(world: &World, args: Value) -> Value {
    let limits = FsLimits { max_read_bytes: 1_000, max_write_bytes: 0 };
    match parse_args(args).and_then(|args| search(&world.mounts, limits, &args)) {
        Ok(result) => result,
        Err(error) => error.to_json(),
    }
}

#[test]
fn a_match_has_its_alias_line_and_context() {
    let world =
        World::new().file("project/src/a.md", "one\ntwo\nthree\nfour\n").file("project/b.md", "three");
    let result = call(&world, json!({ "path": "@project", "pattern": "three" }));
    assert_eq!(
        result,
        json!({ "ok": true, "matches": [
        { "path": "@project/b.md", "line": 1, "text": "three", "before": [], "after": [] },
        { "path": "@project/src/a.md", "line": 3, "text": "three", "before": ["two"], "after": ["four"] },
    ], "truncated": false, "stats": { "filesScanned": 2, "matchesFound": 2 } })
    );
    let result =
        call(&world, json!({ "path": "@project/src/a.md", "pattern": "t", "before": 0, "after": 0 }));
    assert_eq!(result["matches"].as_array().unwrap().len(), 2);
}

#[test]
fn plain_text_is_plain_and_slashes_make_an_expression() {
    let world = World::new().file("project/a", "a.b\naxb\nA.B\n");
    let n = |pattern: &str| {
        call(&world, json!({ "path": "@project", "pattern": pattern }))["matches"].as_array().unwrap().len()
    };
    assert_eq!(n("a.b"), 1);
    assert_eq!(n("/a.b/"), 2);
    assert_eq!(n("/a\\.b/i"), 2);
    assert_eq!(n("/usr/share"), 0);
    for pattern in ["", "/(/"] {
        let result = call(&world, json!({ "path": "@project", "pattern": pattern }));
        assert_eq!(result["error"]["code"], "E_INVALID_ARGS");
    }
}

#[test]
fn hidden_linked_binary_and_module_files_are_not_searched() {
    let world = World::new()
        .file("project/.env", "needle")
        .file("project/.git/config", "needle")
        .file("project/node_modules/x/a.js", "needle")
        .file("project/binary", b"needle\0")
        .file("project/ok", "needle");
    std::os::unix::fs::symlink("../secret", world.path("project/link")).unwrap();
    let result = call(&world, json!({ "path": "@project", "pattern": "/needle|secret/" }));
    assert_eq!(result["matches"].as_array().unwrap().len(), 1);
    assert_eq!(result["matches"][0]["path"], "@project/ok");
    assert_eq!(
        call(&world, json!({ "path": "@project/.git", "pattern": "x" }))["error"]["code"],
        "E_SANDBOX_VIOLATION"
    );
    assert_eq!(call(&world, json!({ "path": "@project/none", "pattern": "x" }))["error"]["code"], "ENOENT");
}

#[test]
fn results_are_bounded_in_number_and_size() {
    let world = World::new().file("project/a", "x\n".repeat(100)).file("project/b", "y".repeat(2_000));
    let result = call(&world, json!({ "path": "@project", "pattern": "x", "maxMatches": 3 }));
    assert_eq!(result["matches"].as_array().unwrap().len(), 3);
    assert_eq!(result["truncated"], true);
    let result = call(&world, json!({ "path": "@project", "pattern": "x" }));
    assert_eq!(result["matches"].as_array().unwrap().len(), 50);
    let result = call(&world, json!({ "path": "@project/b", "pattern": "y" }));
    assert_eq!((result["truncated"].clone(), result["matches"].clone()), (json!(true), json!([])));
}

#[test]
fn a_very_long_line_is_truncated_and_the_search_continues() {
    let long = format!("needle {}\nneedle\n", "x".repeat(600_000));
    let world = World::new().file("project/a.md", &long).file("project/b.md", "needle");
    let limits = FsLimits { max_read_bytes: 100_000, max_write_bytes: 0 };
    let args =
        parse_args(json!({ "path": "@project", "pattern": "needle", "before": 0, "after": 0 })).unwrap();
    let result = search(&world.mounts, limits, &args).unwrap();
    let matches = result["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 3);
    let text = matches[0]["text"].as_str().unwrap();
    assert!(text.len() < 5_000 && text.ends_with("… (600007 bytes)"), "{} bytes", text.len());
}
