//! Turns JSON values into tool calls, in all the shapes that models use.
//!
//! `{"tool_calls": […], "message": …}`, `{"name", "arguments"}`, a list of those, and the API shapes of `OpenAI`
//! (`function`, arguments as a string) and Anthropic (`"type": "tool_use"`, `input`). An invalid call becomes a
//! problem; the others are unaffected.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::findings::{Findings, excerpt};
use crate::json_text::{JsonError, offset_of, reason};
use crate::tool_calls::ToolCall;

type Object<'a> = BTreeMap<String, &'a RawValue>;

/// Where a JSON value was found, which decides how closely it must resemble a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a code fence: `name` and `arguments` make a call, valid or not.
    Fence,
    /// In prose: both must also have the right types.
    Prose,
}

pub(crate) struct CallReader<'a, 'f> {
    text: &'a str,
    findings: &'f mut Findings<'a>,
    pub(crate) calls: Vec<ToolCall>,
    /// Text for the reader in the JSON, next to the calls.
    pub(crate) messages: Vec<String>,
}

impl<'a, 'f> CallReader<'a, 'f> {
    pub(crate) fn new(text: &'a str, findings: &'f mut Findings<'a>) -> Self {
        Self { text, findings, calls: Vec::new(), messages: Vec::new() }
    }

    pub(crate) fn report(&mut self, error: &JsonError) {
        self.findings.add(
            error.at,
            format!("tool call is not valid JSON ({}): correct it and write it again", error.reason),
        );
    }

    pub(crate) fn report_empty(&mut self, at: usize) {
        let example = r#"{"name": "TOOL", "arguments": {}}"#;
        self.findings.add(at, format!("`<tool_call>` contains no JSON: write `{example}` in it"));
    }

    /// Reads a value that may be calls or just data; returns whether it was calls.
    pub(crate) fn read(&mut self, value: &'a RawValue, place: Place) -> bool {
        if let Some(object) = as_object(value) {
            if let Some(list) = object.get("tool_calls") {
                self.read_list(list);
                self.read_message(&object);
                return true;
            }
            let is_call = is_call(&object, place);
            if is_call {
                self.read_call(value, 1);
            }
            return is_call;
        }
        let list = as_list(value).unwrap_or_default();
        let is_list = list.iter().any(|entry| as_object(entry).is_some_and(|entry| is_call(&entry, place)));
        if is_list {
            self.read_entries(&list);
        }
        is_list
    }

    /// Reads a value in a place where only calls can be.
    pub(crate) fn read_explicit(&mut self, value: &'a RawValue) {
        match as_object(value) {
            Some(object) if object.contains_key("tool_calls") => {
                self.read(value, Place::Fence);
            }
            _ => self.read_list(value),
        }
    }

    fn read_list(&mut self, value: &'a RawValue) {
        match kind(value) {
            "null" => {}
            "object" => self.read_call(value, 1),
            "array" => self.read_entries(&as_list(value).unwrap_or_default()),
            other => {
                let message =
                    format!("`tool_calls` is {}, not an array: write a list of calls", with_article(other));
                self.findings.add(offset_of(self.text, value), message);
            }
        }
    }

    fn read_entries(&mut self, entries: &[&'a RawValue]) {
        for (idx, entry) in entries.iter().enumerate() {
            self.read_call(entry, idx + 1);
        }
    }

    fn read_message(&mut self, object: &Object<'_>) {
        let message = ["message", "content"].iter().find_map(|key| as_text(object.get(*key)?));
        self.messages.extend(message.filter(|message| !message.trim().is_empty()));
    }

    fn read_call(&mut self, value: &'a RawValue, number: usize) {
        let at = offset_of(self.text, value);
        let Some(outer) = as_object(value) else {
            let kind = with_article(kind(value));
            let message =
                format!("tool call {number} is {kind}: write an object with `name` and `arguments`");
            self.findings.add(at, message);
            return;
        };
        if text_of(&outer, "type").as_deref() == Some("text") {
            self.messages.extend(text_of(&outer, "text"));
            return;
        }
        let function = outer.get("function").and_then(|function| as_object(function));
        let call = function.as_ref().unwrap_or(&outer);
        let name = match call.get("name").map(|name| (kind(name), as_text(name))) {
            Some((_, Some(name))) if !name.trim().is_empty() => name,
            Some((_, Some(_))) => {
                self.findings
                    .add(at, format!("tool call {number} has an empty `name`: write the name of a tool"));
                return;
            }
            Some((kind, None)) => {
                let kind = with_article(kind);
                self.findings
                    .add(at, format!("`name` of tool call {number} is {kind}: write the name of a tool"));
                return;
            }
            None => {
                self.findings.add(at, format!("tool call {number} has no `name`: write the name of a tool"));
                return;
            }
        };
        let arguments = match call_arguments(call) {
            None => Ok(Map::new()),
            Some(arguments) => read_arguments(arguments),
        };
        match arguments {
            Ok(arguments) => {
                let id = outer.get("id").and_then(|id| as_id(id));
                self.calls.push(ToolCall { id, name, arguments });
            }
            Err(problem) => {
                self.findings.add(at, format!("arguments of tool call `{}` {problem}", excerpt(&name)));
            }
        }
    }
}

/// Whether the keys of an object make it a call rather than data.
fn is_call(object: &Object<'_>, place: Place) -> bool {
    if let Some(function) = object.get("function").and_then(|function| as_object(function)) {
        return function.contains_key("name") && function.contains_key("arguments");
    }
    let Some(name) = object.get("name") else { return false };
    let is_name = kind(name) == "string";
    if let Some(arguments) = object.get("arguments") {
        let is_right = || is_name && as_text(name).is_some_and(|name| !name.trim().is_empty());
        return place == Place::Fence || (is_right() && read_arguments(arguments).is_ok());
    }
    if let Some(parameters) = object.get("parameters").and_then(|parameters| as_object(parameters)) {
        // With a description or a schema it is a tool definition.
        return is_name && !object.contains_key("description") && !parameters.contains_key("properties");
    }
    is_name && object.contains_key("input") && text_of(object, "type").as_deref() == Some("tool_use")
}

fn call_arguments<'a>(call: &Object<'a>) -> Option<&'a RawValue> {
    ["arguments", "parameters", "input"].iter().find_map(|key| call.get(*key).copied())
}

/// Reads arguments given as an object or as a string that contains one; the error completes a message.
fn read_arguments(value: &RawValue) -> Result<Map<String, Value>, String> {
    let invalid =
        |error: &serde_json::Error| format!("are not valid JSON ({}): write an object", reason(error));
    let value: Value = serde_json::from_str(value.get()).map_err(|error| invalid(&error))?;
    let value = match value.as_str() {
        Some(json) if json.trim().is_empty() => Value::Null,
        Some(json) => serde_json::from_str(json).map_err(|error| invalid(&error))?,
        None => value,
    };
    let found = match value {
        Value::Object(arguments) => return Ok(arguments),
        Value::Null => return Ok(Map::new()),
        Value::Array(_) => "an array",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a boolean",
    };
    Err(format!("are {found}: write an object"))
}

fn as_object(value: &RawValue) -> Option<Object<'_>> {
    serde_json::from_str(Some(value.get()).filter(|json| json.starts_with('{'))?).ok()
}

fn as_list(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(Some(value.get()).filter(|json| json.starts_with('['))?).ok()
}

fn as_text(value: &RawValue) -> Option<String> {
    serde_json::from_str(Some(value.get()).filter(|json| json.starts_with('"'))?).ok()
}

fn text_of(object: &Object<'_>, key: &str) -> Option<String> {
    object.get(key).and_then(|value| as_text(value))
}

/// An id as text; some models number their calls.
fn as_id(value: &RawValue) -> Option<String> {
    match kind(value) {
        "string" => as_text(value).filter(|id| !id.is_empty()),
        "number" => Some(value.get().to_owned()),
        _ => None,
    }
}

fn kind(value: &RawValue) -> &'static str {
    match value.get().bytes().next() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b'n') => "null",
        Some(b't' | b'f') => "boolean",
        _ => "number",
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "object" | "array" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
