use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::fixture::Fixture;

const GRAPH: &str = "workflow.graph.json";

#[test]
fn a_valid_package_has_no_findings() {
    let checked = Fixture::new().check();
    assert_eq!(checked.findings, []);
    let package = checked.package.unwrap();
    assert_eq!(package.workflows.len(), 1);
    assert_eq!(package.workflows[0].id, "hello-branch");
}

#[test]
fn the_smallest_package_passes() {
    let fixture = Fixture { files: Files::new() }
        .json("bmad.json", &json!({ "schemaVersion": "1.1", "name": "x", "version": "0.1.0",
            "entry": { "workflow": "workflows/1/workflow.md", "graph": "workflows/1/workflow.graph.json", "agents": "agents.json" },
            "workflows": [{ "id": "1", "workflow": "workflows/1/workflow.md", "graph": "workflows/1/workflow.graph.json" }] }))
        .json("agents.json", &json!({ "schemaVersion": "1.1", "agents": [{ "id": "dev",
            "metadata": { "name": "Dev", "title": "Developer", "icon": "🧩" },
            "persona": { "role": "Developer", "identity": "I write code", "communication_style": "direct", "principles": ["Ship"] } }] }))
        .json("workflows/1/workflow.graph.json", &json!({ "schemaVersion": "1.1", "entryNodeId": "step-1",
            "nodes": [{ "id": "step-1", "type": "step", "file": "workflows/1/steps/step-1.md", "agentId": "dev" }], "edges": [] }))
        .text("workflows/1/workflow.md", "---\nschemaVersion: 1.1\nworkflowType: x\nstepsCompleted: []\ncurrentNodeId: \"\"\n---\n")
        .text("workflows/1/steps/step-1.md", "---\nschemaVersion: \"1.1\"\nnodeId: step-1\ntype: step\n---\n");
    assert!(fixture.clone().check().package.is_some());
    assert_snapshot!(fixture.findings(), @"warning no-end: workflows/1/workflow.graph.json#/nodes: has no end node: a run is complete only when `variables.workflowStatus` is `complete` (key nodes)");
}

#[test]
fn errors_in_the_manifest() {
    assert_snapshot!(Fixture::new().without("bmad.json").findings(), @"error missing-file: bmad.json: the package has no such file");
    assert_snapshot!(Fixture::new().text("bmad.json", "{").findings(), @"error invalid-json: bmad.json: is not JSON: EOF while parsing an object at line 1 column 1");
    assert_snapshot!(
        Fixture::new().set("bmad.json", "/entry/agents", json!("agent.json")).set("bmad.json", "/entry/workflow", json!("Workflow.md")).findings(),
        @"
    error missing-file: bmad.json#/entry/agents: file `agent.json` is not in the package (key agents)
    error missing-file: bmad.json#/entry/workflow: file `Workflow.md` is not in the package (key workflow)
    "
    );
    assert_snapshot!(
        Fixture::new().set("bmad.json", "/licence", json!("MIT")).set("bmad.json", "/integrity", json!({ "sha256": "0".repeat(64) })).findings(),
        @"error schema: bmad.json#/licence: unknown key `licence` (key licence)"
    );
    assert_snapshot!(
        Fixture::new().set("bmad.json", "/integrity", json!({ "sha256": "0".repeat(64) })).findings(),
        @"warning integrity-not-checked: bmad.json#/integrity/sha256: the hash is not checked: a file cannot contain the hash of its own archive (key sha256)"
    );
}

#[test]
fn wrong_ids_and_references_are_errors() {
    let fixture = Fixture::new()
        .set(GRAPH, "/nodes/2/id", json!("step-03b-brownfield"))
        .set(GRAPH, "/nodes/0/agentId", json!("nobody"))
        .set(GRAPH, "/nodes/3/file", json!("steps/none.md"))
        .set(GRAPH, "/entryNodeId", json!("start"))
        .set("agents.json", "/agents/1/id", json!("analyst"));
    assert!(fixture.clone().check().package.is_none());
    assert_snapshot!(fixture.findings(), @"
    error duplicate-agent: agents.json#/agents/1/id: agent id `analyst` occurs twice: first at /agents/0 (key id)
    error node-mismatch: steps/step-03a-greenfield.md#/nodeId: has node id `step-03a-greenfield`, but `workflow.graph.json` assigns it to node `step-03b-brownfield` at /nodes/2 (key nodeId)
    error unknown-agent: workflow.graph.json#/nodes/0/agentId: the package has no agent `nobody` (key agentId)
    error unknown-agent: workflow.graph.json#/nodes/1/agentId: the package has no agent `pm` (key agentId)
    error duplicate-node: workflow.graph.json#/nodes/3/id: node id `step-03b-brownfield` occurs twice: first at /nodes/2 (key id)
    error missing-file: workflow.graph.json#/nodes/3/file: file `steps/none.md` is not in the package (key file)
    error unknown-entry: workflow.graph.json#/entryNodeId: entry node `start` is not a node of the graph (key entryNodeId)
    error dangling-edge: workflow.graph.json#/edges/1/to: node `step-03a-greenfield` is not in the graph (key to)
    error dangling-edge: workflow.graph.json#/edges/3/from: node `step-03a-greenfield` is not in the graph (key from)
    ");
}

#[test]
fn questionable_parts_of_a_graph_are_warnings() {
    let fixture = Fixture::new()
        .set(GRAPH, "/edges/2/isDefault", json!(false))
        .set(GRAPH, "/edges/2/conditionExpr", json!({ "exec": "rm" }))
        .set(GRAPH, "/edges/-", json!({ "from": "end-99", "to": "step-01-intake", "label": "again" }))
        .set(
            GRAPH,
            "/edges/-",
            json!({ "from": "step-01-intake", "to": "decide-02-project-type", "label": "next" }),
        )
        .set(GRAPH, "/nodes/-", json!({ "id": "lost", "type": "decision", "file": "steps/lost.md" }))
        .text("steps/lost.md", "---\nschemaVersion: \"1.1\"\nnodeId: lost\ntype: decision\n---\n");
    assert!(fixture.clone().check().package.is_some());
    assert_snapshot!(fixture.findings(), @"
    warning unusable-condition: workflow.graph.json#/edges/2/conditionExpr: condition uses `exec`, which JSONLogic does not have (key conditionExpr)
    warning duplicate-edge: workflow.graph.json#/edges/6: edge is a duplicate of /edges/0
    warning no-default: workflow.graph.json#/nodes/1: decision `decide-02-project-type` has no default edge (key isDefault)
    warning end-goes-on: workflow.graph.json#/nodes/4: end node `end-99` has an outgoing edge
    warning unreachable: workflow.graph.json#/nodes/5: node `lost` cannot be reached from `step-01-intake` (key id)
    warning no-choice: workflow.graph.json#/nodes/5: decision `lost` has no outgoing edge: two are needed
    warning no-default: workflow.graph.json#/nodes/5: decision `lost` has no default edge (key isDefault)
    ");
}

#[test]
fn step_files_are_compared_with_the_graph() {
    let fixture = Fixture::new()
        .text("steps/step-01-intake.md", "---\nschemaVersion: \"1.1\"\nnodeId: step-01-intake\ntype: merge\nagentId: pm\ntitle: Other\noutputs: [artifacts/x.md]\n---\n")
        .text("steps/step-02-decide-project-type.md", "---\nschemaVersion: \"1.1\"\nnodeId: decide-02-project-type\ntype: decision\ntransitions:\n  - to: step-03a-greenfield\n    label: greenfield\n    isDefault: true\n  - to: end-99\n    label: skip\n---\n")
        .text("steps/step-03a-greenfield.md", "---\nschemaVersion: \"1.1\"\nnodeId: step-03a-greenfield\ntype: step\ntransitions:\n  - to: end-99\n    label: next\n    isDefault: true\n---\n");
    assert!(fixture.clone().check().package.is_some());
    assert_snapshot!(fixture.findings(), @"
    warning step-disagrees: steps/step-01-intake.md#/type: `type` is `merge` here but `step` in the graph, which takes precedence (key type)
    warning step-disagrees: steps/step-01-intake.md#/agentId: `agentId` is `pm` here but `analyst` in the graph, which takes precedence (key agentId)
    warning step-disagrees: steps/step-01-intake.md#/title: `title` is `Other` here but `Intake` in the graph, which takes precedence (key title)
    warning step-disagrees: steps/step-01-intake.md#/outputs: `outputs` is `artifacts/x.md` here but `artifacts/intake.md` in the graph, which takes precedence (key outputs)
    warning step-disagrees: steps/step-02-decide-project-type.md#/transitions/0/isDefault: `isDefault` is true here but false in the graph, which takes precedence (key isDefault)
    warning step-disagrees: steps/step-02-decide-project-type.md#/transitions/1: the graph has no edge from `decide-02-project-type` to `end-99` with label `skip` (key transitions)
    warning step-disagrees: steps/step-02-decide-project-type.md#/transitions: lacks the edge to `step-03b-brownfield` with label `brownfield` of the graph (key transitions)
    ");
}

#[test]
fn front_matter_and_times_are_checked() {
    let fixture = Fixture::new()
        .text("steps/end-99.md", "# no front matter\n")
        .text("steps/step-01-intake.md", "---\nschemaVersion: \"1.1\"\nnodeId: step-01-intake\n---\n")
        .text("steps/step-03b-brownfield.md", "---\nschemaVersion: \"1.1\"\nnodeId: step-03b-brownfield\ntype: step\nagentId: ghost\n---\n")
        .text("workflow.md", "---\nschemaVersion: \"1.1\"\nworkflowType: x\nstepsCompleted: []\ncurrentNodeId: \"\"\nupdatedAt: yesterday\n---\n[a](steps/none.md)");
    assert_snapshot!(fixture.findings(), @"
    error front-matter: steps/end-99.md: line 1: no front matter: start the file with a line `---`, YAML, and another line `---`
    error schema: steps/step-01-intake.md: key `type` is missing (key type)
    error unknown-agent: steps/step-03b-brownfield.md#/agentId: the package has no agent `ghost` (key agentId)
    error schema: workflow.md#/updatedAt: `yesterday` is not a time like `2026-01-31T12:00:00Z` (key updatedAt)
    ");
    let empty = Fixture::new().text("workflow.md", "---\nschemaVersion: \"1.1\"\nworkflowType: x\nstepsCompleted: []\ncurrentNodeId: \"\"\nupdatedAt: \"\"\n---\n[a](steps/none.md)");
    assert_snapshot!(empty.findings(), @"
    warning empty-timestamp: workflow.md#/updatedAt: is an empty time (key updatedAt)
    warning broken-link: workflow.md: links to `steps/none.md`, which is not in the package
    ");
}

#[test]
fn several_workflows_have_their_own_ids() {
    let record =
        |id: &str| json!({ "id": id, "workflow": "workflow.md", "graph": GRAPH, "displayName": "One" });
    let fixture = Fixture::new().set("bmad.json", "/workflows", json!([record("one"), record("two")]));
    let package = fixture.clone().check().package.unwrap();
    assert_eq!(
        package.workflows.iter().map(|workflow| workflow.id.as_str()).collect::<Vec<_>>(),
        ["one", "two"]
    );
    assert_snapshot!(
        fixture.set("bmad.json", "/workflows/1/id", json!("one")).set("bmad.json", "/workflows/0/graph", json!("none.json")).findings(),
        @"
    error duplicate-workflow: bmad.json#/workflows/1/id: workflow id `one` occurs twice: first at /workflows/0 (key id)
    error missing-file: bmad.json#/workflows/0/graph: file `none.json` is not in the package (key graph)
    "
    );
}

#[test]
fn menus_with_missing_targets_are_reported() {
    let menu = json!([{ "description": "a", "workflow": "none" }, { "description": "b", "action": "#none" },
        { "description": "c", "ide-only": true, "web-only": true }, { "description": "d", "workflow": "hello-branch" },
        { "description": "e", "exec": "gone.md" }, { "description": "f", "action": "x", "data": "../x.json" },
        { "description": "g", "workflow": "./workflow.md", "triggers": [{ "type": "handler", "match": "h" }] }]);
    assert_snapshot!(Fixture::new().set("agents.json", "/agents/0/menu", menu).findings(), @"
    warning menu-unknown-workflow: agents.json#/agents/0/menu/0/workflow: workflow `none` is not in the package (key workflow)
    warning menu-unknown-prompt: agents.json#/agents/0/menu/1/action: the agent has no prompt `none` (key action)
    warning menu-hidden: agents.json#/agents/0/menu/2: is both `ide-only` and `web-only`, so it is never shown
    warning menu-exec: agents.json#/agents/0/menu/4/exec: could not load `@pkg/gone.md`: it is not in the package (key exec)
    warning menu-data: agents.json#/agents/0/menu/5/data: the menu may not use `../x.json`: it contains `..` (key data)
    warning menu-trigger: agents.json#/agents/0/menu/6/triggers: has a handler without `workflow`, `exec` or `action` (key triggers)
    ");
}
