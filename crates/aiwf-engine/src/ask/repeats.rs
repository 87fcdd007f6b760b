//! Finds a model that makes the same failing call again and again: one rule for sessions, prompts and runs.

use std::collections::{BTreeMap, BTreeSet};

use aiwf_store::sha256_hex;
use aiwf_tools::canonical;
use serde_json::Value;

/// In how many rounds a call may fail before the model is not asked again.
pub(crate) const MAX_EQUAL_FAILURES: u32 = 3;

/// How a call ended, and what tells it from others.
#[derive(Clone, Debug)]
pub(crate) struct CallResult {
    print: String,
    is_error: bool,
}

impl CallResult {
    /// A call by the tool's own name; the order of its arguments does not count.
    pub(crate) fn new(name: &str, arguments: &Value, is_error: bool) -> Self {
        Self { print: sha256_hex(format!("{name} {}", canonical(arguments)).as_bytes()), is_error }
    }

    /// Something that was meant as a call and could not be read.
    pub(crate) fn unreadable(problem: &str) -> Self {
        Self { print: sha256_hex(problem.as_bytes()), is_error: true }
    }
}

/// In how many rounds each call failed since the last call that worked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    failures: BTreeMap<String, u32>,
}

impl Repeats {
    /// Takes the calls of a round; true when one of them failed for the third time and nothing worked in between.
    ///
    /// A call counts once a round: what was called side by side has not been told of its failure yet. After a call that
    /// worked the same one may do better, so counting begins anew.
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
