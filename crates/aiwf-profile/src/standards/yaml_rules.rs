//! `yaml-rules`: rules with ids and severities in `*.rules.yml`.
//!
//! A file consists of nested mappings. `ID: "C: text"` is a rule, and so is a list item `{id, severity, text}`.
//! Severities are `C` critical, `M` major and `m` minor; the default is major. `title` at the top level names the
//! category, otherwise the file name does.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use serde_saphyr::{alias_limits, budget, options};

use super::{RuleFile, RuleFiles};
use crate::problem::{ProfileProblem, excerpt};
use crate::problem_kind::ProfileProblemKind as Kind;
use crate::project_standards::ProjectRule;
use crate::scope::Scope;

const SUFFIXES: [&str; 2] = [".rules.yml", ".rules.yaml"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    id: String,
    severity: Severity,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Critical,
    Major,
    Minor,
}

impl Severity {
    fn letter(self) -> char {
        match self {
            Self::Critical => 'C',
            Self::Major => 'M',
            Self::Minor => 'm',
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            "C" | "critical" => Some(Self::Critical),
            "M" | "major" => Some(Self::Major),
            "m" | "minor" => Some(Self::Minor),
            _ => None,
        }
    }
}

/// The rules of one file.
#[derive(Clone, Debug)]
pub(super) struct Category {
    title: String,
    /// Its location in the project; `None` for the profile's own files.
    source: Option<String>,
    /// Its path in the profile, or below the project's directory.
    name: String,
    rules: Vec<Rule>,
}

/// Whether a file contains rules.
pub(super) fn is_rule_file(path: &str) -> bool {
    SUFFIXES.iter().any(|suffix| path.ends_with(suffix))
}

/// Reads all rule files: the profile's, sorted by path, then the project's additions.
pub(super) fn read_rules(
    files: &RuleFiles<'_>,
    added: &[&ProjectRule],
    root: &str,
) -> Result<Vec<Category>, Vec<ProfileProblem>> {
    let mut problems = Vec::new();
    let mut categories = Vec::new();
    let mut seen: BTreeMap<String, (String, usize)> = BTreeMap::new();
    let own = files.iter().filter(|(name, _)| is_rule_file(name)).map(|(name, file)| (*name, *file));
    let added = added.iter().map(|file| {
        (file.name.as_str(), RuleFile { bytes: file.text.as_bytes(), source: Some(&file.source) })
    });
    for (name, RuleFile { bytes, source }) in own.chain(added) {
        let path = source.map_or_else(|| format!("{root}/{name}"), str::to_owned);
        let Ok(text) = std::str::from_utf8(bytes) else {
            problems.push(ProfileProblem::new(Kind::NotUtf8, &path, 0, "not UTF-8 text"));
            continue;
        };
        let mut reader = RuleReader { path: &path, text, rules: Vec::new(), problems: Vec::new() };
        let title = reader.read();
        for rule in &reader.rules {
            let line = line_of(text, &rule.id, 0);
            match seen.get(&rule.id) {
                Some((other, _)) if *other == path => {
                    let line = line_of(text, &rule.id, 1);
                    let message = format!("rule `{}` occurs twice in this file", rule.id);
                    problems.push(ProfileProblem::new(Kind::RepeatedRule, &path, line, message));
                }
                Some((other, other_line)) => {
                    let message = format!("rule `{}` is also in `{other}` line {other_line}", rule.id);
                    problems.push(ProfileProblem::new(Kind::RepeatedRule, &path, line, message));
                }
                None => {
                    seen.insert(rule.id.clone(), (path.clone(), line));
                }
            }
        }
        if reader.rules.is_empty() && reader.problems.is_empty() {
            let message = "no rule in this file";
            reader.problems.push(ProfileProblem::new(Kind::NoRules, &path, 1, message));
        }
        problems.append(&mut reader.problems);
        let source = source.map(str::to_owned);
        categories.push(Category { title, source, name: name.to_owned(), rules: reader.rules });
    }
    if categories.is_empty() && problems.is_empty() {
        let message = "no `*.rules.yml` file in the directory of the standards";
        problems.push(ProfileProblem::new(Kind::NoRules, root, 0, message));
    }
    if problems.is_empty() { Ok(categories) } else { Err(problems) }
}

/// Writes the rules of a scope, grouped by category; with `is_mixed`, each category names its source.
///
/// A project rule whose prefix matches no scope of the profile applies to every scope.
pub(super) fn bundle(
    scope: Option<&Scope>,
    scopes: &[Scope],
    files: &RuleFiles<'_>,
    added: &[&ProjectRule],
    root: &str,
    is_mixed: bool,
) -> Result<String, Vec<ProfileProblem>> {
    let categories = read_rules(files, added, root)?;
    let has_prefix =
        |scope: &Scope, rule: &Rule| scope.rules.iter().any(|prefix| rule.id.starts_with(prefix.as_str()));
    let is_wanted = |category: &Category, rule: &Rule| {
        scope.is_none_or(|scope| scope.rules.is_empty() || has_prefix(scope, rule))
            || (category.source.is_some() && !scopes.iter().any(|scope| has_prefix(scope, rule)))
    };
    let mut bundle = String::from("Severity: C = critical, M = major, m = minor.\n");
    let mut n_rules = 0;
    for category in &categories {
        let rules: Vec<&Rule> = category.rules.iter().filter(|rule| is_wanted(category, rule)).collect();
        if rules.is_empty() {
            continue;
        }
        n_rules += rules.len();
        let source = match &category.source {
            Some(source) => format!(" ({source})"),
            None if is_mixed => format!(" ({} of the profile)", category.name),
            None => String::new(),
        };
        let _ = write!(bundle, "\n### {}{source}\n\n", category.title);
        for rule in rules {
            let _ = writeln!(bundle, "- **{}** ({}): {}", rule.id, rule.severity.letter(), rule.text);
        }
    }
    if n_rules == 0 {
        let name = scope.map_or("", |scope| scope.name.as_str());
        let message = format!("no rule is for scope `{name}`");
        return Err(vec![ProfileProblem::new(Kind::NoRulesForScope, root, 0, message)]);
    }
    Ok(bundle)
}

struct RuleReader<'a> {
    path: &'a str,
    text: &'a str,
    rules: Vec<Rule>,
    problems: Vec<ProfileProblem>,
}

impl RuleReader<'_> {
    /// Reads the file and returns its title.
    fn read(&mut self) -> String {
        let options = options! {
            budget: budget! { max_depth: 16, flow_nesting_limit: 16 },
            alias_limits: alias_limits! { max_total_replayed_events: 10_000 },
            strict_booleans: true,
            emit_comments: false,
            with_snippet: false,
        };
        let mut title = title_of(self.path);
        match serde_saphyr::from_str_with_options::<Value>(self.text, options) {
            Ok(Value::Object(root)) => {
                if let Some(Value::String(given)) = root.get("title") {
                    title = one_line(given);
                }
                self.mapping(&root);
            }
            Ok(Value::Array(items)) => self.list(&items),
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                self.add(Kind::NotARule, 1, "not a mapping of rules".to_owned());
            }
            Err(error) => {
                let line =
                    error.location().map_or(1, |location| usize::try_from(location.line()).unwrap_or(1));
                let reason = error.to_string();
                self.add(Kind::NotYaml, line, format!("not valid YAML: {}", excerpt(&reason)));
            }
        }
        title
    }

    fn mapping(&mut self, mapping: &serde_json::Map<String, Value>) {
        for (key, value) in mapping {
            match value {
                Value::String(text) if is_rule_id(key) => self.rule(key, None, text),
                Value::Object(fields) if is_rule_id(key) => self.object_rule(key, fields),
                Value::Object(inner) => self.mapping(inner),
                Value::Array(items) => self.list(items),
                Value::String(_) if matches!(key.as_str(), "title" | "description") => {}
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                    let message =
                        format!("`{}` is neither a rule with an id like `JPA-001` nor a group", excerpt(key));
                    self.add(Kind::NotARule, line_of(self.text, key, 0), message);
                }
            }
        }
    }

    fn list(&mut self, items: &[Value]) {
        for item in items {
            let Value::Object(fields) = item else {
                self.add(
                    Kind::NotARule,
                    0,
                    "an item of a list is not a rule with `id`, `severity` and `text`".to_owned(),
                );
                continue;
            };
            match fields.get("id") {
                Some(Value::String(id)) if is_rule_id(id) => self.object_rule(id, fields),
                Some(Value::String(id)) => {
                    let message = format!("`{}` is not a rule id like `JPA-001`", excerpt(id));
                    self.add(Kind::NotARule, line_of(self.text, id, 0), message);
                }
                _ => self.add(Kind::NotARule, 0, "a rule in a list has no `id`".to_owned()),
            }
        }
    }

    fn object_rule(&mut self, id: &str, fields: &serde_json::Map<String, Value>) {
        let line = line_of(self.text, id, 0);
        for key in fields.keys().filter(|key| !matches!(key.as_str(), "id" | "severity" | "text")) {
            self.add(Kind::UnknownKey, line, format!("rule `{id}` has unknown key `{}`", excerpt(key)));
        }
        let Some(Value::String(text)) = fields.get("text") else {
            self.add(Kind::EmptyRule, line, format!("rule `{id}` has no `text`"));
            return;
        };
        match fields.get("severity") {
            None => self.rule(id, None, text),
            Some(Value::String(name)) if Severity::from_name(name).is_some() => {
                self.rule(id, Severity::from_name(name), text);
            }
            Some(other) => {
                let shown = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
                let message =
                    format!("severity of rule `{id}` is `{}`, not `C`, `M` or `m`", excerpt(&shown));
                self.add(Kind::BadSeverity, line, message);
            }
        }
    }

    fn rule(&mut self, id: &str, severity: Option<Severity>, text: &str) {
        let marked =
            text.split_once(':').and_then(|(mark, rest)| Some((Severity::from_name(mark.trim())?, rest)));
        let (severity, text) = match (severity, marked) {
            (Some(severity), _) => (severity, text),
            (None, Some((severity, rest))) => (severity, rest),
            (None, None) => (Severity::Major, text),
        };
        let text = one_line(text);
        if text.is_empty() {
            self.add(Kind::EmptyRule, line_of(self.text, id, 0), format!("rule `{id}` is empty"));
            return;
        }
        self.rules.push(Rule { id: id.to_owned(), severity, text });
    }

    fn add(&mut self, kind: Kind, line: usize, message: String) {
        self.problems.push(ProfileProblem::new(kind, self.path, line, message));
    }
}

/// Capital letters and digits in hyphenated parts, the last of which is a number: `JPA-001`, `JPA-ID-02`.
fn is_rule_id(key: &str) -> bool {
    let Some((prefix, number)) = key.rsplit_once('-') else { return false };
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    prefix.split('-').all(is_part) && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The line with the next whole-word occurrence of `word`, after skipping `skipped` of them; 0 if there is none.
fn line_of(text: &str, word: &str, skipped: usize) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let stands = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).and_then(|before| before.chars().next_back());
            let after = line.get(at + word.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    };
    let places = text.lines().enumerate().filter(|(_, line)| stands(line)).map(|(idx, _)| idx + 1);
    let mut places = places.skip(skipped);
    places.next().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `standards/jpa_mapping.rules.yml` → `JPA Mapping Standards`.
fn title_of(path: &str) -> String {
    const ACRONYMS: [&str; 12] =
        ["api", "crud", "css", "dto", "html", "http", "jpa", "json", "rest", "sql", "ui", "xml"];
    let name = crate::relative_path::file_name(path);
    let stem = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let words = stem.split(['_', '-', ' ']).filter(|word| !word.is_empty()).map(|word| {
        if ACRONYMS.contains(&word.to_lowercase().as_str()) {
            return word.to_uppercase();
        }
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    words.chain(["Standards".to_owned()]).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "yaml_rules_tests.rs"]
mod tests;
