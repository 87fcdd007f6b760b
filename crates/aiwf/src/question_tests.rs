use super::*;

fn question(json: &Value) -> Question {
    Question::read(json).unwrap()
}

/// What a person who gives these lines has answered.
#[track_caller]
fn answered(json: &Value, lines: &[&str]) -> Value {
    let question = question(json);
    let steps = question.steps();
    assert_eq!(steps.len(), lines.len());
    let answers = steps.iter().zip(lines).map(|(step, line)| step.read(line).unwrap()).collect();
    let message = question.submit(answers);
    let (head, body) = message.split_once('\n').unwrap();
    assert_eq!(head, "WIDGET_SUBMIT");
    assert_eq!(body.lines().count(), 1);
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["widgetId"], "w");
    assert_eq!(body["type"], question.kind_name);
    body["value"].clone()
}

#[track_caller]
fn refused(json: &Value, line: &str) -> String {
    question(json).steps().first().unwrap().read(line).unwrap_err()
}

fn selection(is_multi: bool) -> Value {
    json!({
        "widgetId": "w", "type": "selection", "message": "Which?", "multi": is_multi,
        "options": [
            { "value": "a", "label": "The first", "description": "small" },
            { "value": "b", "label": "The second" },
            { "value": "3", "label": "Named like a number" },
        ],
    })
}

#[test]
fn a_selection_is_a_list_of_values_by_number_value_or_label() {
    assert_eq!(answered(&selection(false), &["2"]), json!(["b"]));
    assert_eq!(answered(&selection(false), &["a"]), json!(["a"]));
    assert_eq!(answered(&selection(false), &[" the second "]), json!(["b"]));
    assert_eq!(answered(&selection(true), &["1, 2,1"]), json!(["a", "b"]));
    assert_eq!(answered(&selection(true), &["2 1"]), json!(["b", "a"]));
    assert_eq!(refused(&selection(false), "1,2"), "enter a number from 1 to 3");
    assert_eq!(refused(&selection(true), ""), "enter at least one number");
    assert_eq!(refused(&selection(true), "1,9"), "enter a number from 1 to 3");
}

#[test]
fn a_value_that_looks_like_a_number_wins_over_the_place() {
    assert_eq!(answered(&selection(false), &["3"]), json!(["3"]));
}

#[test]
fn a_selection_in_words_numbers_its_options() {
    assert_eq!(
        question(&selection(false)).words(),
        "Which?\n  1. The first — small\n  2. The second\n  3. Named like a number\n"
    );
}

#[test]
fn a_confirmation_takes_yes_and_no_alone() {
    let asked = json!({ "widgetId": "w", "type": "confirmation", "message": "Sure?" });
    assert_eq!(answered(&asked, &["Y"]), json!({ "confirmed": true }));
    assert_eq!(answered(&asked, &["no"]), json!({ "confirmed": false }));
    assert_eq!(refused(&asked, "maybe"), "enter y or n");
}

#[test]
fn a_plan_is_approved_or_sent_back_with_words() {
    let asked =
        json!({ "widgetId": "w", "type": "plan_review", "message": "Fine?", "planContent": "1. Do it\n" });
    assert_eq!(question(&asked).words(), "Fine?\n\n1. Do it\n");
    assert_eq!(answered(&asked, &["yes"]), json!({ "decision": "approve" }));
    assert_eq!(
        answered(&asked, &["add tests"]),
        json!({ "decision": "request_changes", "feedback": "add tests" })
    );
    assert_eq!(refused(&asked, "n"), "enter y, or what should change");
}

#[test]
fn feedback_has_a_line_for_each_item_and_leaves_empty_ones_out() {
    let asked = json!({
        "widgetId": "w", "type": "feedback", "message": "Remarks?",
        "items": [{ "id": "i1", "content": "One" }, { "id": "i2", "content": "Two" }],
    });
    assert_eq!(answered(&asked, &["good", " "]), json!({ "i1": "good" }));
    assert_eq!(question(&asked).words(), "Remarks?\n  1. One\n  2. Two\n");
}

#[test]
fn an_action_is_its_id() {
    let asked = json!({
        "widgetId": "w", "type": "action_selection", "message": "Now?",
        "actions": [{ "id": "go", "label": "Go on" }, { "id": "end", "label": "End" }],
    });
    assert_eq!(answered(&asked, &["2"]), json!("end"));
    assert_eq!(answered(&asked, &["go on"]), json!("go"));
}

#[test]
fn a_form_is_an_object_with_the_types_of_its_schema() {
    let schema = json!({
        "required": ["name"],
        "properties": {
            "name": { "type": "string", "title": "Your name" },
            "age": { "type": "integer" },
            "rate": { "type": "number", "default": 0.5 },
            "is_new": { "type": "boolean" },
            "size": { "enum": ["s", "m"] },
            "tags": { "type": "array" },
            "note": { "type": "string" },
        },
    });
    let asked = json!({ "widgetId": "w", "type": "form", "message": "Who?", "schema": schema });
    assert_eq!(
        answered(&asked, &["Ada", "36", "", "y", "2", "a, b", ""]),
        json!({ "name": "Ada", "age": 36, "rate": 0.5, "is_new": true, "size": "m", "tags": ["a", "b"] })
    );
    assert_eq!(refused(&asked, ""), "`name` is needed");
    let prompts: Vec<String> = question(&asked).steps().into_iter().map(|step| step.prompt).collect();
    assert_eq!(
        prompts,
        [
            "Your name",
            "age (a whole number) [may be empty]",
            "rate (a number) [0.5]",
            "is_new (y/n) [may be empty]",
            "size (one of s, m) [may be empty]",
            "tags (separated by commas) [may be empty]",
            "note [may be empty]",
        ]
    );
    let age = question(&asked).steps().remove(1);
    assert_eq!(age.read("old").unwrap_err(), "enter a whole number");
}

#[test]
fn a_kind_that_is_not_known_takes_any_words() {
    let asked = json!({ "widgetId": "w", "type": "slider", "message": "How much?" });
    assert_eq!(answered(&asked, &["42 %"]), json!("42 %"));
    assert_eq!(refused(&asked, ""), "enter an answer");
}

#[test]
fn examples_are_answers() {
    assert_eq!(
        question(&selection(true)).example(),
        "WIDGET_SUBMIT\n{\"widgetId\":\"w\",\"type\":\"selection\",\"value\":[\"a\"]}"
    );
}

#[test]
fn what_has_no_id_is_no_question() {
    assert!(Question::read(&json!({ "type": "confirmation" })).is_none());
    assert!(Question::read(&json!("text")).is_none());
}
