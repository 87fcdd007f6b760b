#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use super::super::mounts::tests::World;
use super::super::parse_args;
use super::super::{ApplyPatchArgs, apply_patch};
use super::*;

/// Refuses content with the word, and records the requests.
#[derive(Default)]
struct Picky {
    n_asked: usize,
}

impl WriteGate for Picky {
    fn check(&mut self, _: &AliasPath, _: Option<&[u8]>, after: &[u8]) -> Result<(), ToolError> {
        self.n_asked += 1;
        if String::from_utf8_lossy(after).contains("forbidden") {
            return Err(ToolError::new(ErrorCode::InvalidTransition, "no"));
        }
        Ok(())
    }
}

fn put(world: &World, gate: &mut Picky, args: Value) -> Value {
    let limits = FsLimits { max_read_bytes: 0, max_write_bytes: 100 };
    match parse_args(args).and_then(|args| write(&world.mounts, limits, &args, gate)) {
        Ok(written) => written.result,
        Err(error) => error.to_json(),
    }
}

fn patch(world: &World, args: Value) -> Value {
    let limits = FsLimits { max_read_bytes: 0, max_write_bytes: 1_000 };
    match parse_args::<ApplyPatchArgs>(args)
        .and_then(|args| apply_patch(&world.mounts, limits, &args, &mut Picky::default()))
    {
        Ok(written) => written.result,
        Err(error) => error.to_json(),
    }
}

#[test]
fn a_write_reports_what_it_wrote() {
    let world = World::new();
    let result =
        put(&world, &mut Picky::default(), json!({ "path": "@project/artifacts/a.md", "content": "text" }));
    assert_eq!(
        result,
        json!({ "ok": true, "path": "@project/artifacts/a.md", "bytesWritten": 4,
        "sha256After": aiwf_store::sha256_hex(b"text") })
    );
    assert_eq!(world.text("project/artifacts/a.md"), "text");
}

#[test]
fn only_writable_paths_are_written() {
    let world = World::new().file("package/a.md", "a").file("project/.git/config", "x");
    let mut gate = Picky::default();
    for path in [
        "@pkg/a.md",
        "@project/.git/config",
        "@state/logs/x",
        "@state/WORKFLOW.MD",
        "@project/../x",
        "/tmp/x",
    ] {
        let result = put(&world, &mut gate, json!({ "path": path, "content": "x" }));
        assert_eq!(result["error"]["code"], "E_SANDBOX_VIOLATION", "{path}");
    }
    let result = put(&world, &mut gate, json!({ "path": "@project/a", "content": "x".repeat(101) }));
    assert_eq!(result["error"]["code"], "E_WRITE_LIMIT");
    assert_eq!(gate.n_asked, 0);
}

#[test]
fn an_outdated_hash_stops_the_write() {
    let world = World::new().file("project/a", "one");
    let mut gate = Picky::default();
    let fresh = aiwf_store::sha256_hex(b"one").to_uppercase();
    let args = |hash: &str| json!({ "path": "@project/a", "content": "two", "ifMatchSha256": hash });
    assert_eq!(put(&world, &mut gate, args("00"))["error"]["code"], "E_PRECONDITION_FAILED");
    assert_eq!(world.text("project/a"), "one");
    assert_eq!(put(&world, &mut gate, args(&fresh))["ok"], true);
    assert_eq!(put(&world, &mut gate, args(&fresh))["error"]["code"], "E_PRECONDITION_FAILED");
    let result =
        put(&world, &mut gate, json!({ "path": "@project/none", "content": "", "ifMatchSha256": fresh }));
    assert_eq!(result["error"]["code"], "E_PRECONDITION_FAILED");
}

#[test]
fn the_gate_is_asked_only_about_state_and_can_refuse() {
    let world = World::new().file("state/workflow.md", "old");
    let mut gate = Picky::default();
    assert_eq!(put(&world, &mut gate, json!({ "path": "@project/a", "content": "forbidden" }))["ok"], true);
    assert_eq!(gate.n_asked, 0);
    let result = put(&world, &mut gate, json!({ "path": "@state/./workflow.md", "content": "forbidden" }));
    assert_eq!(result, json!({ "ok": false, "error": { "code": "E_INVALID_TRANSITION", "message": "no" } }));
    assert_eq!((gate.n_asked, world.text("state/workflow.md").as_str()), (1, "old"));
}

#[test]
fn a_patch_changes_keys_and_keeps_the_body() {
    let text = "---\n# mine\nstepsCompleted: [a]\ncurrentNodeId: a\nextra: 'kept'\n---\n\n# Body\n---\ntext";
    let world = World::new().file("state/workflow.md", text);
    let result = patch(
        &world,
        json!({ "path": "@state/workflow.md", "patch": { "operation": "updateFrontmatter",
        "update": { "stepsCompleted": { "append": ["a", "b"] }, "currentNodeId": { "set": "c" },
            "variables": { "set": { "kind": "yes" } }, "artifacts": { "append": ["artifacts/x.md"] } },
        "ifMatchSha256": aiwf_store::sha256_hex(text.as_bytes()) } }),
    );
    assert_eq!(result["sha256Before"], aiwf_store::sha256_hex(text.as_bytes()));
    insta::assert_snapshot!(world.text("state/workflow.md"), @r#"
    ---
    # mine
    stepsCompleted:
      - a
      - b
    currentNodeId: c
    extra: 'kept'
    variables:
      kind: "yes"
    artifacts:
      - artifacts/x.md
    ---

    # Body
    ---
    text
    "#);
    assert_eq!(result["sha256After"], aiwf_store::sha256_hex(world.text("state/workflow.md").as_bytes()));
}

#[test]
fn a_patch_allows_no_other_keys_and_only_state() {
    let world =
        World::new().file("state/workflow.md", "---\na: 1\n---\n").file("state/other.md", "no front matter");
    let one = |path: &str, update: Value| {
        patch(
            &world,
            json!({ "path": path, "patch": { "operation": "updateFrontmatter", "update": update } }),
        )["error"]["code"]
            .clone()
    };
    assert_eq!(one("@project/a.md", json!({})), "E_SANDBOX_VIOLATION");
    assert_eq!(one("@pkg/a.md", json!({})), "E_SANDBOX_VIOLATION");
    assert_eq!(one("@state/none.md", json!({})), "ENOENT");
    assert_eq!(one("@state/other.md", json!({})), "E_INVALID_FRONTMATTER");
    assert_eq!(one("@state/workflow.md", json!({ "runId": { "set": "x" } })), "E_INVALID_ARGS");
    assert_eq!(one("@state/workflow.md", json!({ "stepsCompleted": { "remove": ["a"] } })), "E_INVALID_ARGS");
    let other = patch(
        &world,
        json!({ "path": "@state/workflow.md", "patch": { "operation": "replace", "update": {} } }),
    );
    assert_eq!(other["error"]["code"], "E_INVALID_ARGS");
}
