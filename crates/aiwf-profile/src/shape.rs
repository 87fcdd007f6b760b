//! Validates a TOML text against a JSON Schema and reports every violation with its line.
//!
//! Manifests are checked against the published schema, so the two cannot drift apart. Supports the subset of JSON
//! Schema that the manifest's types use.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{ProfileProblem, excerpt, known_hint, ticked};
use crate::problem_kind::ProfileProblemKind as Kind;
use crate::toml_document::TomlDocument;

/// Reports where `document` violates `schema`.
pub(crate) fn check_shape(document: &TomlDocument<'_>, schema: &Value) -> Vec<ProfileProblem> {
    let mut check = ShapeCheck { document, schema, problems: Vec::new() };
    check.table(document.root(), schema, &mut Vec::new());
    check.problems
}

struct ShapeCheck<'a> {
    document: &'a TomlDocument<'a>,
    schema: &'a Value,
    problems: Vec<ProfileProblem>,
}

impl<'a> ShapeCheck<'a> {
    fn table(&mut self, table: &DeTable<'_>, schema: &'a Value, path: &mut Vec<String>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let expected = properties
                .and_then(|properties| properties.get(name))
                .or_else(|| others.filter(|others| others.is_object()));
            path.push(name.to_owned());
            if let Some(expected) = expected {
                self.value(value, expected, path);
            } else {
                let within = path.split_last().map(|(_, within)| within.join(".")).unwrap_or_default();
                let place = if within.is_empty() { String::new() } else { format!(" in `{within}`") };
                let message = format!("unknown key `{}`{place}", excerpt(name));
                let known = properties.into_iter().flat_map(|properties| properties.keys());
                let hint = known_hint(name, known.map(String::as_str));
                self.add(Kind::UnknownKey, key.span().start, message, hint);
            }
            path.pop();
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !table.iter().any(|(key, _)| key.get_ref() == name) {
                let place = if path.is_empty() { "the manifest".to_owned() } else { shown(path) };
                let steps: Vec<&str> = path.iter().map(String::as_str).collect();
                let offset = self.document.offset(&steps);
                let message = format!("{place} has no `{name}`");
                self.add(Kind::MissingKey, offset, message, format!("add `{name}`"));
            }
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, schema: &'a Value, path: &mut Vec<String>) {
        let mut alternatives = Vec::new();
        add_alternatives(self.schema, schema, &mut alternatives);
        let matching = alternatives.iter().copied().find(|one| is_kind(value.get_ref(), one));
        let Some(matching) = matching else {
            let kinds: Vec<String> = alternatives.iter().copied().map(kind_name).collect();
            let message =
                format!("{} is {}, not {}", shown(path), found_name(value.get_ref()), kinds.join(" or "));
            let hint = format!("write {} there", kinds.join(" or "));
            self.add(Kind::WrongType, value.span().start, message, hint);
            return;
        };
        let allowed = allowed_words(&alternatives);
        if let (DeValue::String(word), false) = (value.get_ref(), allowed.is_empty())
            && !allowed.contains(&word.as_ref())
        {
            let message = format!("{} is `{}`, which is unknown", shown(path), excerpt(word));
            self.add(Kind::UnknownValue, value.span().start, message, known_hint(word, allowed));
            return;
        }
        match value.get_ref() {
            DeValue::Table(table) => self.table(table, matching, path),
            DeValue::Array(items) => {
                let Some(expected) = matching.get("items") else { return };
                for item in items {
                    self.value(item, expected, path);
                }
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {}
        }
    }

    fn add(&mut self, kind: Kind, offset: usize, message: String, hint: String) {
        let line = self.document.line_of(offset);
        let problem = ProfileProblem::new(kind, self.document.file(), line, message);
        self.problems.push(problem.with_hint(hint));
    }
}

/// Follows `$ref`.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| root.pointer(reference.strip_prefix('#')?))
        .unwrap_or(schema)
}

/// Adds the schemas that a value may match, without the one for null.
fn add_alternatives<'s>(root: &'s Value, schema: &'s Value, alternatives: &mut Vec<&'s Value>) {
    let schema = resolved(root, schema);
    match schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
        Some(several) => several.iter().for_each(|one| add_alternatives(root, one, alternatives)),
        None if schema.get("type").and_then(Value::as_str) == Some("null") => {}
        None => alternatives.push(schema),
    }
}

/// The allowed values of a string; empty means any.
fn allowed_words<'s>(alternatives: &[&'s Value]) -> Vec<&'s str> {
    alternatives
        .iter()
        .flat_map(|one| {
            let listed = one.get("enum").and_then(Value::as_array).into_iter().flatten();
            listed.chain(one.get("const"))
        })
        .filter_map(Value::as_str)
        .collect()
}

fn type_names(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_kind(value: &DeValue<'_>, schema: &Value) -> bool {
    let names = type_names(schema);
    let name = match value {
        DeValue::String(_) => "string",
        DeValue::Integer(_) => "integer",
        DeValue::Float(_) => "number",
        DeValue::Boolean(_) => "boolean",
        DeValue::Datetime(_) => return false,
        DeValue::Array(_) => "array",
        DeValue::Table(_) => "object",
    };
    names.is_empty() || names.contains(&name)
}

fn kind_name(schema: &Value) -> String {
    let names = type_names(schema);
    let words: Vec<&str> = names
        .iter()
        .filter_map(|name| match *name {
            "string" => Some("a string"),
            "integer" => Some("a whole number"),
            "boolean" => Some("true or false"),
            "array" => Some("a list"),
            "object" => Some("a table"),
            _ => None,
        })
        .collect();
    words.join(" or ")
}

fn found_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn shown(path: &[String]) -> String {
    ticked([excerpt(&path.join(".")).as_str()])
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
