#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use serde_json::{Value, json};

use super::super::event::{RunKind, StateWriter};
use super::tests::{NOW, Options, Place, state_at};

fn patch(update: Value) -> Value {
    json!({ "path": "@state/workflow.md", "patch": { "operation": "updateFrontmatter", "update": update } })
}

fn write(content: &str) -> Value {
    json!({ "path": "@state/workflow.md", "content": content })
}

fn done() -> String {
    state_at("done", "one, choose, done", "")
}

#[track_caller]
fn refused(place: &mut Place, name: &str, arguments: Value, code: &str) -> Value {
    let before = place.state();
    let n_intents = place.store.intents.len();
    let error = place.fails(name, arguments, code);
    assert_eq!(place.state(), before);
    assert_eq!(place.store.intents.len(), n_intents);
    error
}

#[test]
fn the_intent_comes_before_the_file() {
    let mut place = Place::new(Options::default());
    let (before, after) = (place.state(), state_at("one", "one", ""));
    place.works("fs.write", write(&after));
    assert_eq!(place.store.intents, [(StateWriter::Call("call-1".to_owned()), before, after.clone())]);
    assert_eq!(place.state(), after);
    // The same bytes are no change.
    place.works("fs.write", write(&after));
    assert_eq!(place.store.intents.len(), 1);
    place.store.refuses = true;
    refused(&mut place, "fs.write", write(&state_at("choose", "one", "")), "E_INTERNAL");
}

#[test]
fn the_guard_refuses_and_nothing_changes() {
    let mut place = Place::new(Options::default());
    place.put("state/workflow.md", &state_at("one", "one", ""));
    refused(&mut place, "fs.write", write("no front matter"), "E_INVALID_FRONTMATTER");
    refused(&mut place, "fs.write", write("---\na: 1\n---\n"), "E_SCHEMA_VALIDATION");
    let error = refused(&mut place, "fs.write", write(&state_at("done", "one", "")), "E_INVALID_TRANSITION");
    assert_eq!(error["details"]["allowedNext"][0]["to"], "choose");
    refused(&mut place, "fs.write", write(&state_at("one", "", "")), "E_INVALID_TRANSITION");
    refused(
        &mut place,
        "fs.apply_patch",
        patch(json!({ "currentNodeId": { "set": "done" } })),
        "E_INVALID_TRANSITION",
    );
    refused(
        &mut place,
        "fs.apply_patch",
        patch(json!({ "stepsCompleted": { "set": [] } })),
        "E_INVALID_ARGS",
    );
    let mut stale = write(&state_at("choose", "one", ""));
    stale["ifMatchSha256"] = "00".into();
    refused(&mut place, "fs.write", stale, "E_PRECONDITION_FAILED");
    place.fails("fs.write", json!({ "path": "@state/Workflow.md", "content": "" }), "E_SANDBOX_VIOLATION");
}

#[test]
fn warnings_of_the_guard_reach_the_model_and_the_user() {
    let mut place = Place::new(Options::default());
    let ran = place.run("fs.apply_patch", patch(json!({ "currentNodeId": { "set": "choose" } })));
    let result: Value = serde_json::from_str(&ran.content).unwrap();
    assert_eq!(result["warnings"][0]["code"], "left-node-not-completed");
    assert_eq!(ran.warnings, ["node `one` was left but is not in `stepsCompleted`"]);
    assert_eq!(ran.exec.output["warnings"], json!(["left-node-not-completed"]));
}

#[test]
fn other_files_of_the_state_are_free() {
    let mut place = Place::new(Options::default());
    place.put("state/workflow.md", &done());
    place.works("fs.write", json!({ "path": "@state/notes.md", "content": "---\na: 1\n---\nb\n" }));
    let update =
        json!({ "operation": "updateFrontmatter", "update": { "variables": { "set": { "a": 2 } } } });
    place.works("fs.apply_patch", json!({ "path": "@state/notes.md", "patch": update }));
    assert!(place.store.intents.is_empty());
    let mut chat = Place::new(Options { kind: RunKind::Chat, ..Options::default() });
    chat.works("fs.write", write("free"));
    assert!(chat.store.intents.is_empty());
}

#[test]
fn a_complete_workflow_changes_only_after_a_confirmation() {
    let code = "STATE_CHANGE_REQUIRES_CONFIRMATION";
    let mut place = Place::new(Options::default());
    place.put("state/workflow.md", &done());
    let set = || patch(json!({ "variables": { "set": { "a": 1 } } }));
    let error = refused(&mut place, "fs.apply_patch", set(), code);
    assert!(error["message"].as_str().unwrap().contains("ui.ask_user"), "{error}");
    assert_eq!(
        error["details"],
        json!({ "widgetId": "workflow_state_change_confirm", "type": "confirmation" })
    );
    // It is asked for before anything else is judged, the hash included.
    let mut stale = write("garbage");
    stale["ifMatchSha256"] = "00".into();
    refused(&mut place, "fs.write", stale, code);
    refused(&mut place, "workflow.complete_node", json!({ "nodeId": "nowhere" }), code);
    // Arguments come first, and what changes nothing needs none.
    place.store.n_confirmations = 1;
    refused(&mut place, "fs.apply_patch", json!({ "path": "@state/workflow.md" }), "E_INVALID_ARGS");
    refused(&mut place, "fs.write", write(&"x".repeat(100_001)), "E_WRITE_LIMIT");
    place.works("fs.write", write(&done()));
    place.works("fs.write", json!({ "path": "@project/x.txt", "content": "" }));
    assert_eq!(place.store.n_confirmations, 1);
    // One call, one confirmation.
    place.works("fs.apply_patch", set());
    refused(&mut place, "fs.apply_patch", patch(json!({ "variables": { "set": { "a": 2 } } })), code);
    // A call that the guard refuses has used it up.
    place.store.n_confirmations = 1;
    refused(&mut place, "fs.write", write("garbage"), "E_INVALID_FRONTMATTER");
    refused(&mut place, "fs.write", write("garbage"), code);
}

#[test]
fn a_node_is_completed_as_a_whole() {
    let mut place = Place::new(Options::default());
    let error =
        refused(&mut place, "workflow.complete_node", json!({ "nodeId": "one" }), "E_INVALID_TRANSITION");
    assert_eq!(error["details"]["missingOutputs"], json!(["artifacts/one.md"]));
    place.put("project/artifacts/one.md", "x");
    refused(&mut place, "workflow.complete_node", json!({ "nodeId": "left" }), "E_INVALID_TRANSITION");
    refused(&mut place, "workflow.complete_node", json!({ "nodeId": "one", "x": 1 }), "E_INVALID_ARGS");
    for (artifact, code) in [
        ("artifacts/no.md", "ENOENT"),
        ("../x", "E_SANDBOX_VIOLATION"),
        ("/etc/passwd", "E_SANDBOX_VIOLATION"),
        ("@pkg/steps/one.md", "E_INVALID_ARGS"),
    ] {
        let arguments = json!({ "nodeId": "one", "artifacts": [artifact] });
        refused(&mut place, "workflow.complete_node", arguments, code);
    }
    let artifacts = ["artifacts/one.md", "@project/artifacts/./one.md", "./artifacts/one.md"];
    let result = place.works("workflow_complete_node", json!({ "nodeId": "one", "artifacts": artifacts }));
    let sha256 = aiwf_store::sha256_hex(place.state().as_bytes());
    assert_eq!(
        result,
        json!({ "ok": true, "completedNodeId": "one", "currentNodeId": "choose", "workflowComplete": false,
            "sha256After": sha256 })
    );
    assert_eq!(place.state().matches("artifacts/one.md").count(), 1);
    assert_eq!(place.store.intents.len(), 1);
    let call = json!({ "nodeId": "choose", "label": "straight", "reason": "short", "variables": { "a": 1 } });
    let result = place.works("workflow.complete_node", call);
    assert_eq!(
        result["decision"],
        json!({ "from": "choose", "to": "done", "label": "straight", "decidedAt": NOW, "reason": "short" })
    );
    let result = place.works("workflow.complete_node", json!({ "nodeId": "done" }));
    assert_eq!(result["workflowComplete"], true);
    let again = json!({ "nodeId": "done" });
    refused(&mut place, "workflow.complete_node", again, "STATE_CHANGE_REQUIRES_CONFIRMATION");
    place.store.n_confirmations = 1;
    place.works("workflow.complete_node", json!({ "nodeId": "done" }));
    assert_eq!(place.store.n_confirmations, 0);
}

#[test]
fn a_new_artifact_is_put_on_record() {
    let mut place = Place::new(Options::default());
    let result =
        place.works("fs.write", json!({ "path": "@project/./artifacts//deep/x.md", "content": "x" }));
    assert_eq!(result["recordedArtifact"], "artifacts/deep/x.md");
    assert!(place.state().contains("artifacts/deep/x.md"));
    assert_eq!(place.store.intents.len(), 1);
    assert_eq!(place.store.intents[0].0, StateWriter::Artifact("call-1".to_owned()));
    // Neither what is replaced nor what is elsewhere.
    let result = place.works("fs.write", json!({ "path": "@project/artifacts/deep/x.md", "content": "y" }));
    assert_eq!(result.get("recordedArtifact"), None);
    for path in ["@project/artifacts.md", "@project/src/artifacts/x", "@state/artifacts/x"] {
        place.works("fs.write", json!({ "path": path, "content": "" }));
    }
    assert_eq!(place.store.intents.len(), 1);
    // A complete workflow needs no confirmation for it.
    place.put("state/workflow.md", &done());
    place.works("fs.write", json!({ "path": "@project/artifacts/late.md", "content": "" }));
    assert!(place.state().contains("artifacts/late.md"));
    let mut agent = Place::new(Options { kind: RunKind::Agent, ..Options::default() });
    agent.works("fs.write", json!({ "path": "@project/artifacts/x.md", "content": "" }));
    assert!(agent.store.intents.is_empty());
}

#[test]
fn an_artifact_that_cannot_be_recorded_is_not_kept() {
    let mut place = Place::new(Options::default());
    let new = || json!({ "path": "@project/artifacts/x.md", "content": "x" });
    place.store.refuses = true;
    let error = refused(&mut place, "fs.write", new(), "E_INTERNAL");
    assert!(
        error["message"].as_str().unwrap().starts_with("`@project/artifacts/x.md` was not kept"),
        "{error}"
    );
    assert_eq!(place.text("project/artifacts/x.md"), None);
    place.store.refuses = false;
    place.put("state/workflow.md", "broken");
    refused(&mut place, "fs.write", new(), "E_INVALID_FRONTMATTER");
    assert_eq!(place.text("project/artifacts/x.md"), None);
}

#[test]
fn the_log_has_no_contents() {
    let mut place = Place::new(Options::default());
    let calls = [
        ("fs.read", json!({ "path": "@project/./src/a.rs", "startLine": 1, "secret": "S3CRET" })),
        ("fs.read", json!({ "path": "/home/someone/S3CRET" })),
        ("fs.search", json!({ "path": "@project", "pattern": "/needle/i" })),
        ("fs.list", json!({ "path": "@project/../x" })),
        ("fs.write", json!({ "path": "@project/artifacts/s.md", "content": "S3CRET" })),
        ("fs.apply_patch", patch(json!({ "variables": { "set": { "token": "S3CRET" } } }))),
        (
            "workflow.complete_node",
            json!({ "nodeId": "one", "reason": "S3CRET", "variables": { "token": "S3CRET" } }),
        ),
        ("ui.ask_user", json!({ "widgetId": "w", "type": "confirmation", "message": "S3CRET" })),
        ("mcp__web__say", json!({ "text": "S3CRET" })),
        ("no.such", json!({ "text": "S3CRET" })),
        ("fs.read", json!("{\"path\": \"S3CRET")),
    ];
    let mut log = Vec::new();
    for (name, arguments) in calls {
        let exec = place.run(name, arguments).exec;
        log.push(json!({ "tool": exec.tool_name, "agent": exec.agent_id, "input": exec.input, "output": exec.output }));
    }
    let log = format!("{:#}", Value::from(log));
    assert!(!log.contains("S3CRET"), "{log}");
    insta::assert_snapshot!(log);
}
