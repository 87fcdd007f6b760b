//! A TOML text with the line of each key.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::ProfileProblem;
use crate::problem_kind::ProfileProblemKind as Kind;

/// A parsed TOML text with the positions of its keys.
pub(crate) struct TomlDocument<'a> {
    file: &'a str,
    text: &'a str,
    root: DeTable<'a>,
    /// The offset of each line after the first.
    line_starts: Vec<usize>,
}

impl<'a> TomlDocument<'a> {
    /// Parses `text`; each syntax error is a problem.
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

    /// The number of entries of a table; 0 if it does not exist.
    pub(crate) fn n_entries(&self, table: &str) -> usize {
        match self.root.get(table).map(Spanned::get_ref) {
            Some(DeValue::Table(entries)) => entries.len(),
            _ => 0,
        }
    }

    /// Reports a problem at the key in `path`, or at its nearest existing parent table.
    pub(crate) fn problem(&self, kind: Kind, path: &[&str], message: impl Into<String>) -> ProfileProblem {
        ProfileProblem::new(kind, self.file, self.line(path), message)
    }

    /// The line of an offset in the text.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) + 1
    }

    /// The line of the key in `path`, or of its nearest existing parent table.
    pub(crate) fn line(&self, path: &[&str]) -> usize {
        self.line_of(self.offset(path))
    }

    /// The offset of the key in `path`, or of its nearest existing parent table.
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
