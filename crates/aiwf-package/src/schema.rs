//! The five schemas of packages, version 1.1, and their violations.
//!
//! The schemas are in `schemas/*.json` (draft 2020-12, formats checked). A violation is reported in our own words, at
//! the place where it can be fixed: a missing key at its object, an unknown key at itself.

use std::sync::LazyLock;

use aiwf_reply::{JsonSchema, Violation, ViolationKind};
use serde_json::Value;

use crate::finding::at;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    Manifest,
    Graph,
    Agents,
    /// The front matter of `workflow.md`.
    Workflow,
    /// The front matter of a step file.
    Step,
}

/// One violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaFault {
    /// The position, as a JSON pointer.
    pub(crate) pointer: String,
    pub(crate) key: Option<String>,
    /// The violated keyword of the schema.
    pub(crate) keyword: String,
    /// What is wrong: lower case, no final period.
    pub(crate) message: String,
}

impl Schema {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 5] = [Self::Manifest, Self::Graph, Self::Agents, Self::Workflow, Self::Step];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Manifest => include_str!("../schemas/bmad.schema.json"),
            Self::Graph => include_str!("../schemas/workflow.graph.schema.json"),
            Self::Agents => include_str!("../schemas/agents.schema.json"),
            Self::Workflow => include_str!("../schemas/workflow.schema.json"),
            Self::Step => include_str!("../schemas/step.schema.json"),
        }
    }

    fn compiled(self) -> Option<&'static JsonSchema> {
        static MANIFEST: LazyLock<Option<JsonSchema>> = LazyLock::new(|| compile(Schema::Manifest));
        static GRAPH: LazyLock<Option<JsonSchema>> = LazyLock::new(|| compile(Schema::Graph));
        static AGENTS: LazyLock<Option<JsonSchema>> = LazyLock::new(|| compile(Schema::Agents));
        static WORKFLOW: LazyLock<Option<JsonSchema>> = LazyLock::new(|| compile(Schema::Workflow));
        static STEP: LazyLock<Option<JsonSchema>> = LazyLock::new(|| compile(Schema::Step));
        match self {
            Self::Manifest => MANIFEST.as_ref(),
            Self::Graph => GRAPH.as_ref(),
            Self::Agents => AGENTS.as_ref(),
            Self::Workflow => WORKFLOW.as_ref(),
            Self::Step => STEP.as_ref(),
        }
    }

    /// All violations, ordered by position.
    pub(crate) fn faults(self, value: &Value) -> Vec<SchemaFault> {
        let Some(schema) = self.compiled() else {
            // A test compiles every schema; this is for the day one of them breaks.
            return vec![fault("", None, "$schema", "the schema itself cannot be used")];
        };
        let mut faults: Vec<SchemaFault> = schema
            .violations(value, usize::MAX)
            .iter()
            .flat_map(|violation| faults_of(violation, value))
            .collect();
        faults.sort_by(|a, b| (&a.pointer, &a.key).cmp(&(&b.pointer, &b.key)));
        faults.dedup();
        faults
    }
}

fn compile(schema: Schema) -> Option<JsonSchema> {
    JsonSchema::compile_own(schema.text())
}

fn fault(pointer: &str, key: Option<&str>, keyword: &str, message: impl Into<String>) -> SchemaFault {
    SchemaFault {
        pointer: pointer.to_owned(),
        key: key.map(str::to_owned),
        keyword: keyword.to_owned(),
        message: message.into(),
    }
}

fn faults_of(violation: &Violation, value: &Value) -> Vec<SchemaFault> {
    let (pointer, keyword) = (violation.pointer.as_str(), violation.keyword.as_str());
    let key = pointer.rsplit('/').next().filter(|key| key.parse::<usize>().is_err() && !key.is_empty());
    let found = shown(value.pointer(pointer).unwrap_or(&Value::Null));
    let message = match &violation.kind {
        ViolationKind::UnknownKeys(names) => {
            let unknown = |name: &String| {
                fault(&at(pointer, name), Some(name), keyword, format!("unknown key `{}`", short(name)))
            };
            return names.iter().map(unknown).collect();
        }
        ViolationKind::MissingKey(name) => {
            return vec![fault(pointer, Some(name), keyword, format!("key `{name}` is missing"))];
        }
        ViolationKind::WrongType(wanted) => {
            let wanted: Vec<&str> = wanted.iter().map(|kind| in_words(kind)).collect();
            format!("is {found}, not {}", wanted.join(" or "))
        }
        ViolationKind::NoneOf(options) => {
            let options: Vec<String> =
                options.iter().map(|option| format!("`{}`", shown_text(option))).collect();
            format!("{found} is none of {}", options.join(", "))
        }
        ViolationKind::Pattern if key == Some("schemaVersion") => {
            format!("{found} is not a supported version: write `1.1`")
        }
        ViolationKind::Pattern if key == Some("version") => format!("{found} is not a version like `1.2.3`"),
        ViolationKind::Pattern if key == Some("sha256") => format!("{found} is not a SHA-256 in hex"),
        ViolationKind::Pattern => {
            format!(
                "{found} is not an id: use letters, digits, `.`, `_`, `:` and `-`, starting with a letter or a digit"
            )
        }
        ViolationKind::Format => format!("{found} is not a time like `2026-01-31T12:00:00Z`"),
        ViolationKind::TooShort => "is empty".to_owned(),
        ViolationKind::TooFew => "has no entries: at least one is needed".to_owned(),
        ViolationKind::LessThan(limit) => format!("{found} is less than {limit}"),
        ViolationKind::Other => violation.message.clone(),
    };
    vec![fault(pointer, key, keyword, message)]
}

/// The name of a type in messages.
fn in_words(kind: &str) -> &str {
    match kind {
        "string" => "a string",
        "array" => "a list",
        "object" => "an object",
        "boolean" => "`true` or `false`",
        "number" => "a number",
        "integer" => "a whole number",
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

/// Untrusted text, on one line and truncated.
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
