//! Detects a model that keeps making the same failing call: one rule for sessions, prompts and runs.

use std::collections::{BTreeMap, BTreeSet};

use aiwf_store::sha256_hex;
use aiwf_tools::canonical;
use serde_json::Value;

/// The number of rounds in which a call may fail before the model is not asked again.
pub(crate) const MAX_EQUAL_FAILURES: u32 = 3;

/// The result of a call, with its identity.
#[derive(Clone, Debug)]
pub(crate) struct CallResult {
    print: String,
    is_error: bool,
}

impl CallResult {
    /// Identifies a call by the tool's own name and its arguments in any order.
    pub(crate) fn new(name: &str, arguments: &Value, is_error: bool) -> Self {
        Self { print: sha256_hex(format!("{name} {}", canonical(arguments)).as_bytes()), is_error }
    }

    /// Something that looks like a call but could not be read.
    pub(crate) fn unreadable(problem: &str) -> Self {
        Self { print: sha256_hex(problem.as_bytes()), is_error: true }
    }
}

/// The number of rounds in which each call failed since the last successful call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    failures: BTreeMap<String, u32>,
}

impl Repeats {
    /// Counts the calls of a round; returns true if one failed for the third time with no success in between.
    ///
    /// A call counts once per round, because parallel calls do not see each other's failure. A successful call resets
    /// the counts, because the same call may then succeed.
    pub(crate) fn take_round(&mut self, results: &[CallResult]) -> bool {
        if results.iter().any(|result| !result.is_error) {
            self.failures.clear();
        }
        let failed: BTreeSet<&String> =
            results.iter().filter(|result| result.is_error).map(|result| &result.print).collect();
        let mut is_over = false;
        for print in failed {
            let count = self.failures.entry(print.clone()).or_default();
            *count += 1;
            is_over |= *count >= MAX_EQUAL_FAILURES;
        }
        is_over
    }
}

#[cfg(test)]
#[path = "repeats_tests.rs"]
mod tests;
