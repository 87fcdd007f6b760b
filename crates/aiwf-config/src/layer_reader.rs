//! Reads one configuration file.
//!
//! In: the text. Out: a layer, and all problems with their positions. It knows TOML but no setting: the keys are
//! declared with [`settings!`](crate::setting).

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::ConfigLayer;
use crate::fault::ConfigFault;
use crate::name::{excerpt, nearest, quoted_key};
use crate::origin::{ConfigFile, Sourced};
use crate::problem::ConfigProblem;
use crate::setting::{Table, join};
use crate::setting_docs::table_of_key;
use crate::toml_text::TomlText;

/// Maximum number of reported problems, so that a hostile file cannot exhaust memory.
const MAX_PROBLEMS: usize = 100;

/// Reads the text of a file: its settings, and everything that is wrong with it.
///
/// `root` is the directory that contains the file's `.aiwf/`; paths in the file are relative to it. Invalid TOML sets
/// nothing, because half a file could mean the opposite of the whole.
pub(crate) fn read(file: ConfigFile, root: &Path, text: &str) -> (ConfigLayer, Vec<ConfigProblem>) {
    let toml = TomlText::new(file, text);
    let (table, faults) = DeTable::parse_recoverable(text);
    if !faults.is_empty() {
        let problems = faults.iter().take(MAX_PROBLEMS).map(|fault| syntax_problem(&toml, fault)).collect();
        return (ConfigLayer::default(), problems);
    }
    let mut layer = ConfigLayer::default();
    let mut reader = LayerReader { toml, root, problems: Vec::new() };
    reader.table("", table.get_ref(), &mut layer);
    (layer, reader.problems)
}

fn syntax_problem(toml: &TomlText<'_>, fault: &toml::de::Error) -> ConfigProblem {
    let offset = fault.span().map_or(0, |span| span.start);
    let reason = excerpt(&fault.message().trim().replace('\n', ", "));
    toml.problem(offset, ConfigFault::NotToml { reason })
}

pub(crate) struct LayerReader<'a> {
    pub(crate) toml: TomlText<'a>,
    pub(crate) root: &'a Path,
    problems: Vec<ConfigProblem>,
}

/// A key and its value in a table of the file.
pub(crate) struct TomlEntry<'s, 'a> {
    /// The table as written; empty at the top level.
    table: &'s str,
    pub(crate) key: &'s str,
    pub(crate) key_offset: usize,
    pub(crate) value: &'s Spanned<DeValue<'a>>,
}

impl TomlEntry<'_, '_> {
    /// The full name, as in `config show`.
    pub(crate) fn path(&self) -> String {
        join(self.table, &quoted_key(&excerpt(self.key)))
    }
}

impl LayerReader<'_> {
    pub(crate) fn is_project(&self) -> bool {
        self.toml.file() == ConfigFile::Project
    }

    /// Reads a table of settings.
    pub(crate) fn table<T: Table>(&mut self, path: &str, table: &DeTable<'_>, into: &mut T) {
        self.each(path, table, |reader, entry| {
            if !into.read_key(reader, entry) {
                reader.unknown(entry, &T::keys());
            }
        });
    }

    /// The value with its origin; adds a problem if there is none.
    pub(crate) fn expect<T>(
        &mut self,
        entry: &TomlEntry<'_, '_>,
        value: Option<T>,
        expected: impl FnOnce() -> String,
        near: Option<&str>,
    ) -> Option<Sourced<T>> {
        if value.is_none() {
            let fault = ConfigFault::WrongValue {
                path: entry.path(),
                found: self.toml.excerpt(entry.value.span()),
                expected: expected(),
                near: near.map(str::to_owned),
            };
            self.report(entry.value.span().start, fault);
        }
        value.map(|value| Sourced::new(value, self.toml.origin(entry.key_offset)))
    }

    pub(crate) fn expect_table<'s, 'a>(&mut self, entry: &TomlEntry<'s, 'a>) -> Option<&'s DeTable<'a>> {
        let table = entry.value.get_ref().as_table();
        if table.is_none() {
            let found = self.toml.excerpt(entry.value.span());
            self.report(entry.value.span().start, ConfigFault::NotATable { path: entry.path(), found });
        }
        table
    }

    pub(crate) fn each(
        &mut self,
        path: &str,
        table: &DeTable<'_>,
        mut read: impl FnMut(&mut Self, &TomlEntry<'_, '_>),
    ) {
        for (key, value) in table {
            let entry = TomlEntry { table: path, key: key.get_ref(), key_offset: key.span().start, value };
            read(self, &entry);
        }
    }

    pub(crate) fn unknown(&mut self, entry: &TomlEntry<'_, '_>, known: &[&str]) {
        let fault = ConfigFault::UnknownKey {
            key: excerpt(entry.key),
            table: entry.table.to_owned(),
            near: nearest(entry.key, known.iter().copied())
                .or_else(|| synonym(entry.key, known))
                .map(str::to_owned),
            home: table_of_key(entry.key),
            known: known.iter().map(|name| (*name).to_owned()).collect(),
        };
        self.report(entry.key_offset, fault);
    }

    pub(crate) fn report_user_only(&mut self, entry: &TomlEntry<'_, '_>) {
        self.report(entry.key_offset, ConfigFault::UsersOnly { path: entry.path() });
    }

    pub(crate) fn report(&mut self, offset: usize, fault: ConfigFault) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(self.toml.problem(offset, fault));
        }
    }

    pub(crate) fn n_problems(&self) -> usize {
        self.problems.len()
    }
}

/// The key of this table for what another table calls `key`.
fn synonym<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    /// What tables call a program with its arguments; `program` is only a path, so it comes last.
    const PROGRAM: &[&str] = &["argv", "command", "run", "cmd", "program"];
    let mut names = PROGRAM.contains(&key).then_some(PROGRAM)?.iter();
    names.find_map(|name| known.iter().copied().find(|known| known == name))
}

#[cfg(test)]
#[path = "layer_reader_tests.rs"]
mod tests;
