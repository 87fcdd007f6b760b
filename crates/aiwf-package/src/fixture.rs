//! A package with one decision, for tests.

#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use serde_json::{Value, json};

use crate::check::{Checked, check};
use crate::files::Files;
use crate::graph::Graph;

pub(crate) const NOW: &str = "2026-01-31T12:00:00Z";

/// Files, with helpers to change JSON and text.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) files: Files,
}

pub(crate) fn graph_json() -> Value {
    json!({
        "schemaVersion": "1.1",
        "entryNodeId": "step-01-intake",
        "nodes": [
            { "id": "step-01-intake", "type": "step", "file": "steps/step-01-intake.md", "agentId": "analyst",
              "title": "Intake", "outputs": ["artifacts/intake.md"] },
            { "id": "decide-02-project-type", "type": "decision", "file": "steps/step-02-decide-project-type.md",
              "agentId": "pm", "title": "Decide project type", "inputs": ["artifacts/intake.md"] },
            { "id": "step-03a-greenfield", "type": "step", "file": "steps/step-03a-greenfield.md",
              "agentId": "architect", "title": "Greenfield plan" },
            { "id": "step-03b-brownfield", "type": "step", "file": "steps/step-03b-brownfield.md",
              "agentId": "architect", "title": "Brownfield plan" },
            { "id": "end-99", "type": "end", "file": "steps/end-99.md", "agentId": "", "title": "Finish" },
        ],
        "edges": [
            { "from": "step-01-intake", "to": "decide-02-project-type", "label": "next" },
            { "from": "decide-02-project-type", "to": "step-03a-greenfield", "label": "greenfield",
              "conditionText": "variables.projectType == 'greenfield'",
              "conditionExpr": { "==": [{ "var": "projectType" }, "greenfield"] } },
            { "from": "decide-02-project-type", "to": "step-03b-brownfield", "label": "brownfield", "isDefault": true,
              "conditionText": "variables.projectType == 'brownfield'",
              "conditionExpr": { "==": [{ "var": "projectType" }, "brownfield"] } },
            { "from": "step-03a-greenfield", "to": "end-99", "label": "next" },
            { "from": "step-03b-brownfield", "to": "end-99", "label": "next" },
        ],
    })
}

pub(crate) fn graph() -> Graph {
    Graph::from_value(graph_json()).unwrap()
}

fn agent(id: &str) -> Value {
    json!({ "id": id, "metadata": { "name": id, "title": "Title", "icon": "x" },
        "persona": { "role": "r", "identity": "i", "communication_style": "s", "principles": "- one\n- two" } })
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let manifest = json!({ "schemaVersion": "1.1", "name": "hello-branch", "version": "0.1.0",
            "createdAt": "2025-12-23T00:00:00Z",
            "entry": { "workflow": "workflow.md", "graph": "workflow.graph.json", "agents": "agents.json",
                "assetsDir": "assets/" } });
        let agents = json!({ "schemaVersion": "1.1",
            "agents": [agent("analyst"), agent("pm"), agent("architect"), agent("summarizer")] });
        let mut fixture = Self { files: Files::new() }
            .json("bmad.json", &manifest)
            .json("agents.json", &agents)
            .json("workflow.graph.json", &graph_json())
            .text("workflow.md", WORKFLOW);
        for node in graph_json()["nodes"].as_array().unwrap() {
            let (id, kind) = (node["id"].as_str().unwrap(), node["type"].as_str().unwrap());
            let text = format!(
                "---\nschemaVersion: \"1.1\"\nnodeId: {id}\ntype: {kind}\nagentId: \"\"\n---\n\n# {id}\n"
            );
            fixture = fixture.text(node["file"].as_str().unwrap(), &text);
        }
        fixture
    }

    pub(crate) fn json(mut self, path: &str, value: &Value) -> Self {
        self.files.insert(path.to_owned(), serde_json::to_vec_pretty(value).unwrap());
        self
    }

    pub(crate) fn text(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.as_bytes().to_vec());
        self
    }

    pub(crate) fn without(mut self, path: &str) -> Self {
        self.files.remove(path);
        self
    }

    /// Sets the value at a pointer of a JSON file.
    pub(crate) fn set(self, path: &str, pointer: &str, value: Value) -> Self {
        let mut json: Value = serde_json::from_slice(&self.files[path]).unwrap();
        let (above, key) = pointer.rsplit_once('/').unwrap();
        match json.pointer_mut(above).unwrap() {
            Value::Array(items) if key == "-" => items.push(value),
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
            Value::Object(map) => drop(map.insert(key.to_owned(), value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                panic!("nothing can be set at {above}")
            }
        }
        self.json(path, &json)
    }

    pub(crate) fn check(self) -> Checked {
        check(self.files)
    }

    /// The findings, one per line.
    pub(crate) fn findings(self) -> String {
        let line = |finding: &crate::Finding| {
            let key = finding.key.as_deref().map(|key| format!(" (key {key})")).unwrap_or_default();
            format!("{} {}: {finding}{key}\n", finding.severity.as_str(), finding.code.as_str())
        };
        self.check().findings.iter().map(line).collect()
    }
}

pub(crate) const WORKFLOW: &str = "\
---
schemaVersion: \"1.1\"
workflowType: hello-branch
runId: \"\"
currentNodeId: step-01-intake
stepsCompleted: []
variables:
  greeting: hello # the author's own
---

# Hello

- [Intake](steps/step-01-intake.md)
";
