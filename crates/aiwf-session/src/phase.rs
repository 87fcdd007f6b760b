//! The names of phases and stages.
//!
//! Which phases there are, and what each does, is a flow's business ([`crate::Flow`]). The three names here belong to
//! no flow: they say that a session has not begun, or how it ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::Name;

/// The name of a phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Phase(Name);

impl Phase {
    /// Created; nothing was asked yet.
    pub const INITIALIZED: Self = Self(Name::known("initialized"));
    /// Done.
    pub const COMPLETE: Self = Self(Name::known("complete"));
    /// Cancelled.
    pub const CANCELLED: Self = Self(Name::known("cancelled"));

    /// The phase with that name; nothing when it cannot be a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Name::parse(name).map(Self)
    }

    /// The name used in files, flags and output.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether nothing can happen any more.
    pub fn is_final(self) -> bool {
        self == Self::COMPLETE || self == Self::CANCELLED
    }
}

impl fmt::Debug for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Who does a phase's work: `planner`, `generator`, `reviewer`, `reviser`, or a role of a flow's own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Role(Name);

impl Role {
    /// Writes the plan.
    pub const PLANNER: Self = Self(Name::known("planner"));
    /// Writes the code.
    pub const GENERATOR: Self = Self(Name::known("generator"));
    /// Judges the code.
    pub const REVIEWER: Self = Self(Name::known("reviewer"));
    /// Improves the code after a review.
    pub const REVISER: Self = Self(Name::known("reviser"));
    /// The roles that profiles know.
    pub const STANDARD: [Self; 4] = [Self::PLANNER, Self::GENERATOR, Self::REVIEWER, Self::REVISER];

    /// The role with that name; nothing when it cannot be a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Name::parse(name).map(Self)
    }

    /// The name used in flags and settings.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Which half of a phase a session is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The prompt is written and judged.
    Prompt,
    /// The reply is awaited and judged.
    Response,
}

impl Stage {
    /// Both stages.
    pub const ALL: [Self; 2] = [Self::Prompt, Self::Response];

    /// The name used in files, flags and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Response => "response",
        }
    }
}
