//! Finds a model that makes the same failing call again and again.

use aiwf_store::sha256_hex;
use aiwf_tools::canonical;
use serde_json::Value;

/// How many equal failures in a row are a loop.
const MAX_EQUAL_FAILURES: u32 = 3;

/// The last failing call, and how often it was made in a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    last: Option<String>,
    n_failures: u32,
}

impl Repeats {
    /// Takes a call by the tool's own name; true when it failed for the third time in a row.
    ///
    /// The order of keys does not count. Any other call, or one that works, starts again from nothing.
    pub(crate) fn take(&mut self, name: &str, args: &Value, is_error: bool) -> bool {
        if !is_error {
            *self = Self::default();
            return false;
        }
        let print = sha256_hex(format!("{name} {}", canonical(args)).as_bytes());
        if self.last.as_ref() == Some(&print) {
            self.n_failures += 1;
        } else {
            *self = Self { last: Some(print), n_failures: 1 };
        }
        self.n_failures >= MAX_EQUAL_FAILURES
    }
}
