//! Why a command is not possible now, and what is possible instead.

use crate::action::{Action, possible};
use crate::checks::CheckResult;
use crate::comment::Resolution;
use crate::phase::Phase;
use crate::state::State;
use crate::step::{Pause, Step};

/// Why a command was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("cannot {command} now: {situation}")]
    NotNow {
        command: &'static str,
        /// The state of the session, in words.
        situation: String,
        possible: Vec<Action>,
    },
    #[error("cannot work on phase `{wanted}` now: {situation}")]
    OtherPhase {
        wanted: Phase,
        /// The state of the session, in words.
        situation: String,
        possible: Vec<Action>,
    },
    /// The feedback is empty.
    #[error("a rejection needs feedback")]
    NoFeedback,
    /// The new cap does not allow another round.
    #[error("the limit must be more than {round} and at most 1000, not {given}")]
    CapTooLow { round: u32, given: u32 },
    /// An outcome of a kind that the phase does not produce.
    #[error("a reply in phase `{phase}` gives no {found}")]
    WrongOutcome { phase: Phase, found: &'static str },
    /// A reply without the markers of its phase, or with those of another phase.
    #[error("the result of phase `{phase}` does not match its `{marker}` markers")]
    Markers { phase: Phase, marker: &'static str },
    /// The prompt of the phase is approved, so its options can no longer change.
    #[error("the {phase} prompt was approved, so its agent, files and instructions can no longer change")]
    Settled { phase: Phase },
    #[error("`{path}` does not belong to this gate")]
    NotAtGate { path: String },
    /// A file that no approval is bound to.
    #[error("`{path}` has not been approved")]
    NotBound { path: String },
    /// The code of the session is in the project.
    #[error("the session has been applied, so its artifacts can no longer be reopened")]
    Applied,
    #[error("`{artifact}` is a verdict, and verdicts cannot be reopened")]
    Verdict { artifact: String },
    /// Only what is approved, and behind the session, can be reopened.
    #[error("`{artifact}` is not approved: {situation}")]
    NotApproved {
        artifact: String,
        /// The state of the session, in words.
        situation: String,
        possible: Vec<Action>,
    },
    #[error("the text is empty")]
    EmptyRemark,
    #[error("the text has {n_bytes} bytes, more than the {max} allowed")]
    LongRemark { n_bytes: usize, max: usize },
    #[error("the session already has {max} comments, the most it can have")]
    TooManyComments { max: u32 },
    #[error("there is no comment {number}")]
    NoComment { number: u32, known: Vec<u32> },
    #[error("comment {number} is already {}", resolution.as_str())]
    CommentSettled { number: u32, resolution: Resolution },
}

impl Refusal {
    /// The actions that are possible instead.
    pub fn advice(&self) -> Vec<Action> {
        match self {
            Self::NotNow { possible, .. }
            | Self::OtherPhase { possible, .. }
            | Self::NotApproved { possible, .. } => possible.clone(),
            Self::Applied => vec![Action::Undo],
            Self::NoFeedback | Self::Settled { .. } => vec![Action::Reject],
            Self::Markers { .. } => vec![Action::EditReply, Action::Reject],
            Self::CapTooLow { round, .. } => vec![Action::RaiseCap { rounds: round.saturating_add(1) }],
            Self::WrongOutcome { .. }
            | Self::NotAtGate { .. }
            | Self::NotBound { .. }
            | Self::Verdict { .. }
            | Self::EmptyRemark
            | Self::LongRemark { .. }
            | Self::TooManyComments { .. }
            | Self::NoComment { .. }
            | Self::CommentSettled { .. } => Vec::new(),
        }
    }

    pub(crate) fn not_now(command: &'static str, state: &State) -> Self {
        Self::NotNow { command, situation: situation(state), possible: possible(state) }
    }

    pub(crate) fn other_phase(wanted: Phase, state: &State) -> Self {
        Self::OtherPhase { wanted, situation: situation(state), possible: possible(state) }
    }
}

/// The state of a session, in words.
pub(crate) fn situation(state: &State) -> String {
    let phase = state.phase;
    match &state.step {
        Step::NotCreated => "there is no session yet".to_owned(),
        Step::PromptWanted { phase, .. } => format!("the {phase} prompt has not been written yet"),
        Step::PromptReady => format!("the {phase} prompt is waiting for approval"),
        Step::AskWanted => format!("the {phase} prompt has not been sent yet"),
        Step::Asked { is_free: true } => format!("the {phase} reply is pending"),
        Step::Asked { is_free: false } => {
            format!("the {phase} prompt was sent, but no complete reply arrived")
        }
        Step::AskFailed { .. } => format!("the provider did not answer the {phase} prompt"),
        Step::ReplyReady { problems } if problems.is_empty() => {
            format!("the {phase} reply is waiting for approval")
        }
        Step::ReplyReady { .. } => format!("the {phase} reply has problems"),
        Step::Paused(Pause::IterationCap) => {
            format!("phase {phase} asked for another round, but the limit is reached")
        }
        Step::Paused(Pause::Verdict) => match state.change.verdicts.get(&phase) {
            Some(verdict) => format!("the verdict of phase {phase} is {}", verdict.as_str()),
            None => format!("a verdict stopped the session in phase {phase}"),
        },
        Step::Paused(Pause::NoTarget) => match state.change.verdicts.get(&phase) {
            Some(verdict) => {
                format!("phase {phase} ended with {}, and you decide what comes next", verdict.as_str())
            }
            None => format!("phase {phase} is over, and you decide what comes next"),
        },
        Step::ChecksWanted if state.checks.iter().all(CheckResult::is_passed) => {
            format!("the checks of phase {phase} are running")
        }
        Step::ChecksWanted => format!("the checks of phase {phase} are running, and one failed"),
        Step::Paused(Pause::CheckConsent) => {
            format!("the checks of phase {phase} are waiting for your consent to their commands")
        }
        Step::Paused(Pause::Checks) => format!("the checks of phase {phase} failed"),
        Step::Paused(Pause::Budget) => format!("the {phase} prompt may cost more than the budget allows"),
        Step::Ended => format!("the session is {phase}"),
    }
}
