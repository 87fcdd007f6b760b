//! A question of a model (`ui.ask_user`): shows it, and turns the user's lines into the message that the model expects.
//!
//! In: the question as JSON, then a line for each step. Out: text, and a `WIDGET_SUBMIT` message. Prints and reads
//! nothing itself.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// A parsed question.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    widget_id: String,
    kind_name: String,
    message: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Selection {
        options: Vec<Choice>,
        is_multi: bool,
    },
    Confirmation,
    PlanReview {
        plan: String,
    },
    Feedback {
        items: Vec<(String, String)>,
    },
    ActionSelection {
        actions: Vec<Choice>,
    },
    Form {
        fields: Vec<Field>,
    },
    /// A kind that is not known here: any text is the answer.
    Other,
}

#[derive(Clone, Debug)]
struct Choice {
    value: String,
    label: String,
    description: Option<String>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    title: String,
    kind: FieldKind,
    is_required: bool,
    default: Option<Value>,
}

#[derive(Clone, Debug)]
enum FieldKind {
    Text,
    Whole,
    Number,
    YesNo,
    OneOf(Vec<Value>),
    List,
}

/// One line of input.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The prompt before the line.
    pub(crate) prompt: String,
    key: Option<String>,
    reader: Reader,
}

#[derive(Clone, Debug)]
enum Reader {
    Choices { options: Vec<Choice>, is_multi: bool },
    Action(Vec<Choice>),
    Confirmation,
    Plan,
    Remark,
    Field(Field),
    Any,
}

/// The value of a line; `None` if the user skipped it.
pub(crate) type Answer = (Option<String>, Option<Value>);

impl Question {
    /// Parses a question; `None` if it is not one.
    pub(crate) fn read(question: &Value) -> Option<Self> {
        let text = |name: &str| question.get(name).and_then(Value::as_str).map(str::to_owned);
        let widget_id = text("widgetId")?;
        let kind_name = text("type").unwrap_or_default();
        let kind = match kind_name.as_str() {
            "selection" => Kind::Selection {
                options: choices(question.get("options"), "value"),
                is_multi: ["multi", "multiple"]
                    .iter()
                    .any(|name| question.get(name) == Some(&Value::Bool(true))),
            },
            "confirmation" => Kind::Confirmation,
            "plan_review" => Kind::PlanReview { plan: text("planContent").unwrap_or_default() },
            "feedback" => Kind::Feedback { items: items(question.get("items")) },
            "action_selection" => Kind::ActionSelection { actions: choices(question.get("actions"), "id") },
            "form" => Kind::Form { fields: fields(question) },
            _ => Kind::Other,
        };
        Some(Self { widget_id, kind_name, message: text("message").unwrap_or_default(), kind })
    }

    /// The question as text.
    pub(crate) fn words(&self) -> String {
        let mut text = format!("{}\n", self.message.trim_end());
        match &self.kind {
            Kind::Selection { options: choices, .. } | Kind::ActionSelection { actions: choices } => {
                for (index, choice) in choices.iter().enumerate() {
                    let _ = write!(text, "  {}. {}", index + 1, choice.label);
                    if let Some(description) = &choice.description {
                        let _ = write!(text, " — {description}");
                    }
                    text.push('\n');
                }
            }
            Kind::PlanReview { plan } => {
                let _ = writeln!(text, "\n{}", plan.trim_end());
            }
            Kind::Feedback { items } => {
                for (index, (_, content)) in items.iter().enumerate() {
                    let _ = writeln!(text, "  {}. {}", index + 1, content.trim_end());
                }
            }
            Kind::Form { fields } => {
                for field in fields {
                    let _ = writeln!(text, "  {}", field.words());
                }
            }
            Kind::Confirmation | Kind::Other => {}
        }
        text
    }

    /// The lines to ask for, in order.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let one = |prompt: &str, reader| vec![Step { prompt: prompt.to_owned(), key: None, reader }];
        match &self.kind {
            Kind::Selection { options, is_multi } => {
                let prompt = if *is_multi { "numbers, such as 1,3" } else { "number" };
                one(prompt, Reader::Choices { options: options.clone(), is_multi: *is_multi })
            }
            Kind::ActionSelection { actions } => one("number", Reader::Action(actions.clone())),
            Kind::Confirmation => one("y/n", Reader::Confirmation),
            Kind::PlanReview { .. } => one("y, or what should change", Reader::Plan),
            Kind::Feedback { items } => items
                .iter()
                .enumerate()
                .map(|(index, (id, _))| Step {
                    prompt: format!("{} (empty to skip)", index + 1),
                    key: Some(id.clone()),
                    reader: Reader::Remark,
                })
                .collect(),
            Kind::Form { fields } => fields
                .iter()
                .map(|field| Step {
                    prompt: field.words(),
                    key: Some(field.name.clone()),
                    reader: Reader::Field(field.clone()),
                })
                .collect(),
            Kind::Other => one("answer", Reader::Any),
        }
    }

    /// The message that answers the question.
    pub(crate) fn submit(&self, answers: Vec<Answer>) -> String {
        let is_object = matches!(self.kind, Kind::Feedback { .. } | Kind::Form { .. });
        let value = if is_object {
            let given = answers.into_iter().filter_map(|(key, value)| Some((key?, value?)));
            Value::Object(given.collect::<Map<_, _>>())
        } else {
            answers.into_iter().find_map(|(_, value)| value).unwrap_or(Value::Null)
        };
        let answer = json!({ "widgetId": self.widget_id, "type": self.kind_name, "value": value });
        format!("WIDGET_SUBMIT\n{answer}")
    }

    /// An example answer: the first choice, a yes, a word.
    pub(crate) fn example(&self) -> String {
        let first =
            |choices: &[Choice]| choices.first().map(|choice| choice.value.clone()).unwrap_or_default();
        let answers = match &self.kind {
            Kind::Selection { options, .. } => vec![(None, Some(json!([first(options)])))],
            Kind::ActionSelection { actions } => vec![(None, Some(first(actions).into()))],
            Kind::Confirmation => vec![(None, Some(json!({ "confirmed": true })))],
            Kind::PlanReview { .. } => vec![(None, Some(json!({ "decision": "approve" })))],
            Kind::Feedback { items } => {
                items.iter().map(|(id, _)| (Some(id.clone()), Some("TEXT".into()))).collect()
            }
            Kind::Form { fields } => {
                fields.iter().map(|field| (Some(field.name.clone()), Some(field.example()))).collect()
            }
            Kind::Other => vec![(None, Some("TEXT".into()))],
        };
        self.submit(answers)
    }
}

impl Step {
    /// Parses the user's line; the error says what to enter.
    pub(crate) fn read(&self, line: &str) -> Result<Answer, String> {
        let line = line.trim();
        let value = match &self.reader {
            Reader::Choices { options, is_multi } => Some(chosen(options, *is_multi, line)?),
            Reader::Action(actions) => Some(find(actions, line)?.into()),
            Reader::Confirmation => Some(json!({ "confirmed": yes_or_no(line)? })),
            Reader::Plan => Some(decision(line)?),
            Reader::Remark => Some(line).filter(|line| !line.is_empty()).map(Into::into),
            Reader::Field(field) => field.read(line)?,
            Reader::Any if line.is_empty() => return Err("enter an answer".to_owned()),
            Reader::Any => Some(line.into()),
        };
        Ok((self.key.clone(), value))
    }
}

impl Field {
    fn words(&self) -> String {
        let of = match &self.kind {
            FieldKind::Text => String::new(),
            FieldKind::Whole => " (a whole number)".to_owned(),
            FieldKind::Number => " (a number)".to_owned(),
            FieldKind::YesNo => " (y/n)".to_owned(),
            FieldKind::OneOf(values) => {
                format!(" (one of {})", values.iter().map(plain).collect::<Vec<_>>().join(", "))
            }
            FieldKind::List => " (separated by commas)".to_owned(),
        };
        let default = self.default.as_ref().map(|default| format!(" [{}]", plain(default)));
        let optional = if self.is_required || default.is_some() { "" } else { " [may be empty]" };
        format!("{}{of}{}{optional}", self.title, default.unwrap_or_default())
    }

    fn example(&self) -> Value {
        match (&self.default, &self.kind) {
            (Some(default), _) => default.clone(),
            (None, FieldKind::Text) => "TEXT".into(),
            (None, FieldKind::Whole | FieldKind::Number) => 1.into(),
            (None, FieldKind::YesNo) => true.into(),
            (None, FieldKind::OneOf(values)) => values.first().cloned().unwrap_or_default(),
            (None, FieldKind::List) => json!(["TEXT"]),
        }
    }

    fn read(&self, line: &str) -> Result<Option<Value>, String> {
        if line.is_empty() {
            return match (&self.default, self.is_required) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, false) => Ok(None),
                (None, true) => Err(format!("`{}` is needed", self.name)),
            };
        }
        let value = match &self.kind {
            FieldKind::Text => line.into(),
            FieldKind::Whole => line.parse::<i64>().map(Value::from).or(Err("enter a whole number"))?,
            FieldKind::Number => {
                let number = line.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
                number.map(Value::Number).ok_or("enter a number")?
            }
            FieldKind::YesNo => yes_or_no(line)?.into(),
            FieldKind::OneOf(values) => {
                let by_number =
                    line.parse::<usize>().ok().and_then(|number| values.get(number.checked_sub(1)?));
                let by_name = values.iter().find(|value| plain(value).eq_ignore_ascii_case(line));
                let known = || values.iter().map(plain).collect::<Vec<_>>().join(", ");
                by_name.or(by_number).cloned().ok_or_else(|| format!("enter one of {}", known()))?
            }
            FieldKind::List => parted(line).map(Value::from).collect(),
        };
        Ok(Some(value))
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn choices(list: Option<&Value>, id: &str) -> Vec<Choice> {
    let choice = |value: &Value| {
        if let Some(text) = value.as_str() {
            return Some(Choice { value: text.to_owned(), label: text.to_owned(), description: None });
        }
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let chosen = plain(value.get(id)?);
        Some(Choice {
            label: text("label").unwrap_or_else(|| chosen.clone()),
            value: chosen,
            description: text("description"),
        })
    };
    list.and_then(Value::as_array).into_iter().flatten().filter_map(choice).collect()
}

fn items(list: Option<&Value>) -> Vec<(String, String)> {
    let item = |value: &Value| Some((plain(value.get("id")?), plain(value.get("content")?)));
    list.and_then(Value::as_array).into_iter().flatten().filter_map(item).collect()
}

/// The properties of a form: under a schema, or right there.
fn fields(question: &Value) -> Vec<Field> {
    let schema = ["schema", "formSchema"].iter().find_map(|name| question.get(name)).unwrap_or(question);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| Field {
            name: name.clone(),
            title: ["title", "description"]
                .iter()
                .find_map(|key| property.get(key))
                .and_then(Value::as_str)
                .unwrap_or(name)
                .to_owned(),
            kind: field_kind(property),
            is_required: required.contains(&name.as_str()),
            default: property.get("default").cloned(),
        })
        .collect()
}

fn field_kind(property: &Value) -> FieldKind {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        return FieldKind::OneOf(values.clone());
    }
    match property.get("type").and_then(Value::as_str) {
        Some("integer") => FieldKind::Whole,
        Some("number") => FieldKind::Number,
        Some("boolean") => FieldKind::YesNo,
        Some("array") => FieldKind::List,
        Some(_) | None => FieldKind::Text,
    }
}

fn parted(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// The choice with this number, value or label.
fn find(choices: &[Choice], word: &str) -> Result<String, String> {
    let by_name = choices
        .iter()
        .find(|choice| choice.value == word)
        .or_else(|| choices.iter().find(|choice| choice.label.eq_ignore_ascii_case(word)));
    let by_number = || word.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let found = by_name.or_else(by_number).map(|choice| choice.value.clone());
    found.ok_or_else(|| match choices.len() {
        0 => "there are no choices: answer in words with `/say TEXT`".to_owned(),
        n_choices => format!("enter a number from 1 to {n_choices}"),
    })
}

fn chosen(options: &[Choice], is_multi: bool, line: &str) -> Result<Value, String> {
    // A label may contain commas and spaces.
    if let Ok(one) = find(options, line) {
        return Ok(json!([one]));
    }
    if !is_multi {
        return find(options, line).map(|one| json!([one]));
    }
    let by_commas: Vec<&str> = parted(line).collect();
    let words = if by_commas.len() > 1 { by_commas } else { line.split_whitespace().collect() };
    if words.is_empty() {
        return Err("enter at least one number".to_owned());
    }
    let mut values: Vec<String> = Vec::new();
    for word in words {
        let value = find(options, word)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(json!(values))
}

fn yes_or_no(line: &str) -> Result<bool, String> {
    match line.to_lowercase().as_str() {
        "y" | "yes" | "true" => Ok(true),
        "n" | "no" | "false" => Ok(false),
        _ => Err("enter y or n".to_owned()),
    }
}

fn decision(line: &str) -> Result<Value, String> {
    match line.to_lowercase().as_str() {
        "" | "n" | "no" => Err("enter y, or what should change".to_owned()),
        "y" | "yes" | "ok" | "approve" => Ok(json!({ "decision": "approve" })),
        _ => Ok(json!({ "decision": "request_changes", "feedback": line })),
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
