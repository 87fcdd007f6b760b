use proptest::prelude::*;

use super::*;
use crate::fixture::graph;

fn file(keys: &str) -> String {
    format!("---\nschemaVersion: \"1.1\"\nworkflowType: x\n{keys}---\n\nbody\n")
}

fn at(node: &str, steps: &str, more: &str) -> String {
    file(&format!("currentNodeId: {node}\nstepsCompleted: [{steps}]\n{more}"))
}

fn judge(before: &str, after: &str) -> Result<Accepted, Rejected> {
    guard(&graph(), before, after, None, Conditions::Warn)
}

#[track_caller]
fn check_rejected(before: &str, after: &str, code: &str, message: &str) -> Rejected {
    let rejected = judge(before, after).unwrap_err();
    assert_eq!(rejected.code.as_str(), code, "{rejected}");
    assert!(rejected.message.contains(message), "{rejected}");
    rejected
}

fn codes(accepted: &Accepted) -> Vec<&'static str> {
    accepted.warnings.iter().map(|warning| warning.code).collect()
}

#[test]
fn the_hash_is_the_first_check() {
    let before = at("''", "", "");
    let rejected = guard(&graph(), &before, "garbage", Some("00"), Conditions::Warn).unwrap_err();
    assert_eq!(rejected.code, RejectCode::PreconditionFailed);
    let hash = sha256_hex(before.as_bytes()).to_uppercase();
    let accepted = guard(&graph(), &before, &before, Some(&hash), Conditions::Warn).unwrap();
    assert_eq!(accepted.sha256_before, accepted.sha256_after);
}

#[test]
fn front_matter_then_schema() {
    let before = at("''", "", "");
    check_rejected(&before, "no front matter", "E_INVALID_FRONTMATTER", "no front matter");
    check_rejected(&before, "---\na: [\n---\n", "E_INVALID_FRONTMATTER", "not valid YAML");
    check_rejected(&before, "---\na: 1\n", "E_INVALID_FRONTMATTER", "not closed");
    let rejected = check_rejected(
        &before,
        &file("currentNodeId: a\n"),
        "E_SCHEMA_VALIDATION",
        "`stepsCompleted` is missing",
    );
    assert_eq!(rejected.details.unwrap()["errors"][0]["keyword"], "required");
    check_rejected(&before, &at("''", "", "updatedAt: ''\n"), "E_SCHEMA_VALIDATION", "/updatedAt");
    check_rejected(
        &before,
        &at("''", "", "decisionLog: [{from: a, to: b}]\n"),
        "E_SCHEMA_VALIDATION",
        "`label` is missing",
    );
}

#[test]
fn only_edges_of_the_graph_are_allowed() {
    let before = at("step-01-intake", "", "");
    let rejected = check_rejected(
        &before,
        &at("end-99", "step-01-intake", ""),
        "E_INVALID_TRANSITION",
        "step-01-intake → end-99",
    );
    assert_eq!(
        rejected.details.unwrap(),
        json!({ "from": "step-01-intake", "to": "end-99", "allowedNext": [{ "to": "decide-02-project-type", "label": "next" }] })
    );
    let rejected = check_rejected(&before, &at("nowhere", "", ""), "E_INVALID_TRANSITION", "not a node");
    assert_eq!(rejected.details.unwrap()["allowedNext"][0]["to"], "decide-02-project-type");
    let accepted = judge(&before, &at("decide-02-project-type", "step-01-intake", "")).unwrap();
    assert_eq!(
        (accepted.from.as_str(), accepted.to.as_str(), accepted.newly_completed.clone()),
        ("step-01-intake", "decide-02-project-type", vec!["step-01-intake".to_owned()])
    );
    assert_eq!(accepted.edge.as_ref().unwrap().label, "next");
    assert_eq!(codes(&accepted), Vec::<&str>::new());
}

#[test]
fn a_blank_node_is_the_entry() {
    assert!(judge(&at("''", "", ""), &at("step-01-intake", "", "")).unwrap().edge.is_none());
    assert!(judge(&at("step-01-intake", "", ""), &at("'  '", "", "")).unwrap().edge.is_none());
    assert!(
        judge(&at("''", "", ""), &at("decide-02-project-type", "step-01-intake", "")).unwrap().edge.is_some()
    );
    check_rejected(
        &at("end-99", "", ""),
        &at("''", "", ""),
        "E_INVALID_TRANSITION",
        "end-99 → step-01-intake",
    );
}

#[test]
fn completed_nodes_stay_completed() {
    let before = at("decide-02-project-type", "step-01-intake", "");
    let rejected = check_rejected(
        &before,
        &at("decide-02-project-type", "", ""),
        "E_INVALID_TRANSITION",
        "would lose `step-01-intake`",
    );
    assert_eq!(rejected.details.unwrap(), json!({ "removed": ["step-01-intake"] }));
}

#[test]
fn gaps_are_warnings() {
    let before = at("decide-02-project-type", "step-01-intake", "runId: a\n");
    let after = at(
        "step-03a-greenfield",
        "step-01-intake, ghost",
        "variables: {projectType: greenfield}\nrunId: b\n",
    );
    assert_eq!(
        codes(&judge(&before, &after).unwrap()),
        ["unknown-step", "left-node-not-completed", "decision-not-logged", "identity-changed"]
    );
    let log = "variables: {projectType: greenfield}\ndecisionLog: [{from: decide-02-project-type, to: step-03a-greenfield, label: wrong}]\nrunId: a\n";
    let after = at("step-03a-greenfield", "step-01-intake, decide-02-project-type", log);
    assert_eq!(codes(&judge(&before, &after).unwrap()), ["decision-mismatch"]);
    let forgotten =
        at("decide-02-project-type", "step-01-intake", "decisionLog: [{from: a, to: b, label: rewind}]\n");
    assert_eq!(
        codes(&judge(&forgotten, &at("decide-02-project-type", "step-01-intake", "")).unwrap()),
        ["decision-log-rewritten"]
    );
}

#[test]
fn conditions_are_evaluated_on_the_state_after_the_write() {
    let before = at("decide-02-project-type", "step-01-intake", "variables: {projectType: brownfield}\n");
    let go = |to: &str, kind: &str, conditions: Conditions| {
        let log = format!(
            "variables: {{projectType: {kind}}}\ndecisionLog: [{{from: decide-02-project-type, to: step-03{to}, label: {}}}]\n",
            if to.starts_with('a') { "greenfield" } else { "brownfield" }
        );
        let after = at(&format!("step-03{to}"), "step-01-intake, decide-02-project-type", &log);
        guard(&graph(), &before, &after, None, conditions)
    };
    assert_eq!(codes(&go("a-greenfield", "greenfield", Conditions::Enforce).unwrap()), Vec::<&str>::new());
    assert_eq!(codes(&go("b-brownfield", "brownfield", Conditions::Enforce).unwrap()), Vec::<&str>::new());
    // The default edge is for when no condition holds.
    assert_eq!(codes(&go("b-brownfield", "unclear", Conditions::Enforce).unwrap()), Vec::<&str>::new());
    for (to, kind) in
        [("a-greenfield", "brownfield"), ("a-greenfield", "unclear"), ("b-brownfield", "greenfield")]
    {
        assert_eq!(
            codes(&go(to, kind, Conditions::Warn).unwrap()),
            ["condition-contradicted"],
            "{to} {kind}"
        );
        let rejected = go(to, kind, Conditions::Enforce).unwrap_err();
        assert_eq!(rejected.code, RejectCode::InvalidTransition, "{to} {kind}");
    }
}

#[test]
fn completion_is_detected() {
    let before = at("end-99", "step-01-intake", "");
    let accepted = judge(&before, &at("end-99", "step-01-intake, end-99", "")).unwrap();
    assert!(!accepted.was_complete && accepted.is_complete);
}

const NODES: [&str; 7] = [
    "step-01-intake",
    "decide-02-project-type",
    "step-03a-greenfield",
    "step-03b-brownfield",
    "end-99",
    "''",
    "ghost",
];

proptest! {
    #[test]
    fn random_writes_never_regress_and_never_leave_the_graph(
        writes in prop::collection::vec((0..NODES.len(), prop::collection::vec(0..NODES.len() - 2, 0..4), any::<bool>()), 1..40),
    ) {
        let graph = graph();
        let mut file = at("''", "", "");
        for (node, steps, keeps) in writes {
            let old = State::parse(&file).unwrap();
            let mut names: Vec<&str> = if keeps { old.steps_completed() } else { Vec::new() };
            names.extend(steps.iter().map(|step| NODES[*step]));
            let candidate = at(NODES[node], &names.join(", "), "");
            if let Ok(accepted) = guard(&graph, &file, &candidate, None, Conditions::Warn) {
                let new = State::parse(&candidate).unwrap();
                prop_assert!(old.steps_completed().iter().all(|step| new.steps_completed().contains(step)));
                let (from, to) = (graph.effective_node_id(old.current_node_id()), graph.effective_node_id(new.current_node_id()));
                prop_assert!(graph.node(to).is_some());
                prop_assert!(from == to || graph.edges_between(from, to).next().is_some());
                prop_assert_eq!(accepted.sha256_after, sha256_hex(candidate.as_bytes()));
                file = candidate;
            }
        }
    }

    #[test]
    fn no_text_crashes_the_guard(text in "(---\\n|a: |\\[|stepsCompleted|currentNodeId: x\\n|[a-z:'\"\\n -]){0,12}") {
        let before = at("''", "", "");
        prop_assert!(guard(&graph(), &before, &text, None, Conditions::Enforce).is_err());
    }
}
