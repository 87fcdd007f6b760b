//! `ui.ask_user`: a structured question to the user, validated before it is shown.
//!
//! In: the arguments of the call. Out: the widget as data, and as the fenced block in the assistant's text. Everything
//! has a limit, because a person has to read the question.

use std::collections::BTreeSet;

use aiwf_tools::sandbox::{ErrorCode, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::builtin::closed;

/// The widget with which the user confirms a change of a finished workflow.
pub(crate) const CONFIRM_WIDGET_ID: &str = "workflow_state_change_confirm";

const MAX_ID: usize = 100;
const MAX_LABEL: usize = 200;
const MAX_TEXT: usize = 4_000;
const MAX_PLAN: usize = 32_000;
const MAX_CHOICES: usize = 50;
const MAX_FIELDS: usize = 30;
/// In bytes of JSON.
const MAX_WIDGET_BYTES: usize = 128 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WidgetType {
    Form,
    Selection,
    Confirmation,
    PlanReview,
    Feedback,
    ActionSelection,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AskUserArgs {
    widget_id: String,
    #[serde(rename = "type")]
    widget_type: WidgetType,
    message: String,
    #[serde(default)]
    schema: Option<Map<String, Value>>,
    #[serde(default)]
    options: Option<Vec<SelectionOption>>,
    #[serde(default)]
    multi: Option<bool>,
    #[serde(default)]
    plan_content: Option<String>,
    #[serde(default)]
    items: Option<Vec<FeedbackItem>>,
    #[serde(default)]
    actions: Option<Vec<Action>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SelectionOption {
    value: String,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeedbackItem {
    id: String,
    content: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    id: String,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// The widget for the arguments.
pub(super) fn widget(args: AskUserArgs) -> Result<Value, ToolError> {
    let AskUserArgs { widget_id, widget_type, message, schema, options, multi, plan_content, items, actions } =
        args;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    if widget_id.is_empty() || widget_id.len() > MAX_ID || !widget_id.chars().all(is_plain) {
        return Err(invalid(format!(
            "`widgetId` must have 1 to {MAX_ID} letters, digits, `.`, `_`, `:` or `-`"
        )));
    }
    if widget_id == CONFIRM_WIDGET_ID && widget_type != WidgetType::Confirmation {
        return Err(invalid(format!("`{CONFIRM_WIDGET_ID}` must have the type `confirmation`")));
    }
    filled("message", &message, MAX_TEXT)?;
    let mut widget = Map::new();
    widget.insert("widgetId".to_owned(), widget_id.into());
    widget.insert("type".to_owned(), json!(widget_type));
    widget.insert("message".to_owned(), message.into());
    let given = [
        ("schema", schema.is_some()),
        ("options", options.is_some()),
        ("multi", multi.is_some()),
        ("planContent", plan_content.is_some()),
        ("items", items.is_some()),
        ("actions", actions.is_some()),
    ];
    let wanted: &[&str] = match widget_type {
        WidgetType::Form => &["schema"],
        WidgetType::Selection => &["options", "multi"],
        WidgetType::Confirmation => &[],
        WidgetType::PlanReview => &["planContent"],
        WidgetType::Feedback => &["items"],
        WidgetType::ActionSelection => &["actions"],
    };
    if let Some((key, _)) = given.iter().find(|(key, is_given)| *is_given && !wanted.contains(key)) {
        return Err(invalid(format!("`{key}` does not go with the type {}", json!(widget_type))));
    }
    let missing = |key: &str| invalid(format!("`{key}` is missing for the type {}", json!(widget_type)));
    match widget_type {
        WidgetType::Form => {
            let schema = schema.ok_or_else(|| missing("schema"))?;
            check_form(&schema)?;
            widget.insert("schema".to_owned(), schema.into());
        }
        WidgetType::Selection => {
            let options = options.ok_or_else(|| missing("options"))?;
            distinct("options", "value", options.iter().map(|option| option.value.as_str()))?;
            for option in &options {
                filled("label", &option.label, MAX_LABEL)?;
                bounded("description", option.description.as_deref(), MAX_TEXT)?;
            }
            widget.insert("options".to_owned(), json!(options));
            widget.insert("multi".to_owned(), multi.unwrap_or(false).into());
        }
        WidgetType::Confirmation => {}
        WidgetType::PlanReview => {
            let plan = plan_content.ok_or_else(|| missing("planContent"))?;
            filled("planContent", &plan, MAX_PLAN)?;
            widget.insert("planContent".to_owned(), plan.into());
        }
        WidgetType::Feedback => {
            let items = items.ok_or_else(|| missing("items"))?;
            distinct("items", "id", items.iter().map(|item| item.id.as_str()))?;
            items.iter().try_for_each(|item| filled("content", &item.content, MAX_TEXT))?;
            widget.insert("items".to_owned(), json!(items));
        }
        WidgetType::ActionSelection => {
            let actions = actions.ok_or_else(|| missing("actions"))?;
            distinct("actions", "id", actions.iter().map(|action| action.id.as_str()))?;
            for action in &actions {
                filled("label", &action.label, MAX_LABEL)?;
                bounded("description", action.description.as_deref(), MAX_TEXT)?;
            }
            widget.insert("actions".to_owned(), json!(actions));
        }
    }
    let widget = Value::Object(widget);
    if widget.to_string().len() > MAX_WIDGET_BYTES {
        return Err(invalid(format!(
            "the question has more than {MAX_WIDGET_BYTES} bytes: ask for less at a time"
        )));
    }
    Ok(widget)
}

/// The widget as a fenced block that its content cannot close.
pub(super) fn widget_block(widget: &Value) -> String {
    let json = format!("{widget:#}");
    let longest = json.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}widget\n{json}\n{fence}")
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, message)
}

fn filled(key: &str, text: &str, max: usize) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(invalid(format!("`{key}` is empty")));
    }
    bounded(key, Some(text), max)
}

fn bounded(key: &str, text: Option<&str>, max: usize) -> Result<(), ToolError> {
    let n_characters = text.map_or(0, |text| text.chars().count());
    if n_characters > max {
        return Err(invalid(format!("`{key}` has {n_characters} characters, but the limit is {max}")));
    }
    Ok(())
}

/// Checks that a list is not empty, not too long, and has unique names.
fn distinct<'a>(list: &str, key: &str, names: impl Iterator<Item = &'a str>) -> Result<(), ToolError> {
    let mut known = BTreeSet::new();
    for name in names {
        filled(key, name, MAX_LABEL)?;
        if !known.insert(name) {
            return Err(invalid(format!("`{list}` has the {key} `{name}` twice")));
        }
        if known.len() > MAX_CHOICES {
            return Err(invalid(format!("`{list}` has more than {MAX_CHOICES} entries")));
        }
    }
    if known.is_empty() {
        return Err(invalid(format!("`{list}` is empty")));
    }
    Ok(())
}

/// Keys of a form and of its fields.
const FORM_KEYS: [&str; 5] = ["type", "title", "description", "properties", "required"];
const FIELD_KEYS: [&str; 13] = [
    "type",
    "title",
    "description",
    "enum",
    "default",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
];

/// A form is a flat object of texts, numbers, switches, choices, and lists of choices.
fn check_form(schema: &Map<String, Value>) -> Result<(), ToolError> {
    only(schema, &FORM_KEYS, "schema")?;
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(invalid("`schema.type` must be `object`".to_owned()));
    }
    labels(schema, "schema")?;
    let Some(fields) =
        schema.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty())
    else {
        return Err(invalid("`schema.properties` must name at least one field".to_owned()));
    };
    if fields.len() > MAX_FIELDS {
        return Err(invalid(format!("`schema.properties` has more than {MAX_FIELDS} fields")));
    }
    for (name, field) in fields {
        filled("properties", name, MAX_ID)?;
        let place = format!("schema.properties.{name}");
        let field = field.as_object().ok_or_else(|| invalid(format!("`{place}` is not an object")))?;
        check_field(field, &place)?;
    }
    match schema.get("required") {
        None => Ok(()),
        Some(Value::Array(names))
            if names.iter().all(|name| name.as_str().is_some_and(|name| fields.contains_key(name))) =>
        {
            Ok(())
        }
        Some(_) => Err(invalid("`schema.required` must be a list of fields of the form".to_owned())),
    }
}

fn check_field(field: &Map<String, Value>, place: &str) -> Result<(), ToolError> {
    only(field, &FIELD_KEYS, place)?;
    labels(field, place)?;
    let kind = field.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "string" | "number" | "integer" | "boolean" => {}
        "array" => {
            let items = field.get("items").and_then(Value::as_object);
            let items = items.filter(|items| items.get("type").and_then(Value::as_str) == Some("string"));
            let items = items.ok_or_else(|| invalid(format!("`{place}.items` must be texts")))?;
            only(items, &["type", "enum"], &format!("{place}.items"))?;
            choices(items, &format!("{place}.items"))?;
        }
        _ => {
            let kinds = "`string`, `number`, `integer`, `boolean` or `array`";
            return Err(invalid(format!("`{place}.type` must be {kinds}")));
        }
    }
    if kind != "array" && field.contains_key("items") {
        return Err(invalid(format!("`{place}.items` is only for the type `array`")));
    }
    choices(field, place)?;
    for key in ["minLength", "maxLength", "minItems", "maxItems"] {
        if field.get(key).is_some_and(|value| value.as_u64().is_none()) {
            return Err(invalid(format!("`{place}.{key}` must be a whole number")));
        }
    }
    for key in ["minimum", "maximum"] {
        if field.get(key).is_some_and(|value| !value.is_number()) {
            return Err(invalid(format!("`{place}.{key}` must be a number")));
        }
    }
    match field.get("default") {
        Some(value) if value.to_string().len() > MAX_TEXT => {
            Err(invalid(format!("`{place}.default` has more than {MAX_TEXT} characters")))
        }
        Some(_) | None => Ok(()),
    }
}

fn choices(field: &Map<String, Value>, place: &str) -> Result<(), ToolError> {
    let Some(choices) = field.get("enum") else { return Ok(()) };
    let choices = choices.as_array().filter(|choices| !choices.is_empty() && choices.len() <= MAX_CHOICES);
    let choices =
        choices.ok_or_else(|| invalid(format!("`{place}.enum` must have 1 to {MAX_CHOICES} choices")))?;
    let mut known = BTreeSet::new();
    for choice in choices {
        if !choice.is_string() && !choice.is_number() {
            return Err(invalid(format!("`{place}.enum` must be of texts or numbers")));
        }
        let choice = choice.to_string();
        bounded("enum", Some(&choice), MAX_LABEL)?;
        if !known.insert(choice) {
            return Err(invalid(format!("`{place}.enum` has a choice twice")));
        }
    }
    Ok(())
}

fn only(map: &Map<String, Value>, known: &[&str], place: &str) -> Result<(), ToolError> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => {
            let key = super::summary::short(key, MAX_ID);
            Err(invalid(format!("`{place}` cannot have `{key}`: it knows `{}`", known.join("`, `"))))
        }
        None => Ok(()),
    }
}

fn labels(map: &Map<String, Value>, place: &str) -> Result<(), ToolError> {
    for (key, max) in [("title", MAX_LABEL), ("description", MAX_TEXT), ("format", MAX_ID)] {
        match map.get(key) {
            None => {}
            Some(Value::String(text)) => bounded(&format!("{place}.{key}"), Some(text), max)?,
            Some(_) => return Err(invalid(format!("`{place}.{key}` must be a string"))),
        }
    }
    Ok(())
}

/// The JSON Schema of the arguments.
pub(super) fn parameters() -> Value {
    let text = |what: &str| json!({ "type": "string", "description": what });
    let option = closed(
        json!({ "value": { "type": "string" }, "label": { "type": "string" }, "description": { "type": "string" } }),
        &["value", "label"],
    );
    let item =
        closed(json!({ "id": { "type": "string" }, "content": { "type": "string" } }), &["id", "content"]);
    let action = closed(
        json!({ "id": { "type": "string" }, "label": { "type": "string" }, "description": { "type": "string" } }),
        &["id", "label"],
    );
    let list = |what: &str, items: Value| json!({ "type": "array", "items": items, "description": what });
    closed(
        json!({
            "widgetId": text("An id for the question; the answer contains it."),
            "type": {
                "type": "string",
                "enum": ["form", "selection", "confirmation", "plan_review", "feedback", "action_selection"],
            },
            "message": text("The question, in words."),
            "schema": {
                "type": "object",
                "description": "For `form`: a JSON Schema of a flat object of texts, numbers, switches and choices.",
            },
            "options": list("For `selection`: the choices.", option),
            "multi": { "type": "boolean", "description": "For `selection`: whether several choices are allowed." },
            "planContent": text("For `plan_review`: the plan, as Markdown."),
            "items": list("For `feedback`: the items to comment on.", item),
            "actions": list("For `action_selection`: the possible actions.", action),
        }),
        &["widgetId", "type", "message"],
    )
}
