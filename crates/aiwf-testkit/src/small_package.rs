//! Workflow packages for tests: a small one whose parts a test can change, and the examples of the repository.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::TestProject;

/// `start` (writer) → `check` (reader) → `done`, which has no agent of its own.
#[derive(Clone, Debug)]
pub struct SmallPackage {
    /// Its agents.
    pub agents: Vec<Value>,
    /// Its nodes.
    pub nodes: Vec<Value>,
    /// Its edges.
    pub edges: Vec<Value>,
    /// The front matter of `workflow.md`, as it is packed.
    pub front_matter: Value,
}

impl Default for SmallPackage {
    fn default() -> Self {
        Self {
            agents: vec![Self::agent("writer", "Wanda"), Self::agent("reader", "Rob")],
            nodes: vec![
                json!({ "id": "start", "type": "step", "file": "steps/start.md", "agentId": "writer" }),
                json!({ "id": "check", "type": "step", "file": "steps/check.md", "agentId": "reader" }),
                json!({ "id": "done", "type": "end", "file": "steps/done.md", "agentId": "" }),
            ],
            edges: vec![
                json!({ "from": "start", "to": "check", "label": "next" }),
                json!({ "from": "check", "to": "done", "label": "next" }),
            ],
            front_matter: json!({
                "schemaVersion": "1.1", "workflowType": "small", "stepsCompleted": [], "currentNodeId": "",
            }),
        }
    }
}

impl SmallPackage {
    /// The package as it is.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An agent of a package.
    #[must_use]
    pub fn agent(id: &str, name: &str) -> Value {
        json!({
            "id": id,
            "metadata": { "name": name, "title": "Tester", "icon": "T" },
            "persona": {
                "role": format!("The role of {name}"), "identity": "Calm", "communication_style": "short",
                "principles": ["Be exact"],
            },
        })
    }

    /// The same with a tool policy for an agent.
    ///
    /// # Panics
    ///
    /// When there is no such agent.
    #[must_use]
    pub fn tools(mut self, agent: usize, tools: Value) -> Self {
        let agent = self.agents.get_mut(agent).and_then(Value::as_object_mut);
        agent.expect("the package has that agent").insert("tools".to_owned(), tools);
        self
    }

    /// Puts it into a directory of a project.
    pub fn write(&self, project: &TestProject, to: &str) {
        self.write_workflow(project, to, "");
        let entry =
            json!({ "workflow": "workflow.md", "graph": "workflow.graph.json", "agents": "agents.json" });
        let manifest = json!({ "schemaVersion": "1.1", "name": "small", "version": "1.0.0", "entry": entry });
        project.write(&format!("{to}/bmad.json"), manifest.to_string());
        self.write_agents(project, to);
    }

    /// Puts its workflow into a directory of a project twice, as `first` and as `second`.
    pub fn write_twice(&self, project: &TestProject, to: &str) {
        let workflows = ["first", "second"].map(|id| {
            self.write_workflow(project, to, &format!("workflows/{id}/"));
            json!({
                "id": id,
                "workflow": format!("workflows/{id}/workflow.md"),
                "graph": format!("workflows/{id}/workflow.graph.json"),
            })
        });
        let entry = json!({
            "workflow": "workflows/first/workflow.md",
            "graph": "workflows/first/workflow.graph.json",
            "agents": "agents.json",
        });
        let manifest = json!({
            "schemaVersion": "1.1", "name": "two", "version": "1.0.0", "entry": entry, "workflows": workflows,
        });
        project.write(&format!("{to}/bmad.json"), manifest.to_string());
        self.write_agents(project, to);
    }

    fn write_agents(&self, project: &TestProject, to: &str) {
        let agents = json!({ "schemaVersion": "1.1", "agents": self.agents });
        project.write(&format!("{to}/agents.json"), agents.to_string());
    }

    fn write_workflow(&self, project: &TestProject, to: &str, below: &str) {
        let text_of =
            |node: &Value, key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut nodes = self.nodes.clone();
        for node in &mut nodes {
            let (id, file) = (text_of(node, "id"), format!("{below}{}", text_of(node, "file")));
            let step = json!({ "schemaVersion": "1.1", "nodeId": id, "type": node.get("type") });
            let text = format!("---\n{step}\n---\n\n# Step\n\nDo what `\"{id}\"` asks for.\n");
            project.write(&format!("{to}/{file}"), text);
            if let Some(fields) = node.as_object_mut() {
                fields.insert("file".to_owned(), file.into());
            }
        }
        let entry = nodes.first().map(|node| text_of(node, "id"));
        let graph =
            json!({ "schemaVersion": "1.1", "entryNodeId": entry, "nodes": nodes, "edges": self.edges });
        project.write(&format!("{to}/{below}workflow.graph.json"), graph.to_string());
        let text = format!("---\n{}\n---\n\n# Small\n\nThe body stays.\n", self.front_matter);
        project.write(&format!("{to}/{below}workflow.md"), text);
    }
}

/// Puts a package of `examples/packages/` into a directory of a project.
///
/// # Panics
///
/// When there is no such package.
pub fn copy_example_package(project: &TestProject, name: &str, to: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/packages").join(name);
    let mut open = vec![(from, to.to_owned())];
    while let Some((directory, relative)) = open.pop() {
        for entry in fs::read_dir(directory).expect("the example is there").flatten() {
            let below = format!("{relative}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                open.push((entry.path(), below));
            } else {
                project.write(&below, fs::read(entry.path()).expect("the example can be read"));
            }
        }
    }
}
