//! What can be done next, as data; whoever shows it chooses the words.

use crate::state::{Pause, State, Step};

/// Something that a person can do with a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Do the next thing that needs no decision.
    Step,
    /// Go on until a decision is needed.
    Run,
    /// Approve what is at the gate.
    Approve,
    /// Reject it, with feedback.
    Reject,
    /// Edit the reply, then approve it.
    EditReply,
    /// Ask again with the same prompt.
    Retry,
    /// Hand in the reply.
    Respond,
    /// Accept the files in spite of the verdict.
    Accept,
    /// Allow more rounds.
    RaiseCap {
        /// How many there may be at least.
        rounds: u32,
    },
    /// Allow more to be spent.
    RaiseBudget,
    /// Begin anew with the first phase.
    Reopen,
    /// Bring the approved bytes of a file back.
    Restore,
    /// Accept the changes of approved files.
    Rebind,
    /// Copy the code into the project.
    Apply,
    /// Check the journal and the approved files.
    Verify,
    /// Cancel the session.
    Cancel,
}

/// What is possible now, the likeliest first; nothing once a session has ended and its code is applied.
pub fn possible(state: &State) -> Vec<Action> {
    let raise = Action::RaiseCap { rounds: state.round.saturating_add(1) };
    let accept = state.flow.judges_files(state.phase).then_some(Action::Accept);
    match &state.step {
        Step::Ended if state.can_apply() && !state.is_applied && state.has_code() => vec![Action::Apply],
        Step::NotCreated | Step::Ended => Vec::new(),
        Step::PromptWanted { .. } => vec![Action::Step, Action::Run, Action::Cancel],
        Step::AskWanted => vec![Action::Step, Action::Run, Action::Reject, Action::Cancel],
        Step::PromptReady => vec![Action::Approve, Action::Reject, Action::Cancel],
        Step::Asked { is_free: true } => vec![Action::Respond, Action::Cancel],
        Step::Asked { is_free: false } | Step::AskFailed { .. } => {
            vec![Action::Retry, Action::Respond, Action::Cancel]
        }
        Step::ReplyReady { .. } => vec![Action::Approve, Action::Reject, Action::Retry, Action::Cancel],
        Step::Paused(Pause::Budget) => vec![Action::RaiseBudget, Action::Reject, Action::Cancel],
        Step::Paused(Pause::IterationCap) => accept.into_iter().chain([raise, Action::Cancel]).collect(),
        Step::Paused(Pause::Verdict) => {
            [Action::Reopen].into_iter().chain(accept).chain([Action::Cancel]).collect()
        }
    }
}
