//! Every kind of finding, each triggered by a package, listed in one place for review.

use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::FindingCode;
use crate::fixture::Fixture;

const MANIFEST: &str = "bmad.json";
const AGENTS: &str = "agents.json";
const GRAPH: &str = "workflow.graph.json";
const STEP: &str = "steps/step-01-intake.md";

fn edge(from: &str, to: &str, label: &str) -> Value {
    json!({ "from": from, "to": to, "label": label })
}

fn menu(item: &Value) -> Fixture {
    Fixture::new().set(AGENTS, "/agents/0/menu", json!([item]))
}

fn step(front_matter: &str) -> Fixture {
    let text = format!("---\nschemaVersion: \"1.1\"\nnodeId: step-01-intake\n{front_matter}---\n");
    Fixture::new().text(STEP, &text)
}

fn document(front_matter: &str, body: &str) -> Fixture {
    let head = "schemaVersion: \"1.1\"\nworkflowType: x\nstepsCompleted: []\n";
    Fixture::new().text("workflow.md", &format!("---\n{head}{front_matter}---\n{body}"))
}

/// Packages with the finding; a new kind does not compile without one.
fn packages_with(code: FindingCode) -> Vec<Fixture> {
    let package = Fixture::new();
    match code {
        FindingCode::MissingFile => vec![
            package.clone().without(MANIFEST),
            package.clone().set(MANIFEST, "/entry/agents", json!("agent.json")),
            package.set(MANIFEST, "/entry/agents", json!("Agents.json")),
        ],
        FindingCode::NotText => {
            let mut package = package;
            package.files.insert(STEP.to_owned(), vec![b'a', 0xff]);
            vec![package]
        }
        FindingCode::InvalidJson => vec![package.text(MANIFEST, "{\n  \"name\": ,\n}")],
        FindingCode::Schema => vec![
            package.clone().set(MANIFEST, "/licence", json!("MIT")),
            step("title: One\n"),
            package.clone().set(MANIFEST, "/version", json!("one")),
            package.clone().set(MANIFEST, "/schemaVersion", json!("2.0")),
            package.clone().set(GRAPH, "/nodes/0/type", json!("stp")),
            package.clone().set(GRAPH, "/nodes/0/id", json!("a b")),
            package.clone().set(GRAPH, "/nodes/0/title", json!(7)),
            package.clone().set(GRAPH, "/nodes/0/file", json!("")),
            package.clone().set(GRAPH, "/nodes", json!([])),
            document("currentNodeId: \"\"\nupdatedAt: yesterday\n", ""),
            package.set(MANIFEST, "/integrity", json!({ "sha256": "1f" })),
        ],
        FindingCode::FrontMatter => vec![
            package.clone().text(STEP, "# no front matter\n"),
            package.clone().text(STEP, "---\na: [1\n---\n"),
            package.text(STEP, "---\na: 1\n"),
        ],
        FindingCode::IntegrityNotChecked => {
            vec![package.set(MANIFEST, "/integrity", json!({ "sha256": "0".repeat(64) }))]
        }
        FindingCode::DuplicateWorkflow => {
            let record = json!({ "id": "one", "workflow": "workflow.md", "graph": GRAPH });
            vec![package.set(MANIFEST, "/workflows", json!([record, record]))]
        }
        FindingCode::DuplicateAgent => vec![package.set(AGENTS, "/agents/3/id", json!("analyst"))],
        FindingCode::DuplicatePrompt => {
            let prompt = json!({ "id": "greet", "content": "Say hello" });
            vec![package.set(AGENTS, "/agents/0/prompts", json!([prompt, prompt]))]
        }
        FindingCode::DuplicateNode => vec![package.set(GRAPH, "/nodes/2/id", json!("step-01-intake"))],
        FindingCode::DuplicateEdge => {
            vec![package.set(GRAPH, "/edges/-", edge("step-01-intake", "decide-02-project-type", "next"))]
        }
        FindingCode::EmptyTimestamp => vec![document("currentNodeId: \"\"\nupdatedAt: \"\"\n", "")],
        FindingCode::UnknownAgent => vec![package.set(GRAPH, "/nodes/0/agentId", json!("nobody"))],
        FindingCode::Subworkflow => vec![package.set(GRAPH, "/nodes/2/type", json!("subworkflow"))],
        FindingCode::UnknownEntry => vec![package.set(GRAPH, "/entryNodeId", json!("start"))],
        FindingCode::DanglingEdge => vec![package.set(GRAPH, "/edges/0/to", json!("nowhere"))],
        FindingCode::UnusableCondition => {
            let nested = (0..40).fold(json!(1), |inner, _| json!({ "!": [inner] }));
            let condition = |value| package.clone().set(GRAPH, "/edges/1/conditionExpr", value);
            vec![condition(json!({ "exec": "rm" })), condition(json!({ "a": 1, "b": 2 })), condition(nested)]
        }
        FindingCode::NoEnd => vec![package.set(GRAPH, "/nodes/4/type", json!("step"))],
        FindingCode::Unreachable => {
            vec![package.set(GRAPH, "/edges/1/to", json!("step-03b-brownfield"))]
        }
        FindingCode::SeveralDefaults => vec![package.set(GRAPH, "/edges/1/isDefault", json!(true))],
        FindingCode::EndGoesOn => {
            vec![package.set(GRAPH, "/edges/-", edge("end-99", "step-01-intake", "again"))]
        }
        FindingCode::NoChoice => vec![package.set(GRAPH, "/nodes/2/type", json!("decision"))],
        FindingCode::NoDefault => vec![package.set(GRAPH, "/edges/2/isDefault", json!(false))],
        FindingCode::DeadEnd => vec![package.set(GRAPH, "/edges/3/from", json!("step-01-intake"))],
        FindingCode::NodeMismatch => {
            let text = "---\nschemaVersion: \"1.1\"\nnodeId: other\ntype: step\n---\n";
            vec![package.text(STEP, text)]
        }
        FindingCode::StepDisagrees => vec![
            step("type: step\ntitle: Other\n"),
            step("type: step\ntransitions:\n  - to: end-99\n    label: skip\n"),
        ],
        FindingCode::UnknownCurrentNode => vec![document("currentNodeId: nowhere\n", "")],
        FindingCode::BrokenLink => vec![document("currentNodeId: \"\"\n", "[a](steps/none.md)")],
        FindingCode::MenuHidden => {
            vec![menu(&json!({ "description": "a", "action": "x", "ide-only": true, "web-only": true }))]
        }
        FindingCode::MenuUnknownWorkflow => vec![
            menu(&json!({ "description": "a", "workflow": "none" })),
            menu(&json!({ "description": "a", "workflow": "old.yaml" })),
        ],
        FindingCode::MenuExec => vec![menu(&json!({ "description": "a", "exec": "gone.md" }))],
        FindingCode::MenuData => {
            vec![menu(&json!({ "description": "a", "action": "x", "data": "../x.json" }))]
        }
        FindingCode::MenuTrigger => vec![menu(
            &json!({ "description": "a", "workflow": "./workflow.md", "triggers": [{ "type": "handler", "match": "h" }] }),
        )],
        FindingCode::MenuUnknownPrompt => vec![menu(&json!({ "description": "a", "action": "#none" }))],
    }
}

#[test]
fn every_finding_is_listed_with_one_thing_to_do() {
    let mut page = String::new();
    for code in FindingCode::ALL {
        let _ = writeln!(page, "── {}", code.as_str());
        for package in packages_with(*code) {
            let findings = package.check().findings;
            let found: Vec<_> = findings.iter().filter(|finding| finding.code == *code).collect();
            assert!(!found.is_empty(), "{}: {findings:#?}", code.as_str());
            for finding in found {
                let _ = writeln!(page, "{}: {finding}\n  hint: {}", finding.severity.as_str(), finding.hint);
                for text in [&finding.message, &finding.hint] {
                    let is_plain = !text.is_empty() && !text.contains('\n') && !text.ends_with('.');
                    assert!(is_plain && !text.starts_with(char::is_uppercase), "{text}");
                }
            }
        }
        page.push('\n');
    }
    insta::with_settings!({ omit_expression => true }, {
        assert_snapshot!("findings", page);
    });
}
