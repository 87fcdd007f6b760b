//! Turns the arguments of `init` into a session's context and inputs, and these into template variables.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::manifest_params::{FENCE, LAYERS, SCOPE};
use crate::param::{Param, ParamFault, ParamKind, ParamProblem};
use crate::problem::{excerpt, known_hint};
use crate::scope::Scope;

/// Size limit of an input file, in bytes.
pub(crate) const MAX_INPUT_BYTES: usize = 4 * 1024 * 1024;

/// The number of unknown parameters that get a hint.
const MAX_HINTS: usize = 20;

/// The initial context and inputs of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The values by key (`bounded_context`), with defaults; parameters without a value are missing.
    pub context: Map<String, Value>,
    /// The contents of the given files: by key (`schema_file`), and by key and path (`file/src/list.py`) for files that
    /// every prompt shows.
    pub inputs: BTreeMap<String, String>,
}

/// A file that a parameter names and whose content becomes an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedFile {
    /// The parameter's key in the context.
    pub key: String,
    /// The path as given, relative to the project.
    pub path: String,
    /// Whether the user gave it; otherwise it is the profile's default.
    pub is_given: bool,
}

/// The files of the project that a parameter names by path or glob pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPatterns {
    /// The parameter's key in the context.
    pub key: String,
    /// The parameter's name, which is also its flag.
    pub name: String,
    pub patterns: Vec<String>,
}

/// A file that a pattern found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedFile {
    /// Relative to the project, joined with `/`.
    pub path: String,
    pub text: String,
}

/// The bytes of a file, or the reason why it could not be read.
pub type ReadFile = Result<Vec<u8>, String>;

/// The value given for a parameter, under its name or its key; `null` counts as not given.
fn given_for<'a>(param: &Param, given: &'a Map<String, Value>) -> Option<&'a Value> {
    given.get(&param.name).or_else(|| given.get(&param.key())).filter(|value| !value.is_null())
}

pub(crate) fn wanted_files(params: &[Param], given: &Map<String, Value>) -> Vec<WantedFile> {
    params
        .iter()
        .filter(|param| matches!(param.kind, ParamKind::File { .. }))
        .filter_map(|param| {
            let given = given_for(param, given);
            let path = param.read(given.or(param.default.as_ref())?).ok()?.as_str()?.to_owned();
            Some(WantedFile { key: param.key(), path, is_given: given.is_some() })
        })
        .collect()
}

pub(crate) fn wanted_patterns(params: &[Param], given: &Map<String, Value>) -> Vec<WantedPatterns> {
    params
        .iter()
        .filter(|param| matches!(param.kind, ParamKind::Files))
        .filter_map(|param| {
            let patterns = param.read(given_for(param, given).or(param.default.as_ref())?).ok()?;
            let patterns = patterns.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            Some(WantedPatterns { key: param.key(), name: param.name.clone(), patterns })
        })
        .collect()
}

pub(crate) fn settle(
    params: &[Param],
    given: &Map<String, Value>,
    files: &BTreeMap<String, ReadFile>,
    matched: &BTreeMap<String, Vec<MatchedFile>>,
) -> Result<Settled, Vec<ParamProblem>> {
    let mut settled = Settled::default();
    let mut problems = Vec::new();
    let names: BTreeSet<String> = params.iter().flat_map(|param| [param.name.clone(), param.key()]).collect();
    for name in given.keys().filter(|name| !names.contains(*name)) {
        // Finding the closest name takes time linear in the number of parameters.
        let hint = || known_hint(name, params.iter().map(|param| param.name.as_str()));
        problems.push(ParamProblem::unknown(name, (problems.len() < MAX_HINTS).then(hint)));
    }
    for param in params {
        let result = match given_for(param, given) {
            Some(value) => param.read(value).map(Some),
            None if param.default.is_some() => Ok(param.default.clone()),
            None if param.is_required => Err(ParamFault::new("is missing")),
            None => Ok(None),
        };
        match result {
            Ok(Some(value)) => {
                if let ParamKind::File { .. } = param.kind {
                    match input_of(param, &value, files) {
                        Ok(text) => {
                            settled.inputs.insert(param.key(), text);
                        }
                        Err(fault) => problems.push(ParamProblem::of(param, fault)),
                    }
                }
                let value = if let ParamKind::Files = param.kind {
                    let key = param.key();
                    let found = matched.get(&key).map(Vec::as_slice).unwrap_or_default();
                    let input = |file: &MatchedFile| (format!("{key}/{}", file.path), file.text.clone());
                    settled.inputs.extend(found.iter().map(input));
                    found.iter().map(|file| file.path.as_str()).collect()
                } else {
                    value
                };
                settled.context.insert(param.key(), value);
            }
            Ok(None) => {}
            Err(mut fault) => {
                if fault.hint.is_none() && !param.help.is_empty() {
                    fault.hint = Some(format!("`--{}`: {}", param.name, param.help));
                }
                problems.push(ParamProblem::of(param, fault));
            }
        }
    }
    if problems.is_empty() { Ok(settled) } else { Err(problems) }
}

fn input_of(param: &Param, path: &Value, files: &BTreeMap<String, ReadFile>) -> Result<String, ParamFault> {
    let path = excerpt(path.as_str().unwrap_or_default());
    let bytes = match files.get(&param.key()) {
        Some(Ok(bytes)) => bytes,
        Some(Err(reason)) => {
            return Err(ParamFault::new(format!("names `{path}`, which cannot be read: {reason}")));
        }
        None => return Err(ParamFault::new(format!("names `{path}`, which was not read"))),
    };
    if bytes.len() > MAX_INPUT_BYTES {
        let n_bytes = bytes.len();
        return Err(ParamFault::new(format!(
            "names `{path}` with {n_bytes} bytes, more than {MAX_INPUT_BYTES}"
        )));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(ParamFault::new(format!("names `{path}`, which is not UTF-8 text")));
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(ParamFault::new(format!("names `{path}`, which is empty")));
    }
    Ok(text.to_owned())
}

/// The names of all variables that the templates of a profile may use, sorted.
pub(crate) fn variable_names(params: &[Param], scopes: &[Scope]) -> Vec<String> {
    let of_params = params
        .iter()
        .flat_map(|param| std::iter::once(param.variable()).chain(param.input().map(str::to_owned)));
    let mut names: Vec<String> = of_params.chain([FENCE.to_owned()]).collect();
    if !scopes.is_empty() {
        names.push(LAYERS.to_owned());
    }
    names.sort();
    names.dedup();
    names
}

/// The variables of a template: every name the profile defines, even for parameters without a value.
pub(crate) fn variables(
    params: &[Param],
    scopes: &[Scope],
    context: &Map<String, Value>,
    inputs: &BTreeMap<String, String>,
) -> BTreeMap<String, Value> {
    let mut variables = BTreeMap::new();
    for param in params {
        let key = param.key();
        let value = context.get(&key).cloned();
        match &param.kind {
            ParamKind::File { input } => {
                let text = inputs.get(&key).cloned().unwrap_or_default();
                variables.insert(input.clone(), Value::String(text));
            }
            ParamKind::Choice { input: Some(input), .. } => {
                let chosen = value.as_ref().and_then(Value::as_str).and_then(|name| param.choice(name));
                let set = chosen.map(|choice| choice.set.clone()).unwrap_or_default();
                variables.insert(input.clone(), Value::Object(set));
            }
            ParamKind::String { .. }
            | ParamKind::Text
            | ParamKind::Integer { .. }
            | ParamKind::Boolean { .. }
            | ParamKind::Choice { input: None, .. }
            | ParamKind::Files
            | ParamKind::Path
            | ParamKind::List { .. } => {}
        }
        variables.insert(param.variable(), value.unwrap_or_else(|| param.absent()));
    }
    variables.insert(FENCE.to_owned(), Value::String(fence(inputs)));
    if !scopes.is_empty() {
        let name = context.get(SCOPE).and_then(Value::as_str).unwrap_or_default();
        let layers = scopes.iter().find(|scope| scope.name == name).map(|scope| scope.layers.clone());
        variables.insert(LAYERS.to_owned(), Value::from(layers.unwrap_or_default()));
    }
    variables
}

/// A fence longer than any run of backticks in the inputs, so that none of them can close it.
fn fence(inputs: &BTreeMap<String, String>) -> String {
    let runs = inputs.values().flat_map(|text| text.split(|c: char| c != '`')).map(str::len);
    "`".repeat(runs.max().unwrap_or_default().max(2) + 1)
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
