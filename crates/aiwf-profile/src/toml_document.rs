//! A TOML text that knows on which line each of its keys stands.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::ProfileProblem;
use crate::problem_kind::ProfileProblemKind as Kind;

/// A parsed TOML text with the places of its keys.
pub(crate) struct TomlDocument<'a> {
    file: &'a str,
    text: &'a str,
    root: DeTable<'a>,
    /// Where each line after the first starts.
    line_starts: Vec<usize>,
}

impl<'a> TomlDocument<'a> {
    /// Parses `text`; each fault of syntax is a problem.
    pub(crate) fn parse(file: &'a str, text: &'a str) -> (Self, Vec<ProfileProblem>) {
        let (root, errors) = DeTable::parse_recoverable(text);
        let line_starts = text.match_indices('\n').map(|(newline, _)| newline + 1).collect();
        let document = Self { file, text, root: root.into_inner(), line_starts };
        let problems = errors
            .iter()
            .map(|error| {
                let line = error.span().map_or(1, |span| document.line_of(span.start));
                ProfileProblem::new(
                    Kind::NotToml,
                    file,
                    line,
                    format!("not valid TOML: {}", one_line(error.message())),
                )
            })
            .collect();
        (document, problems)
    }

    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    pub(crate) fn root(&self) -> &DeTable<'a> {
        &self.root
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// How many entries a table of the document has; none when there is no such table.
    pub(crate) fn n_entries(&self, table: &str) -> usize {
        match self.root.get(table).map(Spanned::get_ref) {
            Some(DeValue::Table(entries)) => entries.len(),
            _ => 0,
        }
    }

    /// Reports a problem at the key that `path` names, or at the nearest table around it that exists.
    pub(crate) fn problem(&self, kind: Kind, path: &[&str], message: impl Into<String>) -> ProfileProblem {
        ProfileProblem::new(kind, self.file, self.line(path), message)
    }

    /// The line of a place in the text.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) + 1
    }

    /// The line of the key that `path` names, or of the nearest table around it that exists.
    pub(crate) fn line(&self, path: &[&str]) -> usize {
        self.line_of(self.offset(path))
    }

    /// Where the key that `path` names stands, or the nearest one around it.
    pub(crate) fn offset(&self, path: &[&str]) -> usize {
        let mut table = &self.root;
        let mut offset = 0;
        for key in path {
            let Some((name, value)) = table.get_key_value(*key) else { break };
            offset = name.span().start;
            let DeValue::Table(inner) = value.get_ref() else { break };
            table = inner;
        }
        offset
    }
}

fn one_line(message: &str) -> String {
    message.trim().replace('\n', ", ")
}
