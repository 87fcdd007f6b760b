//! The five schemas of packages, version 1.1, and what breaks them.
//!
//! The schemas are files beside the code (`schemas/*.json`, draft 2020-12, formats checked). A fault is told in our
//! words, at the place where it can be mended: a missing key at its object, an unknown key at itself.

use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

use crate::finding::at;

/// Which schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// `bmad.json`.
    Manifest,
    /// `workflow.graph.json`.
    Graph,
    /// `agents.json`.
    Agents,
    /// The front matter of `workflow.md`.
    Workflow,
    /// The front matter of a step file.
    Step,
}

/// One way in which a value breaks its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// The key it is about.
    pub key: Option<String>,
    /// The keyword of the schema that says so.
    pub keyword: String,
    /// What is wrong: lower case, no final period.
    pub message: String,
}

impl Schema {
    /// Every schema.
    pub const ALL: [Self; 5] = [Self::Manifest, Self::Graph, Self::Agents, Self::Workflow, Self::Step];

    /// The schema as JSON text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Manifest => include_str!("../schemas/bmad.schema.json"),
            Self::Graph => include_str!("../schemas/workflow.graph.schema.json"),
            Self::Agents => include_str!("../schemas/agents.schema.json"),
            Self::Workflow => include_str!("../schemas/workflow.schema.json"),
            Self::Step => include_str!("../schemas/step.schema.json"),
        }
    }

    fn validator(self) -> Option<&'static Validator> {
        static MANIFEST: LazyLock<Option<Validator>> = LazyLock::new(|| compiled(Schema::Manifest));
        static GRAPH: LazyLock<Option<Validator>> = LazyLock::new(|| compiled(Schema::Graph));
        static AGENTS: LazyLock<Option<Validator>> = LazyLock::new(|| compiled(Schema::Agents));
        static WORKFLOW: LazyLock<Option<Validator>> = LazyLock::new(|| compiled(Schema::Workflow));
        static STEP: LazyLock<Option<Validator>> = LazyLock::new(|| compiled(Schema::Step));
        match self {
            Self::Manifest => MANIFEST.as_ref(),
            Self::Graph => GRAPH.as_ref(),
            Self::Agents => AGENTS.as_ref(),
            Self::Workflow => WORKFLOW.as_ref(),
            Self::Step => STEP.as_ref(),
        }
    }

    /// Everything that breaks the schema, in the order of places.
    pub fn faults(self, value: &Value) -> Vec<SchemaFault> {
        let Some(validator) = self.validator() else {
            // A test compiles every schema; this is for the day somebody breaks one.
            return vec![fault("", None, "$schema", "the schema itself cannot be used")];
        };
        let mut faults: Vec<SchemaFault> =
            validator.iter_errors(value).flat_map(|error| faults_of(&error)).collect();
        faults.sort_by(|a, b| (&a.pointer, &a.key).cmp(&(&b.pointer, &b.key)));
        faults.dedup();
        faults
    }
}

fn compiled(schema: Schema) -> Option<Validator> {
    let value: Value = serde_json::from_str(schema.text()).ok()?;
    jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true).build(&value).ok()
}

fn fault(pointer: &str, key: Option<&str>, keyword: &str, message: impl Into<String>) -> SchemaFault {
    SchemaFault {
        pointer: pointer.to_owned(),
        key: key.map(str::to_owned),
        keyword: keyword.to_owned(),
        message: message.into(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "our schemas use a few of the keywords there are")]
fn faults_of(error: &ValidationError<'_>) -> Vec<SchemaFault> {
    let pointer = error.instance_path().as_str();
    let keyword = error.kind().keyword();
    let key = pointer.rsplit('/').next().filter(|key| key.parse::<usize>().is_err() && !key.is_empty());
    let found = shown(error.instance());
    let message = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let unknown = |name: &String| {
                fault(
                    &at(pointer, name),
                    Some(name),
                    keyword,
                    format!("key `{}` is not known here", short(name)),
                )
            };
            return unexpected.iter().map(unknown).collect();
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            return vec![fault(pointer, Some(name), keyword, format!("key `{name}` is missing"))];
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(kind) => in_words(kind.to_string()),
                TypeKind::Multiple(kinds) => {
                    kinds.iter().map(|kind| in_words(kind.to_string())).collect::<Vec<_>>().join(" or ")
                }
            };
            format!("is {found}, not {wanted}")
        }
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> = options
                .as_array()
                .into_iter()
                .flatten()
                .map(|option| format!("`{}`", shown_text(option)))
                .collect();
            format!("{found} is none of {}", options.join(", "))
        }
        ValidationErrorKind::Pattern { .. } if key == Some("schemaVersion") => {
            format!("{found} is not a version that is supported: write `1.1`")
        }
        ValidationErrorKind::Pattern { .. } if key == Some("version") => {
            format!("{found} is not a version like `1.2.3`")
        }
        ValidationErrorKind::Pattern { .. } if key == Some("sha256") => {
            format!("{found} is not a SHA-256 in hex")
        }
        ValidationErrorKind::Pattern { .. } => {
            format!("{found} is not an id: letters, digits, `.`, `_`, `:` and `-`, a letter or a digit first")
        }
        ValidationErrorKind::Format { .. } => format!("{found} is not a time like `2026-01-31T12:00:00Z`"),
        ValidationErrorKind::MinLength { .. } => "is empty".to_owned(),
        ValidationErrorKind::MinItems { .. } => "has no entries: one is needed".to_owned(),
        ValidationErrorKind::Minimum { limit } => format!("{found} is less than {limit}"),
        _ => error.to_string(),
    };
    vec![fault(pointer, key, keyword, message)]
}

/// A type as the words of messages name it.
fn in_words(kind: String) -> String {
    match kind.as_str() {
        "string" => "a text".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "an object".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "number" => "a number".to_owned(),
        "integer" => "a whole number".to_owned(),
        _ => kind,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            format!("`{}`", shown_text(value))
        }
    }
}

fn shown_text(value: &Value) -> String {
    short(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Text of others, on one line and not too long.
pub(crate) fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
