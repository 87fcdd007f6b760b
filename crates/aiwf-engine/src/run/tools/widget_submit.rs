//! Parses the user's answer to a `ui.ask_user` question.

use serde::Deserialize;
use serde_json::{Value, json};

use super::ask_user::{CONFIRM_WIDGET_ID, WidgetType};

/// The first line of an answer.
const HEAD: &str = "WIDGET_SUBMIT";

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct WidgetSubmit {
    pub(crate) widget_id: String,
    #[serde(rename = "type")]
    pub(crate) widget_type: WidgetType,
    pub(crate) value: Value,
}

impl WidgetSubmit {
    /// Whether the user confirms a change of a finished workflow.
    pub(crate) fn is_state_confirmation(&self) -> bool {
        self.widget_id == CONFIRM_WIDGET_ID
            && self.widget_type == WidgetType::Confirmation
            && self.value == json!({ "confirmed": true })
    }
}

/// Parses an answer; `None` if the message is not one.
pub(crate) fn parse_widget_submit(text: &str) -> Option<Result<WidgetSubmit, String>> {
    let text = text.trim();
    let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
    if head.trim() != HEAD {
        return None;
    }
    let submit: Result<WidgetSubmit, _> = serde_json::from_str(rest);
    Some(match submit {
        Err(error) => Err(format!("after `{HEAD}` comes JSON with widgetId, type and value: {error}")),
        Ok(submit) => match value_fault(submit.widget_type, &submit.value) {
            Some(fault) => Err(format!("the value of `{}` {fault}", submit.widget_id)),
            None => Ok(submit),
        },
    })
}

/// Why a value does not answer such a question.
fn value_fault(widget_type: WidgetType, value: &Value) -> Option<&'static str> {
    let (fits, fault) = match widget_type {
        WidgetType::Form => (value.is_object(), "must be an object of fields"),
        WidgetType::Selection => (
            value.as_array().is_some_and(|values| values.iter().all(Value::is_string)),
            "must be a list of the chosen values",
        ),
        WidgetType::Confirmation => {
            (value.get("confirmed").is_some_and(Value::is_boolean), "must contain `confirmed`: true or false")
        }
        WidgetType::PlanReview => {
            let decision = value.get("decision").and_then(Value::as_str);
            let has_feedback = value.get("feedback").is_some_and(Value::is_string);
            (
                decision == Some("approve") || (decision == Some("request_changes") && has_feedback),
                "must have the decision `approve`, or `request_changes` with feedback",
            )
        }
        WidgetType::Feedback => (
            value.as_object().is_some_and(|texts| texts.values().all(Value::is_string)),
            "must be an object of texts by item",
        ),
        WidgetType::ActionSelection => (value.is_string(), "must be the id of an action"),
    };
    (!fits).then_some(fault)
}
