//! What can be done next, in the words of the command line.
//!
//! The machine says what is possible as data ([`Action`]); this is the one place that turns it into commands.

use aiwf_session::{Action, Pause, Phase, State, Step, possible};

/// The command for an action; `id` names the session where the command line cannot.
fn command(action: &Action, id: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!(" {id}") };
    match action {
        Action::Step => format!("aiwf step{id}"),
        Action::Run => format!("aiwf run{id}"),
        Action::Approve => format!("aiwf approve{id}"),
        Action::Reject | Action::Reopen => format!("aiwf reject{id} --feedback TEXT"),
        Action::EditReply => format!("edit the reply and aiwf approve{id}"),
        Action::Retry => format!("aiwf retry{id}"),
        Action::Respond => format!("aiwf respond{id} --file REPLY"),
        Action::Accept => format!("aiwf approve{id} --accept"),
        Action::RaiseCap { rounds } => format!("aiwf approve{id} --max-iterations {rounds}"),
        Action::RaiseBudget => format!("raise `[budget]` in .aiwf/config.toml, then aiwf run{id}"),
        Action::Restore => format!("aiwf restore{id} FILE"),
        Action::Rebind => format!("aiwf approve{id} --rebind"),
        Action::Apply => format!("aiwf apply{id}"),
        Action::Verify => format!("aiwf verify{id}"),
        Action::Cancel => format!("aiwf cancel{id}"),
    }
}

/// A hint that lists what is possible.
pub(crate) fn hint(actions: &[Action]) -> String {
    if actions.is_empty() {
        return "`aiwf status ID` shows the session; nothing can be changed any more".to_owned();
    }
    let list: Vec<String> = actions.iter().map(|action| format!("`{}`", command(action, ""))).collect();
    format!("possible now: {}", list.join(", "))
}

/// What to do next, likeliest first.
pub(crate) fn next_actions(state: &State, is_stale: bool) -> Vec<Action> {
    if is_stale && state.phase != Phase::CANCELLED {
        return vec![Action::Restore, Action::Rebind];
    }
    if state.gate_over_budget {
        return vec![Action::RaiseBudget, Action::Approve];
    }
    match &state.step {
        Step::PromptWanted { .. } | Step::AskWanted => vec![Action::Run],
        Step::PromptReady => vec![Action::Approve],
        Step::Asked { is_free: false } | Step::AskFailed { .. } => vec![Action::Retry],
        Step::ReplyReady { problems } if problems.is_empty() => vec![Action::Approve],
        Step::ReplyReady { .. } => vec![Action::EditReply, Action::Reject],
        Step::Ended if possible(state).is_empty() => vec![Action::Verify],
        Step::Paused(Pause::Budget) => vec![Action::RaiseBudget],
        Step::NotCreated | Step::Asked { is_free: true } | Step::Paused(_) | Step::Ended => {
            possible(state).into_iter().filter(|action| *action != Action::Cancel).collect()
        }
    }
}

/// What to type next.
pub(crate) fn next(id: &str, state: &State, is_stale: bool) -> String {
    if !is_stale && state.step == (Step::Asked { is_free: true }) {
        return format!("save the reply, then aiwf approve {id}");
    }
    let actions = next_actions(state, is_stale);
    actions.iter().map(|action| command(action, id)).collect::<Vec<_>>().join(", or ")
}
