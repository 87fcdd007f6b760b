//! `workflow rewind`, `workflow fork` and `cancel` of a run: what they print, and how they end.

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

fn shown(outcome: &Outcome, id: &str) -> String {
    outcome.to_string().replace(id, "[run]")
}

fn code(refused: &Value) -> &str {
    refused["error"]["code"].as_str().unwrap_or_default()
}

#[test]
fn rewind_fork_and_cancel_say_where_the_run_is_and_how_to_go_on() {
    let (server, scene, id) = completed([Turn::text("Here I am."), Turn::text("Let me think.")]);
    assert_eq!(code(&scene.answers("workflow resume latest", 1)), "RUN_COMPLETE");
    assert_snapshot!(shown(&scene.exits("workflow rewind latest --to wish", 1), &id), @"
    --- stderr
    error: run `[run]` never reached `wish`; it reached `intake`, `judge`, `answer`, `meet`, `close`

    hint: name one of those nodes
    --- exit code 1
    ");
    assert_eq!(code(&scene.answers("workflow rewind latest --to nowhere", 1)), "E_INVALID_TRANSITION");
    let outcome = scene.exits("workflow rewind latest --to answer --reason 'the answer is wrong'", 0);
    assert_snapshot!(shown(&outcome, &id), @"
    --- stdout
    [run]
    --- stderr
    run [run] is waiting for you at `answer`
    continue with: aiwf workflow resume [run]
    --- exit code 0
    ");
    assert_eq!(scene.done("list --flow package")["sessions"][0]["phase"], "answer");
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Here I am.");

    let outcome = scene.exits(&format!("workflow fork {id} --at judge"), 0);
    let fork_id = outcome.stdout_text().trim().to_owned();
    assert_snapshot!(outcome.to_string().replace(&fork_id, "[fork]"), @"
    --- stdout
    [fork]
    --- stderr
    run [fork] is waiting for you at `judge`
    continue with: aiwf workflow resume [fork]
    --- exit code 0
    ");
    let status = scene.done(&format!("status {fork_id}"));
    assert_eq!((&status["forked_from"], &status["node"]), (&json!(id), &json!("judge")));
    let said = scene.answers(&format!("workflow say {fork_id} 'It is a wish.'"), 3);
    assert_eq!(said["reply"], "Let me think.");

    let outcome = scene.exits(&format!("cancel {id} --reason 'not needed'"), 0);
    assert_snapshot!(shown(&outcome, &id), @"
    --- stdout
    [run]
    --- stderr
    run [run] is cancelled
    --- exit code 0
    ");
    assert_snapshot!(shown(&scene.exits(&format!("workflow rewind {id} --to intake"), 1), &id), @"
    --- stderr
    error: run `[run]` is cancelled

    hint: `aiwf workflow fork [run] --at NODE` continues from one of its nodes in a new run
    --- exit code 1
    ");
    assert_eq!(server.asks().len(), 10);
}
