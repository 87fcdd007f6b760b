//! Reads front matter and headings of Markdown files that agents use, as leniently as those agents do.

use aiwf_reply::parse_front_matter;
use serde_json::{Map, Value};

/// A Markdown file: its front matter and its body.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) data: Map<String, Value>,
    pub(super) body: String,
    /// The line of the file that the body starts on, from 1.
    pub(super) first_line: usize,
    /// Whether the front matter is no valid YAML: only its plain `key: value` lines were read.
    pub(super) is_lenient: bool,
}

impl Document {
    /// A text value, or a list of texts joined by commas.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        texts(self.data.get(key)?).map(|texts| texts.join(", ")).filter(|text| !text.is_empty())
    }
}

/// The texts of a value: itself, or the items of a list.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Value::Array(items) => Some(items.iter().filter_map(one).collect()),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            one(value).map(|text| vec![text])
        }
    }
}

/// Reads a file; one without front matter is all body.
pub(super) fn document(text: &str) -> Document {
    if !text.starts_with("---\n") {
        return Document { data: Map::new(), body: text.to_owned(), first_line: 1, is_lenient: false };
    }
    let parsed = parse_front_matter(text);
    let (body, mut data) = (parsed.value.body, Map::new());
    let n_before = text.len().saturating_sub(body.len());
    let front = text.get(..n_before).unwrap_or_default();
    let first_line = front.matches('\n').count() + 1;
    let mut is_lenient = false;
    if let Value::Object(map) = parsed.value.data
        && parsed.problems.is_empty()
    {
        data = map;
    } else {
        is_lenient = true;
        for line in front.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let is_key = !key.is_empty()
                && key.chars().all(|one| one.is_ascii_alphanumeric() || one == '-' || one == '_');
            let value = value.trim().trim_matches(['"', '\'']);
            if is_key && !value.is_empty() {
                data.insert(key.to_owned(), value.into());
            }
        }
    }
    Document { data, body, first_line, is_lenient }
}

/// Reads a YAML file as an object; `None` if it is none.
pub(super) fn yaml(text: &str) -> Option<Map<String, Value>> {
    // A document marker would end the front matter.
    let text: String =
        text.lines().filter(|line| line.trim_end() != "---").flat_map(|line| [line, "\n"]).collect();
    let parsed = parse_front_matter(&format!("---\n{text}---\n"));
    let Value::Object(map) = parsed.value.data else { return None };
    parsed.problems.is_empty().then_some(map)
}

/// A part of a body: the text from one `## ` heading to the next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'t> {
    /// The heading without its mark; empty before the first.
    pub(super) heading: &'t str,
    /// The text with its heading.
    pub(super) text: &'t str,
    /// Its first line within the body, from 0.
    pub(super) line: usize,
}

/// The parts of a body; headings in fences count as text.
pub(super) fn parts(body: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut heading, mut start, mut start_line, mut at) = ("", 0, 0, 0);
    let mut fence: Option<&str> = None;
    for (idx, line) in body.split_inclusive('\n').enumerate() {
        let trimmed = line.trim();
        let marks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match fence {
            None if marks >= 3 => fence = trimmed.get(..marks),
            Some(open) if marks >= open.len() && trimmed.len() == marks => fence = None,
            None if line.starts_with("## ") => {
                parts.push(Part { heading, text: body.get(start..at).unwrap_or_default(), line: start_line });
                (heading, start, start_line) = (line.get(3..).unwrap_or_default().trim(), at, idx);
            }
            None | Some(_) => {}
        }
        at += line.len();
    }
    parts.push(Part { heading, text: body.get(start..).unwrap_or_default(), line: start_line });
    parts.retain(|part| !part.text.is_empty());
    parts
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
