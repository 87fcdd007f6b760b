use serde_json::{Value, json};

use super::parse_widget_submit;
use super::tests::{Options, Place};

fn ask(kind: &str, more: &Value) -> Value {
    let mut arguments = json!({ "widgetId": "w-1", "type": kind, "message": "What?" });
    if let (Some(arguments), Some(more)) = (arguments.as_object_mut(), more.as_object()) {
        arguments.extend(more.clone());
    }
    arguments
}

#[test]
fn every_type_of_question_has_its_widget() {
    let field = json!({ "type": "string", "title": "Name", "minLength": 1 });
    let kinds = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } });
    let good = [
        ask(
            "form",
            &json!({ "schema": { "type": "object", "required": ["name"],
            "properties": { "name": field, "kinds": kinds } } }),
        ),
        ask(
            "selection",
            &json!({ "options": [{ "value": "a", "label": "A" },
            { "value": "b", "label": "B", "description": "the other" }] }),
        ),
        ask("selection", &json!({ "options": [{ "value": "a", "label": "A" }], "multi": true })),
        ask("confirmation", &json!({})),
        ask("plan_review", &json!({ "planContent": "# Plan\n\n````\ncode\n````\n" })),
        ask("feedback", &json!({ "items": [{ "id": "1", "content": "x" }] })),
        ask("action_selection", &json!({ "actions": [{ "id": "go", "label": "Go" }] })),
    ];
    let mut place = Place::new(Options { has_fs: false, preview: 10, ..Options::default() });
    let mut blocks = Vec::new();
    for (index, arguments) in good.into_iter().enumerate() {
        let name = if index % 2 == 0 { "ui.ask_user" } else { "ui_ask_user" };
        let ran = place.run(name, arguments);
        assert!(!ran.is_error, "{}", ran.content);
        let result: Value = serde_json::from_str(&ran.content).unwrap();
        let block = result["widgetBlock"].as_str().unwrap().to_owned();
        let (first, rest) = block.split_once('\n').unwrap();
        let (json, fence) = rest.rsplit_once('\n').unwrap();
        assert_eq!(first, format!("{fence}widget"));
        assert!(!json.contains(fence));
        assert_eq!(serde_json::from_str::<Value>(json).unwrap(), ran.question.unwrap());
        blocks.push(block);
    }
    insta::assert_snapshot!(blocks.join("\n\n"));
}

#[test]
fn a_question_without_a_possible_answer_is_refused() {
    let option = |value: &str| json!({ "value": value, "label": "L" });
    let form =
        |field: Value| ask("form", &json!({ "schema": { "type": "object", "properties": { "a": field } } }));
    let long = "x".repeat(5_000);
    let bad = [
        json!({ "widgetId": "w", "type": "confirmation" }),
        json!({ "widgetId": "", "type": "confirmation", "message": "m" }),
        json!({ "widgetId": "a b", "type": "confirmation", "message": "m" }),
        json!({ "widgetId": "w", "type": "confirmation", "message": " " }),
        json!({ "widgetId": "w", "type": "confirmation", "message": long }),
        json!({ "widgetId": "workflow_state_change_confirm", "type": "selection", "message": "m",
            "options": [option("a")] }),
        ask("question", &json!({})),
        ask("confirmation", &json!({ "options": [option("a")] })),
        ask("confirmation", &json!({ "other": 1 })),
        ask("selection", &json!({})),
        ask("selection", &json!({ "options": [] })),
        ask("selection", &json!({ "options": [option("a"), option("a")] })),
        ask("selection", &json!({ "options": [{ "value": "a", "label": "" }] })),
        ask("selection", &json!({ "options": (0..51).map(|n| option(&n.to_string())).collect::<Vec<_>>() })),
        ask("plan_review", &json!({})),
        ask("plan_review", &json!({ "planContent": "x".repeat(32_001) })),
        ask("feedback", &json!({ "items": [{ "id": "1" }] })),
        ask("feedback", &json!({ "items": [{ "id": "1", "content": "a" }, { "id": "1", "content": "b" }] })),
        ask("action_selection", &json!({ "actions": [] })),
        ask("action_selection", &json!({ "actions": [{ "id": "a", "label": "A", "run": "rm" }] })),
        ask("form", &json!({})),
        ask("form", &json!({ "schema": { "type": "string" } })),
        ask("form", &json!({ "schema": { "type": "object", "properties": {} } })),
        ask(
            "form",
            &json!({ "schema": { "type": "object", "properties": { "a": { "type": "string" } },
            "required": ["b"] } }),
        ),
        ask(
            "form",
            &json!({ "schema": { "type": "object", "properties": { "a": { "type": "string" } },
            "$ref": "x" } }),
        ),
        form(json!({ "type": "object" })),
        form(json!({ "type": "string", "pattern": "(a+)+$" })),
        form(json!({ "type": "string", "enum": [] })),
        form(json!({ "type": "string", "enum": ["a", "a"] })),
        form(json!({ "type": "string", "minLength": "1" })),
        form(json!({ "type": "string", "items": {} })),
        form(json!({ "type": "array" })),
        form(json!({ "type": "array", "items": { "type": "object" } })),
        form(json!({ "type": "number", "minimum": "1" })),
        form(json!({ "type": "string", "title": 1 })),
        form(json!("string")),
    ];
    let mut place = Place::new(Options::default());
    let messages: Vec<String> = bad
        .into_iter()
        .map(|arguments| place.fails("ui.ask_user", arguments, "E_INVALID_ARGS")["message"].to_string())
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn an_answer_is_a_head_and_json() {
    let parse = |json: Value| parse_widget_submit(&format!("WIDGET_SUBMIT\n{json}")).unwrap();
    assert_eq!(parse_widget_submit("hello"), None);
    assert_eq!(parse_widget_submit(""), None);
    assert_eq!(parse_widget_submit("WIDGET_SUBMITS\n{}"), None);
    assert_eq!(parse_widget_submit("I send WIDGET_SUBMIT\n{}"), None);
    assert!(parse_widget_submit("WIDGET_SUBMIT").unwrap().is_err());
    assert!(parse_widget_submit("WIDGET_SUBMIT\nyes").unwrap().is_err());
    assert!(
        parse_widget_submit("WIDGET_SUBMIT\r\n{\"widgetId\":\"w\",\"type\":\"form\",\"value\":{}}\r\n")
            .unwrap()
            .is_ok()
    );
    let answer = |kind: &str, value: Value| json!({ "widgetId": "w", "type": kind, "value": value });
    for (kind, value) in [
        ("form", json!({ "a": 1 })),
        ("selection", json!(["a"])),
        ("confirmation", json!({ "confirmed": false })),
        ("plan_review", json!({ "decision": "approve" })),
        ("plan_review", json!({ "decision": "request_changes", "feedback": "more" })),
        ("feedback", json!({ "1": "good" })),
        ("action_selection", json!("go")),
    ] {
        assert_eq!(parse(answer(kind, value.clone())).unwrap().value, value);
    }
    for (kind, value) in [
        ("form", json!([])),
        ("selection", json!("a")),
        ("confirmation", json!(true)),
        ("plan_review", json!({ "decision": "request_changes" })),
        ("feedback", json!({ "1": 1 })),
        ("action_selection", json!(["go"])),
        ("question", json!({})),
    ] {
        assert!(parse(answer(kind, value)).is_err(), "{kind}");
    }
}

#[test]
fn only_one_answer_confirms_a_change() {
    let is_confirmed = |id: &str, kind: &str, value: Value| {
        let text = format!("WIDGET_SUBMIT\n{}", json!({ "widgetId": id, "type": kind, "value": value }));
        parse_widget_submit(&text).unwrap().is_ok_and(|submit| submit.is_state_confirmation())
    };
    let id = "workflow_state_change_confirm";
    assert!(is_confirmed(id, "confirmation", json!({ "confirmed": true })));
    assert!(!is_confirmed(id, "confirmation", json!({ "confirmed": false })));
    assert!(!is_confirmed(id, "confirmation", json!({ "confirmed": "true" })));
    assert!(!is_confirmed(id, "form", json!({ "confirmed": true })));
    assert!(!is_confirmed("other", "confirmation", json!({ "confirmed": true })));
}
