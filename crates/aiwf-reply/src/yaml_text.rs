//! Writes values as YAML that every parser reads as the same values.
//!
//! Text is unquoted only if it cannot be mistaken for something else; other text is in double quotes, escaped as in
//! JSON, which YAML understands.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// `key: value` lines, one for each key.
pub(super) fn entry(key: &str, value: &Value) -> String {
    let mut text = String::new();
    pair(&mut text, key, value, 0);
    text
}

fn pair(text: &mut String, key: &str, value: &Value, depth: usize) {
    text.push_str(&scalar_text(key));
    text.push(':');
    match value {
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            list(text, items, depth + 1);
        }
        Value::Object(map) if !map.is_empty() => {
            text.push('\n');
            mapping(text, map, depth + 1, Start::Line);
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            text.push(' ');
            text.push_str(&scalar(value));
            text.push('\n');
        }
    }
}

/// Where the first key of a mapping goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Line,
    AfterDash,
}

fn mapping(text: &mut String, map: &Map<String, Value>, depth: usize, start: Start) {
    for (position, (key, value)) in map.iter().enumerate() {
        if position > 0 || start == Start::Line {
            indent(text, depth);
        }
        pair(text, key, value, depth);
    }
}

fn list(text: &mut String, items: &[Value], depth: usize) {
    for item in items {
        indent(text, depth);
        text.push_str("- ");
        match item {
            Value::Object(map) if !map.is_empty() => mapping(text, map, depth + 1, Start::AfterDash),
            // A list in a list stays on its line.
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => {
                text.push_str(&scalar(item));
                text.push('\n');
            }
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(string) => scalar_text(string),
        // JSON is YAML; the values nested here are lists in lists, or empty.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            escaped(&value.to_string())
        }
    }
}

fn scalar_text(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { escaped(&Value::from(text).to_string()) }
}

/// Escapes characters that YAML reads as line ends or does not print; in JSON they occur only inside strings.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

/// Words that some version of YAML reads as a value of another type.
const WORDS: [&str; 12] =
    ["true", "false", "yes", "no", "on", "off", "null", "nan", "inf", "y", "n", "infinity"];

fn is_plain(text: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '.' | '/' | '-');
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= 200
        && !text.ends_with(' ')
        && text.chars().all(is_fine)
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
#[path = "yaml_text_tests.rs"]
mod tests;
