//! Why a command is not possible now, and what is.

use crate::change::Flow;
use crate::phase::Phase;
use crate::state::{Pause, State, Step};

/// Why a command was refused; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session stands where this makes no sense.
    #[error("cannot {command} now: {situation}")]
    NotNow {
        /// Whether it is a session or a change.
        flow: Flow,
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
    #[error("the cap must be more than {iteration} {}, not {given}", rounds(*flow))]
    CapTooLow {
        /// What is capped.
        flow: Flow,
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
    /// A reply without the markers of its phase, or with those of another.
    #[error("what phase `{}` gives does not fit its `{marker}` markers", phase.as_str())]
    Markers {
        /// The phase.
        phase: Phase,
        /// The marker.
        marker: &'static str,
    },
    /// The prompt of the phase was approved; who is asked and with what is settled.
    #[error("the {} prompt was approved, so its agent, files and instructions are settled", phase.as_str())]
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
    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotNow { possible, flow: Flow::Session, .. } if possible.is_empty() => {
                "`aiwf status` shows the session; nothing can be changed any more".to_owned()
            }
            Self::NotNow { possible, flow: Flow::Change, .. } if possible.is_empty() => {
                "`aiwf change status` shows the change; nothing can be changed any more".to_owned()
            }
            Self::NotNow { possible, .. } => {
                let list: Vec<String> = possible.iter().map(|command| format!("`aiwf {command}`")).collect();
                format!("possible now: {}", list.join(", "))
            }
            Self::NoFeedback => "say what should be different with `--feedback TEXT`".to_owned(),
            Self::CapTooLow { flow: Flow::Session, iteration, .. } => {
                format!("`aiwf approve --max-iterations {}` allows one more", iteration + 1)
            }
            Self::CapTooLow { flow: Flow::Change, iteration, .. } => {
                format!("`aiwf change approve NAME --max-rounds {}` allows one more", iteration + 1)
            }
            Self::Settled { .. } => {
                "`aiwf change reject NAME --feedback TEXT` asks for another prompt".to_owned()
            }
            Self::Markers { .. } => {
                "mend the reply, or `aiwf change reject NAME --feedback TEXT` asks for another".to_owned()
            }
            Self::WrongOutcome { .. } | Self::NotAtGate { .. } | Self::NotBound { .. } => {
                "`aiwf status` shows what the session waits for".to_owned()
            }
        }
    }

    pub(crate) fn not_now(command: &'static str, state: &State) -> Self {
        Self::NotNow { flow: state.flow(), command, situation: situation(state), possible: possible(state) }
    }
}

/// What a cap counts.
fn rounds(flow: Flow) -> &'static str {
    match flow {
        Flow::Session => "iterations",
        Flow::Change => "rounds",
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
        Step::Paused(Pause::IterationCap) => match state.flow() {
            Flow::Session => "the last allowed iteration failed its review".to_owned(),
            Flow::Change => format!("the {phase} asked for another round, and no more are allowed"),
        },
        Step::Paused(Pause::Verdict) => format!("the {phase} said no"),
        Step::Paused(Pause::Budget) => format!("the {phase} prompt may cost more than may be spent"),
        Step::Ended => format!("the {} is {phase}", state.flow().as_str()),
    }
}

/// The commands that are possible, as they are typed after `aiwf`.
pub(crate) fn possible(state: &State) -> Vec<&'static str> {
    match state.flow() {
        Flow::Session => possible_in_session(state),
        Flow::Change => possible_in_change(state),
    }
}

fn possible_in_session(state: &State) -> Vec<&'static str> {
    match &state.step {
        Step::Unborn | Step::Ended => Vec::new(),
        Step::PromptWanted { .. } => vec!["step", "run", "cancel"],
        Step::AskWanted => vec!["step", "run", "reject", "cancel"],
        Step::PromptReady => vec!["approve", "reject", "cancel"],
        Step::Asked { is_free: true } => vec!["respond", "cancel"],
        Step::Asked { is_free: false } | Step::AskFailed { .. } => vec!["retry", "respond", "cancel"],
        Step::ReplyReady { .. } => vec!["approve", "reject", "retry", "cancel"],
        Step::Paused(Pause::Budget) => vec!["run", "reject", "cancel"],
        Step::Paused(Pause::IterationCap | Pause::Verdict) => {
            vec!["approve --accept", "approve --max-iterations N", "cancel"]
        }
    }
}

fn possible_in_change(state: &State) -> Vec<&'static str> {
    const APPROVE: &str = "change approve";
    const ACCEPT: &str = "change approve --accept";
    const CANCEL: &str = "change cancel";
    const REJECT: &str = "change reject";
    const RESPOND: &str = "change respond";
    const RETRY: &str = "change retry";
    const RUN: &str = "change run";
    let phase = match state.phase {
        Phase::Challenge => "change challenge",
        Phase::Implement => "change implement",
        Phase::Review => "change review",
        Phase::Archive => "change archive",
        Phase::Initialized
        | Phase::Planning
        | Phase::Generating
        | Phase::Reviewing
        | Phase::Revising
        | Phase::Plan
        | Phase::Complete
        | Phase::Cancelled => "change plan",
    };
    let accept = (state.phase == Phase::Review).then_some(ACCEPT);
    match &state.step {
        Step::Ended if state.can_apply() && !state.is_applied => vec!["change apply"],
        Step::Unborn | Step::Ended => Vec::new(),
        Step::PromptWanted { .. } => vec![phase, RUN, CANCEL],
        Step::AskWanted => vec![phase, RUN, REJECT, CANCEL],
        Step::PromptReady => vec![APPROVE, REJECT, CANCEL],
        Step::Asked { is_free: true } => vec![RESPOND, CANCEL],
        Step::Asked { is_free: false } | Step::AskFailed { .. } => vec![RETRY, RESPOND, CANCEL],
        Step::ReplyReady { .. } => vec![APPROVE, REJECT, RETRY, CANCEL],
        Step::Paused(Pause::Budget) => vec![RUN, REJECT, CANCEL],
        Step::Paused(Pause::IterationCap) => {
            ["change approve --max-rounds N"].into_iter().chain(accept).chain([CANCEL]).collect()
        }
        Step::Paused(Pause::Verdict) => ["change plan"].into_iter().chain(accept).chain([CANCEL]).collect(),
    }
}
