//! Phases and stages, and the files that belong to them.

use serde::{Deserialize, Serialize};

use crate::setup::Role;

/// Where a session is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Created; nothing was asked yet.
    Initialized,
    /// Making a plan.
    Planning,
    /// Writing code after the plan.
    Generating,
    /// Judging the code.
    Reviewing,
    /// Mending the code after a review.
    Revising,
    /// Done.
    Complete,
    /// Given up.
    Cancelled,
}

impl Phase {
    /// Every phase, in the order a session walks through them.
    pub const ALL: [Self; 7] = [
        Self::Initialized,
        Self::Planning,
        Self::Generating,
        Self::Reviewing,
        Self::Revising,
        Self::Complete,
        Self::Cancelled,
    ];

    /// The phases in which something is asked.
    pub const ACTIVE: [Self; 4] = [Self::Planning, Self::Generating, Self::Reviewing, Self::Revising];

    /// The name used in files, flags and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initialized => "initialized",
            Self::Planning => "planning",
            Self::Generating => "generating",
            Self::Reviewing => "reviewing",
            Self::Revising => "revising",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
        }
    }

    /// The phase with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == name)
    }

    /// Whether nothing can happen any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Cancelled)
    }

    /// Who is asked in this phase.
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Planning => Some(Role::Planner),
            Self::Generating => Some(Role::Generator),
            Self::Reviewing => Some(Role::Reviewer),
            Self::Revising => Some(Role::Reviser),
            Self::Initialized | Self::Complete | Self::Cancelled => None,
        }
    }

    /// The stem of the phase's files: `generation` in `generation-prompt.md`.
    fn stem(self) -> Option<&'static str> {
        match self {
            Self::Planning => Some("planning"),
            Self::Generating => Some("generation"),
            Self::Reviewing => Some("review"),
            Self::Revising => Some("revision"),
            Self::Initialized | Self::Complete | Self::Cancelled => None,
        }
    }

    /// The prompt's file, relative to the session.
    pub fn prompt_path(self, iteration: u32) -> Option<String> {
        self.stem().map(|stem| format!("iteration-{iteration}/{stem}-prompt.md"))
    }

    /// The system prompt's file, relative to the session.
    pub fn system_prompt_path(self, iteration: u32) -> Option<String> {
        self.stem().map(|stem| format!("iteration-{iteration}/{stem}-system-prompt.md"))
    }

    /// The reply's file, relative to the session.
    pub fn response_path(self, iteration: u32) -> Option<String> {
        self.stem().map(|stem| format!("iteration-{iteration}/{stem}-response.md"))
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

    /// The stage with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == name)
    }
}
