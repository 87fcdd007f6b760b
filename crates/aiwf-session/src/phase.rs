//! The names of phases and stages.
//!
//! A flow defines its phases ([`crate::Flow`]). The three names here belong to no flow: they mean that a session has
//! not started, or how it ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::Name;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Phase(Name);

impl Phase {
    pub const INITIALIZED: Self = Self(Name::known("initialized"));
    pub const COMPLETE: Self = Self(Name::known("complete"));
    pub const CANCELLED: Self = Self(Name::known("cancelled"));

    /// `None` if the text is not a valid name.
    pub fn from_name(name: &str) -> Option<Self> {
        Name::parse(name).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether the session has ended.
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

/// Who works in a phase: `planner`, `generator`, `reviewer`, `reviser`, or a role that the flow defines.
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

    /// `None` if the text is not a valid name.
    pub fn from_name(name: &str) -> Option<Self> {
        Name::parse(name).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The half of a phase that a session is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Prompt,
    Response,
}

impl Stage {
    pub const ALL: [Self; 2] = [Self::Prompt, Self::Response];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Response => "response",
        }
    }
}
