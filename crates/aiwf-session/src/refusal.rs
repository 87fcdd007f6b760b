//! Why a command is not possible now, and what is.

use crate::action::{Action, possible};
use crate::checks::CheckResult;
use crate::phase::Phase;
use crate::state::State;
use crate::step::{Pause, Step};

/// Why a command was refused; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session stands where this makes no sense.
    #[error("cannot {command} now: {situation}")]
    NotNow {
        /// The command.
        command: &'static str,
        /// Where the session stands, in words.
        situation: String,
        /// What is possible.
        possible: Vec<Action>,
    },
    /// The session is in another phase.
    #[error("cannot work on phase `{wanted}` now: {situation}")]
    OtherPhase {
        /// The phase that was asked for.
        wanted: Phase,
        /// Where the session stands, in words.
        situation: String,
        /// What is possible.
        possible: Vec<Action>,
    },
    /// Feedback without a word in it.
    #[error("a rejection needs feedback")]
    NoFeedback,
    /// The new cap does not allow another round.
    #[error("the cap must be more than {round} and at most 1000, not {given}")]
    CapTooLow {
        /// The round the session is in.
        round: u32,
        /// The cap given.
        given: u32,
    },
    /// A result that does not fit the phase.
    #[error("a reply in phase `{phase}` gives no {found}")]
    WrongOutcome {
        /// The phase.
        phase: Phase,
        /// What was found.
        found: &'static str,
    },
    /// A reply without the markers of its phase, or with those of another.
    #[error("what phase `{phase}` gives does not fit its `{marker}` markers")]
    Markers {
        /// The phase.
        phase: Phase,
        /// The marker.
        marker: &'static str,
    },
    /// The prompt of the phase was approved; who is asked and with what is settled.
    #[error("the {phase} prompt was approved, so its agent, files and instructions are settled")]
    Settled {
        /// The phase.
        phase: Phase,
    },
    /// A file that is not at the gate.
    #[error("`{path}` does not belong to this gate")]
    NotAtGate {
        /// The file.
        path: String,
    },
    /// A file that no approval is bound to.
    #[error("no approval is bound to `{path}`")]
    NotBound {
        /// The file.
        path: String,
    },
}

impl Refusal {
    /// What can be done instead.
    pub fn advice(&self) -> Vec<Action> {
        match self {
            Self::NotNow { possible, .. } | Self::OtherPhase { possible, .. } => possible.clone(),
            Self::NoFeedback | Self::Settled { .. } => vec![Action::Reject],
            Self::Markers { .. } => vec![Action::EditReply, Action::Reject],
            Self::CapTooLow { round, .. } => vec![Action::RaiseCap { rounds: round.saturating_add(1) }],
            Self::WrongOutcome { .. } | Self::NotAtGate { .. } | Self::NotBound { .. } => Vec::new(),
        }
    }

    pub(crate) fn not_now(command: &'static str, state: &State) -> Self {
        Self::NotNow { command, situation: situation(state), possible: possible(state) }
    }

    pub(crate) fn other_phase(wanted: Phase, state: &State) -> Self {
        Self::OtherPhase { wanted, situation: situation(state), possible: possible(state) }
    }
}

/// Where a session stands, in words.
pub(crate) fn situation(state: &State) -> String {
    let phase = state.phase;
    match &state.step {
        Step::NotCreated => "there is no session yet".to_owned(),
        Step::PromptWanted { phase, .. } => format!("the {phase} prompt is yet to be written"),
        Step::PromptReady => format!("the {phase} prompt waits for approval"),
        Step::AskWanted => format!("the {phase} prompt is yet to be sent"),
        Step::Asked { is_free: true } => format!("the {phase} reply is awaited"),
        Step::Asked { is_free: false } => {
            format!("the {phase} prompt was sent and the reply never arrived whole")
        }
        Step::AskFailed { .. } => format!("the provider did not answer the {phase} prompt"),
        Step::ReplyReady { problems } if problems.is_empty() => {
            format!("the {phase} reply waits for approval")
        }
        Step::ReplyReady { .. } => format!("the {phase} reply has problems"),
        Step::Paused(Pause::IterationCap) => {
            format!("phase {phase} asked for another round, and no more are allowed")
        }
        Step::Paused(Pause::Verdict) => match state.change.verdicts.get(&phase) {
            Some(verdict) => format!("the verdict of phase {phase} is {}", verdict.as_str()),
            None => format!("a verdict stopped the session in phase {phase}"),
        },
        Step::Paused(Pause::NoTarget) => match state.change.verdicts.get(&phase) {
            Some(verdict) => {
                format!("phase {phase} ended with {}, and a person decides what follows", verdict.as_str())
            }
            None => format!("phase {phase} is over, and a person decides what follows"),
        },
        Step::ChecksWanted if state.checks.iter().all(CheckResult::is_passed) => {
            format!("the checks of phase {phase} are running")
        }
        Step::ChecksWanted => format!("the checks of phase {phase} are running, and one failed"),
        Step::Paused(Pause::CheckConsent) => {
            format!("the checks of phase {phase} wait for your consent to their commands")
        }
        Step::Paused(Pause::Checks) => format!("the checks of phase {phase} failed"),
        Step::Paused(Pause::Budget) => format!("the {phase} prompt may cost more than may be spent"),
        Step::Ended => format!("the session is {phase}"),
    }
}
