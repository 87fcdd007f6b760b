//! Splits a task's words into flags and names.
//!
//! Three tasks with a handful of switches need no argument parser, and `cargo xtask tidy` stays quick to build.

use std::collections::{BTreeMap, BTreeSet};

use crate::failure::Failure;

/// The words of one task, checked against what the task knows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    flags: BTreeSet<String>,
    values: BTreeMap<String, String>,
    /// What is to be run; empty means everything.
    pub(crate) names: Vec<String>,
}

impl Args {
    /// Sorts `words` into flags and names; a word that is in neither list is refused with the list.
    ///
    /// A flag listed with a second word, such as `--against REV`, takes a value: `--against main` or `--against=main`.
    pub(crate) fn parse(words: &[String], flags: &[&str], names: &[&str]) -> Result<Self, Failure> {
        let mut args = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word.starts_with('-') {
                let (flag, inline) = match word.split_once('=') {
                    Some((flag, value)) => (flag, Some(value)),
                    None => (word.as_str(), None),
                };
                let value_name = flags.iter().find_map(|known| known.strip_prefix(flag)?.strip_prefix(' '));
                if let Some(value_name) = value_name {
                    let value = inline.or_else(|| words.next().map(String::as_str)).unwrap_or_default();
                    if value.is_empty() || value.starts_with('-') {
                        return Err(Failure::usage(format!("`{flag}` needs a value"))
                            .hint(format!("write `{flag} {value_name}`")));
                    }
                    if args.values.insert(flag.to_owned(), value.to_owned()).is_some() {
                        return Err(Failure::usage(format!("`{flag}` is specified twice"))
                            .hint(format!("write `{flag} {value_name}` once")));
                    }
                } else if flags.contains(&word.as_str()) {
                    args.flags.insert(word.clone());
                } else {
                    return Err(Failure::usage(format!("unknown flag `{word}`"))
                        .hint(format!("the flags here: {}", listed(flags))));
                }
            } else if names.contains(&word.as_str()) {
                args.names.push(word.clone());
            } else {
                return Err(Failure::usage(format!("unknown name `{word}`"))
                    .hint(format!("the names here: {}", listed(names))));
            }
        }
        Ok(args)
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    /// The value of a flag that takes one.
    pub(crate) fn value(&self, flag: &str) -> Option<&str> {
        self.values.get(flag).map(String::as_str)
    }

    /// Whether `name` is to be run.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }
}

fn listed(words: &[&str]) -> String {
    if words.is_empty() {
        return "none".to_owned();
    }
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
