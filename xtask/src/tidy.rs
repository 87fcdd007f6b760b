//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//!
//! In: the text of every file that git knows or would take, and the members of the workspace. Out: findings,
//! each with a place and what to do. The checks are functions from a `Tree` to findings; only `Tree::read`
//! touches the disk. A check's name is what `ARCHITECTURE.md` cites as `held by: tidy`.

mod architecture;
mod error_messages;
mod house;
mod invariants;
mod listed;
mod machine_words;
mod manifests;
mod purity;
mod rust_text;
mod sources;
mod tree;

use std::fmt;

use crate::args::Args;
use crate::failure::Failure;
use crate::workspace::Workspace;
use tree::Tree;

/// One rule, checked over the whole tree.
struct Check {
    name: &'static str,
    find: fn(&Tree) -> Vec<Finding>,
}

const CHECKS: &[Check] = &[
    Check { name: "crate-edges", find: architecture::crate_edges },
    Check { name: "pure-crates", find: purity::pure_crates_stay_pure },
    Check { name: "invariants", find: invariants::invariants },
    Check { name: "manifests", find: manifests::manifests },
    Check { name: "one-clippy-toml", find: manifests::one_clippy_toml },
    Check { name: "file-names", find: sources::file_names },
    Check { name: "file-length", find: sources::file_length },
    Check { name: "leftovers", find: sources::leftovers },
    Check { name: "timed-tests", find: sources::timed_tests },
    Check { name: "whitespace", find: sources::whitespace },
    Check { name: "error-messages", find: error_messages::error_messages },
    Check { name: "listed-tests", find: listed::listed_tests },
    Check { name: "machine-paths", find: machine_words::machine_paths },
    Check { name: "registries", find: machine_words::registries },
    Check { name: "house-files", find: house::house_files },
];

/// A broken rule at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    path: String,
    /// Counted from 1; 0 where the file as a whole is meant.
    line: usize,
    /// What is wrong and what to do.
    message: String,
}

impl Finding {
    fn new(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

pub(crate) fn run(workspace: &Workspace, words: &[String]) -> Result<(), Failure> {
    Args::parse(words, &[], &[])?;
    check_all(workspace)
}

/// Runs every check and prints what it finds.
pub(crate) fn check_all(workspace: &Workspace) -> Result<(), Failure> {
    let tree = Tree::read(workspace)?;
    let mut n_findings = 0;
    for check in CHECKS {
        for finding in (check.find)(&tree) {
            println!("{finding} [{}]", check.name);
            n_findings += 1;
        }
    }
    match n_findings {
        0 => {
            println!("   {} checks over {} files: nothing found", CHECKS.len(), tree.files.len());
            Ok(())
        }
        1 => Err(Failure::new("tidy has 1 finding")),
        n => Err(Failure::new(format!("tidy has {n} findings"))),
    }
}

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
