//! A parameter of a profile: its type, and how a given value is read.

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Number, Value};

use crate::problem::{excerpt, ticked};

#[derive(Clone, Debug)]
pub struct Param {
    /// The name and the flag, like `bounded-context`.
    pub name: String,
    /// The help text of the flag.
    pub help: String,
    pub kind: ParamKind,
    pub is_required: bool,
    /// The value if none is given.
    pub default: Option<Value>,
}

/// The type of a parameter, with its constraints.
#[derive(Clone, Debug)]
pub enum ParamKind {
    /// A line of text.
    String {
        /// What the whole text must match.
        pattern: Option<Pattern>,
    },
    /// Text that may have several lines.
    Text,
    Integer {
        minimum: Option<i64>,
        maximum: Option<i64>,
    },
    /// A boolean flag.
    Boolean {
        /// The flag that means `false`, like `javascript` for `typescript`.
        negation: Option<String>,
    },
    /// One of several values.
    Choice {
        /// The values, in the order shown in the help.
        choices: Vec<Choice>,
        /// The variable with the set of the chosen value.
        input: Option<String>,
    },
    /// A file whose content becomes an input; the value is its path, relative to the project.
    File {
        input: String,
    },
    /// Files of the project, by path or glob pattern. The value lists the paths that were found.
    Files,
    /// A path relative to the project; the file is not read.
    Path,
    /// Several lines of text.
    List {
        /// What each item must match.
        pattern: Option<Pattern>,
    },
}

/// One value of a choice.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub name: String,
    pub aliases: Vec<String>,
    /// The meaning, if the profile gives one.
    pub help: String,
    /// The values that it stands for in templates.
    pub set: Map<String, Value>,
}

/// A regular expression for a whole value.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The expression as written in the manifest.
    pub text: String,
    /// What the pattern requires, in words.
    pub help: Option<String>,
    regex: Regex,
}

impl Pattern {
    /// Compiles an expression; the error is the reason in one line.
    pub(crate) fn new(text: &str, help: Option<String>) -> Result<Self, String> {
        const MAX_COMPILED_BYTES: usize = 256 * 1024;
        let regex = RegexBuilder::new(&format!("^(?:{text})$"))
            .size_limit(MAX_COMPILED_BYTES)
            .nest_limit(50)
            .build()
            .map_err(|error| error.to_string().trim_end_matches('.').to_owned())?;
        Ok(Self { text: text.to_owned(), help, regex })
    }

    /// Whether the whole value matches.
    pub(crate) fn is_match(&self, value: &str) -> bool {
        self.regex.is_match(value)
    }

    fn check(&self, value: &str) -> Result<(), ParamFault> {
        if self.is_match(value) {
            return Ok(());
        }
        let wanted = self.help.clone().unwrap_or_else(|| format!("something that matches `{}`", self.text));
        Err(ParamFault::new(format!("is `{}`, not {wanted}", excerpt(value))))
    }
}

/// Why a value is invalid: the rest of a sentence that starts with the parameter's name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ParamFault {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl ParamFault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }
}

/// The longest text of one value, in bytes.
const MAX_VALUE_BYTES: usize = 8 * 1024;
/// The longest text of several lines, in bytes.
const MAX_TEXT_BYTES: usize = 64 * 1024;
/// The maximum number of items of a list.
const MAX_ITEMS: usize = 1_000;

impl Param {
    /// The key in a session's context: the name with underscores.
    pub(crate) fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The template variable of the value, like `BOUNDED_CONTEXT`.
    pub(crate) fn variable(&self) -> String {
        self.key().to_uppercase()
    }

    /// The variable with the content of a file or the set of a choice.
    pub fn input(&self) -> Option<&str> {
        match &self.kind {
            ParamKind::File { input } => Some(input),
            ParamKind::Choice { input, .. } => input.as_deref(),
            ParamKind::String { .. }
            | ParamKind::Text
            | ParamKind::Integer { .. }
            | ParamKind::Boolean { .. }
            | ParamKind::Files
            | ParamKind::Path
            | ParamKind::List { .. } => None,
        }
    }

    /// The flag of a boolean that means `false`.
    pub fn negation(&self) -> Option<&str> {
        match &self.kind {
            ParamKind::Boolean { negation } => negation.as_deref(),
            ParamKind::String { .. }
            | ParamKind::Text
            | ParamKind::Integer { .. }
            | ParamKind::Choice { .. }
            | ParamKind::File { .. }
            | ParamKind::Files
            | ParamKind::Path
            | ParamKind::List { .. } => None,
        }
    }

    /// The values of a choice; empty for other types.
    pub fn choices(&self) -> &[Choice] {
        match &self.kind {
            ParamKind::Choice { choices, .. } => choices,
            ParamKind::String { .. }
            | ParamKind::Text
            | ParamKind::Integer { .. }
            | ParamKind::Boolean { .. }
            | ParamKind::File { .. }
            | ParamKind::Files
            | ParamKind::Path
            | ParamKind::List { .. } => &[],
        }
    }

    /// Finds a choice by name or alias.
    pub(crate) fn choice(&self, name: &str) -> Option<&Choice> {
        self.choices()
            .iter()
            .find(|choice| choice.name == name || choice.aliases.iter().any(|alias| alias == name))
    }

    /// The value in templates if none is given.
    pub(crate) fn absent(&self) -> Value {
        match &self.kind {
            ParamKind::String { .. }
            | ParamKind::Text
            | ParamKind::Choice { .. }
            | ParamKind::File { .. }
            | ParamKind::Path => Value::String(String::new()),
            ParamKind::Integer { .. } => Value::Null,
            ParamKind::Boolean { .. } => Value::Bool(false),
            ParamKind::Files | ParamKind::List { .. } => Value::Array(Vec::new()),
        }
    }

    /// Reads a given value: as its own JSON type, or as the text of a flag.
    pub(crate) fn read(&self, given: &Value) -> Result<Value, ParamFault> {
        match &self.kind {
            ParamKind::String { pattern } => {
                let text = line_of_text(given)?;
                match pattern {
                    Some(pattern) => pattern.check(text)?,
                    None => not_blank(text)?,
                }
                Ok(text.into())
            }
            ParamKind::Text => lines_of_text(given).map(Value::String),
            ParamKind::Integer { minimum, maximum } => integer(given, *minimum, *maximum),
            ParamKind::Boolean { .. } => match given {
                Value::Bool(_) => Ok(given.clone()),
                Value::String(text) if text == "true" => Ok(true.into()),
                Value::String(text) if text == "false" => Ok(false.into()),
                Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                    Err(ParamFault::new(format!("is {}, not true or false", shown(given))))
                }
            },
            ParamKind::Choice { choices, .. } => {
                let text = line_of_text(given)?;
                let names = choices.iter().map(|choice| choice.name.as_str());
                self.choice(text).map(|choice| choice.name.clone().into()).ok_or_else(|| ParamFault {
                    message: format!("is `{}`, not one of {}", excerpt(text), ticked(names.clone())),
                    hint: aiwf_prompt::nearest(text, names).map(|close| format!("did you mean `{close}`?")),
                })
            }
            ParamKind::File { .. } | ParamKind::Path => {
                let text = line_of_text(given)?;
                not_blank(text)?;
                Ok(text.into())
            }
            ParamKind::Files => list(given, None),
            ParamKind::List { pattern } => list(given, pattern.as_ref()),
        }
    }
}

fn list(given: &Value, pattern: Option<&Pattern>) -> Result<Value, ParamFault> {
    let one = [given.clone()];
    let items = match given {
        Value::Array(items) => items.as_slice(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => &one,
    };
    if items.len() > MAX_ITEMS {
        return Err(ParamFault::new(format!("has {} items, more than {MAX_ITEMS}", items.len())));
    }
    for item in items {
        let text = line_of_text(item)?;
        match pattern {
            Some(pattern) => pattern.check(text)?,
            None => not_blank(text)?,
        }
    }
    Ok(Value::Array(items.to_vec()))
}

fn integer(given: &Value, minimum: Option<i64>, maximum: Option<i64>) -> Result<Value, ParamFault> {
    let number = match given {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let Some(number) = number else {
        return Err(ParamFault::new(format!("is {}, not a whole number", shown(given))));
    };
    if let Some(minimum) = minimum.filter(|minimum| number < *minimum) {
        return Err(ParamFault::new(format!("is {number}, less than {minimum}")));
    }
    if let Some(maximum) = maximum.filter(|maximum| number > *maximum) {
        return Err(ParamFault::new(format!("is {number}, more than {maximum}")));
    }
    Ok(Value::Number(Number::from(number)))
}

/// Text that can be used in the middle of a prompt without starting a section of its own.
fn line_of_text(given: &Value) -> Result<&str, ParamFault> {
    let Value::String(text) = given else {
        return Err(ParamFault::new(format!("is {}, not text", kind_of(given))));
    };
    if text.len() > MAX_VALUE_BYTES {
        return Err(ParamFault::new(format!("has {} bytes, more than {MAX_VALUE_BYTES}", text.len())));
    }
    if text.chars().any(char::is_control) {
        return Err(ParamFault::new("has a line break or another control character"));
    }
    Ok(text)
}

/// Text of several lines, without blank ends.
fn lines_of_text(given: &Value) -> Result<String, ParamFault> {
    let Value::String(text) = given else {
        return Err(ParamFault::new(format!("is {}, not text", kind_of(given))));
    };
    if text.len() > MAX_TEXT_BYTES {
        return Err(ParamFault::new(format!("has {} bytes, more than {MAX_TEXT_BYTES}", text.len())));
    }
    let text = text.replace("\r\n", "\n");
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(ParamFault::new("has a control character"));
    }
    not_blank(&text)?;
    Ok(text.trim_matches('\n').trim_end().to_owned())
}

fn not_blank(text: &str) -> Result<(), ParamFault> {
    if text.trim().is_empty() { Err(ParamFault::new("is empty")) } else { Ok(()) }
}

/// A wrong value in a message: its type, or the text itself.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", excerpt(text)),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::Null | Value::Array(_) | Value::Object(_) => kind_of(value).to_owned(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

/// One thing wrong with an argument of `init`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParamProblem {
    /// The flag of the parameter; for an unknown parameter, the given name.
    pub param: String,
    /// What is wrong, with the flag in backticks.
    pub message: String,
    pub hint: Option<String>,
}

impl ParamProblem {
    pub(crate) fn of(param: &Param, fault: ParamFault) -> Self {
        let message = format!("`--{}` {}", param.name, fault.message);
        Self { param: param.name.clone(), message, hint: fault.hint }
    }

    pub(crate) fn unknown(name: &str, hint: Option<String>) -> Self {
        Self { param: name.to_owned(), message: format!("unknown parameter `{}`", excerpt(name)), hint }
    }
}

#[cfg(test)]
#[path = "param_tests.rs"]
mod tests;
