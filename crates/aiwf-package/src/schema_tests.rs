#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use serde_json::json;

use super::*;

fn told(schema: Schema, value: &Value) -> Vec<String> {
    schema.faults(value).into_iter().map(|fault| format!("{}: {}", fault.pointer, fault.message)).collect()
}

#[test]
fn every_schema_compiles() {
    for schema in Schema::ALL {
        assert!(schema.compiled().is_some(), "{schema:?}");
        assert!(!schema.faults(&json!({})).is_empty(), "{schema:?}");
    }
}

#[test]
fn violations_name_their_position_and_the_fix() {
    let manifest = json!({ "schemaVersion": "2.0", "name": "", "version": "1", "createdAt": "today", "extra": 1,
        "entry": { "workflow": 1, "graph": "g" }, "workflows": [{ "id": "-x", "workflow": "w", "graph": "g" }],
        "integrity": { "sha256": "12" } });
    insta::assert_snapshot!(told(Schema::Manifest, &manifest).join("\n"), @"
    /createdAt: `today` is not a time like `2026-01-31T12:00:00Z`
    /entry: key `agents` is missing
    /entry/workflow: is `1`, not a string
    /extra: unknown key `extra`
    /integrity/sha256: `12` is not a SHA-256 in hex
    /name: is empty
    /schemaVersion: `2.0` is not a supported version: write `1.1`
    /version: `1` is not a version like `1.2.3`
    /workflows/0/id: `-x` is not an id: use letters, digits, `.`, `_`, `:` and `-`, starting with a letter or a digit
    ");
}

#[test]
fn the_graph_allows_no_other_keys_and_has_five_types() {
    let graph = json!({ "schemaVersion": "1.1.3", "entryNodeId": "a", "nodes": [{ "id": "a", "type": "loop", "file": "" }],
        "edges": [{ "from": "a", "to": "b", "label": "", "conditionExpr": "x", "weight": 1 }], "metadata": { "any": 1 } });
    insta::assert_snapshot!(told(Schema::Graph, &graph).join("\n"), @"
    /edges/0/conditionExpr: is `x`, not an object
    /edges/0/label: is empty
    /edges/0/weight: unknown key `weight`
    /nodes/0/file: is empty
    /nodes/0/type: `loop` is none of `step`, `decision`, `merge`, `end`, `subworkflow`
    ");
}

#[test]
fn agents_may_have_principles_as_text_or_list_and_extra_menu_keys() {
    let agents = |principles: Value, menu: Value| {
        json!({ "schemaVersion": "1.1", "agents": [{ "id": "a", "metadata": { "name": "n", "title": "t", "icon": "i" },
            "persona": { "role": "r", "identity": "i", "communication_style": "c", "principles": principles },
            "menu": menu, "tools": { "fs": { "enabled": true, "maxReadBytes": 1 } } }] })
    };
    let menu = json!([{ "description": "d", "cmd": "anything", "ide-only": true }]);
    assert_eq!(told(Schema::Agents, &agents(json!("one"), menu.clone())), Vec::<String>::new());
    assert_eq!(told(Schema::Agents, &agents(json!(["one"]), menu.clone())), Vec::<String>::new());
    for wrong in [json!(""), json!([]), json!([""]), json!(1)] {
        assert_eq!(told(Schema::Agents, &agents(wrong.clone(), menu.clone())).len(), 1, "{wrong}");
    }
    let mut terminal = agents(json!("one"), menu);
    terminal["agents"][0]["tools"]["terminal"] = json!({});
    assert_eq!(told(Schema::Agents, &terminal), ["/agents/0/tools/terminal: unknown key `terminal`"]);
}

#[test]
fn front_matter_allows_other_keys() {
    let workflow = json!({ "schemaVersion": "1.1", "workflowType": "x", "stepsCompleted": [], "currentNodeId": "", "mine": 1 });
    assert!(Schema::Workflow.faults(&workflow).is_empty());
    let step = json!({ "schemaVersion": "1.1", "nodeId": "a", "type": "end", "mine": 1, "agentId": "" });
    assert!(Schema::Step.faults(&step).is_empty());
    let log = json!({ "schemaVersion": "1.1", "workflowType": "x", "stepsCompleted": [], "currentNodeId": "",
        "updatedAt": "", "decisionLog": [{ "from": "a", "to": "b", "label": "l", "who": "me" }] });
    insta::assert_snapshot!(told(Schema::Workflow, &log).join("\n"), @"
    /decisionLog/0/who: unknown key `who`
    /updatedAt: `` is not a time like `2026-01-31T12:00:00Z`
    ");
}
