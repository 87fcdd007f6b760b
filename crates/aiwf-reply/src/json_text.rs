//! JSON values inside a longer text, with offsets in that text.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::line::slice;

/// The position and the reason of a JSON syntax error.
#[derive(Debug)]
pub(crate) struct JsonError {
    pub(crate) at: usize,
    pub(crate) reason: String,
}

/// Reads the JSON value at the start of a part of a text, up to its end or first error.
///
/// Checks the syntax only: nesting is unlimited, strings and numbers are not decoded.
pub(crate) fn read_json(text: &str, part: Range<usize>) -> Result<&RawValue, JsonError> {
    let json = slice(text, part.clone());
    match serde_json::Deserializer::from_str(json).into_iter::<&RawValue>().next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => {
            // Building the value fails at the same place with a better message, unless it is nested too deeply.
            let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
            let telling = values.next().and_then(Result::err);
            let telling = telling
                .filter(|telling| (telling.line(), telling.column()) == (error.line(), error.column()));
            Err(JsonError::new(&telling.unwrap_or(error), json, part.start))
        }
        None => Err(JsonError { at: part.end, reason: "it is empty".to_owned() }),
    }
}

impl JsonError {
    /// Translates an error in `json`, which starts at `start`.
    fn new(error: &serde_json::Error, json: &str, start: usize) -> Self {
        let line_at: usize =
            json.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        // The column counts bytes and is 0 right after a line ending.
        let at = json.floor_char_boundary(line_at + error.column().saturating_sub(1));
        Self { at: start + at, reason: reason(error) }
    }
}

/// The message without its position.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    if let Some(what) = message.strip_prefix("EOF while parsing ") {
        return format!("it ends in the middle of {what}");
    }
    if message.starts_with("control character") {
        return "a string contains a line break or another control character: write it as `\\n` or `\\u0000`"
            .to_owned();
    }
    message.to_owned()
}

/// Offset in `text` of a value that was read from it.
pub(crate) fn offset_of(text: &str, value: &RawValue) -> usize {
    value.get().as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

/// Whether invalid JSON was meant to call a tool.
pub(crate) fn looks_like_call(json: &str) -> bool {
    let contains = |word: &str| memchr::memmem::find(json.as_bytes(), word.as_bytes()).is_some();
    contains("tool_calls") || (contains("\"name\"") && contains("\"arguments\""))
}
