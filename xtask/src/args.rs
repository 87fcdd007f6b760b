//! Splits a task's words into flags and names.
//!
//! Three tasks with a handful of switches need no argument parser, and `cargo xtask tidy` stays quick to build.

use std::collections::BTreeSet;

use crate::failure::Failure;

/// The words of one task, checked against what the task knows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    flags: BTreeSet<String>,
    /// What is to be run; empty means everything.
    pub(crate) names: Vec<String>,
}

impl Args {
    /// Sorts `words` into flags and names; a word that is in neither list is refused with the list.
    pub(crate) fn parse(words: &[String], flags: &[&str], names: &[&str]) -> Result<Self, Failure> {
        let mut args = Self::default();
        for word in words {
            if word.starts_with('-') {
                if !flags.contains(&word.as_str()) {
                    return Err(Failure::usage(format!("unknown flag `{word}`"))
                        .hint(format!("the flags here: {}", listed(flags))));
                }
                args.flags.insert(word.clone());
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
