use super::*;
use crate::fixture::{NOW, WORKFLOW, graph};

pub(crate) fn identity() -> RunIdentity {
    RunIdentity {
        run_id: "run-1".to_owned(),
        active_agent_id: "analyst".to_owned(),
        workflow_ref: "hello-branch".to_owned(),
        now: NOW.to_owned(),
    }
}

fn state(keys: &str) -> State {
    State::parse(&format!("---\nschemaVersion: \"1.1\"\nworkflowType: x\n{keys}---\n")).unwrap()
}

#[test]
fn a_run_starts_with_empty_progress_and_the_authors_variables() {
    let text = initial_state(WORKFLOW, &identity()).unwrap();
    insta::assert_snapshot!(text, @r#"
    ---
    schemaVersion: "1.1"
    workflowType: hello-branch
    runId: run-1
    currentNodeId: ""
    stepsCompleted: []
    variables:
      greeting: hello # the author's own
    activeAgentId: analyst
    workflowRef: hello-branch
    updatedAt: "2026-01-31T12:00:00Z"
    decisionLog: []
    artifacts: []
    ---

    # Hello

    - [Intake](steps/step-01-intake.md)
    "#);
    let state = State::parse(&text).unwrap();
    assert_eq!(
        (state.text("runId"), state.text("activeAgentId"), state.text("workflowRef")),
        ("run-1", "analyst", "hello-branch")
    );
    assert_eq!(graph().effective_node_id(state.current_node_id()), "step-01-intake");
    // An empty time in the document is replaced.
    let document = WORKFLOW.replace("runId: \"\"", "updatedAt: \"\"");
    assert!(initial_state(&document, &identity()).is_ok());
}

#[test]
fn completion_is_declared_or_reached() {
    let graph = graph();
    let complete = |keys: &str| is_complete(&graph, &state(keys));
    assert!(complete(
        "currentNodeId: step-01-intake\nstepsCompleted: []\nvariables: {workflowStatus: complete}\n"
    ));
    assert!(complete("currentNodeId: end-99\nstepsCompleted: [end-99]\n"));
    assert!(complete("currentNodeId: ' end-99 '\nstepsCompleted: [end-99]\n"));
    assert!(!complete("currentNodeId: end-99\nstepsCompleted: []\n"));
    assert!(!complete("currentNodeId: step-01-intake\nstepsCompleted: [end-99]\n"));
    assert!(!complete("currentNodeId: ''\nstepsCompleted: []\nvariables: {workflowStatus: Complete}\n"));
    assert!(!complete("currentNodeId: ''\nstepsCompleted: [step-01-intake]\n"));
}

#[test]
fn ids_times_and_empty_values_survive_yaml() {
    let state = State::parse(
        "---\nschemaVersion: 1.1\nworkflowType: 7\ncurrentNodeId: 1\nstepsCompleted: [0, a]\nupdatedAt: 2026-01-31T12:00:00Z\nvariables:\ndecisionLog:\n---\n",
    )
    .unwrap();
    assert_eq!((state.current_node_id(), state.steps_completed()), ("1", vec!["0", "a"]));
}

#[test]
fn progress_comes_from_state_and_graph() {
    let state = state("currentNodeId: decide-02-project-type\nstepsCompleted: [step-01-intake]\n");
    let told: Vec<NodeStatus> = progress(&graph(), &state).into_iter().map(|(_, status)| status).collect();
    let expected = [
        NodeStatus::Completed,
        NodeStatus::Current,
        NodeStatus::Pending,
        NodeStatus::Pending,
        NodeStatus::Pending,
    ];
    assert_eq!(told, expected);
}
