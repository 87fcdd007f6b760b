//! Validates a call's arguments against the tool's schema before anything is sent.

use aiwf_reply::JsonSchema;
use serde_json::{Map, Value};

use crate::error::ToolsError;
use crate::shown::excerpt;
use crate::tool::Tool;

/// Maximum nesting of arguments and schemas.
const MAX_DEPTH: usize = 64;
/// Size limit of a schema.
pub(crate) const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// Maximum number of reported problems; a model fixes only a few at a time.
const MAX_PROBLEMS: usize = 8;

/// Checks the arguments of a call against the schema of its tool.
///
/// Nothing is fetched: a schema that refers to a file or a URL is invalid. A schema may refer to itself, as long as
/// each step descends into the arguments.
pub fn check_arguments(tool: &Tool, arguments: &Map<String, Value>) -> Result<(), ToolsError> {
    let name = tool.full_name();
    let bad_schema =
        |message: String| ToolsError::BadSchema { tool: name.clone(), message: excerpt(&message) };
    check_schema(&tool.input_schema).map_err(bad_schema)?;
    let arguments = Value::Object(arguments.clone());
    if depth(&arguments) > MAX_DEPTH {
        let problems = vec![format!("they are nested more than {MAX_DEPTH} deep")];
        return Err(ToolsError::BadArguments { tool: name, problems });
    }
    let schema = JsonSchema::compile_untrusted(&tool.input_schema).map_err(bad_schema)?;
    let problems: Vec<String> = schema
        .violations(&arguments, MAX_PROBLEMS)
        .iter()
        .map(|violation| {
            let what = excerpt(&violation.message);
            let place = excerpt(&violation.pointer);
            if place.is_empty() { what } else { format!("at `{place}`: {what}") }
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(ToolsError::BadArguments { tool: name, problems }) }
}

/// Why a schema is unusable, as far as can be found without following it.
pub(crate) fn check_schema(schema: &Value) -> Result<(), String> {
    if !schema.is_object() {
        return Err("it is not an object".to_owned());
    }
    if depth(schema) > MAX_DEPTH {
        return Err(format!("it is nested more than {MAX_DEPTH} deep"));
    }
    if let Some(start) = endless_reference(schema) {
        return Err(format!("`{start}` refers to itself without end"));
    }
    Ok(())
}

/// The nesting of a value, computed without recursion and up to the limit.
fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        if depth > MAX_DEPTH {
            return depth;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    deepest
}

/// Keywords whose schemas apply to the same value, so that a cycle of them never ends.
const SAME_VALUE: [&str; 4] = ["allOf", "anyOf", "oneOf", "not"];
const SAME_VALUE_ALONE: [&str; 3] = ["if", "then", "else"];

/// A reference that leads back to itself without descending into the value.
fn endless_reference(root: &Value) -> Option<String> {
    let mut references = Vec::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                    references.push(reference);
                }
                open.extend(map.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    references.sort_unstable();
    references.dedup();
    references.into_iter().find(|start| returns(root, start)).map(str::to_owned)
}

fn returns(root: &Value, start: &str) -> bool {
    let mut seen = vec![start];
    let mut open = vec![start];
    while let Some(reference) = open.pop() {
        let Some(target) = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) else {
            continue;
        };
        for next in references_of_same_value(target) {
            if next == start {
                return true;
            }
            if !seen.contains(&next) {
                seen.push(next);
                open.push(next);
            }
        }
    }
    false
}

fn references_of_same_value(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Some(map) = schema.as_object() else { continue };
        found.extend(map.get("$ref").and_then(Value::as_str));
        for keyword in SAME_VALUE {
            match map.get(keyword) {
                Some(Value::Array(items)) => open.extend(items),
                Some(one) => open.push(one),
                None => {}
            }
        }
        open.extend(SAME_VALUE_ALONE.iter().filter_map(|keyword| map.get(*keyword)));
    }
    found
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
