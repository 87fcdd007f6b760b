#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]
#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use super::super::mounts::tests::World;
use super::super::parse_args;
use super::super::{ListArgs, list};
use super::*;

fn limits(max_read_bytes: u64) -> FsLimits {
    FsLimits { max_read_bytes, max_write_bytes: 100 }
}

fn call(world: &World, limit: u64, args: Value) -> Value {
    match parse_args(args).and_then(|args| read(&world.mounts, limits(limit), &args)) {
        Ok(result) => result,
        Err(error) => error.to_json(),
    }
}

#[test]
fn a_whole_file_comes_with_size_and_hash() {
    let world = World::new().file("project/a.md", "one\ntwo\n");
    let result = call(&world, 100, json!({ "path": "@project/a.md" }));
    let sha256 = aiwf_store::sha256_hex(b"one\ntwo\n");
    assert_eq!(
        result,
        json!({ "ok": true, "path": "@project/a.md", "bytes": 8, "sha256": sha256, "truncated": false,
        "content": "one\ntwo\n" })
    );
}

#[test]
fn a_window_counts_from_one_inclusively_and_the_hash_covers_the_file() {
    let world = World::new().file("project/a.md", "one\ntwo\nthree\nfour");
    let result = call(&world, 100, json!({ "path": "@project/a.md", "startLine": 2, "endLine": 3 }));
    assert_eq!(result["content"], "two\nthree\n");
    assert_eq!(result["bytes"], 18);
    assert_eq!(result["sha256"], aiwf_store::sha256_hex(b"one\ntwo\nthree\nfour"));
    assert_eq!(call(&world, 100, json!({ "path": "@project/a.md", "startLine": 4 }))["content"], "four");
    assert_eq!(call(&world, 100, json!({ "path": "@project/a.md", "endLine": 1 }))["content"], "one\n");
}

#[test]
fn a_large_file_is_truncated_and_a_large_window_refused() {
    let world = World::new().file("project/a.md", "äöü\nzwei\n");
    let result = call(&world, 5, json!({ "path": "@project/a.md" }));
    assert_eq!(result["truncated"], true);
    assert_eq!(result["contentPreview"], "äö");
    assert_eq!(result["bytes"], 12);
    assert!(result["hint"].as_str().unwrap().contains("startLine"));
    assert!(result.get("content").is_none());
    let result = call(&world, 5, json!({ "path": "@project/a.md", "startLine": 1, "endLine": 1 }));
    assert_eq!(result["error"]["code"], "E_READ_LIMIT");
    assert_eq!(
        call(&world, 5, json!({ "path": "@project/a.md", "startLine": 2, "endLine": 2 }))["content"],
        "zwei\n"
    );
}

#[test]
fn invalid_arguments_have_their_own_code() {
    let world = World::new().file("project/a.md", "one").file("project/b.bin", [0xff, 0xfe]);
    for args in [
        json!({ "path": "@project/a.md", "startLine": 2, "endLine": 1 }),
        json!({ "path": "@project/a.md", "startLine": 0 }),
        json!({ "path": "@project/a.md", "startLine": 7 }),
        json!({ "path": "@project/a.md", "lines": 7 }),
        json!({ "path": 7 }),
        json!({}),
        json!("@project/a.md"),
        json!({ "path": "@project" }),
        json!({ "path": "@project/b.bin" }),
    ] {
        assert_eq!(call(&world, 100, args.clone())["error"]["code"], "E_INVALID_ARGS", "{args}");
    }
    assert_eq!(call(&world, 100, json!({ "path": "@project/none" }))["error"]["code"], "ENOENT");
    assert_eq!(call(&world, 100, json!({ "path": "secret" }))["error"]["code"], "E_SANDBOX_VIOLATION");
}

#[test]
fn a_listing_omits_hidden_files_and_links() {
    let world = World::new()
        .file("project/b.md", "")
        .file("project/a/x", "")
        .file("project/.env", "")
        .file("project/.git/x", "");
    std::os::unix::fs::symlink("b.md", world.path("project/link")).unwrap();
    let result = list(&world.mounts, &ListArgs { path: "@project/./".to_owned() }).unwrap();
    assert_eq!(result, json!({ "ok": true, "path": "@project", "entries": ["a/", "b.md"] }));
    let error = list(&world.mounts, &ListArgs { path: "@project/b.md".to_owned() }).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgs);
}

#[test]
fn a_long_listing_is_truncated_at_two_hundred() {
    let mut world = World::new();
    for n in 0..203 {
        world = world.file(&format!("project/{n:03}"), "");
    }
    let result = list(&world.mounts, &ListArgs { path: "@project".to_owned() }).unwrap();
    assert_eq!(result["entriesPreview"].as_array().unwrap().len(), 200);
    assert_eq!(result["truncated"], true);
    assert!(result["hint"].as_str().unwrap().starts_with("3 more"));
}
