//! Reads the YAML between two `---` lines at the start of a file.
//!
//! In: the text of a file. Out: the YAML as a JSON object, and the rest of the text byte for byte. Dates stay strings,
//! only `true` and `false` are booleans, and keys that are numbers or booleans become strings. Values that JSON cannot
//! represent (`.nan`, a list as a key) are problems, and so is YAML whose aliases expand too far.

use serde_json::{Map, Value};
use serde_saphyr::{
    DeserializeError, MessageFormatter, NonFiniteFloatPolicy, Options, UserMessageFormatter, alias_limits,
    budget, options,
};

use crate::findings::{Findings, excerpt, shortened};
use crate::line::{Line, lines, slice};
use crate::problem::Parsed;

const DELIMITER: &str = "---";

/// Maximum nesting of values.
const MAX_DEPTH: usize = 64;

/// Maximum number of nodes that all aliases together may add.
const MAX_ALIASED_NODES: usize = 10_000;

/// Longest message of the YAML library that is repeated, in characters.
const REASON_LENGTH: usize = 200;

/// The front matter of a file and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontMatter {
    /// The front matter, always an object; empty if it is missing or unreadable.
    pub data: Value,
    /// The text after the closing line; the whole text if there is no front matter.
    pub body: String,
}

/// Reads the front matter of a file; a missing one is a problem.
///
/// The file must start with a line `---`; only a byte order mark may come before it. Front matter after spaces or blank
/// lines is read and reported.
pub fn parse_front_matter(text: &str) -> Parsed<FrontMatter> {
    let mut findings = Findings::new(text);
    let lines = lines(text);
    let nothing = || FrontMatter { data: Value::Object(Map::new()), body: text.to_owned() };

    let opening = lines.iter().position(|line| !line.is_blank());
    let Some((idx, opening)) =
        opening.and_then(|idx| Some((idx, lines.get(idx)?))).filter(|(_, line)| line.trimmed() == DELIMITER)
    else {
        findings.add(0, "no front matter: start the file with a line `---`, YAML, and another line `---`");
        return findings.finish(nothing());
    };
    if idx > 0 || opening.text.trim_end() != DELIMITER {
        let message =
            "front matter does not start the file: remove the blank lines and spaces before this `---`";
        findings.add(opening.content_start(), message);
    }
    let Some(closing) = lines.iter().skip(idx + 1).find(|line| line.text.trim_end() == DELIMITER) else {
        findings.add(opening.content_start(), "front matter is not closed: end it with a line `---`");
        return findings.finish(nothing());
    };
    let data = read_yaml(text, opening, closing, &mut findings);
    let body = slice(text, closing.end..text.len()).to_owned();
    findings.finish(FrontMatter { data: Value::Object(data), body })
}

fn read_yaml(
    text: &str,
    opening: &Line<'_>,
    closing: &Line<'_>,
    findings: &mut Findings<'_>,
) -> Map<String, Value> {
    let yaml = slice(text, opening.end..closing.start);
    let found = match serde_saphyr::from_str_with_options(yaml, yaml_options()) {
        Ok(Value::Object(data)) => return data,
        Ok(Value::Null) => return Map::new(),
        Ok(Value::Array(_)) => "a list",
        Ok(Value::String(_)) => "text",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::Bool(_)) => "a boolean",
        Err(error) => {
            let at =
                error.location().map_or(0, |location| offset_at(yaml, location.line(), location.column()));
            findings.add(
                opening.end + at,
                format!("front matter is not valid YAML ({}): correct this line", yaml_reason(&error)),
            );
            return Map::new();
        }
    };
    findings.add(opening.end, format!("front matter is {found}: write `key: value` lines"));
    Map::new()
}

fn yaml_options() -> Options {
    options! {
        budget: budget! { max_depth: MAX_DEPTH, flow_nesting_limit: MAX_DEPTH },
        alias_limits: alias_limits! { max_total_replayed_events: MAX_ALIASED_NODES },
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        strict_booleans: true,
        emit_comments: false,
        with_snippet: false,
    }
}

/// What is wrong with the YAML; our own wording where the library says too little.
fn yaml_reason(error: &DeserializeError) -> String {
    if let DeserializeError::AliasError { error, .. } = error {
        return yaml_reason(error);
    }
    if let DeserializeError::DuplicateMappingKey { key: Some(key), .. } = error {
        return format!("key `{}` occurs twice", excerpt(key));
    }
    if matches!(error, DeserializeError::AliasReplayLimitExceeded { .. }) {
        return format!("its aliases repeat more than {MAX_ALIASED_NODES} values");
    }
    if matches!(error, DeserializeError::Budget { .. }) {
        return "it has too many values or is nested too deeply".to_owned();
    }
    let message = UserMessageFormatter.format_message(error);
    let message = shortened(message.trim_end_matches('.'), REASON_LENGTH);
    let mut characters = message.chars();
    match (characters.next(), characters.next()) {
        // A first word like `YAML` stays as it is.
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain([second]).chain(characters).collect()
        }
        _ => message,
    }
}

/// Offset of a line and a character in it, both counted from 1.
fn offset_at(text: &str, line: u64, column: u64) -> usize {
    let [line, column] =
        [line, column].map(|number| usize::try_from(number).unwrap_or_default().saturating_sub(1));
    let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = slice(text, before..text.len());
    before + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
}

#[cfg(test)]
#[path = "front_matter_tests.rs"]
mod tests;
