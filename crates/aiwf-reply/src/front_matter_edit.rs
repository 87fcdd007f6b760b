//! Changes keys of front matter and keeps every other byte.
//!
//! In: the text of a file and new values for some keys. Out: the text with the lines of those keys replaced. The body
//! and the other keys, with their order and comments, stay as they are. The result is parsed again: if it does not
//! match, all of the front matter is rewritten, and the body still stays.

use serde_json::{Map, Value};

use crate::front_matter::parse_front_matter;
use crate::yaml_text;

/// Why front matter cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// It is missing or not valid YAML.
    #[error("{reason}")]
    Unreadable { reason: String },
    /// The new value of a key cannot be written as YAML.
    #[error("the new front matter cannot be written as YAML")]
    Unwritable,
}

/// Applies `change` to the front matter and returns the text with the changed keys.
pub fn edit_front_matter(
    text: &str,
    change: impl FnOnce(&Map<String, Value>) -> Map<String, Value>,
) -> Result<String, EditError> {
    let parsed = parse_front_matter(text);
    if let Some(problem) = parsed.problems.first() {
        return Err(EditError::Unreadable { reason: problem.message.clone() });
    }
    let Value::Object(data) = parsed.value.data else {
        return Err(EditError::Unreadable { reason: "front matter is not a mapping".to_owned() });
    };
    let mut changes = change(&data);
    changes.retain(|key, value| data.get(key) != Some(value));
    if changes.is_empty() {
        return Ok(text.to_owned());
    }
    let mut expected = data.clone();
    expected.extend(changes.clone());
    let body = parsed.value.body.as_str();
    let Some(frame) = Frame::of(text, body) else {
        return Err(EditError::Unreadable { reason: "front matter has no lines of its own".to_owned() });
    };
    let says_it = |candidate: &String| {
        let read = parse_front_matter(candidate);
        read.problems.is_empty() && read.value.data.as_object() == Some(&expected) && read.value.body == body
    };
    let patched = frame.with(&patched_yaml(frame.yaml, changes));
    if says_it(&patched) {
        return Ok(patched);
    }
    let anew: String = expected.iter().map(|(key, value)| yaml_text::entry(key, value)).collect();
    Some(frame.with(&anew)).filter(says_it).ok_or(EditError::Unwritable)
}

/// A file, split at the boundaries of its front matter.
struct Frame<'a> {
    opening: &'a str,
    yaml: &'a str,
    closing_and_body: &'a str,
}

impl<'a> Frame<'a> {
    fn of(text: &'a str, body: &str) -> Option<Self> {
        let opening_end = text.find('\n')? + 1;
        let head = text.get(..text.len().checked_sub(body.len())?)?;
        let without_end = head.strip_suffix('\n').unwrap_or(head);
        let closing_start = without_end.rfind('\n')? + 1;
        Some(Self {
            opening: text.get(..opening_end)?,
            yaml: text.get(opening_end..closing_start)?,
            closing_and_body: text.get(closing_start..)?,
        })
    }

    fn with(&self, yaml: &str) -> String {
        let is_crlf = self.opening.ends_with("\r\n");
        let end = if yaml.is_empty() || yaml.ends_with('\n') { "" } else { "\n" };
        let mut text = String::with_capacity(self.opening.len() + yaml.len() + self.closing_and_body.len());
        text.push_str(self.opening);
        if is_crlf {
            text.push_str(&yaml.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            text.push_str(yaml);
        }
        text.push_str(end);
        text.push_str(self.closing_and_body);
        text
    }
}

/// The YAML with the lines of the changed keys replaced, and new keys at its end.
fn patched_yaml(yaml: &str, mut changes: Map<String, Value>) -> String {
    let mut patched = String::with_capacity(yaml.len());
    for block in blocks(yaml) {
        match key_of(block).and_then(|key| changes.shift_remove(&key).map(|value| (key, value))) {
            Some((key, value)) => {
                patched.push_str(&yaml_text::entry(&key, &value));
                // Comments and blank lines after a value belong to the next key.
                patched.push_str(trailing_comments(block));
            }
            None => patched.push_str(block),
        }
    }
    if !patched.is_empty() && !patched.ends_with('\n') {
        patched.push('\n');
    }
    for (key, value) in &changes {
        patched.push_str(&yaml_text::entry(key, value));
    }
    patched
}

/// The lines of each top-level key; anything before the first one is a block of its own.
fn blocks(yaml: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in yaml.split_inclusive('\n') {
        let begins_key = !line.starts_with([' ', '\t', '#', '-', ']', '}', '\r', '\n']);
        if begins_key && at > 0 {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([yaml.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| yaml.get(*start..end)).collect()
}

fn key_of(block: &str) -> Option<String> {
    let end = if block.ends_with('\n') { "" } else { "\n" };
    let read = parse_front_matter(&format!("---\n{block}{end}---\n"));
    let keys = read.value.data.as_object()?;
    (read.problems.is_empty() && keys.len() == 1).then(|| keys.keys().next().cloned())?
}

fn trailing_comments(block: &str) -> &str {
    let mut kept = block.len();
    let mut at = block.len();
    for line in block.split_inclusive('\n').collect::<Vec<_>>().into_iter().rev() {
        at -= line.len();
        if line.starts_with('#') || line.trim().is_empty() {
            kept = at;
        } else {
            break;
        }
    }
    block.get(kept..).unwrap_or_default()
}

#[cfg(test)]
#[path = "front_matter_edit_tests.rs"]
mod tests;
