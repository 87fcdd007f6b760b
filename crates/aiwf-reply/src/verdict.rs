//! The five verdicts a review can end with.

use std::fmt;

/// The verdict of a review, worst first: the smaller of two verdicts is the worse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The idea itself is rejected.
    Rejected,
    /// Large parts must be redone.
    MajorIssues,
    /// The result must be changed.
    NeedsChanges,
    /// The text must be revised.
    NeedsRevision,
    /// Nothing is left to do.
    Pass,
}

impl Verdict {
    /// All verdicts, worst first.
    pub const ALL: [Self; 5] =
        [Self::Rejected, Self::MajorIssues, Self::NeedsChanges, Self::NeedsRevision, Self::Pass];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "REJECTED",
            Self::MajorIssues => "MAJOR_ISSUES",
            Self::NeedsChanges => "NEEDS_CHANGES",
            Self::NeedsRevision => "NEEDS_REVISION",
            Self::Pass => "PASS",
        }
    }

    /// Reads a verdict in any case, with a space or a hyphen instead of the underscore.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let is_same = |verdict: &Self| {
            verdict.as_str().len() == name.len()
                && verdict.as_str().chars().zip(name.chars()).all(|(expected, given)| {
                    expected.eq_ignore_ascii_case(&given) || (expected == '_' && matches!(given, ' ' | '-'))
                })
        };
        Self::ALL.into_iter().find(is_same)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
