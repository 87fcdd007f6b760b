//! Renders a template strictly: an unknown variable is an error that says where and what exists.
//!
//! Templates come from a checkout and are not trusted: steps, output and nesting are bounded.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

use crate::nearest::nearest;

/// A template and the name errors call it by.
#[derive(Clone, Debug)]
pub struct TemplateSource {
    /// The path or name a person would look for.
    pub name: String,
    /// The template itself.
    pub text: String,
}

/// A place in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplatePlace {
    /// The template.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The line itself.
    pub text: String,
    /// How many characters the fault is wide.
    pub width: usize,
}

impl std::fmt::Display for TemplatePlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let margin = self.line.to_string().len();
        writeln!(formatter, "{:margin$}--> {}:{}:{}", "", self.name, self.line, self.column)?;
        writeln!(formatter, "{:margin$} |", "")?;
        writeln!(formatter, "{} | {}", self.line, self.text)?;
        let indent = self.column.saturating_sub(1);
        write!(formatter, "{:margin$} | {:indent$}{}", "", "", "^".repeat(self.width.max(1)))
    }
}

/// Why a template could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It uses a variable that does not exist.
    #[error("variable `{variable}` is not defined\n{place}")]
    UndefinedVariable {
        /// The variable.
        variable: String,
        /// Where it is used.
        place: Box<TemplatePlace>,
        /// The variables that exist.
        defined: Vec<String>,
    },
    /// It is not a template, or does something a template cannot do.
    #[error("template cannot be used: {message}\n{place}")]
    Invalid {
        /// What is wrong.
        message: String,
        /// Where.
        place: Box<TemplatePlace>,
    },
    /// Rendering it takes too many steps.
    #[error("template `{name}` takes more than {limit} steps to render")]
    TooManySteps {
        /// The template.
        name: String,
        /// How many it may take.
        limit: u64,
    },
    /// It writes more than a prompt can hold.
    #[error("template `{name}` writes more than {limit} bytes")]
    TooLarge {
        /// The template.
        name: String,
        /// How many it may write.
        limit: usize,
    },
}

impl TemplateError {
    /// One thing to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UndefinedVariable { variable, defined, .. } => {
                let list = defined.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let mut hint = String::new();
                if let Some(close) = nearest(variable, defined.iter().map(String::as_str)) {
                    let _ = write!(hint, "did you mean `{close}`? ");
                }
                let _ = write!(hint, "defined here: {list}");
                Some(hint)
            }
            Self::Invalid { .. } => {
                Some("`aiwf template check` shows every fault of every template".to_owned())
            }
            Self::TooManySteps { .. } => Some("look for a loop that is larger than it should be".to_owned()),
            Self::TooLarge { .. } => Some("look for a loop that writes more than it should".to_owned()),
        }
    }
}

/// How many steps a template may take; an ordinary one takes some hundreds.
const MAX_STEPS: u64 = 1_000_000;
/// How many bytes a template may write, variables included.
const MAX_BYTES: usize = 64 * 1024 * 1024;

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MAX_STEPS));
    environment.set_debug(true);
    environment.set_recursion_limit(64);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment
}

/// Renders a template with these variables and no others.
pub fn render_template(
    template: &TemplateSource,
    variables: &BTreeMap<String, serde_json::Value>,
) -> Result<String, TemplateError> {
    let environment = environment();
    let fault = |error: &Error| describe(error, template, variables.keys());
    let compiled =
        environment.template_from_named_str(&template.name, &template.text).map_err(|error| fault(&error))?;
    let mut out = Bounded { written: Vec::new(), is_full: false };
    match compiled.render_captured_to(Value::from(Serde(variables)), &mut out) {
        Ok(_) => Ok(String::from_utf8_lossy(&out.written).into_owned()),
        Err(_) if out.is_full => {
            Err(TemplateError::TooLarge { name: template.name.clone(), limit: MAX_BYTES })
        }
        Err(error) => Err(fault(&error)),
    }
}

/// Compiles a template without rendering it and names the variables it uses that are not in `defined`.
pub fn check_template(template: &TemplateSource, defined: &[&str]) -> Result<(), Vec<TemplateError>> {
    let environment = environment();
    let known = || defined.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let compiled = environment
        .template_from_named_str(&template.name, &template.text)
        .map_err(|error| vec![describe(&error, template, known().iter())])?;
    let mut unknown: Vec<String> = compiled
        .undeclared_variables(false)
        .into_iter()
        .filter(|name| {
            !defined.contains(&name.as_str()) && environment.globals().all(|(global, _)| global != name)
        })
        .collect();
    unknown.sort();
    let errors: Vec<TemplateError> = unknown
        .into_iter()
        .map(|variable| {
            let start = find_word(&template.text, &variable);
            let place = place_at(template, start, variable.len());
            TemplateError::UndefinedVariable { variable, place: Box::new(place), defined: known() }
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// A writer that takes only so much.
struct Bounded {
    written: Vec<u8>,
    is_full: bool,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written.len() + bytes.len() > MAX_BYTES {
            self.is_full = true;
            return Err(io::Error::other("template output is too large"));
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn describe<'v>(
    error: &Error,
    template: &TemplateSource,
    defined: impl Iterator<Item = &'v String>,
) -> TemplateError {
    if error.kind() == ErrorKind::OutOfFuel {
        return TemplateError::TooManySteps { name: template.name.clone(), limit: MAX_STEPS };
    }
    let range = error.range().unwrap_or_else(|| {
        let start = line_start(&template.text, error.line().unwrap_or(1));
        start..start
    });
    let expression = template.text.get(range.clone()).unwrap_or_default();
    let place = Box::new(place_at(template, range.start, expression.len()));
    if error.kind() == ErrorKind::UndefinedError {
        let variable = expression.trim().to_owned();
        return TemplateError::UndefinedVariable { variable, place, defined: defined.cloned().collect() };
    }
    let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    TemplateError::Invalid { message, place }
}

fn line_start(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}

/// Where `word` stands alone for the first time, or the start.
fn find_word(text: &str, word: &str) -> usize {
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word)
        .find(|(start, _)| {
            let before = text.get(..*start).and_then(|before| before.chars().next_back());
            let after = text.get(start + word.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(is_name) && !after.is_some_and(is_name)
        })
        .map_or(0, |(start, _)| start)
}

fn place_at(template: &TemplateSource, start: usize, width: usize) -> TemplatePlace {
    let before = template.text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line_text = template.text.get(line_start..).unwrap_or_default().lines().next().unwrap_or_default();
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    let rest_of_line = line_text.chars().count().saturating_sub(column - 1);
    TemplatePlace {
        name: template.name.clone(),
        line: before.matches('\n').count() + 1,
        column,
        text: line_text.to_owned(),
        width: width.min(rest_of_line),
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
