//! A whole run of a branching package, driven by a scripted model over each API, from the first word to the last.

use aiwf_testkit::model_server::{Piece, SeenRequest, Turn};
use aiwf_testkit::{ModelServer, copy_example_package};
use serde_json::{Value, json};

use crate::scene::Scene;

pub(crate) const APIS: [&str; 3] = ["openai", "anthropic", "gemini"];
/// The node ids, step files and labels of the package that must be gone after completion.
const NODE_WORDS: [&str; 7] =
    ["intake", "judge", "steps/", "allowedNext", "currentNodeId", "forNodeId", "NODE_BRIEF"];

/// A project with the branching example package.
pub(crate) fn project_with_package(kind: &str, server: &ModelServer, more: &str) -> Scene {
    let scene = Scene::of_api(kind, server, more);
    copy_example_package(&scene.project, "bug-triage", "pkg");
    scene
}

pub(crate) fn complete(node: &str, more: Value) -> Turn {
    let mut args = json!({ "nodeId": node });
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Turn::tool_call("workflow_complete_node", args)
}

pub(crate) fn write(path: &str, content: &str) -> Turn {
    Turn::tool_call("fs_write", json!({ "path": path, "content": content }))
}

fn state(scene: &Scene) -> String {
    let run = run_dir(scene);
    String::from_utf8(scene.project.read(&format!("{run}/state/workflow.md"))).unwrap()
}

/// The directory of the only run.
pub(crate) fn run_dir(scene: &Scene) -> String {
    let names = scene.project.names_in(".aiwf/sessions");
    let id = names.iter().find(|name| !name.starts_with('.')).unwrap();
    format!(".aiwf/sessions/{id}")
}

pub(crate) fn log(scene: &Scene) -> Vec<Value> {
    let text =
        String::from_utf8(scene.project.read(&format!("{}/state/logs/execution.jsonl", run_dir(scene))));
    text.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the model was told last by a tool.
fn last_result(request: &SeenRequest) -> Value {
    let results = request.tool_results();
    let text = results.last().unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    // Gemini wants an object around what is text.
    let wrapped = ["result", "error"].into_iter().find_map(|kind| value.get(kind)?.as_str());
    wrapped.map_or(value.clone(), |text| serde_json::from_str(text).unwrap())
}

/// No system or user message names a node, a step file or a way on.
fn check_names_no_node(request: &SeenRequest) {
    let mut texts = request.user_texts();
    texts.push(request.system_text());
    for text in texts {
        for word in NODE_WORDS {
            // The rules of every run say these words, and name nothing.
            let is_rule = text.contains("Rules:") && ["currentNodeId", "steps/"].contains(&word);
            assert!(is_rule || !text.contains(word), "`{word}` in:\n{text}");
        }
    }
}

/// From the first word to completion and beyond, over each API.
#[test]
fn a_branching_workflow_runs_to_completion_and_the_conversation_continues() {
    for kind in APIS {
        let server = ModelServer::script([
            // Reads what it is told to read, two calls at once.
            Turn::Pieces(vec![
                Piece::Text("Let me look.".to_owned()),
                Piece::ToolCall { name: "fs_read".to_owned(), args: json!({ "path": "@state/workflow.md" }) },
                Piece::ToolCall {
                    name: "fs_read".to_owned(),
                    args: json!({ "path": "@pkg/steps/intake.md" }),
                },
            ]),
            // A question to the user ends the turn.
            Turn::tool_call(
                "ui_ask_user",
                json!({ "widgetId": "kind", "type": "selection", "message": "What happened?",
                    "options": [{ "value": "crash", "label": "It crashes" }, { "value": "ask", "label": "A question" }] }),
            ),
            // Leaves the sandbox, then goes where no edge leads, then does it right.
            Turn::tool_call("fs_read", json!({ "path": "@project/../secret" })),
            write("@project/artifacts/report.md", "# Report\n\nIt crashes.\n"),
            complete("intake", json!({ "to": "close" })),
            complete("intake", json!({})),
            complete(
                "judge",
                json!({ "label": "bug", "variables": { "kind": "bug" }, "reason": "it crashes" }),
            ),
            write("@project/artifacts/reproduction.md", "Press the button.\n"),
            complete("reproduce", json!({})),
            complete("confirmed", json!({ "label": "yes", "variables": { "happens": true } })),
            write("@project/artifacts/fix-plan.md", "Check the pointer.\n"),
            complete("plan-fix", json!({})),
            complete("meet", json!({})),
            complete("close", json!({})),
            Turn::text("All done: see the plan."),
            // Talks on; a change without the user's word is refused, with it it is done once.
            Turn::tool_call(
                "fs_apply_patch",
                json!({ "path": "@state/workflow.md", "patch": { "operation": "updateFrontmatter",
                    "update": { "variables": { "set": { "note": "x" } } } } }),
            ),
            Turn::tool_call(
                "ui_ask_user",
                json!({ "widgetId": "workflow_state_change_confirm", "type": "confirmation",
                    "message": "Add a note to the state?" }),
            ),
            Turn::tool_call(
                "fs_apply_patch",
                json!({ "path": "@state/workflow.md", "patch": { "operation": "updateFrontmatter",
                    "update": { "variables": { "set": { "note": "x" } } } } }),
            ),
            Turn::tool_call(
                "fs_apply_patch",
                json!({ "path": "@state/workflow.md", "patch": { "operation": "updateFrontmatter",
                    "update": { "variables": { "set": { "note": "y" } } } } }),
            ),
            Turn::text("The note is in."),
        ]);
        let scene = project_with_package(kind, &server, "");
        let report = scene.answers("workflow run pkg --provider model --autopilot", 3);
        assert_eq!(report["phase"], "waiting-user", "{report:#}");
        assert_eq!((&report["package"], &report["node"]), (&json!("bug-triage"), &json!("intake")));
        assert_eq!(report["question"]["widgetId"], "kind");
        // The question ended the turn: nobody was asked again.
        assert_eq!(server.asks().len(), 2);
        let run = report["run_id"].as_str().unwrap().to_owned();

        let answer = "WIDGET_SUBMIT\n{\"widgetId\":\"kind\",\"type\":\"selection\",\"value\":[\"crash\"]}";
        let outcome = scene.command("workflow say").arg(&run).arg(answer).arg("--json").run();
        assert_eq!(outcome.exit_code(), 0, "{kind}: {outcome}");
        let report = crate::json(&outcome);
        assert_eq!((&report["phase"], &report["node"]), (&json!("completed"), &json!("close")), "{report:#}");
        assert_eq!(report["reply"], "All done: see the plan.");

        let asks = server.asks();
        assert_eq!(asks.len(), 15);
        // Directive and brief came once for each node, and not with every request.
        let directives = |request: &SeenRequest| {
            request.user_texts().iter().filter(|text| text.starts_with("RUN_DIRECTIVE")).count()
        };
        assert_eq!(directives(&asks[1]), 1);
        assert_eq!(directives(&asks[4]), 2);
        assert!(asks[2].user_texts().iter().any(|text| text.contains("- forNodeId: intake")));
        // What was refused was said, and nothing happened.
        assert_eq!(last_result(&asks[3])["error"]["code"], "E_SANDBOX_VIOLATION");
        let refused = last_result(&asks[5]);
        assert_eq!(refused["error"]["code"], "E_INVALID_TRANSITION", "{refused:#}");
        assert_eq!(refused["error"]["details"]["allowedNext"][0]["to"], "judge");
        assert_eq!(last_result(&asks[6])["currentNodeId"], "judge");
        // The closing words are asked for once, without a node in sight.
        check_names_no_node(&asks[14]);
        assert!(asks[14].user_texts().iter().any(|text| text.contains("Protocol (post-run)")));
        let text = state(&scene);
        for line in [
            "workflowStatus: complete",
            "kind: bug",
            "label: bug",
            "reason: it crashes",
            "artifacts/fix-plan.md",
        ] {
            assert!(text.contains(line), "`{line}` not in:\n{text}");
        }

        // Afterwards.
        let report = scene.answers(&format!("workflow say {run} 'add a note'"), 3);
        assert_eq!(report["question"]["widgetId"], "workflow_state_change_confirm");
        let asks = server.asks();
        assert_eq!(last_result(&asks[16])["error"]["code"], "STATE_CHANGE_REQUIRES_CONFIRMATION");
        check_names_no_node(&asks[16]);
        let yes = "WIDGET_SUBMIT\n{\"widgetId\":\"workflow_state_change_confirm\",\"type\":\"confirmation\",\"value\":{\"confirmed\":true}}";
        let outcome = scene.command("workflow say").arg(&run).arg(yes).arg("--json").run();
        assert_eq!(outcome.exit_code(), 0, "{kind}: {outcome}");
        let asks = server.asks();
        assert_eq!(last_result(&asks[18])["ok"], true);
        assert_eq!(last_result(&asks[19])["error"]["code"], "STATE_CHANGE_REQUIRES_CONFIRMATION");
        let text = state(&scene);
        assert!(text.contains("note: x") && !text.contains("note: y"), "{text}");

        // One line for each call, without contents and real paths.
        let log = log(&scene);
        let n_calls = 2 + 1 + 12 + 4;
        assert_eq!(log.len(), n_calls, "{log:#?}");
        let whole = json!(log).to_string();
        assert!(log.iter().all(|line| line["kind"] == "tool.exec"));
        for word in ["It crashes.\\n", "Check the pointer", &scene.project.root().display().to_string()] {
            assert!(!whole.contains(word), "`{word}` in the log");
        }
        for request in &asks {
            let body = String::from_utf8_lossy(&request.raw_body).into_owned();
            for path in [scene.project.root(), scene.project.home(), scene.project.cache()] {
                assert!(!body.contains(&path.display().to_string()), "{kind}: a real path was sent");
            }
        }
    }
}

/// Sends the same bytes that it showed.
#[test]
fn preview_is_the_next_request() {
    let server = ModelServer::script([Turn::text("What is it about?"), Turn::text("Thanks.")]);
    let scene = project_with_package("openai", &server, "");
    scene.answers("workflow run pkg --provider model --input 'A bug.'", 3);
    let preview = scene.done("preview latest --input 'It crashes.'");
    scene.answers("workflow say latest 'It crashes.'", 3);
    let sent = &server.asks()[1];
    let payload = &preview["payload"];
    let text = |texts: &Value| -> String {
        texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
    };
    let messages = payload["messages"].as_array().unwrap();
    let of_user = messages.iter().filter(|message| message["role"] == "user");
    assert_eq!(of_user.map(|message| text(&message["content"])).collect::<Vec<_>>(), sent.user_texts());
    assert_eq!(text(&payload["system"]), sent.system_text());
    assert_eq!(payload["tools"].as_array().unwrap().len(), sent.tool_names().len());
    let layers: Vec<&str> =
        preview["layers"].as_array().unwrap().iter().map(|layer| layer["layer"].as_str().unwrap()).collect();
    assert_eq!(
        layers,
        [
            "base-rules",
            "tool-policy",
            "persona",
            "run-directive",
            "node-brief",
            "user-input",
            "history",
            "run-directive",
            "node-brief",
            "user-input",
        ]
    );
    let events = scene.project.read(&format!("{}/journal.jsonl", run_dir(&scene)));
    let events = String::from_utf8(events).unwrap();
    assert!(events.contains(preview["payload_sha256"].as_str().unwrap()), "{events}");
}
