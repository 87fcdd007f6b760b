//! The tools of runs and conversations: who is offered what, what is refused, how much a model gets.

use std::fmt::Write as _;

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::{Piece, SeenRequest, Turn};
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::workflow_package::{
    SmallPackage, check_no_real_path, check_no_real_path_was_sent, last_code, read, results, run,
};
use crate::workflow_walk::{APIS, log, run_dir, write};

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
fn answers(kind: &str, calls: Vec<Turn>, scene_of: impl Fn(&ModelServer) -> Scene) -> (Scene, Vec<Value>) {
    let n_calls = calls.len();
    let server = ModelServer::script(calls.into_iter().chain([Turn::text("That is all.")]));
    let scene = scene_of(&server);
    let report = run(&scene, 3);
    assert_eq!(report["reply"], "That is all.", "{kind}: {report:#}");
    check_no_real_path_was_sent(&server, &scene);
    let results = results(server.asks().last().unwrap());
    assert_eq!(results.len(), n_calls);
    (scene, results)
}

fn in_small(calls: Vec<Turn>, more: &str) -> (Scene, Vec<Value>) {
    answers("openai", calls, |server| SmallPackage::new().behind("openai", server, more))
}

#[test]
fn what_is_offered_depends_on_the_mode_and_on_the_policy() {
    let server = ModelServer::answering(|_| Turn::text("Yes?"));
    let scene = SmallPackage::new().behind("anthropic", &server, "");
    run(&scene, 3);
    scene.done("agent pkg writer --provider model --input 'Who are you?'");
    scene.done("chat --provider model --input 'Who are you?'");
    let offered: Vec<Vec<String>> = server.asks().iter().map(SeenRequest::tool_names).collect();
    assert_eq!(offered[0], RUN_TOOLS);
    // Nothing is completed in a conversation.
    assert_eq!(offered[1], RUN_TOOLS[..6]);
    assert_eq!(offered[2], RUN_TOOLS[..6]);
    // The configuration can take files away from everybody.
    let scene = SmallPackage::new().behind("anthropic", &server, "[workflow]\nfiles = false\n");
    run(&scene, 3);
    scene.done("chat --provider model --input 'Who are you?'");
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
    let (scene, results) = answers("openai", calls, |server| package().behind("openai", server, ""));
    for result in &results {
        assert_eq!(result["error"]["code"], "TOOL_NOT_AVAILABLE", "{result:#}");
    }
    assert!(results[4]["error"]["message"].as_str().unwrap().contains("MCP is disabled"), "{results:#?}");
    assert!(!scene.project.path("x").exists());
    // What was refused is on the log like everything else.
    let names: Vec<Value> = log(&scene).iter().map(|line| line["toolName"].clone()).collect();
    assert_eq!(names, ["fs.read", "fs.apply_patch", "fs.write", "no_such_tool", "mcp__server__tool"]);
    // A conversation has no node to complete.
    let server = ModelServer::script([
        call("workflow_complete_node", json!({ "nodeId": "start" })),
        Turn::text("Oh."),
    ]);
    let scene = SmallPackage::new().behind("openai", &server, "");
    scene.done("agent pkg writer --provider model --input 'Go on.'");
    assert_eq!(last_code(&server.asks()[1]), "TOOL_NOT_AVAILABLE");
}

#[test]
fn a_tool_answers_to_both_of_its_names() {
    for kind in APIS {
        let calls = vec![
            call("fs.list", json!({ "path": "@pkg" })),
            call("fs_list", json!({ "path": "@pkg" })),
            call("workflow.complete_node", json!({ "nodeId": "start" })),
            call("workflow_complete_node", json!({ "nodeId": "check" })),
        ];
        let (scene, results) = answers(kind, calls, |server| SmallPackage::new().behind(kind, server, ""));
        assert!(results.iter().all(|result| result["ok"] == true), "{kind}: {results:#?}");
        assert_eq!(results[0], results[1], "{kind}");
        let names: Vec<Value> = log(&scene).iter().map(|line| line["toolName"].clone()).collect();
        assert_eq!(
            names,
            ["fs.list", "fs.list", "workflow.complete_node", "workflow.complete_node"],
            "{kind}"
        );
    }
}

#[test]
fn arguments_that_are_no_object_go_back_as_an_error() {
    for kind in APIS {
        let server = ModelServer::script([
            call("fs_read", json!("@pkg/steps/start.md")),
            call("fs_read", json!(["@pkg/steps/start.md"])),
            call("fs_read", json!({ "file": "@pkg/steps/start.md" })),
            Turn::text("I see."),
        ]);
        let scene = SmallPackage::new().behind(kind, &server, "");
        run(&scene, 3);
        let asks = server.asks();
        assert_eq!(last_code(&asks[1]), "TOOL_ARGS_INVALID_JSON", "{kind}");
        assert_eq!(last_code(&asks[2]), "TOOL_ARGS_INVALID_JSON", "{kind}");
        assert_eq!(last_code(&asks[3]), "E_INVALID_ARGS", "{kind}");
    }
}

/// A stream of events, byte for byte.
fn raw_events(events: &[Value], is_named: bool) -> Turn {
    let mut text =
        String::from("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
    for event in events {
        if is_named {
            writeln!(text, "event: {}", event["type"].as_str().unwrap()).unwrap();
        }
        write!(text, "data: {event}\n\n").unwrap();
    }
    Turn::Raw(text.into_bytes())
}

#[test]
fn arguments_that_are_no_json_go_back_as_an_error() {
    let broken = r#"{"path": "@pkg/st"#;
    let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": { "name": "fs_read", "arguments": broken } });
    let openai = raw_events(
        &[
            json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "tool_calls": [call] } }] }),
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
        ],
        false,
    );
    let anthropic = raw_events(
        &[
            json!({ "type": "message_start", "message": { "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "call_1", "name": "fs_read", "input": {} } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": broken } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 1 } }),
            json!({ "type": "message_stop" }),
        ],
        true,
    );
    for (kind, turn) in [("openai", openai), ("anthropic", anthropic)] {
        let server = ModelServer::script([turn, Turn::text("I see.")]);
        let scene = SmallPackage::new().behind(kind, &server, "");
        run(&scene, 3);
        let asks = server.asks();
        assert_eq!(last_code(&asks[1]), "TOOL_ARGS_INVALID_JSON", "{kind}");
        if kind == "anthropic" {
            // The API takes back only what it would have sent: an object.
            let body = asks[1].body.to_string();
            assert!(!body.contains(r#""input":""#), "{body}");
        }
    }
}

#[test]
fn a_large_result_is_kept_and_read_on_from_its_file() {
    let text = "a line with a needle\n".repeat(400);
    let server = ModelServer::script([
        call(
            "fs_search",
            json!({ "path": "@project/big.txt", "pattern": "needle", "maxMatches": 300, "before": 0, "after": 0 }),
        ),
        read("@project/big.txt"),
        Turn::text("Much."),
    ]);
    let scene = SmallPackage::new().behind("openai", &server, "[workflow]\nresult_preview_bytes = 2000\n");
    scene.project.write("big.txt", &text);
    run(&scene, 3);
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
    let config = String::from_utf8(scene.project.read("~/.aiwf/config.toml")).unwrap();
    let next = ModelServer::script([
        call("fs_read", json!({ "path": path, "startLine": 1, "endLine": 5 })),
        Turn::text("More."),
    ]);
    let config = config.replace(&server.openai_url(), &next.openai_url());
    scene.project.write("~/.aiwf/config.toml", config);
    scene.answers("workflow say latest 'Read on.'", 3);
    let last = results(&next.asks()[1]).pop().unwrap();
    assert_eq!(last["ok"], true, "{last:#}");
    assert!(last["content"].as_str().unwrap().contains("matches"), "{last:#}");
}

#[test]
fn limits_of_reading_and_writing_hold() {
    let more = "[workflow]\nmax_read_bytes = 100\nmax_write_bytes = 50\n";
    let server = ModelServer::script([
        read("@project/big.txt"),
        call("fs_read", json!({ "path": "@project/big.txt", "startLine": 2, "endLine": 3 })),
        call("fs_read", json!({ "path": "@project/big.txt", "startLine": 1, "endLine": 50 })),
        call("fs_read", json!({ "path": "@project/big.txt", "startLine": 3, "endLine": 2 })),
        write("@project/out.txt", &"x".repeat(51)),
        write("@project/out.txt", &"x".repeat(50)),
        Turn::text("Enough."),
    ]);
    let scene = SmallPackage::new().behind("openai", &server, more);
    scene.project.write("big.txt", "0123456789\n".repeat(50));
    run(&scene, 3);
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
    for kind in APIS {
        let piece = |name: &str, args: Value| Piece::ToolCall { name: name.to_owned(), args };
        let server = ModelServer::script([
            Turn::Pieces(vec![
                Piece::Text("All at once.".to_owned()),
                piece("fs_write", json!({ "path": "@project/artifacts/a.md", "content": "one\n" })),
                piece("fs_read", json!({ "path": "@project/artifacts/a.md" })),
                piece("fs_read", json!({ "path": "@project/nowhere" })),
                piece(
                    "workflow_complete_node",
                    json!({ "nodeId": "start", "artifacts": ["artifacts/a.md"] }),
                ),
            ]),
            Turn::text("Done."),
        ]);
        let scene = SmallPackage::new().behind(kind, &server, "");
        let report = run(&scene, 3);
        assert_eq!(report["node"], "check", "{kind}");
        let all = results(&server.asks()[1]);
        assert_eq!(all.len(), 4, "{kind}");
        assert_eq!(all[0]["recordedArtifact"], "artifacts/a.md", "{kind}");
        assert_eq!(all[1]["content"], "one\n", "{kind}");
        assert_eq!(all[2]["error"]["code"], "ENOENT", "{kind}");
        assert_eq!(all[3]["currentNodeId"], "check", "{kind}");
        let ids: Vec<Value> = log(&scene).iter().map(|line| line["toolCallId"].clone()).collect();
        assert_eq!(ids.len(), 4);
        assert!((1..4).all(|at| !ids[..at].contains(&ids[at])), "{ids:?}");
    }
}

#[test]
fn the_projects_own_hidden_directories_are_nobodys_business() {
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
    let (scene, results) = answers("openai", secrets.into_iter().chain(more).collect(), |server| {
        let scene = SmallPackage::new().behind("openai", server, "");
        scene.project.write(".git/config", "token = 1\n");
        scene.project.write("visible.txt", "token\n");
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
    let (_scene, results) = answers("openai", calls, |server| {
        let scene = SmallPackage::new().behind("openai", server, "");
        let root = scene.project.root().display().to_string();
        let home = scene.project.home().display().to_string();
        scene.project.write("paths.txt", format!("here: {root}/src and {home}/notes\n"));
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
