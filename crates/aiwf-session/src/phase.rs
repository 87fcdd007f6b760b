//! Phases and stages, and the files that belong to them.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use crate::change::Flow;
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
    /// Planning a change.
    Plan,
    /// Judging the plan of a change.
    Challenge,
    /// Making a change.
    Implement,
    /// Judging a change that was made.
    Review,
    /// Writing the record of a change.
    Archive,
    /// Done.
    Complete,
    /// Given up.
    Cancelled,
}

impl Phase {
    /// Every phase, in the order a session or a change walks through them.
    pub const ALL: [Self; 12] = [
        Self::Initialized,
        Self::Planning,
        Self::Generating,
        Self::Reviewing,
        Self::Revising,
        Self::Plan,
        Self::Challenge,
        Self::Implement,
        Self::Review,
        Self::Archive,
        Self::Complete,
        Self::Cancelled,
    ];

    /// The phases of a session in which something is asked.
    pub const ACTIVE: [Self; 4] = [Self::Planning, Self::Generating, Self::Reviewing, Self::Revising];

    /// Those of a session that asks somebody.
    pub const SESSION: [Self; 4] = [Self::Planning, Self::Generating, Self::Reviewing, Self::Revising];

    /// The phases of a change in which something is asked.
    pub const CHANGE: [Self; 5] = [Self::Plan, Self::Challenge, Self::Implement, Self::Review, Self::Archive];

    /// The name used in files, flags and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initialized => "initialized",
            Self::Planning => "planning",
            Self::Generating => "generating",
            Self::Reviewing => "reviewing",
            Self::Revising => "revising",
            Self::Plan => "plan",
            Self::Challenge => "challenge",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::Archive => "archive",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
        }
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
            Self::Initialized
            | Self::Plan
            | Self::Challenge
            | Self::Implement
            | Self::Review
            | Self::Archive
            | Self::Complete
            | Self::Cancelled => None,
        }
    }

    /// The flow it belongs to; nothing for the beginning and the ends, which both have.
    #[cfg(test)]
    pub(crate) fn flow(self) -> Option<Flow> {
        match self {
            Self::Planning | Self::Generating | Self::Reviewing | Self::Revising => Some(Flow::Session),
            Self::Plan | Self::Challenge | Self::Implement | Self::Review | Self::Archive => {
                Some(Flow::Change)
            }
            Self::Initialized | Self::Complete | Self::Cancelled => None,
        }
    }

    /// The name of what this phase of a change gives: `implementation.md`.
    pub fn artifact(self) -> Option<&'static str> {
        match self {
            Self::Plan => Some("plan.md"),
            Self::Challenge => Some("challenge.md"),
            Self::Implement => Some("implementation.md"),
            Self::Review => Some("review.md"),
            Self::Archive => Some("archive.md"),
            Self::Initialized
            | Self::Planning
            | Self::Generating
            | Self::Reviewing
            | Self::Revising
            | Self::Complete
            | Self::Cancelled => None,
        }
    }

    /// Whether a reply in this phase of a change must end with a verdict.
    pub fn gives_verdict(self) -> bool {
        matches!(self, Self::Challenge | Self::Review)
    }

    /// The stem of the phase's files: `generation` in `generation-prompt.md`.
    fn stem(self) -> Option<&'static str> {
        match self {
            Self::Planning => Some("planning"),
            Self::Generating => Some("generation"),
            Self::Reviewing | Self::Review => Some("review"),
            Self::Revising => Some("revision"),
            Self::Plan => Some("plan"),
            Self::Challenge => Some("challenge"),
            Self::Implement => Some("implement"),
            Self::Archive => Some("archive"),
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
}
