#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use super::*;
use crate::fixture::{NOW, WORKFLOW, graph};
use crate::state::tests::identity;
use crate::state::{initial_state, is_complete};

fn begin() -> String {
    initial_state(WORKFLOW, &identity()).unwrap()
}

fn done(text: &str, call: Value, there: &[&str]) -> Result<Moved, Rejected> {
    let call: CompleteNode = serde_json::from_value(call).unwrap();
    complete_node(&graph(), text, &call, &|path| there.contains(&path), NOW, Conditions::Enforce)
}

#[test]
fn a_whole_run_completes() {
    let intake = json!({ "nodeId": "step-01-intake", "artifacts": ["artifacts/intake.md"] });
    let rejected = done(&begin(), intake.clone(), &[]).unwrap_err();
    assert_eq!(rejected.details.unwrap(), json!({ "missingOutputs": ["artifacts/intake.md"] }));
    let moved = done(&begin(), intake, &["artifacts/intake.md"]).unwrap();
    assert_eq!(moved.accepted.to, "decide-02-project-type");

    let open = done(&moved.text, json!({ "nodeId": "decide-02-project-type" }), &[]).unwrap_err();
    assert!(open.message.contains("2 matching edges"), "{open}");
    let wrong = json!({ "nodeId": "decide-02-project-type", "label": "greenfield", "variables": { "projectType": "brownfield" } });
    assert_eq!(done(&moved.text, wrong, &[]).unwrap_err().code, RejectCode::InvalidTransition);
    let choice = json!({ "nodeId": "decide-02-project-type", "to": "step-03a-greenfield", "reason": "nothing is there yet",
        "variables": { "projectType": "greenfield" } });
    let moved = done(&moved.text, choice, &[]).unwrap();
    assert_eq!(moved.accepted.warnings, []);

    let moved = done(&moved.text, json!({ "nodeId": "step-03a-greenfield" }), &[]).unwrap();
    let moved = done(&moved.text, json!({ "nodeId": "end-99" }), &[]).unwrap();
    assert!(moved.accepted.is_complete);
    insta::assert_snapshot!(moved.text, @r#"
    ---
    schemaVersion: "1.1"
    workflowType: hello-branch
    runId: run-1
    currentNodeId: end-99
    stepsCompleted:
      - step-01-intake
      - decide-02-project-type
      - step-03a-greenfield
      - end-99
    variables:
      greeting: hello
      projectType: greenfield
      workflowStatus: complete
    activeAgentId: analyst
    workflowRef: hello-branch
    updatedAt: "2026-01-31T12:00:00Z"
    decisionLog:
      - from: decide-02-project-type
        to: step-03a-greenfield
        label: greenfield
        decidedAt: "2026-01-31T12:00:00Z"
        reason: nothing is there yet
    artifacts:
      - artifacts/intake.md
    ---

    # Hello

    - [Intake](steps/step-01-intake.md)
    "#);
}

#[test]
fn only_the_current_node_can_be_completed_and_only_along_existing_edges() {
    let rejected = done(&begin(), json!({ "nodeId": "end-99" }), &[]).unwrap_err();
    assert!(rejected.message.contains("which is `step-01-intake`"));
    let rejected =
        done(&begin(), json!({ "nodeId": "step-01-intake", "to": "end-99" }), &["artifacts/intake.md"])
            .unwrap_err();
    assert_eq!(rejected.details.unwrap()["allowedNext"][0]["to"], "decide-02-project-type");
}

#[test]
fn placeholders_come_from_variables() {
    let variables = json!({ "key": "a-1", "n": 2, "list": [] }).as_object().unwrap().clone();
    let resolve = |path: &str| resolve_placeholders(path, &variables);
    assert_eq!(resolve("artifacts/<key>/<n>.md").as_deref(), Some("artifacts/a-1/2.md"));
    assert_eq!(resolve("artifacts/x.md").as_deref(), Some("artifacts/x.md"));
    assert_eq!(resolve("artifacts/<none>.md"), None);
    assert_eq!(resolve("artifacts/<list>.md"), None);
    assert_eq!(resolve("a<b").as_deref(), Some("a<b"));
}

#[test]
fn going_back_reopens_the_node_and_later_ones() {
    let mut text = begin();
    for call in [
        json!({ "nodeId": "step-01-intake", "artifacts": ["artifacts/intake.md"] }),
        json!({ "nodeId": "decide-02-project-type", "label": "brownfield" }),
        json!({ "nodeId": "step-03b-brownfield" }),
        json!({ "nodeId": "end-99" }),
    ] {
        text = done(&text, call, &["artifacts/intake.md"]).unwrap().text;
    }
    let back = rewind(&graph(), &text, "decide-02-project-type", Some("wrong way"), NOW).unwrap();
    let state = State::parse(&back).unwrap();
    assert_eq!(state.steps_completed(), ["step-01-intake"]);
    assert_eq!(state.current_node_id(), "decide-02-project-type");
    assert_eq!(state.artifacts(), ["artifacts/intake.md"]);
    assert!(!is_complete(&graph(), &state));
    assert_eq!(state.variables().get("greeting"), Some(&json!("hello")));
    assert_eq!(
        state.decision_log().last().unwrap(),
        &json!({ "from": "end-99", "to": "decide-02-project-type",
        "label": "rewind", "decidedAt": NOW, "reason": "wrong way" })
    );
    let rejected = rewind(&graph(), &back, "step-03a-greenfield", None, NOW).unwrap_err();
    assert_eq!(rejected.details.unwrap(), json!({ "reached": ["step-01-intake", "decide-02-project-type"] }));
    assert!(rewind(&graph(), &back, "nowhere", None, NOW).is_err());
    assert!(rewind(&graph(), &back, "decide-02-project-type", None, NOW).is_ok());
}
