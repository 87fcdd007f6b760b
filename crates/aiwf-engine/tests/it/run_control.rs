//! Going back in a run, continuing from a point of it in another one, and ending it.

use aiwf_engine::{RunError, RunReport};
use serde_json::{Value, json};

use crate::fake_provider::{FakeProvider, Turn};
use crate::run_driver::{COMPLETED, WAITING, as_json, bug_triage, chat, complete, new_run, run_with, write};
use crate::scene::Scene;

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

/// Begins a run that asks nobody.
#[track_caller]
fn begin(scene: &Scene) -> Value {
    let new = aiwf_engine::NewRun { is_autopilot: true, ..new_run(scene) };
    run_with(scene, &new, Some("How does it work?")).unwrap()
}

/// A run that is complete, and its id.
fn completed(more: impl IntoIterator<Item = Turn>) -> (FakeProvider, Scene, String) {
    let model = FakeProvider::script(question_walk().into_iter().chain(more));
    let scene = bug_triage(&model, "");
    let report = begin(&scene);
    assert_eq!(report["phase"], COMPLETED, "{report:#}");
    let id = report["run_id"].as_str().unwrap().to_owned();
    (model, scene, id)
}

fn state(scene: &Scene, id: &str) -> String {
    scene.read(&format!(".aiwf/sessions/{id}/state/workflow.md"))
}

fn journal(scene: &Scene, id: &str) -> String {
    scene.read(&format!(".aiwf/sessions/{id}/journal.jsonl"))
}

/// The nodes that a run has completed.
fn steps(scene: &Scene, id: &str) -> Vec<String> {
    let status = serde_json::to_value(scene.engine.run_status(id).unwrap()).unwrap();
    let nodes = status["nodes"].as_array().unwrap().iter();
    let done = nodes.filter(|node| node["status"] == "completed");
    done.map(|node| node["id"].as_str().unwrap().to_owned()).collect()
}

/// Continues a run from one of its nodes in a new one.
#[track_caller]
fn fork(scene: &Scene, id: &str, at: &str) -> Value {
    as_json(&scene.engine.fork_run(id, at, None).unwrap().report())
}

#[track_caller]
fn in_run(
    scene: &Scene,
    id: &str,
    act: impl FnOnce(&mut aiwf_engine::Run<'_>) -> Result<RunReport, RunError>,
) -> Value {
    as_json(&act(&mut scene.engine.open_run(id, None).unwrap()).unwrap())
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
    let (model, scene, id) = completed(again);
    let refused = scene.engine.open_run(&id, None).and_then(|mut run| run.resume(None)).unwrap_err();
    assert_eq!(refused.code(), "RUN_COMPLETE", "{refused}");
    let report = as_json(&scene.engine.rewind_run(&id, "answer", Some("the answer is wrong")).unwrap());
    assert_eq!((report["phase"].as_str(), report["node"].as_str()), (Some(WAITING), Some("answer")));
    assert_eq!(steps(&scene, &id), ["intake", "judge"]);
    let text = state(&scene, &id);
    assert!(!text.contains("workflowStatus"), "{text}");
    assert!(text.contains("artifacts/answer.md") && text.contains("the answer is wrong"), "{text}");
    assert_eq!(scene.read("artifacts/answer.md"), "Like this.\n");
    let shown = serde_json::to_value(scene.engine.run_history(&id).unwrap()).unwrap();
    let rewound =
        shown["entries"].as_array().unwrap().iter().find(|entry| entry["what"] == "rewound").cloned();
    assert_eq!(rewound.unwrap()["text"], "close → answer: the answer is wrong");

    let report = in_run(&scene, &id, |run| run.resume(None));
    assert_eq!((&report["phase"], &report["reply"]), (&json!(COMPLETED), &json!("Done again.")));
    assert_eq!(scene.read("artifacts/answer.md"), "Like that.\n");
    assert_eq!(state(&scene, &id).matches("- artifacts/answer.md").count(), 1, "{}", state(&scene, &id));
    assert_eq!(model.asks().len(), 13);
}

#[test]
fn a_run_goes_back_only_to_where_it_has_been() {
    let (model, scene, id) = completed([]);
    let before = journal(&scene, &id);
    let refused = scene.engine.rewind_run(&id, "wish", None).unwrap_err();
    let expected =
        format!("run `{id}` never reached `wish`; it reached `intake`, `judge`, `answer`, `meet`, `close`");
    assert_eq!(refused.to_string(), expected);
    assert_eq!(scene.engine.rewind_run(&id, "nowhere", None).unwrap_err().code(), "E_INVALID_TRANSITION");
    assert_eq!(journal(&scene, &id), before);
    assert_eq!(model.asks().len(), 8);
}

#[test]
fn a_conversation_cannot_be_rewound_or_forked() {
    let scene = bug_triage(&FakeProvider::saying(["Hello."]), "");
    chat(&scene, "Hello?");
    let rewound = scene.engine.rewind_run("latest", "intake", None).unwrap_err();
    let forked = scene.engine.fork_run("latest", "intake", None).map(|_| ()).unwrap_err();
    assert_eq!((rewound.code(), forked.code()), ("NOT_A_WORKFLOW", "NOT_A_WORKFLOW"));
    assert_eq!(as_json(&scene.engine.cancel_run("latest", None).unwrap())["phase"], "cancelled");
}

#[test]
fn a_cancelled_run_is_forked_and_nothing_else() {
    let (model, scene, id) = completed([Turn::text("Here I am.")]);
    let cancel = || as_json(&scene.engine.cancel_run(&id, Some("not needed")).unwrap());
    assert_eq!(cancel()["phase"], "cancelled");
    let before = journal(&scene, &id);
    // Twice is as good as once.
    assert_eq!(cancel()["phase"], "cancelled");
    let opened = |act: fn(&mut aiwf_engine::Run<'_>) -> Result<RunReport, RunError>| {
        scene.engine.open_run(&id, None).and_then(|mut run| act(&mut run)).map(|_| ())
    };
    let refusals = [
        ("say", opened(|run| run.say("x"))),
        ("resume", opened(|run| run.resume(None))),
        ("rewind", scene.engine.rewind_run(&id, "intake", None).map(|_| ())),
        ("preview", scene.engine.preview_run(&id, None).map(|_| ())),
    ];
    for (call, result) in refusals {
        assert_eq!(result.unwrap_err().code(), "RUN_CANCELLED", "{call}");
    }
    assert_eq!(journal(&scene, &id), before);

    let forked = fork(&scene, &id, "answer");
    let fork_id = forked["run_id"].as_str().unwrap();
    assert_eq!((&forked["phase"], &forked["node"]), (&json!(WAITING), &json!("answer")));
    let status = serde_json::to_value(scene.engine.run_status(fork_id).unwrap()).unwrap();
    assert_eq!(status["forked_from"], id.as_str());
    assert_eq!(in_run(&scene, fork_id, |run| run.resume(None))["reply"], "Here I am.");
    let status = serde_json::to_value(scene.engine.run_status(&id).unwrap()).unwrap();
    assert_eq!(status["phase"], "cancelled");
    assert_eq!(model.asks().len(), 9);
}

#[test]
fn a_fork_has_the_history_until_its_node_and_leaves_the_other_run_alone() {
    let (model, scene, id) = completed([Turn::text("Let me think.")]);
    let before = journal(&scene, &id);
    let forked = fork(&scene, &id, "judge");
    let fork_id = forked["run_id"].as_str().unwrap();
    assert_eq!((forked["phase"].as_str(), forked["node"].as_str()), (Some(WAITING), Some("judge")));
    assert_eq!(steps(&scene, fork_id), ["intake"]);
    // Files of the project are not touched; what the fork knows of them is what was there then.
    assert!(state(&scene, fork_id).contains("artifacts/report.md"));
    assert!(!state(&scene, fork_id).contains("artifacts/answer.md"));
    assert_eq!(scene.read("artifacts/answer.md"), "Like this.\n");

    let report = in_run(&scene, fork_id, |run| run.say("It is a wish."));
    assert_eq!(report["reply"], "Let me think.");
    let asked = model.asks().pop().unwrap();
    let said = asked.user_texts().join("\n");
    assert!(said.contains("How does it work?") && said.contains("It is a wish."), "{said}");
    // Writing the report and completing `intake`, and nothing after it.
    assert_eq!(asked.tool_results().len(), 2);
    assert!(said.contains("- forNodeId: judge") && !said.contains("- forNodeId: answer"), "{said}");
    assert_eq!(journal(&scene, &id), before);
}

#[test]
fn a_fork_at_a_node_that_was_visited_twice_goes_on_from_the_second_time() {
    let model = FakeProvider::script([
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
    let scene = bug_triage(&model, "");
    let report = begin(&scene);
    assert_eq!(report["node"], "judge", "{report:#}");
    let forked = fork(&scene, report["run_id"].as_str().unwrap(), "intake");
    let fork_id = forked["run_id"].as_str().unwrap();
    assert_eq!(forked["node"], "intake");
    assert!(state(&scene, fork_id).contains("visit: 2"), "{}", state(&scene, fork_id));
    assert_eq!(in_run(&scene, fork_id, |run| run.resume(None))["reply"], "Again.");
    // All calls but the last one.
    assert_eq!(model.asks().pop().unwrap().tool_results().len(), 6);
}
