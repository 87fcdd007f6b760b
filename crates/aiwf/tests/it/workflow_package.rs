//! A small package for tests: three nodes in a row, an agent for each of the first two.

use std::fmt::Write as _;

use aiwf_testkit::model_server::{SeenRequest, Turn};
use aiwf_testkit::{ModelServer, Outcome};
use serde_json::{Value, json};

use crate::scene::Scene;

/// `start` (writer) → `check` (reader) → `done`, which has no agent of its own.
pub(crate) struct SmallPackage {
    pub(crate) agents: Vec<Value>,
    pub(crate) nodes: Vec<Value>,
    pub(crate) edges: Vec<Value>,
    /// The front matter of `workflow.md`, as it is packed.
    pub(crate) front_matter: Value,
}

impl SmallPackage {
    pub(crate) fn new() -> Self {
        Self {
            agents: vec![agent("writer", "Wanda"), agent("reader", "Rob")],
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

    /// The same with a tool policy for an agent.
    pub(crate) fn tools(mut self, agent: usize, tools: Value) -> Self {
        self.agents[agent]["tools"] = tools;
        self
    }

    /// Puts it into a project.
    pub(crate) fn write(&self, scene: &Scene, to: &str) {
        self.write_workflow(scene, to, "");
        let entry =
            json!({ "workflow": "workflow.md", "graph": "workflow.graph.json", "agents": "agents.json" });
        let manifest = json!({ "schemaVersion": "1.1", "name": "small", "version": "1.0.0", "entry": entry });
        scene.project.write(&format!("{to}/bmad.json"), manifest.to_string());
        self.write_agents(scene, to);
    }

    /// Puts its workflow into a project twice, as `first` and as `second`.
    pub(crate) fn write_twice(&self, scene: &Scene, to: &str) {
        let workflow = |id: &str| {
            self.write_workflow(scene, to, &format!("workflows/{id}/"));
            json!({
                "id": id,
                "workflow": format!("workflows/{id}/workflow.md"),
                "graph": format!("workflows/{id}/workflow.graph.json"),
            })
        };
        let workflows = [workflow("first"), workflow("second")];
        let entry = json!({ "workflow": workflows[0]["workflow"], "graph": workflows[0]["graph"], "agents": "agents.json" });
        let manifest = json!({
            "schemaVersion": "1.1", "name": "two", "version": "1.0.0", "entry": entry, "workflows": workflows,
        });
        scene.project.write(&format!("{to}/bmad.json"), manifest.to_string());
        self.write_agents(scene, to);
    }

    fn write_agents(&self, scene: &Scene, to: &str) {
        let agents = json!({ "schemaVersion": "1.1", "agents": self.agents });
        scene.project.write(&format!("{to}/agents.json"), agents.to_string());
    }

    fn write_workflow(&self, scene: &Scene, to: &str, below: &str) {
        let mut nodes = self.nodes.clone();
        for node in &mut nodes {
            let file = format!("{below}{}", node["file"].as_str().unwrap());
            let step = json!({ "schemaVersion": "1.1", "nodeId": node["id"], "type": node["type"] });
            let text = format!("---\n{step}\n---\n\n# Step\n\nDo what `{}` asks for.\n", node["id"]);
            scene.project.write(&format!("{to}/{file}"), text);
            node["file"] = file.into();
        }
        let graph = json!({
            "schemaVersion": "1.1", "entryNodeId": nodes[0]["id"], "nodes": nodes, "edges": self.edges,
        });
        scene.project.write(&format!("{to}/{below}workflow.graph.json"), graph.to_string());
        let text = format!("---\n{}\n---\n\n# Small\n\nThe body stays.\n", self.front_matter);
        scene.project.write(&format!("{to}/{below}workflow.md"), text);
    }

    /// A project with this package behind a model API.
    pub(crate) fn behind(&self, kind: &str, server: &ModelServer, more: &str) -> Scene {
        let scene = Scene::of_api(kind, server, more);
        self.write(&scene, "pkg");
        scene
    }
}

pub(crate) fn agent(id: &str, name: &str) -> Value {
    json!({
        "id": id,
        "metadata": { "name": name, "title": "Tester", "icon": "T" },
        "persona": {
            "role": format!("The role of {name}"), "identity": "Calm", "communication_style": "short",
            "principles": ["Be exact"],
        },
    })
}

/// Begins a run that ends with this exit code.
#[track_caller]
pub(crate) fn run(scene: &Scene, code: i32) -> Value {
    scene.answers("workflow run pkg --provider model --input 'Go.'", code)
}

/// Says something of several lines.
pub(crate) fn say(scene: &Scene, text: &str) -> Outcome {
    scene.command("workflow say latest").arg(text).arg("--json").run()
}

/// What the tools answered in a request, in their order; Gemini wants an object around what is text.
pub(crate) fn results(request: &SeenRequest) -> Vec<Value> {
    let unwrapped = |text: &String| {
        let value: Value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        let inner = ["result", "error"].into_iter().find_map(|kind| value.get(kind)?.as_str());
        inner.map_or_else(|| value.clone(), |text| serde_json::from_str(text).unwrap())
    };
    request.tool_results().iter().map(unwrapped).collect()
}

/// The code of the last result's error.
pub(crate) fn last_code(request: &SeenRequest) -> String {
    let results = results(request);
    let last = results.last().unwrap();
    assert!(last["error"]["code"].is_string(), "no error in {last:#}");
    last["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// The last user text that begins with a header.
pub(crate) fn block(request: &SeenRequest, header: &str) -> Option<String> {
    request.user_texts().into_iter().rev().find(|text| text.starts_with(header))
}

/// How many user texts begin with a header.
pub(crate) fn n_blocks(request: &SeenRequest, header: &str) -> usize {
    request.user_texts().iter().filter(|text| text.starts_with(header)).count()
}

pub(crate) fn read(path: &str) -> Turn {
    Turn::tool_call("fs_read", json!({ "path": path }))
}

pub(crate) fn patch(update: Value) -> Turn {
    Turn::tool_call(
        "fs_apply_patch",
        json!({ "path": "@state/workflow.md", "patch": { "operation": "updateFrontmatter", "update": update } }),
    )
}

/// A request for a person to read: what was said by whom, and the tools.
pub(crate) fn shown(request: &SeenRequest, scene: &Scene) -> String {
    let mut text = format!("[system]\n{}\n", request.system_text());
    for user in request.user_texts() {
        write!(text, "\n[user]\n{user}\n").unwrap();
    }
    write!(text, "\n[tools]\n{}\n", request.tool_names().join("\n")).unwrap();
    check_no_real_path(&text, scene);
    text
}

/// Nobody outside of this machine learns where things lie on it.
#[track_caller]
pub(crate) fn check_no_real_path(text: &str, scene: &Scene) {
    for path in [scene.project.root(), scene.project.home(), scene.project.cache()] {
        assert!(!text.contains(&path.display().to_string()), "a real path is in:\n{text}");
    }
}

/// No request of a server had a real path in it.
#[track_caller]
pub(crate) fn check_no_real_path_was_sent(server: &ModelServer, scene: &Scene) {
    for request in server.asks() {
        check_no_real_path(&String::from_utf8_lossy(&request.raw_body), scene);
    }
}
