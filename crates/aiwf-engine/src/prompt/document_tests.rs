use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;

fn published(recipe: Recipe) -> String {
    format!("{:#}\n", schema(recipe))
}

#[test]
fn the_published_schema_of_session() {
    assert_snapshot!(published(Recipe::Session));
}

#[test]
fn the_published_schema_of_change() {
    assert_snapshot!(published(Recipe::Change));
}

#[test]
fn the_published_schema_of_workflow() {
    assert_snapshot!(published(Recipe::Workflow));
}

#[test]
fn the_published_schema_of_reply() {
    assert_snapshot!(published(Recipe::Reply));
}

/// Whether a value fits a schema, as far as our schemas go; what does not fit is named by its path.
fn check(root: &Value, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.strip_prefix('#').unwrap()).unwrap();
        check(root, target, value, path)?;
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = choices.iter().any(|choice| check(root, choice, value, path).is_ok());
        return if fits { Ok(()) } else { Err(format!("{path}: no choice fits")) };
    }
    let has_type = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("a type this check does not know: {other}"),
    };
    let types = &schema["type"];
    let is_fit = types.is_null()
        || types.as_array().map_or_else(|| has_type(types), |names| names.iter().any(has_type));
    if !is_fit {
        return Err(format!("{path}: another type"));
    }
    if schema["enum"].as_array().is_some_and(|known| !known.contains(value)) {
        return Err(format!("{path}: not one of the names"));
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_i64(), value.as_i64())
        && number < least
    {
        return Err(format!("{path}: too small"));
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        if schema["items"].is_object() {
            check(root, &schema["items"], item, &format!("{path}[{index}]"))?;
        }
    }
    let Some(fields) = value.as_object() else { return Ok(()) };
    let others = &schema["additionalProperties"];
    for required in schema["required"].as_array().into_iter().flatten() {
        if !fields.contains_key(required.as_str().unwrap()) {
            return Err(format!("{path}: {required} is missing"));
        }
    }
    for (name, field) in fields {
        match schema["properties"].get(name) {
            Some(schema) => check(root, schema, field, &format!("{path}.{name}"))?,
            None if others.is_object() => check(root, others, field, &format!("{path}.{name}"))?,
            None if *others == false => return Err(format!("{path}.{name}: unknown")),
            None => {}
        }
    }
    Ok(())
}

/// What the schema and the reader say about a document: whether it fits.
fn fits(recipe: Recipe, document: &Value) -> (bool, bool) {
    let schema = schema(recipe);
    let by_schema = check(&schema, &schema, document, "$");
    let by_reader = Document::from_json(recipe, &document.to_string());
    (by_schema.is_ok(), by_reader.is_ok())
}

fn session() -> Value {
    json!({
        "session_dir": "s", "phase": "revising", "iteration": 2, "profile_prompt": "p", "fs_ability": "none",
        "supports_system_prompt": true, "supports_file_attachments": false, "feedback": null
    })
}

fn change() -> Value {
    json!({
        "agent": "claude", "phase": "plan", "system_prompt": null, "instructions": "i",
        "context": [{ "type": "file", "name": "a", "content": "b" }, { "type": "thought" }],
        "variables": { "REVIEWER": "Ann" }
    })
}

fn workflow() -> Value {
    json!({
        "mode": "run", "project_root": "/p", "package_root": null, "state_root": "/s", "package_id": "k",
        "workflow_id": "w", "graph_rel_path": "g.json", "active_agent_id": "a", "effective_agent_id": "a",
        "agent_definition": {
            "id": "a", "metadata": { "name": "n", "title": "t", "icon": "i", "module": "m" },
            "persona": { "role": "r", "identity": "i", "communication_style": "c", "principles": ["p"] },
            "critical_actions": ["x"], "system_prompt": "s", "user_prompt_template": "t",
            "tools": { "fs": { "enabled": true, "max_read_bytes": 1, "max_write_bytes": 2 },
                       "mcp": { "enabled": false, "allowed_servers": ["x"] } },
            "menu": [{ "any": "thing" }], "discussion": true
        },
        "run_id": "r", "current_node_id": "n", "steps_completed": ["m"], "variables": { "v": { "w": 1 } },
        "artifacts": ["a.md"],
        "node_brief": {
            "node_id": "n", "node_type": "step", "title": "t", "step_file_path_in_pkg": "s.md",
            "inputs": ["i"], "outputs": ["o"],
            "transitions": [{ "to": "x", "label": "l", "is_default": true, "condition_text": "c" }]
        },
        "tool_policy": null, "intent": "resume", "autopilot": true, "user_input": "u",
        "data_context": { "label": "l", "path": "p", "preview": "v" }, "workflow_completed": false
    })
}

fn reply() -> Value {
    json!({
        "request": {
            "ai_message": "m", "user_context": "u", "tool_results": "t", "include_mcp_tools": true,
            "project_name": "n", "project_path": "p"
        },
        "settings": {
            "system_prompt": "s", "closing": "c",
            "components": [{ "id": "closing", "order": 5, "enabled": false }]
        },
        "mode": "cli", "cli_tool": "claude",
        "mcp_tools": [{ "name": "t", "description": "d", "input_schema": { "type": "object" } }]
    })
}

const SAMPLES: [(Recipe, fn() -> Value); 4] = [
    (Recipe::Session, session),
    (Recipe::Change, change),
    (Recipe::Workflow, workflow),
    (Recipe::Reply, reply),
];

/// Every place in a document, as JSON pointers.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| places(field, &format!("{path}/{name}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| places(item, &format!("{path}/{index}"), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn full_documents_fit_the_schema_and_are_read() {
    for (recipe, sample) in SAMPLES {
        let schema = schema(recipe);
        assert_eq!(check(&schema, &schema, &sample(), "$"), Ok(()));
        Document::from_json(recipe, &sample().to_string()).unwrap();
    }
}

#[test]
fn the_schema_and_the_reader_agree_on_every_change_to_a_document() {
    let others =
        [json!(null), json!(true), json!(-1), json!(1), json!(1.5), json!("x"), json!([]), json!({})];
    for (recipe, sample) in SAMPLES {
        let mut all = Vec::new();
        places(&sample(), "", &mut all);
        for place in &all {
            for other in &others {
                let mut document = sample();
                *document.pointer_mut(place).unwrap() = other.clone();
                let (by_schema, by_reader) = fits(recipe, &document);
                // A name is judged when its meaning is looked for, so that the nearest can be suggested.
                let is_name = other.is_string()
                    && ["/mode", "/phase", "/intent", "/type"].iter().any(|end| place.ends_with(end));
                assert!(by_schema == by_reader || is_name, "{} with {other} at {place}", recipe.as_str());
            }
            let mut document = sample();
            if let Some(fields) = document.pointer_mut(place).unwrap().as_object_mut() {
                fields.insert("unheard_of".to_owned(), json!(1));
                let (by_schema, by_reader) = fits(recipe, &document);
                assert_eq!(by_schema, by_reader, "{} with one more field at {place}", recipe.as_str());
            }
        }
    }
}

#[test]
fn the_schema_and_the_reader_agree_on_what_is_required() {
    for (recipe, sample) in SAMPLES {
        let mut all = Vec::new();
        places(&sample(), "", &mut all);
        for place in all.iter().filter(|place| !place.is_empty()) {
            let (parent, name) = place.rsplit_once('/').unwrap();
            let mut document = sample();
            let Some(fields) = document.pointer_mut(parent).unwrap().as_object_mut() else { continue };
            fields.remove(name);
            let (by_schema, by_reader) = fits(recipe, &document);
            assert_eq!(by_schema, by_reader, "{} without {place}", recipe.as_str());
        }
    }
}

fn refusal(json: &str) -> String {
    let error = Document::from_json(Recipe::Change, json).unwrap_err();
    format!("{error}\n{}", error.advice().unwrap_or_default().worded(|action, _| format!("{action:?}")))
}

#[test]
fn a_misfit_names_the_path_to_the_field() {
    assert_snapshot!(refusal(r#"{"instructions": "x", "context": [{"type": "file", "content": 5}]}"#), @r#"
    document does not match recipe `change`
      at `context[0].content`: expected a string, found number `5`
    PromptSchema("change") prints the schema of its documents
    "#);
}

#[test]
fn a_name_with_odd_characters_stays_on_its_line() {
    assert_snapshot!(refusal(r#"{"instructions": "x", "a\n\u001b[31mb": 1}"#), @r"
    document does not match recipe `change`
      at `a\n\u{1b}[31mb`: unknown field `a\n\u{1b}[31mb`
    known: `agent`, `phase`, `system_prompt`, `context`, `instructions`, `variables`
    ");
}

#[test]
fn a_document_knows_its_recipe() {
    for (recipe, sample) in SAMPLES {
        assert_eq!(Document::from_json(recipe, &sample().to_string()).unwrap().recipe(), recipe);
    }
}
