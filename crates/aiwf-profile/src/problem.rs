//! Problems of a profile, with file and line.

use std::fmt::{self, Write as _};

use crate::problem_kind::ProfileProblemKind;

/// One thing wrong with a profile's files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfileProblem {
    /// The file, relative to the profile's directory.
    pub file: String,
    /// The line, counted from 1; 0 means the whole file.
    pub line: usize,
    pub kind: ProfileProblemKind,
    /// What is wrong: lower case, no final period, names in backticks.
    pub message: String,
    pub hint: String,
}

impl ProfileProblem {
    pub(crate) fn new(kind: ProfileProblemKind, file: &str, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, kind, message: message.into(), hint: kind.advice().to_owned() }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for ProfileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.message)
        } else {
            write!(f, "{}:{}: {}", self.file, self.line, self.message)
        }
    }
}

/// Why a profile cannot be used: all its problems.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("profile {}has {} {}{}", shown_name(.name.as_deref()), .problems.len(), noun(.problems.len()), listed(.problems))]
pub struct ProfileError {
    /// The name in the manifest, if readable.
    pub name: Option<String>,
    /// At least one problem, in the order of files and lines.
    pub problems: Vec<ProfileProblem>,
}

impl ProfileError {
    pub(crate) fn new(name: Option<String>, mut problems: Vec<ProfileProblem>) -> Self {
        problems.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        problems.dedup();
        Self { name, problems }
    }

    pub fn hint(&self) -> String {
        hint(&self.problems)
    }
}

/// Why there is no standards bundle: all problems of the rule files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("standards have {} {}{}", .problems.len(), noun(.problems.len()), listed(.problems))]
pub struct StandardsError {
    /// At least one problem, in the order of files and lines.
    pub problems: Vec<ProfileProblem>,
}

impl StandardsError {
    pub(crate) fn new(problems: Vec<ProfileProblem>) -> Self {
        Self { problems: ProfileError::new(None, problems).problems }
    }

    pub fn hint(&self) -> String {
        hint(&self.problems)
    }
}

fn shown_name(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("`{name}` "))
}

/// The hint of the first problem.
fn hint(problems: &[ProfileProblem]) -> String {
    match problems {
        [] => "correct the files of the profile, then try again".to_owned(),
        [problem] => problem.hint.clone(),
        [first, ..] => format!("start with the first: {}", first.hint),
    }
}

fn noun(n_problems: usize) -> &'static str {
    if n_problems == 1 { "problem" } else { "problems" }
}

/// The maximum number of problems in an error.
const MAX_LISTED: usize = 100;
/// The maximum number of names in a message or a hint.
const MAX_NAMES: usize = 50;

fn listed(problems: &[ProfileProblem]) -> String {
    let mut text = problems.iter().take(MAX_LISTED).fold(String::new(), |mut text, problem| {
        let _ = write!(text, "\n  {problem}");
        text
    });
    if let n_more @ 1.. = problems.len().saturating_sub(MAX_LISTED) {
        let _ = write!(text, "\n  and {n_more} more");
    }
    text
}

/// Names in backticks, separated by commas; a long list is cut and ends with the number of the rest.
pub(crate) fn ticked<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    match names.count() {
        0 => shown.join(", "),
        n_more => format!("{} and {n_more} more", shown.join(", ")),
    }
}

/// A hint with the closest of `known`, and all of them.
pub(crate) fn known_hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let all = ticked(known.iter().copied());
    match aiwf_prompt::nearest(name, known) {
        Some(close) => format!("did you mean `{close}`? known: {all}"),
        None if all.is_empty() => "there is none yet: add one, or remove this".to_owned(),
        None => format!("known: {all}"),
    }
}

/// The start of a text, for messages: one line, at most 60 characters.
pub(crate) fn excerpt(text: &str) -> String {
    const LENGTH: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    let shown: String = line.chars().filter(|c| !c.is_control()).take(LENGTH).collect();
    let is_whole = text.lines().nth(1).is_none() && line.chars().count() <= LENGTH;
    if is_whole { shown } else { format!("{shown}…") }
}
