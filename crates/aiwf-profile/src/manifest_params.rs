//! The parameters of a manifest: the keys that each type accepts, and names that must be unique.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::manifest::Reader;
use crate::manifest_file::{ParamFile, ParamTypeFile};
use crate::param::{Choice, Param, ParamKind, Pattern};
use crate::problem::{excerpt, ticked};
use crate::problem_kind::ProfileProblemKind as Kind;
use crate::reserved::{is_reserved_flag, is_variable_name};
use crate::scope::Scope;

/// The parameter that chooses a scope.
pub(crate) const SCOPE: &str = "scope";
/// The variable with the list of the scope's layers.
pub(crate) const LAYERS: &str = "LAYERS";
/// The variable with a code fence that no input can close.
pub(crate) const FENCE: &str = "FENCE";

/// The maximum number of missing keys of a set to list.
const MAX_MISSING_KEYS: usize = 10;

pub(crate) fn read_params(
    reader: &mut Reader<'_>,
    mut files: BTreeMap<String, ParamFile>,
    scopes: &[Scope],
) -> Vec<Param> {
    let names = reader.in_order("params", files.keys());
    let has_scope = files.contains_key(SCOPE);
    let mut params = Vec::new();
    for name in names {
        let Some(file) = files.remove(&name) else { continue };
        reader.check_plain("params", &name);
        if let Some(param) = read_param(reader, name, file, scopes) {
            params.push(param);
        }
    }
    if !scopes.is_empty() && !has_scope {
        let message = "the profile has scopes but no parameter `scope`";
        reader.add(Kind::NoScopeParameter, &["scopes"], message);
    }
    check_names(reader, &params);
    params
}

fn read_param(reader: &mut Reader<'_>, name: String, file: ParamFile, scopes: &[Scope]) -> Option<Param> {
    let is_scope = name == SCOPE && !scopes.is_empty();
    if is_scope && file.kind != ParamTypeFile::Choice {
        let message = "the type of parameter `scope` must be `choice`";
        reader.add(Kind::ScopeNotAChoice, &["params", &name, "type"], message);
        return None;
    }
    check_keys(reader, &name, &file);
    let kind = match file.kind {
        ParamTypeFile::String if file.multiline == Some(true) => {
            if file.pattern.is_some() {
                let message = "text of several lines does not accept `pattern`";
                reader.add(Kind::UselessKey, &["params", &name, "pattern"], message);
            }
            ParamKind::Text
        }
        ParamTypeFile::String => ParamKind::String { pattern: pattern(reader, &name, &file) },
        ParamTypeFile::Integer => ParamKind::Integer { minimum: file.minimum, maximum: file.maximum },
        ParamTypeFile::Boolean => {
            let is_on = file.default.as_ref().and_then(Value::as_bool).unwrap_or_default();
            // Otherwise a switch that is on could not be switched off.
            let negation = file.negation.clone().or_else(|| is_on.then(|| format!("no-{name}")));
            if let Some(negation) = &file.negation {
                let is_plain = crate::reserved::is_plain_name(negation);
                if !is_plain {
                    let message = format!("`{}` is not a valid flag name", excerpt(negation));
                    reader.add(Kind::BadName, &["params", &name, "negation"], message);
                }
            }
            ParamKind::Boolean { negation }
        }
        ParamTypeFile::Choice => {
            let choices = choices(reader, &name, &file, if is_scope { scopes } else { &[] });
            ParamKind::Choice { choices, input: file.input.clone() }
        }
        ParamTypeFile::File => {
            let default_input = format!("{}_CONTENT", name.replace('-', "_").to_uppercase());
            ParamKind::File { input: file.input.clone().unwrap_or(default_input) }
        }
        ParamTypeFile::Files => ParamKind::Files,
        ParamTypeFile::Path => ParamKind::Path,
        ParamTypeFile::List => ParamKind::List { pattern: pattern(reader, &name, &file) },
    };
    let mut param = Param { name, help: file.help, kind, is_required: file.required, default: None };
    if let Some(default) = &file.default {
        match param.read(default) {
            Ok(value) => param.default = Some(value),
            Err(fault) => {
                let message = format!("default of `{}` {}", param.name, fault.message);
                reader.add(Kind::BadDefault, &["params", &param.name, "default"], message);
            }
        }
        if param.is_required {
            let message = format!("parameter `{}` has a default, so it cannot be required", param.name);
            reader.add(Kind::DefaultOfRequired, &["params", &param.name, "required"], message);
        }
    } else if is_scope && !param.is_required {
        let message = "parameter `scope` needs a default, or must be required";
        reader.add(Kind::NoScopeDefault, &["params", &param.name], message);
    }
    Some(param)
}

/// Reports keys that do not apply to the parameter's type.
fn check_keys(reader: &mut Reader<'_>, name: &str, file: &ParamFile) {
    use ParamTypeFile::{Boolean, Choice, File, Files, Integer, List, Path, String};
    let kind = match file.kind {
        String => "string",
        Integer => "integer",
        Boolean => "boolean",
        Choice => "choice",
        File => "file",
        Files => "files",
        Path => "path",
        List => "list",
    };
    let given: [(&str, bool, &[ParamTypeFile]); 10] = [
        ("pattern", file.pattern.is_some(), &[String, List]),
        ("pattern_help", file.pattern_help.is_some(), &[String, List]),
        ("choices", file.choices.is_some(), &[Choice]),
        ("aliases", !file.aliases.is_empty(), &[Choice]),
        ("sets", !file.sets.is_empty(), &[Choice]),
        ("input", file.input.is_some(), &[File, Choice]),
        ("negation", file.negation.is_some(), &[Boolean]),
        ("multiline", file.multiline.is_some(), &[String]),
        ("minimum", file.minimum.is_some(), &[Integer]),
        ("maximum", file.maximum.is_some(), &[Integer]),
    ];
    for (key, is_given, kinds) in given {
        if is_given && !kinds.contains(&file.kind) {
            let message = format!("a parameter of type `{kind}` does not accept `{key}`");
            reader.add(Kind::UselessKey, &["params", name, key], message);
        }
    }
    if let (Some(minimum), Some(maximum)) = (file.minimum, file.maximum)
        && minimum > maximum
    {
        let message = format!("`minimum` is {minimum}, but `maximum` is {maximum}");
        reader.add(Kind::MinimumOverMaximum, &["params", name, "minimum"], message);
    }
    if file.kind == Choice && file.input.is_some() == file.sets.is_empty() {
        let message = format!("choice `{name}` needs both `sets` and `input`, or neither");
        reader.add(Kind::SetsWithoutInput, &["params", name], message);
    }
}

fn pattern(reader: &mut Reader<'_>, name: &str, file: &ParamFile) -> Option<Pattern> {
    let text = file.pattern.as_deref()?;
    match Pattern::new(text, file.pattern_help.clone()) {
        Ok(pattern) => Some(pattern),
        Err(reason) => {
            let message = format!("pattern of `{name}` is not a regular expression: {reason}");
            reader.add(Kind::BadPattern, &["params", name, "pattern"], message);
            None
        }
    }
}

fn choices(reader: &mut Reader<'_>, name: &str, file: &ParamFile, scopes: &[Scope]) -> Vec<Choice> {
    let names: Vec<String> = match &file.choices {
        Some(choices) if scopes.is_empty() => choices.clone(),
        Some(_) => {
            let message = "the choices of `scope` are the scopes, so it does not accept `choices`";
            reader.add(Kind::UselessKey, &["params", name, "choices"], message);
            scopes.iter().map(|scope| scope.name.clone()).collect()
        }
        None => scopes.iter().map(|scope| scope.name.clone()).collect(),
    };
    if names.is_empty() {
        reader.add(Kind::NoChoices, &["params", name], format!("choice `{name}` has no `choices`"));
    }
    let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    if known.len() != names.len() {
        reader.add(
            Kind::BadChoices,
            &["params", name, "choices"],
            format!("choice `{name}` has the same value twice"),
        );
    }
    if names.iter().any(|choice| choice.trim().is_empty() || choice.chars().any(char::is_control)) {
        reader.add(
            Kind::BadChoices,
            &["params", name, "choices"],
            format!("choice `{name}` has an empty value"),
        );
    }
    for (alias, target) in &file.aliases {
        let path = ["params", name, "aliases", alias];
        if !known.contains(target.as_str()) {
            let message = format!("alias `{}` refers to unknown value `{}`", excerpt(alias), excerpt(target));
            let hint = || format!("make it refer to one of {}", ticked(known.iter().copied()));
            reader.add_hint(Kind::BadAlias, &path, message, hint);
        }
        if known.contains(alias.as_str()) {
            reader.add(Kind::BadAlias, &path, format!("alias `{}` is a value itself", excerpt(alias)));
        }
    }
    check_sets(reader, name, file, &known);
    let mut aliases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (alias, target) in &file.aliases {
        aliases.entry(target).or_default().push(alias.clone());
    }
    let helps: BTreeMap<&str, &str> =
        scopes.iter().map(|scope| (scope.name.as_str(), scope.help.as_str())).collect();
    names
        .iter()
        .map(|choice| Choice {
            name: choice.clone(),
            aliases: aliases.get(choice.as_str()).cloned().unwrap_or_default(),
            help: helps.get(choice.as_str()).copied().unwrap_or_default().to_owned(),
            set: file.sets.get(choice).cloned().unwrap_or_default(),
        })
        .collect()
}

/// Templates are strict, so every set must have the same keys.
fn check_sets(reader: &mut Reader<'_>, name: &str, file: &ParamFile, known: &BTreeSet<&str>) {
    if file.sets.is_empty() {
        return;
    }
    for choice in known.iter().filter(|choice| !file.sets.contains_key(**choice)) {
        reader.add(
            Kind::BadSets,
            &["params", name, "sets"],
            format!("value `{choice}` of `{name}` has no set"),
        );
    }
    let all: BTreeSet<String> = file.sets.values().flat_map(set_keys).collect();
    for (choice, set) in &file.sets {
        let path = ["params", name, "sets", choice];
        if !known.contains(choice.as_str()) {
            reader.add(
                Kind::BadSets,
                &path,
                format!("set `{}` belongs to no value of `{name}`", excerpt(choice)),
            );
        }
        let own: BTreeSet<String> = set_keys(set).into_iter().collect();
        // Sets with nothing in common would produce a problem for each pair.
        for key in all.difference(&own).take(MAX_MISSING_KEYS) {
            reader.add(
                Kind::BadSets,
                &path,
                format!("set `{}` has no `{}`, which other sets have", excerpt(choice), excerpt(key)),
            );
        }
        let n_more = all.len().saturating_sub(own.len()).saturating_sub(MAX_MISSING_KEYS);
        if n_more > 0 {
            let message = format!("set `{}` lacks {n_more} more keys that other sets have", excerpt(choice));
            reader.add(Kind::BadSets, &path, message);
        }
    }
}

/// The keys of a set, and those of its tables as `table.key`.
fn set_keys(set: &Map<String, Value>) -> Vec<String> {
    set.iter()
        .flat_map(|(key, value)| match value {
            Value::Object(table) => table.keys().map(|inner| format!("{key}.{inner}")).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                vec![key.clone()]
            }
        })
        .collect()
}

/// Reports flags and variables that two parameters share.
fn check_names(reader: &mut Reader<'_>, params: &[Param]) {
    let mut flags = BTreeSet::new();
    let mut variables = BTreeSet::from([LAYERS.to_owned(), FENCE.to_owned()]);
    for param in params {
        let path = ["params", param.name.as_str()];
        for flag in std::iter::once(param.name.as_str()).chain(param.negation()) {
            if is_reserved_flag(flag) {
                reader.add(Kind::TakenName, &path, format!("`--{flag}` is a flag of every `init`"));
            } else if !flags.insert(flag) {
                reader.add(Kind::SharedFlag, &path, format!("two parameters have the flag `--{flag}`"));
            }
        }
        for variable in std::iter::once(param.variable()).chain(param.input().map(str::to_owned)) {
            if !is_variable_name(&variable) {
                let message = format!("`{}` is not a valid variable name", excerpt(&variable));
                reader.add(Kind::BadVariable, &["params", &param.name, "input"], message);
            } else if !variables.insert(variable.clone()) {
                reader.add(Kind::SharedVariable, &path, format!("variable `{variable}` has two meanings"));
            }
        }
    }
}
