//! Finds questionable parts of a valid profile.
//!
//! A profile says what to make; the engine decides where replies are saved and how sessions are laid out. Template text
//! about the latter is wrong for all providers but one, so it is a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use aiwf_prompt::TemplateError;
use regex_lite::Regex;
use serde_json::{Map, Value};

use crate::context::variables;
use crate::manifest::MANIFEST;
use crate::manifest_params::SCOPE;
use crate::param::{Param, ParamKind};
use crate::phase::Phase;
use crate::problem::excerpt;
use crate::profile::{Profile, template_problem};

/// A questionable part of a profile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the profile's directory.
    pub file: String,
    /// The line, counted from 1; 0 means the whole file.
    pub line: usize,
    pub check: Check,
    /// What is questionable: lower case, no final period, names in backticks.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let check = self.check.as_str();
        if self.line == 0 {
            write!(f, "{}: {} ({check})", self.file, self.message)
        } else {
            write!(f, "{}:{}: {} ({check})", self.file, self.line, self.message)
        }
    }
}

/// The checks of the linter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    SessionPath,
    /// Names of reply files.
    ResponseFile,
    /// Instructions where to save a reply.
    SaveInstruction,
    /// The engine's own variables.
    EngineVariable,
    /// References to files.
    AttachmentReference,
    EmptyPrompt,
    /// Whether templates can be rendered.
    Template,
    /// Parameters that nothing uses.
    UnusedParameter,
    /// Templates that no phase uses.
    UnusedTemplate,
}

impl Check {
    pub const ALL: [Self; 9] = [
        Self::SessionPath,
        Self::ResponseFile,
        Self::SaveInstruction,
        Self::EngineVariable,
        Self::AttachmentReference,
        Self::EmptyPrompt,
        Self::Template,
        Self::UnusedParameter,
        Self::UnusedTemplate,
    ];

    /// A name that is stable between versions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionPath => "session-path",
            Self::ResponseFile => "response-file",
            Self::SaveInstruction => "save-instruction",
            Self::EngineVariable => "engine-variable",
            Self::AttachmentReference => "attachment-reference",
            Self::EmptyPrompt => "empty-prompt",
            Self::Template => "template",
            Self::UnusedParameter => "unused-parameter",
            Self::UnusedTemplate => "unused-template",
        }
    }

    pub fn hint(self) -> &'static str {
        match self {
            Self::SessionPath
            | Self::ResponseFile
            | Self::SaveInstruction
            | Self::EngineVariable
            | Self::AttachmentReference => "remove it from the template",
            Self::EmptyPrompt => "write the instructions of the phase",
            Self::Template => "correct the template",
            Self::UnusedParameter => "use its variable in a template, or remove the parameter",
            Self::UnusedTemplate => "name it in `[phases]` of the manifest, or remove it",
        }
    }
}

/// What the engine says in every prompt, as (check, expression, why it does not belong in a template).
const ENGINE_CONCERNS: [(Check, &str, &str); 5] = [
    (
        Check::SessionPath,
        r"(?i)@?\.aiwf(?:/[\w./{}<>*-]*)?|\biteration-(?:\d+|N\b|\{)[\w./{}-]*|\bstandards-bundle\.md\b|\bsession\.json\b",
        "the engine lays sessions out and puts their files into the prompt",
    ),
    (
        Check::ResponseFile,
        r"(?i)\b(?:planning|generation|generating|review|reviewing|revision|revising)-(?:response|prompt)\.md\b|\bresponse\.md\b",
        "the engine names the file of a reply",
    ),
    (
        Check::SaveInstruction,
        r"(?i)\bsave\s+(?:your|the|this|it|all)\b[^.\n]{0,60}\b(?:response|reply|output|answer|result|file|files|as|to|in)\b|\bwrite\s+(?:your|the)\s+(?:complete\s+|full\s+|whole\s+)?(?:response|reply|answer)\s+to\b|\bdownloadable\s+file\b|\bname\s+your\s+output\s+file\b",
        "the engine says how to deliver a reply",
    ),
    (
        Check::EngineVariable,
        r"\{\{[^}\n]*\b(?:SESSION_ID|ITERATION|SESSION_DIR|RESPONSE_PATH|STANDARDS_BUNDLE|PLAN_PATH)\b[^}\n]*\}\}",
        "templates cannot use the engine's own state",
    ),
    (
        Check::AttachmentReference,
        r"(?m)(?:^|\s)@(?:\./)?[\w-]+(?:/[\w.-]+)+",
        "the engine decides whether files are referenced or inlined",
    ),
];

pub(crate) fn lint(profile: &Profile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut templates = BTreeSet::new();
    for phase in Phase::ALL {
        let (path, text) = profile.template(phase);
        if templates.insert(path.to_owned()) {
            engine_concerns(path, text, &mut findings);
        }
        trial_prompts(profile, phase, &mut findings);
    }
    unused_params(profile, &mut findings);
    unused_files(profile, &templates, &mut findings);
    findings.sort();
    findings.dedup();
    findings
}

fn engine_concerns(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (check, expression, reason) in ENGINE_CONCERNS {
        // Invariant: the expressions above are constants that a test compiles.
        let Ok(regex) = Regex::new(expression) else { continue };
        for found in regex.find_iter(text) {
            let shown = excerpt(found.as_str().trim());
            findings.push(Finding {
                file: path.to_owned(),
                line: line_at(text, found.start() + leading_blanks(found.as_str())),
                check,
                message: format!("`{shown}` does not belong in a template: {reason}"),
            });
        }
    }
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// The maximum number of trial renderings per phase.
const MAX_TRIALS: usize = 200;

/// Renders a template for each scope and each value of a choice, because a branch may contain errors.
fn trial_prompts(profile: &Profile, phase: Phase, findings: &mut Vec<Finding>) {
    let (path, _) = profile.template(phase);
    let source = profile.template_source(phase);
    let inputs: BTreeMap<String, String> = profile
        .params()
        .iter()
        .filter(|param| matches!(param.kind, ParamKind::File { .. }))
        .map(|param| (param.key(), "sample".to_owned()))
        .collect();
    for context in sample_contexts(profile) {
        let variables = variables(profile.params(), profile.scopes(), &context, &inputs);
        match profile.render_template(&source, &variables) {
            Ok(text) if text.trim().is_empty() => {
                let scope = context.get(SCOPE).and_then(Value::as_str).unwrap_or("any");
                let message = format!("the prompt of phase {phase} is empty for scope `{scope}`");
                findings.push(Finding { file: path.to_owned(), line: 0, check: Check::EmptyPrompt, message });
            }
            Ok(_) => {}
            Err(error) => {
                let problem = template_problem(path, &error);
                let (file, line, message) = (problem.file, problem.line, problem.message);
                findings.push(Finding { file, line, check: Check::Template, message });
            }
        }
    }
}

/// Contexts that reach each branch once: every value of each choice and boolean, with defaults for the rest.
///
/// If there are too many, several values change together: each value of each choice is still covered, and only branches
/// that combine one value with the default of another may be missed.
fn sample_contexts(profile: &Profile) -> Vec<Map<String, Value>> {
    let base: Map<String, Value> =
        profile.params().iter().map(|param| (param.key(), sample_value(param))).collect();
    let varied: Vec<(String, Vec<Value>)> =
        profile.params().iter().map(|param| (param.key(), sample_values(param))).collect();
    let mut contexts = vec![base.clone()];
    if varied.iter().map(|(_, values)| values.len()).sum::<usize>() <= MAX_TRIALS {
        for (key, value) in varied
            .into_iter()
            .flat_map(|(key, values)| values.into_iter().map(move |value| (key.clone(), value)))
        {
            let mut context = base.clone();
            context.insert(key, value);
            contexts.push(context);
        }
        return contexts;
    }
    let n_trials = varied.iter().map(|(_, values)| values.len()).max().unwrap_or(0).min(MAX_TRIALS);
    for trial in 0..n_trials {
        let mut context = base.clone();
        for (key, values) in &varied {
            if let Some(value) = values.get(trial % values.len().max(1)) {
                context.insert(key.clone(), value.clone());
            }
        }
        contexts.push(context);
    }
    contexts
}

/// The values of a parameter that a template may branch on.
fn sample_values(param: &Param) -> Vec<Value> {
    match &param.kind {
        ParamKind::Choice { choices, .. } => {
            choices.iter().map(|choice| Value::String(choice.name.clone())).collect()
        }
        ParamKind::Boolean { .. } => vec![Value::Bool(true), Value::Bool(false)],
        ParamKind::String { .. }
        | ParamKind::Text
        | ParamKind::Integer { .. }
        | ParamKind::File { .. }
        | ParamKind::Files
        | ParamKind::Path
        | ParamKind::List { .. } => Vec::new(),
    }
}

fn sample_value(param: &Param) -> Value {
    if let Some(default) = &param.default {
        return default.clone();
    }
    match &param.kind {
        ParamKind::String { .. } | ParamKind::Text | ParamKind::File { .. } | ParamKind::Path => {
            Value::from("sample")
        }
        ParamKind::Integer { minimum, .. } => Value::from(minimum.unwrap_or(1)),
        ParamKind::Boolean { .. } => Value::Bool(false),
        ParamKind::Choice { choices, .. } => {
            Value::String(choices.first().map(|choice| choice.name.clone()).unwrap_or_default())
        }
        ParamKind::Files | ParamKind::List { .. } => Value::from(vec!["sample"]),
    }
}

/// Reports parameters that no template, command, target or standard uses.
fn unused_params(profile: &Profile, findings: &mut Vec<Finding>) {
    // A template that cannot be analyzed may use all of them.
    let Some(used) = used_variables(profile) else { return };
    let manifest = profile.text(MANIFEST);
    let named = named_in(manifest);
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (idx, line) in manifest.lines().enumerate() {
        let name = line.trim().strip_prefix("[params.").and_then(|rest| rest.strip_suffix(']'));
        name.map(|name| lines.entry(name).or_insert(idx + 1));
    }
    // Every prompt shows the files that a parameter of type `files` names.
    let is_looked_at = |param: &&Param| param.name != SCOPE && !matches!(param.kind, ParamKind::Files);
    for param in profile.params().iter().filter(is_looked_at) {
        let is_in_template =
            used.contains(&param.variable()) || param.input().is_some_and(|input| used.contains(input));
        if !is_in_template && !named.contains(param.name.as_str()) {
            let message = format!("nothing uses parameter `{}`", param.name);
            findings.push(Finding {
                file: MANIFEST.to_owned(),
                line: lines.get(param.name.as_str()).copied().unwrap_or(0),
                check: Check::UnusedParameter,
                message,
            });
        }
    }
}

/// The variables that the templates use; `None` if one of them cannot be analyzed.
fn used_variables(profile: &Profile) -> Option<BTreeSet<String>> {
    let mut used = BTreeSet::new();
    for phase in Phase::ALL {
        // With nothing defined, every variable is reported.
        let errors = profile.check_template(&profile.template_source(phase), &[]).err().unwrap_or_default();
        for error in errors {
            let TemplateError::UndefinedVariable { variable, .. } = error else { return None };
            used.insert(variable);
        }
    }
    Some(used)
}

/// The names that occur in a manifest as `{name}`, `"name"` or `"name=…`.
fn named_in(manifest: &str) -> BTreeSet<&str> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let mut named = BTreeSet::new();
    for (start, opening) in manifest.match_indices(['{', '"']) {
        let rest = manifest.get(start + 1..).unwrap_or_default();
        let (name, after) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
        let is_closed = match opening {
            "{" => after.starts_with('}'),
            _ => after.starts_with(['"', '=']),
        };
        if is_closed {
            named.insert(name);
        }
    }
    named
}

fn unused_files(profile: &Profile, templates: &BTreeSet<String>, findings: &mut Vec<Finding>) {
    for path in profile.files().keys() {
        if path.starts_with("templates/") && !templates.contains(path) {
            let message = "no phase uses this template".to_owned();
            findings.push(Finding { file: path.clone(), line: 0, check: Check::UnusedTemplate, message });
        }
    }
}

#[cfg(test)]
#[path = "lint_tests.rs"]
mod tests;
