//! Renders a template strictly: an unknown variable is an error with its position and the known names.
//!
//! Templates may come from an untrusted checkout: steps, output and nesting are limited. Memory cannot be limited here,
//! because operators allocate freely; a [`TemplateHost`] set by the engine limits that too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Template, UndefinedBehavior, Value};
use serde::{Deserialize, Serialize};

use crate::nearest::nearest;
use crate::template_guard::template_fault;

/// A template and its name in errors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TemplateSource {
    /// The path or name that a user would look for.
    pub name: String,
    pub text: String,
}

/// A position in a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplatePlace {
    pub name: String,
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    pub text: String,
    /// The width of the error in characters.
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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum TemplateError {
    #[error("variable `{variable}` is not defined\n{place}")]
    UndefinedVariable { variable: String, place: Box<TemplatePlace>, defined: Vec<String> },
    /// It is not a valid template, or does something templates cannot do.
    #[error("template is invalid: {message}\n{place}")]
    Invalid { message: String, place: Box<TemplatePlace> },
    /// Rendering takes too many steps.
    #[error("template `{name}` takes more than {limit} steps to render")]
    TooManySteps { name: String, limit: u64 },
    /// Its output exceeds the limit of a prompt.
    #[error("the output of template `{name}` exceeds {limit} bytes")]
    TooLarge { name: String, limit: usize },
    /// It exceeds its memory limit.
    #[error("template `{name}` needs more than {} MB of memory", limit / (1024 * 1024))]
    TooMuchMemory {
        name: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// Rendering takes too long.
    #[error("template `{name}` takes more than {limit_s} s to render")]
    TooSlow {
        name: String,
        /// The limit in seconds.
        limit_s: u64,
    },
    /// The template process is not usable.
    #[error("template `{name}` was not rendered: {message}")]
    NoHost { name: String, message: String },
}

impl TemplateError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UndefinedVariable { variable, defined, .. } => {
                if defined.is_empty() {
                    return Some("remove it: no variable is defined here".to_owned());
                }
                let shown = defined.iter().take(MAX_NAMES_IN_HINT).map(|name| format!("`{name}`"));
                let mut list = shown.collect::<Vec<_>>().join(", ");
                if let n_more @ 1.. = defined.len().saturating_sub(MAX_NAMES_IN_HINT) {
                    let _ = write!(list, " and {n_more} more");
                }
                let mut hint = String::new();
                // Attributes of an existing variable are not compared with other variables.
                let is_whole = !variable.contains(['.', '[']);
                if let Some(close) =
                    nearest(variable, defined.iter().map(String::as_str)).filter(|_| is_whole)
                {
                    let _ = write!(hint, "did you mean `{close}`? ");
                }
                let _ = write!(hint, "defined here: {list}");
                Some(hint)
            }
            Self::Invalid { .. } => {
                Some("`aiwf template check` shows all errors of all templates".to_owned())
            }
            Self::TooManySteps { .. } => Some("check for a loop with too many iterations".to_owned()),
            Self::TooLarge { .. } => Some("check for a loop with too much output".to_owned()),
            Self::TooMuchMemory { .. } => Some("check for a text or list that grows in a loop".to_owned()),
            Self::TooSlow { .. } => Some("check for a loop over large texts".to_owned()),
            Self::NoHost { .. } => Some("run the command again".to_owned()),
        }
    }
}

/// Maximum number of variable names in a hint.
const MAX_NAMES_IN_HINT: usize = 50;
/// Maximum number of steps of a template; a typical one takes some hundreds.
const MAX_STEPS: u64 = 1_000_000;
/// Maximum number of output bytes, including variables.
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

/// Renders untrusted templates where they can do no harm, such as in a separate process.
pub trait TemplateHost: Send + Sync + std::fmt::Debug {
    /// Does the same as [`render_template_here`].
    fn render(
        &self,
        template: &TemplateSource,
        variables: &BTreeMap<String, serde_json::Value>,
    ) -> Result<String, TemplateError>;

    /// Does the same as [`check_template_here`].
    fn check(&self, template: &TemplateSource, defined: &[&str]) -> Result<(), Vec<TemplateError>>;
}

static HOST: OnceLock<&'static dyn TemplateHost> = OnceLock::new();

/// Sets the host that renders and checks all templates that are not built in.
pub fn set_template_host(host: &'static dyn TemplateHost) {
    HOST.get_or_init(|| host);
}

/// Renders a template with exactly these variables, in the host if there is one.
pub fn render_template(
    template: &TemplateSource,
    variables: &BTreeMap<String, serde_json::Value>,
) -> Result<String, TemplateError> {
    match HOST.get() {
        Some(host) => host.render(template, variables),
        None => render_template_here(template, variables),
    }
}

/// Compiles a template and lists the variables that are not in `defined`, in the host if there is one.
///
/// Compiling evaluates constants, so it needs a host as much as rendering does.
pub fn check_template(template: &TemplateSource, defined: &[&str]) -> Result<(), Vec<TemplateError>> {
    match HOST.get() {
        Some(host) => host.check(template, defined),
        None => check_template_here(template, defined),
    }
}

/// Renders a template in this process; only for built-in templates, and for hosts.
pub fn render_template_here(
    template: &TemplateSource,
    variables: &BTreeMap<String, serde_json::Value>,
) -> Result<String, TemplateError> {
    refuse_too_deep(template)?;
    let environment = environment();
    let fault =
        |error: &Error, undeclared: &[String]| describe(error, template, variables.keys(), undeclared);
    let compiled = environment
        .template_from_named_str(&template.name, &template.text)
        .map_err(|error| fault(&error, &[]))?;
    let mut out = Bounded { written: Vec::new(), is_full: false };
    match compiled.render_captured_to(Value::from(Serde(variables)), &mut out) {
        Ok(_) => Ok(String::from_utf8_lossy(&out.written).into_owned()),
        Err(_) if out.is_full => {
            Err(TemplateError::TooLarge { name: template.name.clone(), limit: MAX_BYTES })
        }
        Err(error) => {
            let is_defined = |name: &str| variables.contains_key(name);
            Err(fault(&error, &undeclared(&environment, &compiled, is_defined)))
        }
    }
}

/// Checks a template in this process; only for built-in templates, and for hosts.
pub fn check_template_here(template: &TemplateSource, defined: &[&str]) -> Result<(), Vec<TemplateError>> {
    refuse_too_deep(template).map_err(|error| vec![error])?;
    let environment = environment();
    let known = || defined.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let compiled = environment
        .template_from_named_str(&template.name, &template.text)
        .map_err(|error| vec![describe(&error, template, known().iter(), &[])])?;
    let names: BTreeSet<&str> = defined.iter().copied().collect();
    let errors: Vec<TemplateError> = undeclared(&environment, &compiled, |name| names.contains(name))
        .into_iter()
        .map(|variable| {
            let start = find_in_tags(&template.text, &variable);
            let place = place_at(template, start, variable.len());
            TemplateError::UndefinedVariable { variable, place: Box::new(place), defined: known() }
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The undefined variables of a template, sorted.
fn undeclared(
    environment: &Environment<'_>,
    template: &Template<'_, '_>,
    is_defined: impl Fn(&str) -> bool,
) -> Vec<String> {
    let is_global = |name: &str| environment.globals().any(|(global, _)| global == name);
    let mut names: Vec<String> = template
        .undeclared_variables(false)
        .into_iter()
        .filter(|name| !is_defined(name) && !is_global(name))
        .collect();
    names.sort();
    names
}

/// A writer with a size limit.
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
    undeclared: &[String],
) -> TemplateError {
    if error.kind() == ErrorKind::OutOfFuel {
        return TemplateError::TooManySteps { name: template.name.clone(), limit: MAX_STEPS };
    }
    let text = template.text.as_str();
    let range = error.range().unwrap_or_else(|| {
        let start = line_start(text, error.line().unwrap_or(1));
        start..start
    });
    let expression = text.get(range.clone()).unwrap_or_default();
    if let Some(variable) = undefined_variable(error, expression, undeclared) {
        let start = find_near(text, &range, &variable);
        let place = Box::new(place_at(template, start, variable.len()));
        return TemplateError::UndefinedVariable { variable, place, defined: defined.cloned().collect() };
    }
    let place = Box::new(place_at(template, range.start, expression.len()));
    let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    TemplateError::Invalid { message, place }
}

/// The undefined variable or attribute behind an error, if that is the cause.
///
/// The engine puts the name at the end of its message, whatever the operation; for a call it only says unknown.
fn undefined_variable(error: &Error, expression: &str, undeclared: &[String]) -> Option<String> {
    let named = error.detail().and_then(|detail| {
        let (before, _) = detail.rsplit_once("` is undefined")?;
        before.rsplit_once('`').map(|(_, name)| name.to_owned())
    });
    let called = || undeclared.iter().find(|name| find_word(expression, name).is_some()).cloned();
    let other = || (error.kind() == ErrorKind::UndefinedError).then(|| expression.trim().to_owned());
    named.or_else(called).or_else(other)
}

/// Refuses a template that would overflow the template engine's stack.
fn refuse_too_deep(template: &TemplateSource) -> Result<(), TemplateError> {
    let Some((line, message)) = template_fault(&template.text) else { return Ok(()) };
    let place = Box::new(place_at(template, line_start(&template.text, line), 0));
    Err(TemplateError::Invalid { message, place })
}

fn line_start(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}

/// The position of `word` in an expression or earlier in the same tag, otherwise the start of the expression.
fn find_near(text: &str, expression: &Range<usize>, word: &str) -> usize {
    let find_in = |range: Range<usize>| Some(find_word(text.get(range.clone())?, word)? + range.start);
    let tag = || tags(text).find(|tag| tag.contains(&expression.start));
    find_in(expression.clone()).or_else(|| find_in(tag()?.start..expression.end)).unwrap_or(expression.start)
}

/// The first position of `word` in a tag, otherwise the start.
fn find_in_tags(text: &str, word: &str) -> usize {
    let in_tag = |tag: Range<usize>| Some(find_word(text.get(tag.clone())?, word)? + tag.start);
    tags(text).find_map(in_tag).unwrap_or(0)
}

/// The ranges of the tags of a template, without comments.
fn tags(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut position = 0;
    std::iter::from_fn(move || {
        loop {
            let start = position + text.get(position..)?.find('{')?;
            let close = match text.as_bytes().get(start + 1) {
                Some(b'{') => "}}",
                Some(b'%') => "%}",
                Some(b'#') => "#}",
                _ => {
                    position = start + 1;
                    continue;
                }
            };
            let inside = text.get(start + 2..)?;
            position = inside.find(close).map_or(text.len(), |end| start + 2 + end + close.len());
            if close != "#}" {
                return Some(start..position);
            }
        }
    })
}

/// The first position of `word` as a name: not part of another name, not an attribute, not in a literal.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_name =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '.' | '\'' | '"');
    let stands_alone = |start: &usize| {
        let before = text.get(..*start).and_then(|before| before.chars().next_back());
        let after = text.get(start + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_name) && !after.is_some_and(|c| c != '.' && is_name(c))
    };
    text.match_indices(word).map(|(start, _)| start).find(stands_alone)
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
