//! Results of the project's checks, as the journal stores them.

use serde::{Deserialize, Serialize};

use crate::event::FileHash;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckEnd {
    /// It exited or was ended by a signal.
    Exited,
    /// It ran longer than its timeout.
    TimedOut,
    /// It printed more than its limit.
    TooMuchOutput,
    /// Its program could not be started.
    NotStarted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    pub command: String,
    pub ended: CheckEnd,
    /// `None` if a signal or a limit ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub millis: u64,
    /// What it printed.
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
