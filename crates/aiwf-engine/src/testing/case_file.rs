//! The file format of test cases: TOML, as a person writes it.
//!
//! In: the text of a file. Out: the cases with the line of each, or the problems with their lines. Checks everything
//! that can be known without reading another file. A file is data of whoever wrote it: nothing in it is executed here.

use std::collections::BTreeMap;

use aiwf_prompt::{Format, Recipe, Tokenizer, Tokens, nearest};
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use super::assertion::Assertion;

/// Maximum size of a test file.
pub(crate) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// One file with its cases.
#[derive(Debug, Default)]
pub(crate) struct CaseFile {
    pub(crate) budget: RunBudget,
    /// Variants in which every case runs; empty for one run of each.
    pub(crate) matrix: Vec<MatrixRow>,
    pub(crate) cases: Vec<Case>,
}

/// What a file allows a whole run to use.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunBudget {
    #[serde(rename = "max_calls")]
    pub(crate) calls: Option<u64>,
    #[serde(rename = "max_tokens")]
    pub(crate) tokens: Option<u64>,
    /// In dollars.
    #[serde(rename = "max_cost")]
    pub(crate) cost: Option<f64>,
}

/// One variant of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatrixRow {
    pub(crate) name: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    /// A directory of templates that replaces those of the project or profile.
    pub(crate) template: Option<String>,
    /// A directory of standards that replaces those of the project or profile.
    pub(crate) standards: Option<String>,
}

impl MatrixRow {
    /// The name in reports.
    pub(crate) fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let parts = [&self.provider, &self.model, &self.template, &self.standards];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// A case: what is built, for whom, and what must hold.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Starting at 1.
    pub(crate) line: usize,
    pub(crate) built: Request,
    /// Providers or capabilities; empty for every capability that a built-in provider has.
    pub(crate) receivers: Vec<String>,
    /// Empty for the recipe's own format.
    pub(crate) formats: Vec<Format>,
    pub(crate) budget: Option<Tokens>,
    pub(crate) tokenizer: Option<Tokenizer>,
    /// Directory with the files of the project, relative to the test file.
    pub(crate) project: Option<String>,
    /// Files of the project that the prompt shows, or that a session works on.
    pub(crate) files: Vec<String>,
    /// Directory with a reply for each phase: `PHASE.md`, or `PHASE-ROUND.md`.
    pub(crate) scenario: Option<String>,
    pub(crate) reply: ReplyFrom,
    pub(crate) asserts: Vec<Assertion>,
}

/// Where the reply comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReplyFrom {
    /// From the scenario, or from the provider with `--live`.
    #[default]
    Provider,
    /// The same file for every receiver.
    File(String),
    /// A directory of recordings, found by the exact request.
    Recording(String),
}

/// What is built.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// A document, as for `prompt build --input`.
    Document { recipe: Recipe, input: Input },
    /// The prompt of a phase of a session.
    Session(SessionRequest),
}

#[derive(Clone, Debug)]
pub(crate) enum Input {
    File(String),
    Inline(Value),
}

/// A session that is walked to a phase.
#[derive(Clone, Debug)]
pub(crate) struct SessionRequest {
    pub(crate) subject: SessionSubject,
    /// The phase whose prompt is tested; the first one by default.
    pub(crate) phase: Option<String>,
    /// The round of that phase, starting at 1.
    pub(crate) round: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum SessionSubject {
    Profile { name: String, params: Map<String, Value> },
    Flow { name: String, request: String },
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaseProblem {
    /// Starting at 1; `None` for the whole file.
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileToml {
    #[serde(default)]
    budget: RunBudget,
    #[serde(default)]
    matrix: Vec<MatrixRow>,
    #[serde(default)]
    case: Vec<CaseToml>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseToml {
    name: Spanned<String>,
    recipe: Option<Spanned<String>>,
    input: Option<String>,
    document: Option<toml::Table>,
    profile: Option<String>,
    #[serde(default)]
    params: toml::Table,
    flow: Option<String>,
    request: Option<String>,
    phase: Option<String>,
    round: Option<u32>,
    scenario: Option<String>,
    #[serde(default, rename = "for")]
    receivers: Vec<String>,
    format: Option<Spanned<OneOrMany>>,
    budget: Option<u64>,
    tokenizer: Option<Spanned<String>>,
    project: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    reply: Option<String>,
    recording: Option<String>,
    #[serde(default, rename = "assert")]
    asserts: Vec<AssertToml>,
}

/// One name, or a list of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub(super) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// An assertion as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AssertToml {
    #[serde(rename = "type")]
    pub(super) kind: Spanned<String>,
    pub(super) value: Option<toml::Value>,
    /// A file with the expected text, instead of `value`.
    pub(super) file: Option<String>,
    pub(super) section: Option<OneOrMany>,
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) threshold: Option<f64>,
    pub(super) timeout: Option<String>,
    pub(super) problems: Option<MaxToml>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaxToml {
    pub(super) max: u64,
}

/// Finds the line of a byte.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(memchr::memchr_iter(b'\n', text.as_bytes()).collect())
    }

    /// Starting at 1.
    pub(super) fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset) + 1
    }
}

/// Reads a file of cases.
pub(crate) fn parse_case_file(text: &str) -> Result<CaseFile, Vec<CaseProblem>> {
    let lines = Lines::of(text);
    let file: FileToml = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| lines.at(span.start));
        vec![CaseProblem { line, message: error.message().trim().replace('\n', "; ") }]
    })?;
    let mut problems = Vec::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut cases = Vec::new();
    for case in file.case {
        let line = lines.at(case.name.span().start);
        let name = case.name.get_ref().clone();
        let mut wrong =
            |line: usize, message: String| problems.push(CaseProblem { line: Some(line), message });
        if name.trim().is_empty() || name.contains(['\n', '\r']) {
            wrong(line, "the name of a case is one line of text".to_owned());
        }
        if let Some(first) = names.insert(name.clone(), line) {
            wrong(line, format!("line {first} has a case named `{name}` already"));
        }
        let mut asserts = Vec::new();
        for assert in case.asserts {
            let line = lines.at(assert.kind.span().start);
            match Assertion::parse(assert, line) {
                Ok(assert) => asserts.push(assert),
                Err(message) => wrong(line, message),
            }
        }
        let mut formats = Vec::new();
        if let Some(format) = case.format {
            let line = lines.at(format.span().start);
            for name in format.into_inner().into_vec() {
                match Format::from_name(&name) {
                    Some(format) => formats.push(format),
                    None => wrong(line, unknown("format", &name, &Format::ALL.map(Format::as_str))),
                }
            }
        }
        let tokenizer = case.tokenizer.and_then(|name| {
            let found = Tokenizer::from_name(name.get_ref());
            if found.is_none() {
                let known = Tokenizer::ALL.map(Tokenizer::as_str);
                wrong(lines.at(name.span().start), unknown("tokenizer", name.get_ref(), &known));
            }
            found
        });
        let reply = match (case.reply, case.recording) {
            (Some(_), Some(_)) => {
                wrong(line, "`reply` and `recording` exclude each other".to_owned());
                ReplyFrom::Provider
            }
            (Some(file), None) => ReplyFrom::File(file),
            (None, Some(directory)) => ReplyFrom::Recording(directory),
            (None, None) => ReplyFrom::Provider,
        };
        let asked = Asked {
            recipe: case.recipe,
            input: case.input,
            document: case.document,
            profile: case.profile,
            params: case.params,
            flow: case.flow,
            request: case.request,
            phase: case.phase,
            round: case.round,
        };
        let built = match asked.request(&lines) {
            Ok(built) => built,
            Err((at, message)) => {
                wrong(at.unwrap_or(line), message);
                continue;
            }
        };
        if matches!(built, Request::Session(_)) && case.budget.is_some() {
            wrong(line, "`budget` belongs to a case with `recipe`: a session has its own".to_owned());
        }
        if let Some(twice) = first_twice(&case.receivers) {
            wrong(line, format!("`for` has `{twice}` twice"));
        }
        if let Some(twice) = first_twice(&formats.iter().map(|format| format.as_str()).collect::<Vec<_>>()) {
            wrong(line, format!("`format` has `{twice}` twice"));
        }
        for pattern in case.files.iter().filter(|pattern| leads_outside(pattern)) {
            wrong(line, format!("`{pattern}` in `files` leads out of the project"));
        }
        cases.push(Case {
            name,
            line,
            built,
            receivers: case.receivers,
            formats,
            budget: case.budget.map(Tokens),
            tokenizer,
            project: case.project,
            files: case.files,
            scenario: case.scenario,
            reply,
            asserts,
        });
    }
    let is_zero = |limit: Option<u64>| limit == Some(0);
    let budget = [
        ("max_calls", is_zero(file.budget.calls)),
        ("max_tokens", is_zero(file.budget.tokens)),
        ("max_cost", file.budget.cost.is_some_and(|cost| !cost.is_finite() || cost <= 0.0)),
    ];
    for (key, _) in budget.into_iter().filter(|(_, is_wrong)| *is_wrong) {
        let message = format!("`{key}` in `[budget]` is a number above 0; nothing is asked without `--live`");
        problems.push(CaseProblem { line: None, message });
    }
    for row in &file.matrix {
        if row.label().is_empty() {
            problems.push(CaseProblem { line: None, message: "a `[[matrix]]` entry is empty".to_owned() });
        }
    }
    let labels: Vec<String> = file.matrix.iter().map(MatrixRow::label).collect();
    if let Some(twice) = first_twice(&labels) {
        let message = format!("two `[[matrix]]` entries are named `{twice}`: set `name`");
        problems.push(CaseProblem { line: None, message });
    }
    if problems.is_empty() {
        let empty = cases.iter().filter(|case| case.asserts.is_empty());
        problems.extend(empty.map(|case| {
            let message = "a case without `[[case.assert]]` checks nothing: add one, such as `golden`";
            CaseProblem { line: Some(case.line), message: message.to_owned() }
        }));
    }
    if problems.is_empty() {
        Ok(CaseFile { budget: file.budget, matrix: file.matrix, cases })
    } else {
        problems.sort_by_key(|problem| problem.line);
        Err(problems)
    }
}

/// The fields that say what is built.
struct Asked {
    recipe: Option<Spanned<String>>,
    input: Option<String>,
    document: Option<toml::Table>,
    profile: Option<String>,
    params: toml::Table,
    flow: Option<String>,
    request: Option<String>,
    phase: Option<String>,
    round: Option<u32>,
}

impl Asked {
    /// Refuses a key that belongs to another kind of case, so that nothing is silently ignored.
    fn refuse_others(&self) -> Result<(), String> {
        let kinds = [
            ("recipe", self.recipe.is_some()),
            ("profile", self.profile.is_some()),
            ("flow", self.flow.is_some()),
        ];
        let mut kinds = kinds.into_iter().filter(|(_, is_kind)| *is_kind);
        let (Some((kind, _)), None) = (kinds.next(), kinds.next()) else { return Ok(()) };
        let keys: [(&str, bool, &[&str]); 6] = [
            ("input", self.input.is_some(), &["recipe"]),
            ("document", self.document.is_some(), &["recipe"]),
            ("params", !self.params.is_empty(), &["profile"]),
            ("request", self.request.is_some(), &["flow"]),
            ("phase", self.phase.is_some(), &["profile", "flow"]),
            ("round", self.round.is_some(), &["profile", "flow"]),
        ];
        match keys.into_iter().find(|(_, is_set, kinds)| *is_set && !kinds.contains(&kind)) {
            Some((key, _, kinds)) => {
                let kinds = kinds.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(" or ");
                Err(format!("`{key}` belongs to a case with {kinds}, not `{kind}`"))
            }
            None => Ok(()),
        }
    }

    /// What is built, or what is wrong with it and in which line.
    fn request(self, lines: &Lines) -> Result<Request, (Option<usize>, String)> {
        let session = |subject, phase, round: Option<u32>| {
            Request::Session(SessionRequest { subject, phase, round: round.unwrap_or(1) })
        };
        self.refuse_others().map_err(|message| (None, message))?;
        match (self.recipe, self.profile, self.flow) {
            (Some(recipe), None, None) => {
                let known = Recipe::ALL.map(Recipe::as_str);
                let found = Recipe::from_name(recipe.get_ref()).ok_or_else(|| {
                    (Some(lines.at(recipe.span().start)), unknown("recipe", recipe.get_ref(), &known))
                })?;
                let input = match (self.input, self.document) {
                    (Some(file), None) => Input::File(file),
                    (None, Some(table)) => Input::Inline(json_of(toml::Value::Table(table))),
                    (None, None) => {
                        return Err((None, "a case with `recipe` needs `input` or `document`".to_owned()));
                    }
                    (Some(_), Some(_)) => {
                        return Err((None, "`input` and `document` exclude each other".to_owned()));
                    }
                };
                Ok(Request::Document { recipe: found, input })
            }
            (None, Some(name), None) => {
                let Value::Object(params) = json_of(toml::Value::Table(self.params)) else {
                    return Err((None, "`params` is a table".to_owned()));
                };
                let subject = SessionSubject::Profile { name, params };
                Ok(session(subject, self.phase, self.round))
            }
            (None, None, Some(name)) => {
                let request = self.request.unwrap_or_default();
                if request.trim().is_empty() {
                    return Err((None, "a case with `flow` needs `request`".to_owned()));
                }
                Ok(session(SessionSubject::Flow { name, request }, self.phase, self.round))
            }
            (None, None, None) => {
                Err((None, "a case needs `recipe`, `profile` or `flow`: what is built".to_owned()))
            }
            _ => Err((None, "`recipe`, `profile` and `flow` exclude each other".to_owned())),
        }
    }
}

/// The first of these that occurs before.
fn first_twice<T: Ord>(all: &[T]) -> Option<&T> {
    let mut known = std::collections::BTreeSet::new();
    all.iter().find(|one| !known.insert(*one))
}

/// Whether a pattern, as written, may match files outside of the project.
fn leads_outside(pattern: &str) -> bool {
    pattern.starts_with(['/', '~', '\\']) || pattern.split(['/', '\\']).any(|part| part == "..")
}

/// A message about an unknown name, with the nearest known one.
pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let listed = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`? known: {listed}"),
        None => format!("unknown {what} `{name}`; known: {listed}"),
    }
}

/// The same value as JSON; dates become text.
pub(super) fn json_of(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(boolean) => boolean.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(values) => values.into_iter().map(json_of).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, json_of(value))).collect())
        }
    }
}

#[cfg(test)]
#[path = "case_file_tests.rs"]
mod tests;
