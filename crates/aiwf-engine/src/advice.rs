//! Suggests what to do next with a session, most likely first.
//!
//! The state machine returns possible actions ([`Action`]); this module picks the most useful ones. Surfaces word them.

pub use aiwf_advice::{Action, Advice, Part, Subject};
use aiwf_session::{Pause, Phase, State, Step, possible};

/// Lists what is possible after a refusal.
pub(crate) fn possible_now(actions: &[Action]) -> Advice {
    if actions.is_empty() {
        return Advice::from(Action::Status).then(" shows the session; it can no longer change");
    }
    let mut advice = Advice::from("possible now: ");
    for (place, action) in actions.iter().enumerate() {
        if place > 0 {
            advice = advice.then(", ");
        }
        advice = advice.then(action.clone());
    }
    advice
}

fn next_actions(state: &State, is_stale: bool) -> Vec<Action> {
    if is_stale && state.phase != Phase::CANCELLED {
        return vec![Action::Restore(None), Action::Rebind];
    }
    if state.gate_over_budget {
        return vec![Action::RaiseBudget, Action::Approve];
    }
    match &state.step {
        Step::PromptWanted { .. } | Step::AskWanted | Step::ChecksWanted => vec![Action::Run],
        Step::PromptReady => vec![Action::Approve],
        Step::Asked { is_free: false } | Step::AskFailed { .. } => vec![Action::Retry],
        Step::ReplyReady { problems } if problems.is_empty() => vec![Action::Approve],
        Step::ReplyReady { .. } => vec![Action::EditReply, Action::Reject],
        Step::Ended if is_left_uncommitted(state) => vec![Action::Apply],
        Step::Ended if possible(state).is_empty() => vec![Action::Verify],
        Step::Paused(Pause::Budget) => vec![Action::RaiseBudget],
        Step::NotCreated | Step::Asked { is_free: true } | Step::Paused(_) | Step::Ended => {
            possible(state).into_iter().filter(|action| *action != Action::Cancel).collect()
        }
    }
}

/// Whether the files of a session that asked for a commit are written, and git refused the commit.
fn is_left_uncommitted(state: &State) -> bool {
    let change = state.setup.as_ref().and_then(|setup| setup.change.as_ref());
    let wants_commit =
        change.is_some_and(|change| change.delivery.commits && change.delivery.branch.is_none());
    wants_commit && state.is_applied && state.commits.is_empty()
}

pub(crate) fn next(id: &str, state: &State, is_stale: bool) -> Advice {
    let advice = if !is_stale && state.step == (Step::Asked { is_free: true }) {
        Advice::from("save the reply, then ").then(Action::Approve)
    } else {
        Advice::any_of(next_actions(state, is_stale))
    };
    advice.about_session(id)
}
