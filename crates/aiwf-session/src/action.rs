//! What can be done next with a session.

pub use aiwf_advice::Action;

use crate::state::State;
use crate::step::{Pause, Step};

/// The actions that are possible now, most likely first. Empty once the session has ended and its code is applied.
pub fn possible(state: &State) -> Vec<Action> {
    let raise = Action::RaiseCap { rounds: state.round.saturating_add(1) };
    let accept = state.flow.judges_files(state.phase).then_some(Action::Accept);
    match &state.step {
        Step::Ended if state.can_apply() && !state.is_applied && state.has_code() => vec![Action::Apply],
        Step::NotCreated | Step::Ended => Vec::new(),
        Step::PromptWanted { .. } | Step::ChecksWanted => vec![Action::Step, Action::Run, Action::Cancel],
        Step::AskWanted => vec![Action::Step, Action::Run, Action::Reject, Action::Cancel],
        Step::PromptReady => vec![Action::Approve, Action::Reject, Action::Cancel],
        Step::Asked { is_free: true } => vec![Action::Respond, Action::Cancel],
        Step::Asked { is_free: false } | Step::AskFailed { .. } => {
            vec![Action::Retry, Action::Respond, Action::Cancel]
        }
        Step::ReplyReady { .. } => vec![Action::Approve, Action::Reject, Action::Retry, Action::Cancel],
        Step::Paused(Pause::CheckConsent) => vec![Action::AllowChecks, Action::Cancel],
        Step::Paused(Pause::Checks) => vec![Action::Reject, Action::Retry, Action::Accept, Action::Cancel],
        Step::Paused(Pause::Budget) => vec![Action::RaiseBudget, Action::Reject, Action::Cancel],
        Step::Paused(Pause::IterationCap) => accept.into_iter().chain([raise, Action::Cancel]).collect(),
        Step::Paused(Pause::Verdict | Pause::NoTarget) => {
            [Action::Reopen].into_iter().chain(accept).chain([Action::Cancel]).collect()
        }
    }
}
