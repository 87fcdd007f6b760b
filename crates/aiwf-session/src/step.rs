//! What a session is waiting for or about to do, how its gate is, and how it is in one word.

use serde::Serialize;

use crate::event::{Actor, FileHash};
use crate::phase::Phase;

/// What the session is waiting for, or about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is no session yet.
    NotCreated,
    /// A prompt is to be written for this phase and iteration.
    PromptWanted {
        /// The phase.
        phase: Phase,
        /// The iteration.
        iteration: u32,
    },
    /// The prompt lies at its gate.
    PromptReady,
    /// The approved prompt is to be sent.
    AskWanted,
    /// The prompt was sent and no whole reply is there.
    Asked {
        /// Whether asking again costs nothing.
        is_free: bool,
    },
    /// The provider did not answer.
    AskFailed {
        /// What it said, then what it did all the same.
        problems: Vec<String>,
        /// When its limit ends, in seconds since 1970, if a limit is the reason.
        limit_until: Option<u64>,
    },
    /// The reply lies at its gate.
    ReplyReady {
        /// What is wrong with it, as far as it was read.
        problems: Vec<String>,
    },
    /// The project's checks are to run on what was approved.
    ChecksWanted,
    /// A decision is needed that no gate asks for.
    Paused(Pause),
    /// Nothing can happen any more.
    Ended,
}

/// Why a session waits although no gate is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The last round that is allowed asked for another.
    IterationCap,
    /// A verdict stopped the session.
    Verdict,
    /// The flow says nothing about a verdict, so a person decides what follows.
    NoTarget,
    /// The next call might cost more than may be spent.
    Budget,
    /// Checks failed, as often as the flow allows.
    Checks,
    /// Checks wait for the user's consent to their commands.
    CheckConsent,
}

/// How the gate of the current stage stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateState {
    /// Nobody has decided yet.
    Pending,
    /// What lies there was approved.
    Passed,
    /// What lay there was turned down.
    Rejected,
}

impl GateState {
    /// The name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Passed => "passed",
            Self::Rejected => "rejected",
        }
    }
}

/// What was said when something was turned down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Who said it.
    pub by: Actor,
    /// What was said.
    pub text: String,
    /// The reply it is about, under the name it is kept.
    pub rejected_reply: Option<FileHash>,
}

/// The bytes an approval is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// SHA-256 of the bytes.
    pub sha256: String,
    /// The place of the approval among all; what is bound later may be derived from it.
    pub rank: u64,
    /// Whether a later change counts; prompts can be left out.
    pub is_checked: bool,
}

/// How a session stands, in one word for lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Something can be done without a decision.
    InProgress,
    /// A person or a reply is awaited.
    Waiting,
    /// A decision is needed that no gate asks for.
    Paused,
    /// A verdict stopped it.
    Rejected,
    /// Done.
    Complete,
    /// Given up.
    Cancelled,
}

impl Status {
    /// The name used in flags and output.
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
