//! Why a command is not possible now, and what is.

use crate::phase::Phase;
use crate::state::{Pause, State, Step};

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
        /// The commands that are possible.
        possible: Vec<&'static str>,
    },
    /// Feedback without a word in it.
    #[error("a rejection needs feedback")]
    NoFeedback,
    /// The new cap does not allow another iteration.
    #[error("the cap must be more than {iteration} iterations, not {given}")]
    CapTooLow {
        /// The iteration the session is at.
        iteration: u32,
        /// The cap given.
        given: u32,
    },
    /// A result that does not fit the phase.
    #[error("a reply in phase `{}` gives no {found}", phase.as_str())]
    WrongOutcome {
        /// The phase.
        phase: Phase,
        /// What was found.
        found: &'static str,
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
    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotNow { possible, .. } if possible.is_empty() => {
                "`aiwf status` shows the session; nothing can be changed any more".to_owned()
            }
            Self::NotNow { possible, .. } => {
                let list: Vec<String> = possible.iter().map(|command| format!("`aiwf {command}`")).collect();
                format!("possible now: {}", list.join(", "))
            }
            Self::NoFeedback => "say what should be different with `--feedback TEXT`".to_owned(),
            Self::CapTooLow { iteration, .. } => format!("set `max_iterations` to {} or more", iteration + 1),
            Self::WrongOutcome { .. } | Self::NotAtGate { .. } | Self::NotBound { .. } => {
                "`aiwf status` shows what the session waits for".to_owned()
            }
        }
    }

    pub(crate) fn not_now(command: &'static str, state: &State) -> Self {
        Self::NotNow { command, situation: situation(state), possible: possible(state) }
    }
}

/// Where a session stands, in words.
pub(crate) fn situation(state: &State) -> String {
    let phase = state.phase.as_str();
    match &state.step {
        Step::Unborn => "there is no session yet".to_owned(),
        Step::PromptWanted { phase, .. } => format!("the {} prompt is yet to be written", phase.as_str()),
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
        Step::Paused(Pause::IterationCap) => "the last allowed iteration failed its review".to_owned(),
        Step::Paused(Pause::Budget) => format!("the {phase} prompt may cost more than may be spent"),
        Step::Ended => format!("the session is {phase}"),
    }
}

/// The commands that are possible.
pub(crate) fn possible(state: &State) -> Vec<&'static str> {
    match &state.step {
        Step::Unborn | Step::Ended => Vec::new(),
        Step::PromptWanted { .. } => vec!["step", "run", "cancel"],
        Step::AskWanted => vec!["step", "run", "reject", "cancel"],
        Step::PromptReady => vec!["approve", "reject", "cancel"],
        Step::Asked { is_free: true } => vec!["respond", "cancel"],
        Step::Asked { is_free: false } | Step::AskFailed { .. } => vec!["retry", "respond", "cancel"],
        Step::ReplyReady { .. } => vec!["approve", "reject", "retry", "cancel"],
        Step::Paused(Pause::Budget) => vec!["run", "reject", "cancel"],
        Step::Paused(Pause::IterationCap) => vec!["approve --accept", "approve --max-iterations N", "cancel"],
    }
}
