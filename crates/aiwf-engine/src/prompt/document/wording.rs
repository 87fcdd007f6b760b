//! Explains in terms of JSON, not of the parser library, why a document does not match.

use aiwf_prompt::nearest;

use crate::error::shortened;

/// The problem, with more specific advice than the schema gives.
pub(super) struct Misfit {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

pub(super) fn of_syntax_error(error: &serde_json::Error) -> String {
    let message = without_location(error);
    match message.as_str() {
        "expected ident" | "expected value" => "a value was expected".to_owned(),
        "trailing characters" => "something follows the document".to_owned(),
        "recursion limit exceeded" => "it is nested too deeply".to_owned(),
        other => other
            .strip_prefix("EOF while parsing ")
            .map_or_else(|| other.to_owned(), |what| format!("it ends in the middle of {what}")),
    }
}

pub(super) fn of_data_error(error: &serde_json::Error) -> Misfit {
    let message = without_location(error);
    if let Some(rest) = message.strip_prefix("unknown field `") {
        return unknown_field(rest);
    }
    if let Some(field) = quoted_after(&message, "missing field ") {
        let hint = format!("add `{field}` to the document");
        return Misfit { message: format!("field `{field}` is missing"), hint: Some(hint) };
    }
    if let Some(field) = quoted_after(&message, "duplicate field ") {
        let spelling = if field.contains('_') { "; its `camelCase` spelling is the same field" } else { "" };
        let hint = format!("keep one `{field}`{spelling}");
        return Misfit { message: format!("field `{field}` occurs twice"), hint: Some(hint) };
    }
    let compared = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    let message = match compared.and_then(|compared| compared.rsplit_once(", expected ")) {
        Some((found, expected)) => {
            format!("expected {}, found {}", wanted(expected), given(found))
        }
        None => shortened(&message),
    };
    Misfit { message, hint: None }
}

/// `rest` is the unknown name, a backtick, and the known names in backticks.
fn unknown_field(rest: &str) -> Misfit {
    // The name itself may contain backticks; what follows it does not.
    let (unknown, list) = rest.rsplit_once("`, expected ").unwrap_or((rest, ""));
    let known: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    let is_original = |name: &&&str| !name.contains(|character: char| character.is_ascii_uppercase());
    let names: Vec<String> = known.iter().filter(is_original).map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    let hint = match nearest(unknown, known.iter().copied()) {
        Some(close) => format!("did you mean `{close}`? known: {names}"),
        None => format!("known: {names}"),
    };
    Misfit { message: format!("unknown field `{}`", shortened(unknown)), hint: Some(hint) }
}

fn quoted_after<'m>(message: &'m str, start: &str) -> Option<&'m str> {
    message.strip_prefix(start)?.strip_prefix('`')?.strip_suffix('`')
}

/// The expected value.
fn wanted(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list",
        "a map" => "an object",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number that is not negative",
        "i32" => "a whole number from -2147483648 to 2147483647",
        other => other,
    }
}

/// The actual value.
fn given(found: &str) -> String {
    match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        other => match other.strip_prefix("integer ").or(other.strip_prefix("floating point ")) {
            Some(number) => format!("number {number}"),
            None => shortened(other),
        },
    }
}

/// The message without the position, which is reported separately.
fn without_location(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&suffix).unwrap_or(&message).to_owned()
}
