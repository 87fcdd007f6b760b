//! What a session keeps of the project's checks: how each ended, and where its output is.

use serde::{Deserialize, Serialize};

use crate::event::FileHash;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckEnd {
    /// It exited by itself, or a signal ended it.
    Exited,
    /// It ran longer than its timeout.
    TimedOut,
    /// It printed more than its limit.
    TooMuchOutput,
    /// Its program could not be started.
    NotStarted,
}

/// A check that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    /// The command line as it was run.
    pub command: String,
    pub ended: CheckEnd,
    /// Nothing when a signal ended it, or when it did not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why it did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub millis: u64,
    /// What it printed, relative to the session.
    pub output: FileHash,
    pub n_bytes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl CheckResult {
    pub fn is_passed(&self) -> bool {
        self.ended == CheckEnd::Exited && self.exit_code == Some(0)
    }
}
