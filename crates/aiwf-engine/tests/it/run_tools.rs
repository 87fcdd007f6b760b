//! The tools of runs and conversations: who is offered what, what is refused, how much a model gets.

use aiwf_testkit::SmallPackage;
use serde_json::{Value, json};

use crate::fake_provider::{Asked, FakeProvider, Piece, Turn};
use crate::run_driver::{
    WAITING, chat, check_no_real_path, check_no_real_path_was_sent, in_package, last_code, log, read,
    results, run, run_dir, say, small, talk_to, write,
};
use crate::scene::Scene;

const RUN_TOOLS: [&str; 7] = [
    "fs_list",
    "fs_read",
    "fs_search",
    "fs_write",
    "fs_apply_patch",
    "ui_ask_user",
    "workflow_complete_node",
];

fn call(name: &str, args: Value) -> Turn {
    Turn::tool_call(name, args)
}

/// A run in which the model makes these calls, one at a time, and what each of them gave.
fn answers(calls: Vec<Turn>, scene_of: impl Fn(&FakeProvider) -> Scene) -> (Scene, Vec<Value>) {
    let n_calls = calls.len();
    let server = FakeProvider::script(calls.into_iter().chain([Turn::text("That is all.")]));
    let scene = scene_of(&server);
    let report = run(&scene, WAITING);
    assert_eq!(report["reply"], "That is all.", "{report:#}");
    check_no_real_path_was_sent(&server, &scene);
    let results = results(server.asks().last().unwrap());
    assert_eq!(results.len(), n_calls);
    (scene, results)
}

fn in_small(calls: Vec<Turn>, more: &str) -> (Scene, Vec<Value>) {
    answers(calls, |server| small(server, more))
}

#[test]
fn what_is_offered_depends_on_the_mode_and_on_the_policy() {
    let server = FakeProvider::answering(|_| Turn::text("Yes?"));
    let scene = small(&server, "");
    run(&scene, WAITING);
    talk_to(&scene, "writer", "Who are you?");
    chat(&scene, "Who are you?");
    let offered: Vec<Vec<String>> = server.asks().iter().map(Asked::tool_names).collect();
    assert_eq!(offered[0], RUN_TOOLS);
    // Nothing is completed in a conversation.
    assert_eq!(offered[1], RUN_TOOLS[..6]);
    assert_eq!(offered[2], RUN_TOOLS[..6]);
    // The configuration can take files away from everybody.
    let scene = small(&server, "[workflow]\nfiles = false\n");
    run(&scene, WAITING);
    chat(&scene, "Who are you?");
    let asks = server.asks();
    assert_eq!(asks[3].tool_names(), ["ui_ask_user", "workflow_complete_node"]);
    assert_eq!(asks[4].tool_names(), ["ui_ask_user"]);
    assert!(asks[4].system_text().contains("- fs: disabled"));
}

#[test]
fn a_tool_that_is_not_offered_is_refused() {
    let package = || SmallPackage::new().tools(0, json!({ "fs": { "enabled": false } }));
    let calls = vec![
        read("@pkg/steps/start.md"),
        call("fs_apply_patch", json!({ "path": "@state/workflow.md", "patch": {} })),
        call("fs.write", json!({ "path": "@project/x", "content": "x" })),
        call("no_such_tool", json!({})),
        call("mcp__server__tool", json!({})),
    ];
    let (scene, results) = answers(calls, |server| in_package(&package(), server, ""));
    for result in &results {
        assert_eq!(result["error"]["code"], "TOOL_NOT_AVAILABLE", "{result:#}");
    }
    assert!(results[4]["error"]["message"].as_str().unwrap().contains("MCP is disabled"), "{results:#?}");
    assert!(!scene.project.path("x").exists());
    // What was refused is on the log like everything else.
    let names: Vec<Value> = log(&scene).iter().map(|line| line["toolName"].clone()).collect();
    assert_eq!(names, ["fs.read", "fs.apply_patch", "fs.write", "no_such_tool", "mcp__server__tool"]);
    // A conversation has no node to complete.
    let server = FakeProvider::script([
        call("workflow_complete_node", json!({ "nodeId": "start" })),
        Turn::text("Oh."),
    ]);
    let scene = small(&server, "");
    talk_to(&scene, "writer", "Go on.");
    assert_eq!(last_code(&server.asks()[1]), "TOOL_NOT_AVAILABLE");
}

#[test]
fn a_tool_answers_to_both_of_its_names() {
    let calls = vec![
        call("fs.list", json!({ "path": "@pkg" })),
        call("fs_list", json!({ "path": "@pkg" })),
        call("workflow.complete_node", json!({ "nodeId": "start" })),
        call("workflow_complete_node", json!({ "nodeId": "check" })),
    ];
    let (scene, results) = answers(calls, |server| small(server, ""));
    assert!(results.iter().all(|result| result["ok"] == true), "{results:#?}");
    assert_eq!(results[0], results[1]);
    let names: Vec<Value> = log(&scene).iter().map(|line| line["toolName"].clone()).collect();
    assert_eq!(names, ["fs.list", "fs.list", "workflow.complete_node", "workflow.complete_node"]);
}

#[test]
fn arguments_that_are_no_object_go_back_as_an_error() {
    let server = FakeProvider::script([
        call("fs_read", json!("@pkg/steps/start.md")),
        call("fs_read", json!(["@pkg/steps/start.md"])),
        call("fs_read", json!({ "file": "@pkg/steps/start.md" })),
        Turn::text("I see."),
    ]);
    let scene = small(&server, "");
    run(&scene, WAITING);
    let asks = server.asks();
    assert_eq!(last_code(&asks[1]), "TOOL_ARGS_INVALID_JSON");
    assert_eq!(last_code(&asks[2]), "TOOL_ARGS_INVALID_JSON");
    assert_eq!(last_code(&asks[3]), "E_INVALID_ARGS");
}

#[test]
fn a_large_result_is_kept_and_read_on_from_its_file() {
    let text = "a line with a needle\n".repeat(400);
    let server = FakeProvider::script([
        call(
            "fs_search",
            json!({ "path": "@project/big.txt", "pattern": "needle", "maxMatches": 300, "before": 0, "after": 0 }),
        ),
        read("@project/big.txt"),
        Turn::text("Much."),
    ]);
    let scene = small(&server, "[workflow]\nresult_preview_bytes = 2000\n");
    scene.write("big.txt", &text);
    run(&scene, WAITING);
    let all = results(&server.asks()[2]);
    let found = &all[0];
    assert_eq!((&found["ok"], &found["truncated"]), (&json!(true), &json!(true)), "{found:#}");
    assert!(found.to_string().len() <= 2000);
    let path = found["resultPath"].as_str().unwrap().to_owned();
    assert!(path.starts_with("@state/logs/tool-results/"), "{path}");
    // A file is read on where it is, and not kept twice.
    let part = &all[1];
    assert_eq!((&part["truncated"], part.get("resultPath")), (&json!(true), None), "{part:#}");
    assert!(part["hint"].as_str().unwrap().contains("startLine"), "{part:#}");
    assert_eq!(part["bytes"], text.len());
    let kept = format!("{}/state/{}", run_dir(&scene), path.strip_prefix("@state/").unwrap());
    let whole: Value = serde_json::from_slice(&scene.project.read(&kept)).unwrap();
    assert_eq!(whole["matches"].as_array().unwrap().len(), 300);

    // The same run reads it.
    let next = FakeProvider::script([
        call("fs_read", json!({ "path": path, "startLine": 1, "endLine": 5 })),
        Turn::text("More."),
    ]);
    let scene = scene.with_provider("model", next.clone());
    say(&scene, "Read on.");
    let last = results(&next.asks()[1]).pop().unwrap();
    assert_eq!(last["ok"], true, "{last:#}");
    assert!(last["content"].as_str().unwrap().contains("matches"), "{last:#}");
}

#[test]
fn limits_of_reading_and_writing_hold() {
    let more = "[workflow]\nmax_read_bytes = 100\nmax_write_bytes = 50\n";
    let server = FakeProvider::script([
        read("@project/big.txt"),
        call("fs_read", json!({ "path": "@project/big.txt", "startLine": 2, "endLine": 3 })),
        call("fs_read", json!({ "path": "@project/big.txt", "startLine": 1, "endLine": 50 })),
        call("fs_read", json!({ "path": "@project/big.txt", "startLine": 3, "endLine": 2 })),
        write("@project/out.txt", &"x".repeat(51)),
        write("@project/out.txt", &"x".repeat(50)),
        Turn::text("Enough."),
    ]);
    let scene = small(&server, more);
    scene.write("big.txt", "0123456789\n".repeat(50));
    run(&scene, WAITING);
    let all = results(&server.asks()[6]);
    assert_eq!(
        (&all[0]["ok"], &all[0]["truncated"], &all[0]["bytes"]),
        (&json!(true), &json!(true), &json!(550))
    );
    assert!(all[0]["contentPreview"].as_str().unwrap().len() <= 100);
    assert_eq!(all[1]["content"], "0123456789\n0123456789\n");
    assert_eq!(all[2]["error"]["code"], "E_READ_LIMIT", "{:#}", all[2]);
    assert_eq!(all[3]["error"]["code"], "E_INVALID_ARGS", "{:#}", all[3]);
    assert_eq!(all[4]["error"]["code"], "E_WRITE_LIMIT", "{:#}", all[4]);
    assert_eq!(all[5]["ok"], true);
    assert_eq!(scene.project.read("out.txt").len(), 50);
}

#[test]
fn several_calls_of_one_reply_run_in_their_order_with_one_result_each() {
    let piece = |name: &str, args: Value| Piece::ToolCall { name: name.to_owned(), args };
    let server = FakeProvider::script([
        Turn::Pieces(vec![
            Piece::Text("All at once.".to_owned()),
            piece("fs_write", json!({ "path": "@project/artifacts/a.md", "content": "one\n" })),
            piece("fs_read", json!({ "path": "@project/artifacts/a.md" })),
            piece("fs_read", json!({ "path": "@project/nowhere" })),
            piece("workflow_complete_node", json!({ "nodeId": "start", "artifacts": ["artifacts/a.md"] })),
        ]),
        Turn::text("Done."),
    ]);
    let scene = small(&server, "");
    let report = run(&scene, WAITING);
    assert_eq!(report["node"], "check");
    let all = results(&server.asks()[1]);
    assert_eq!(all.len(), 4);
    assert_eq!(all[0]["recordedArtifact"], "artifacts/a.md");
    assert_eq!(all[1]["content"], "one\n");
    assert_eq!(all[2]["error"]["code"], "ENOENT");
    assert_eq!(all[3]["currentNodeId"], "check");
    let ids: Vec<Value> = log(&scene).iter().map(|line| line["toolCallId"].clone()).collect();
    assert_eq!(ids.len(), 4);
    assert!((1..4).all(|at| !ids[..at].contains(&ids[at])), "{ids:?}");
}

#[test]
fn aiwf_and_git_directories_are_hidden_from_tools() {
    let secrets = [
        read("@project/.aiwf/config.toml"),
        read("@project/.git/config"),
        read("@project/./.aiwf/config.toml"),
        call("fs_list", json!({ "path": "@project/.aiwf" })),
        call("fs_list", json!({ "path": "@project/.aiwf/sessions" })),
        call("fs_search", json!({ "path": "@project/.git", "pattern": "token" })),
        write("@project/.aiwf/config.toml", "[workflow]\n"),
        write("@project/.git/hooks/pre-commit", "#!/bin/sh\n"),
        read("/etc/passwd"),
        read("@project/../outside"),
        write("@pkg/steps/start.md", "x"),
    ];
    let n_secrets = secrets.len();
    let more = [
        call("fs_list", json!({ "path": "@project" })),
        call("fs_search", json!({ "path": "@project", "pattern": "token" })),
    ];
    let (scene, results) = answers(secrets.into_iter().chain(more).collect(), |server| {
        let scene = small(server, "");
        scene.write(".git/config", "token = 1\n");
        scene.write("visible.txt", "token\n");
        scene
    });
    for result in &results[..n_secrets] {
        assert_eq!(result["error"]["code"], "E_SANDBOX_VIOLATION", "{result:#}");
    }
    let listed = results[n_secrets]["entries"].to_string();
    assert!(
        listed.contains("visible.txt") && !listed.contains(".aiwf") && !listed.contains(".git"),
        "{listed}"
    );
    let found = results[n_secrets + 1]["matches"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["path"], "@project/visible.txt");
    assert_eq!(scene.project.read(".git/config"), b"token = 1\n");
    assert!(!scene.project.path(".git/hooks").exists());
    check_no_real_path(&json!(log(&scene)).to_string(), &scene);
}

#[test]
fn a_real_path_in_a_file_does_not_reach_the_model() {
    let calls = vec![
        read("@project/paths.txt"),
        call("fs_search", json!({ "path": "@project", "pattern": "here:" })),
    ];
    let (_scene, results) = answers(calls, |server| {
        let scene = small(server, "");
        let root = scene.project.root().display().to_string();
        let home = scene.project.home().display().to_string();
        scene.write("paths.txt", format!("here: {root}/src and {home}/notes\n"));
        scene
    });
    assert_eq!(results[0]["content"], "here: @project/src and ~/notes\n", "{:#}", results[0]);
}

#[test]
fn search_takes_expressions_and_read_says_what_the_whole_file_is() {
    let calls = vec![
        call(
            "fs_search",
            json!({ "path": "@pkg", "pattern": "/do what `\"check\"`/i", "before": 0, "after": 0 }),
        ),
        call("fs_read", json!({ "path": "@pkg/steps/start.md", "startLine": 1, "endLine": 1 })),
        call("fs_list", json!({ "path": "@pkg" })),
        call("fs_list", json!({ "path": "@pkg/nowhere" })),
    ];
    let (scene, results) = in_small(calls, "");
    assert_eq!(results[0]["matches"][0]["path"], "@pkg/steps/check.md", "{:#}", results[0]);
    let whole = scene.project.read("pkg/steps/start.md");
    assert_eq!((&results[1]["content"], &results[1]["bytes"]), (&json!("---\n"), &json!(whole.len())));
    assert_eq!(results[1]["sha256"].as_str().unwrap().len(), 64);
    let entries = json!(["agents.json", "bmad.json", "steps/", "workflow.graph.json", "workflow.md"]);
    assert_eq!(results[2]["entries"], entries);
    assert_eq!(results[3]["error"]["code"], "ENOENT");
}
