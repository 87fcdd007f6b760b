//! What a session waits for or does next, the state of its gate, and its status in one word.

use serde::Serialize;

use crate::event::{Actor, FileHash};
use crate::phase::Phase;

/// What the session waits for or does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The session does not exist yet.
    NotCreated,
    /// A prompt must be written for this phase and iteration.
    PromptWanted {
        phase: Phase,
        iteration: u32,
    },
    /// The prompt is at its gate.
    PromptReady,
    /// The approved prompt must be sent.
    AskWanted,
    /// The prompt was sent and its reply is not complete.
    Asked {
        /// Whether asking again costs nothing.
        is_free: bool,
    },
    AskFailed {
        /// The provider's message, then the problems with what it did.
        problems: Vec<String>,
        /// When the usage limit ends, in seconds since 1970, if a usage limit is the reason.
        limit_until: Option<u64>,
    },
    /// The reply is at its gate.
    ReplyReady {
        /// What is wrong with it, as far as it was parsed.
        problems: Vec<String>,
    },
    ChecksWanted,
    /// A decision is needed outside of the gates.
    Paused(Pause),
    Ended,
}

/// Why a session waits outside of its gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The loop used up its rounds.
    IterationCap,
    /// A verdict stopped the session.
    Verdict,
    /// The flow does not say where this verdict leads, so you decide.
    NoTarget,
    /// The next call could exceed the budget.
    Budget,
    /// Checks failed as often as the flow allows.
    Checks,
    /// Checks wait for the user's consent to their commands.
    CheckConsent,
}

/// The state of the current gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateState {
    /// No decision yet.
    Pending,
    /// Approved.
    Passed,
    /// Rejected.
    Rejected,
}

impl GateState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Passed => "passed",
            Self::Rejected => "rejected",
        }
    }
}

/// The feedback of a rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    pub by: Actor,
    pub text: String,
    /// The rejected reply, stored under another name.
    pub rejected_reply: Option<FileHash>,
}

/// The bytes an approval is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub sha256: String,
    /// The position of the approval among all. A file with a higher rank may be made from this one.
    pub rank: u64,
    /// Whether a later change makes it stale; prompts can be exempt.
    pub is_checked: bool,
}

/// The status of a session in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The next step needs no decision.
    InProgress,
    /// A person or a reply is needed.
    Waiting,
    /// A decision is needed outside of the gates.
    Paused,
    /// A verdict stopped it.
    Rejected,
    Complete,
    Cancelled,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in-progress",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Rejected => "rejected",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
        }
    }
}
