//! Going back in a run, going on from a point of it in another one, and ending it.

use aiwf_testkit::model_server::Turn;
use aiwf_testkit::{ModelServer, Outcome};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::workflow_walk::{complete, project_with_package, write};

/// A package with the report written, a question answered, and every node on that way completed.
fn question_walk() -> Vec<Turn> {
    vec![
        write("@project/artifacts/report.md", "# Report\n\nHow?\n"),
        complete("intake", json!({})),
        complete("judge", json!({ "label": "question", "variables": { "kind": "question" } })),
        write("@project/artifacts/answer.md", "Like this.\n"),
        complete("answer", json!({})),
        complete("meet", json!({})),
        complete("close", json!({})),
        Turn::text("All done."),
    ]
}

const RUN: &str = "workflow run pkg --provider model --autopilot --input 'How does it work?'";

/// A run that is complete, and its id.
fn completed(more: impl IntoIterator<Item = Turn>) -> (ModelServer, Scene, String) {
    let server = ModelServer::script(question_walk().into_iter().chain(more));
    let scene = project_with_package("openai", &server, "");
    let report = scene.done(RUN);
    assert_eq!(report["phase"], "completed", "{report:#}");
    let id = report["run_id"].as_str().unwrap().to_owned();
    (server, scene, id)
}

fn state(scene: &Scene, id: &str) -> String {
    String::from_utf8(scene.project.read(&format!(".aiwf/sessions/{id}/state/workflow.md"))).unwrap()
}

fn steps(scene: &Scene, id: &str) -> Vec<String> {
    let status = scene.done(&format!("status {id}"));
    let nodes = status["nodes"].as_array().unwrap().iter();
    let done = nodes.filter(|node| node["status"] == "completed");
    done.map(|node| node["id"].as_str().unwrap().to_owned()).collect()
}

fn shown(outcome: &Outcome, id: &str) -> String {
    outcome.to_string().replace(id, "[run]")
}

fn code(refused: &Value) -> &str {
    refused["error"]["code"].as_str().unwrap_or_default()
}

#[test]
fn a_completed_run_goes_back_keeps_its_artifacts_and_goes_on_again() {
    let again = [
        write("@project/artifacts/answer.md", "Like that.\n"),
        complete("answer", json!({})),
        complete("meet", json!({})),
        complete("close", json!({})),
        Turn::text("Done again."),
    ];
    let (server, scene, id) = completed(again);
    assert_eq!(code(&scene.answers("workflow resume latest", 1)), "RUN_COMPLETE");
    let outcome = scene.exits("workflow rewind latest --to answer --reason 'the answer is wrong'", 0);
    assert_snapshot!(shown(&outcome, &id), @"
    --- stdout
    [run]
    --- stderr
    run [run] waits for you at `answer`
    go on with: aiwf workflow resume [run]
    --- exit code 0
    ");
    assert_eq!(steps(&scene, &id), ["intake", "judge"]);
    let text = state(&scene, &id);
    assert!(!text.contains("workflowStatus"), "{text}");
    assert!(text.contains("artifacts/answer.md") && text.contains("the answer is wrong"), "{text}");
    assert_eq!(scene.project.read("artifacts/answer.md"), b"Like this.\n");
    let entries = scene.done("show latest")["entries"].clone();
    let rewound = entries.as_array().unwrap().iter().find(|entry| entry["what"] == "rewound").cloned();
    assert_eq!(rewound.unwrap()["text"], "close → answer: the answer is wrong");
    assert_eq!(scene.done("list --flow package")["sessions"][0]["phase"], "answer");

    let report = scene.done("workflow resume latest");
    assert_eq!((&report["phase"], &report["reply"]), (&json!("completed"), &json!("Done again.")));
    assert_eq!(scene.project.read("artifacts/answer.md"), b"Like that.\n");
    assert_eq!(state(&scene, &id).matches("- artifacts/answer.md").count(), 1, "{}", state(&scene, &id));
    assert_eq!(server.asks().len(), 13);
}

#[test]
fn a_run_goes_back_only_to_where_it_has_been() {
    let (server, scene, id) = completed([]);
    let before = scene.project.read(&format!(".aiwf/sessions/{id}/journal.jsonl"));
    assert_snapshot!(shown(&scene.exits("workflow rewind latest --to wish", 1), &id), @"
    --- stderr
    error: run `[run]` has not been at `wish`: it has been at `intake`, `judge`, `answer`, `meet`, `close`

    hint: name one of those nodes
    --- exit code 1
    ");
    assert_eq!(code(&scene.answers("workflow rewind latest --to nowhere", 1)), "E_INVALID_TRANSITION");
    assert_eq!(scene.project.read(&format!(".aiwf/sessions/{id}/journal.jsonl")), before);
    assert_eq!(server.asks().len(), 8);
}

#[test]
fn a_conversation_has_no_way_back_and_no_fork() {
    let server = ModelServer::script([Turn::text("Hello.")]);
    let scene = project_with_package("openai", &server, "");
    scene.exits("chat --provider model --input 'Hello?'", 0);
    for line in ["workflow rewind latest --to intake", "workflow fork latest --at intake"] {
        assert_eq!(code(&scene.answers(line, 1)), "NOT_A_WORKFLOW", "{line}");
    }
    assert_eq!(scene.done("cancel latest")["phase"], "cancelled");
}

#[test]
fn a_cancelled_run_is_forked_and_nothing_else() {
    let (server, scene, id) = completed([Turn::text("Here I am.")]);
    let outcome = scene.exits("cancel latest --reason 'not needed'", 0);
    assert_snapshot!(shown(&outcome, &id), @"
    --- stdout
    [run]
    --- stderr
    run [run] is cancelled
    --- exit code 0
    ");
    let journal = scene.project.read(&format!(".aiwf/sessions/{id}/journal.jsonl"));
    // Twice is as good as once.
    assert_eq!(scene.done("cancel latest")["phase"], "cancelled");
    for line in [
        "workflow say latest x",
        "workflow resume latest",
        "workflow rewind latest --to intake",
        "preview latest",
    ] {
        assert_eq!(code(&scene.answers(line, 1)), "RUN_CANCELLED", "{line}");
    }
    assert_snapshot!(shown(&scene.exits("workflow rewind latest --to intake", 1), &id), @"
    --- stderr
    error: run `[run]` is cancelled

    hint: `aiwf workflow fork [run] --at NODE` continues from one of its nodes in a new run
    --- exit code 1
    ");
    assert_eq!(scene.project.read(&format!(".aiwf/sessions/{id}/journal.jsonl")), journal);

    let fork = scene.done("workflow fork latest --at answer");
    let fork_id = fork["run_id"].as_str().unwrap();
    assert_eq!((&fork["phase"], &fork["node"]), (&json!("waiting-user"), &json!("answer")));
    assert_eq!(scene.done(&format!("status {fork_id}"))["forked_from"], id.as_str());
    assert_eq!(scene.answers(&format!("workflow resume {fork_id}"), 3)["reply"], "Here I am.");
    assert_eq!(scene.done(&format!("status {id}"))["phase"], "cancelled");
    assert_eq!(server.asks().len(), 9);
}

#[test]
fn a_fork_has_the_history_until_its_node_and_leaves_the_other_run_alone() {
    let (server, scene, id) = completed([Turn::text("Let me think.")]);
    let before = scene.project.read(&format!(".aiwf/sessions/{id}/journal.jsonl"));
    let outcome = scene.exits(&format!("workflow fork {id} --at judge"), 0);
    let fork_id = outcome.stdout_text().trim().to_owned();
    assert_snapshot!(outcome.to_string().replace(&fork_id, "[fork]"), @"
    --- stdout
    [fork]
    --- stderr
    run [fork] waits for you at `judge`
    go on with: aiwf workflow resume [fork]
    --- exit code 0
    ");
    assert_eq!(steps(&scene, &fork_id), ["intake"]);
    // Files of the project are not touched; what the fork knows of them is what was there then.
    assert!(state(&scene, &fork_id).contains("artifacts/report.md"));
    assert!(!state(&scene, &fork_id).contains("artifacts/answer.md"));
    assert_eq!(scene.project.read("artifacts/answer.md"), b"Like this.\n");

    let report = scene.answers(&format!("workflow say {fork_id} 'It is a wish.'"), 3);
    assert_eq!(report["reply"], "Let me think.");
    let asked = server.asks().pop().unwrap();
    let said = asked.user_texts().join("\n");
    assert!(said.contains("How does it work?") && said.contains("It is a wish."), "{said}");
    // Writing the report and completing `intake`, and nothing after it.
    assert_eq!(asked.tool_results().len(), 2);
    assert!(said.contains("- forNodeId: judge") && !said.contains("- forNodeId: answer"), "{said}");
    assert_eq!(scene.project.read(&format!(".aiwf/sessions/{id}/journal.jsonl")), before);
}

#[test]
fn a_fork_at_a_node_that_was_visited_twice_goes_on_from_the_second_time() {
    let server = ModelServer::script([
        write("@project/artifacts/report.md", "# Report\n"),
        complete("intake", json!({ "variables": { "visit": 1 } })),
        complete("judge", json!({ "label": "bug", "variables": { "kind": "bug" } })),
        write("@project/artifacts/reproduction.md", "How?\n"),
        complete("reproduce", json!({})),
        complete("confirmed", json!({ "label": "ask-again", "variables": { "missing": true, "visit": 2 } })),
        complete("intake", json!({})),
        Turn::text("What is it now?"),
        Turn::text("Again."),
    ]);
    let scene = project_with_package("openai", &server, "");
    let report = scene.answers(RUN, 3);
    assert_eq!(report["node"], "judge", "{report:#}");
    let id = report["run_id"].as_str().unwrap();
    let fork = scene.done(&format!("workflow fork {id} --at intake"));
    let fork_id = fork["run_id"].as_str().unwrap();
    assert_eq!(fork["node"], "intake");
    assert!(state(&scene, fork_id).contains("visit: 2"), "{}", state(&scene, fork_id));
    assert_eq!(scene.answers(&format!("workflow resume {fork_id}"), 3)["reply"], "Again.");
    // All calls but the last one.
    assert_eq!(server.asks().pop().unwrap().tool_results().len(), 6);
}
