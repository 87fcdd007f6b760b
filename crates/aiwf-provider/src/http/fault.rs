//! What an API says when it fails: its JSON shapes, whether the failure passes, and a text that can be shown.

use serde_json::Value;

/// How much of an API's message is shown, in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// Statuses of failures that pass.
const PASSING_STATUSES: [u16; 7] = [408, 429, 500, 502, 503, 504, 529];

/// Names of failures that pass, as the three APIs have them.
const PASSING_NAMES: [&str; 10] = [
    "api_error",
    "overloaded_error",
    "rate_limit_error",
    "timeout_error",
    "server_error",
    "rate_limit_exceeded",
    "UNAVAILABLE",
    "RESOURCE_EXHAUSTED",
    "INTERNAL",
    "DEADLINE_EXCEEDED",
];

/// Those of them that are limits on how much may be asked.
const LIMIT_NAMES: [&str; 3] = ["rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"];

/// A name that makes a failure last although its status would pass: there is no money left.
const LASTING_NAME: &str = "insufficient_quota";

/// What an API said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) message: String,
    /// Whether the same request may be answered later.
    pub(super) is_passing: bool,
    /// Whether it is a limit on how much may be asked.
    pub(super) is_limit: bool,
}

/// Whether a status is worth another try.
pub(super) fn is_passing(status: u16) -> bool {
    PASSING_STATUSES.contains(&status)
}

/// The fault that a JSON value tells of: `{"error": {"message": …}}` and what else servers make of it.
pub(super) fn fault(value: &Value) -> Option<Fault> {
    // Gemini wraps errors of a stream into a list.
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null())?;
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let message = text("message").or_else(|| error.as_str()).or_else(|| text("detail"));
    let names = [text("type"), text("code"), text("status")];
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let has = |wanted: &str| names.iter().flatten().any(|name| *name == wanted);
    Some(Fault {
        message: message.map_or_else(|| error.to_string(), str::to_owned),
        is_passing: !has(LASTING_NAME)
            && (status.is_some_and(is_passing) || PASSING_NAMES.iter().any(|name| has(name))),
        is_limit: status == Some(429) || LIMIT_NAMES.iter().any(|name| has(name)),
    })
}

/// The fault that the body of an answer tells of, whatever its form.
pub(super) fn fault_of_body(body: &[u8], status: u16) -> Option<Fault> {
    let text = String::from_utf8_lossy(body);
    let passing = is_passing(status);
    let is_limit = status == 429;
    let Ok(value) = serde_json::from_str::<Value>(&text) else {
        let text = text.trim();
        return (!text.is_empty()).then(|| Fault { message: text.to_owned(), is_passing: passing, is_limit });
    };
    if let Some(found) = fault(&value) {
        // The status decides; a name can only say that waiting does not help.
        let is_lasting = text.contains(LASTING_NAME);
        return Some(Fault { is_passing: passing && !is_lasting, is_limit, ..found });
    }
    let message = ["message", "detail"].iter().find_map(|name| value.get(name).and_then(Value::as_str));
    Some(Fault { message: message.unwrap_or(text.trim()).to_owned(), is_passing: passing, is_limit })
}

/// A server's text as it can be shown: without the key, on one line, bounded.
pub(super) fn shown(text: &str, key: Option<&str>) -> String {
    // The key goes first: a bound could leave half of it.
    let text = match key.filter(|key| !key.is_empty()) {
        Some(key) => text.replace(key, "[key]"),
        None => text.to_owned(),
    };
    let mut line = String::new();
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => {
            line.truncate(end);
            line.push('…');
            line
        }
        None => line,
    }
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
