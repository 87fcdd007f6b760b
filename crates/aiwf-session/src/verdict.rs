//! The verdict of a judging phase.

use serde::{Deserialize, Serialize};

/// The verdict of a judging phase. The flow says where each one leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// The idea is refused.
    Rejected,
    /// Another round cannot fix it.
    MajorIssues,
    /// The implementation must be changed.
    NeedsChanges,
    /// The plan must be revised.
    NeedsRevision,
    /// The code needs another round.
    Fail,
    Pass,
}

impl Verdict {
    /// Every verdict, worst first.
    pub const ALL: [Self; 6] =
        [Self::Rejected, Self::MajorIssues, Self::NeedsChanges, Self::NeedsRevision, Self::Fail, Self::Pass];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "REJECTED",
            Self::MajorIssues => "MAJOR_ISSUES",
            Self::NeedsChanges => "NEEDS_CHANGES",
            Self::NeedsRevision => "NEEDS_REVISION",
            Self::Fail => "FAIL",
            Self::Pass => "PASS",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == name)
    }
}
