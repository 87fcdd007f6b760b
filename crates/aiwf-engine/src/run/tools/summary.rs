//! Summarizes calls for the log: names, sizes, hashes and codes, no contents.

use aiwf_prompt::redact_paths;
use aiwf_provider::ToolCall;
use aiwf_store::sha256_hex;
use aiwf_tools::sandbox::AliasPath;
use serde_json::{Map, Value, json};

use super::builtin::Builtin;

/// In characters.
pub(super) const MAX_MESSAGE: usize = 2_000;
/// In characters.
const MAX_LOGGED: usize = 300;
const MAX_NAMES: usize = 50;
/// In bytes of JSON.
const MAX_DETAILS: usize = 4_000;

/// The beginning of a text, on one line.
pub(super) fn short(text: &str, max: usize) -> String {
    let printable = |c: char| if c.is_control() || aiwf_store::is_invisible(c) { ' ' } else { c };
    let mut short: String = text.chars().take(max).map(printable).collect();
    if text.chars().nth(max).is_some() {
        short.push('…');
    }
    short
}

/// Summarizes the arguments of a call.
pub(super) fn input(tool: Option<Builtin>, arguments: &Value) -> Value {
    let Value::Object(given) = arguments else {
        return json!({ "notAnObject": sized(arguments) });
    };
    let mut shown = Map::new();
    match tool {
        Some(Builtin::List | Builtin::Read | Builtin::Search) => {
            for (key, value) in given {
                match key.as_str() {
                    "path" => put(&mut shown, key, path(value)),
                    "pattern" => put(&mut shown, key, scalar(value)),
                    "startLine" | "endLine" | "before" | "after" | "maxMatches" => {
                        put(&mut shown, key, scalar(value));
                    }
                    _ => {}
                }
            }
            others(
                &mut shown,
                given,
                &["path", "pattern", "startLine", "endLine", "before", "after", "maxMatches"],
            );
        }
        Some(Builtin::Write) => {
            put(&mut shown, "path", given.get("path").map_or(Value::Null, path));
            put(&mut shown, "content", given.get("content").map_or(Value::Null, sized));
            if let Some(hash) = given.get("ifMatchSha256") {
                put(&mut shown, "ifMatchSha256", scalar(hash));
            }
            others(&mut shown, given, &["path", "content", "ifMatchSha256"]);
        }
        Some(Builtin::ApplyPatch) => {
            put(&mut shown, "path", given.get("path").map_or(Value::Null, path));
            let patch = given.get("patch");
            let update = patch.and_then(|patch| patch.get("update")).and_then(Value::as_object);
            put(
                &mut shown,
                "operation",
                patch.and_then(|patch| patch.get("operation")).map_or(Value::Null, scalar),
            );
            put(&mut shown, "keys", update.map_or(Value::Null, names));
            if let Some(hash) = patch.and_then(|patch| patch.get("ifMatchSha256")) {
                put(&mut shown, "ifMatchSha256", scalar(hash));
            }
            others(&mut shown, given, &["path", "patch"]);
        }
        Some(Builtin::CompleteNode) => {
            for key in ["nodeId", "to", "label"] {
                if let Some(value) = given.get(key) {
                    put(&mut shown, key, scalar(value));
                }
            }
            if let Some(reason) = given.get("reason") {
                put(&mut shown, "reason", sized(reason));
            }
            if let Some(variables) = given.get("variables").and_then(Value::as_object) {
                put(&mut shown, "variables", names(variables));
            }
            if let Some(artifacts) = given.get("artifacts").and_then(Value::as_array) {
                put(&mut shown, "artifacts", artifacts.iter().take(MAX_NAMES).map(path).collect());
            }
            others(&mut shown, given, &["nodeId", "to", "label", "reason", "variables", "artifacts"]);
        }
        Some(Builtin::AskUser) => {
            for key in ["widgetId", "type"] {
                put(&mut shown, key, given.get(key).map_or(Value::Null, scalar));
            }
        }
        None => {
            let sizes =
                given.iter().take(MAX_NAMES).map(|(key, value)| (short(key, 100), json!(bytes_of(value))));
            put(&mut shown, "argumentBytes", Value::Object(sizes.collect()));
        }
    }
    Value::Object(shown)
}

/// Summarizes the result of a call.
pub(super) fn output(result: &Value) -> Value {
    let mut shown = Map::new();
    let is_ok = result.get("ok") == Some(&Value::Bool(true));
    put(&mut shown, "ok", is_ok.into());
    if let Some(error) = result.get("error") {
        put(&mut shown, "code", error.get("code").cloned().unwrap_or_default());
        put(&mut shown, "message", error.get("message").map_or(Value::Null, scalar));
        match error.get("details") {
            Some(details) if details.to_string().len() <= MAX_DETAILS => {
                put(&mut shown, "details", details.clone());
            }
            Some(details) => put(&mut shown, "detailsBytes", details.to_string().len().into()),
            None => {}
        }
    }
    for key in [
        "path",
        "bytes",
        "sha256",
        "truncated",
        "bytesWritten",
        "sha256Before",
        "sha256After",
        "recordedArtifact",
        "completedNodeId",
        "currentNodeId",
        "workflowComplete",
        "stats",
    ] {
        if let Some(value) = result.get(key) {
            put(&mut shown, key, value.clone());
        }
    }
    for (key, count) in [("entries", "nEntries"), ("entriesPreview", "nEntries"), ("matches", "nMatches")] {
        if let Some(list) = result.get(key).and_then(Value::as_array) {
            put(&mut shown, count, list.len().into());
        }
    }
    if let Some(warnings) = result.get("warnings").and_then(Value::as_array) {
        let codes = warnings.iter().filter_map(|warning| warning.get("code").cloned());
        put(&mut shown, "warnings", codes.collect());
    }
    Value::Object(shown)
}

fn put(map: &mut Map<String, Value>, key: &str, value: Value) {
    map.insert(key.to_owned(), value);
}

/// Lists unknown keys by name.
fn others(shown: &mut Map<String, Value>, given: &Map<String, Value>, known: &[&str]) {
    let unknown = given.keys().filter(|key| !known.contains(&key.as_str()));
    let unknown: Vec<Value> = unknown.take(MAX_NAMES).map(|key| short(key, 100).into()).collect();
    if !unknown.is_empty() {
        put(shown, "unknownKeys", unknown.into());
    }
}

fn names(map: &Map<String, Value>) -> Value {
    map.keys().take(MAX_NAMES).map(|key| Value::from(short(key, 100))).collect()
}

/// A scalar value; lists and objects are replaced by their size.
fn scalar(value: &Value) -> Value {
    match value {
        Value::String(text) => short(text, MAX_LOGGED).into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::Array(_) | Value::Object(_) => sized(value),
    }
}

/// A path as its alias; other paths only if they are not real ones.
fn path(value: &Value) -> Value {
    let Value::String(text) = value else { return sized(value) };
    match AliasPath::parse(text) {
        Ok(path) => short(&path.to_string(), MAX_LOGGED).into(),
        Err(_) => redact_paths(&short(text, MAX_LOGGED)).into_owned().into(),
    }
}

fn sized(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    json!({ "bytes": text.len(), "sha256": sha256_hex(text.as_bytes()) })
}

fn bytes_of(value: &Value) -> usize {
    value.as_str().map_or_else(|| value.to_string().len(), str::len)
}

/// The subject of a call, for the progress display.
pub(crate) fn about(call: &ToolCall) -> String {
    let text = |key: &str| call.arguments.get(key).and_then(Value::as_str);
    let found = ["path", "nodeId", "message"].into_iter().find_map(text).unwrap_or_default();
    found.chars().filter(|c| !c.is_control() && !aiwf_store::is_invisible(*c)).take(80).collect()
}
