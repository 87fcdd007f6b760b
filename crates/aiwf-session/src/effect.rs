//! What the engine must do next, as data.

use crate::phase::{Phase, Stage};
use crate::setup::Approver;
use crate::state::State;
use crate::step::Step;

/// The next step, if it needs no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Build a prompt, write its files, report them.
    WritePrompt { phase: Phase, iteration: u32 },
    /// Approve what is at a skipped gate.
    PassGate { stage: Stage },
    /// Let a provider judge what is at the gate.
    Judge { stage: Stage, provider: String },
    /// Send the approved prompt and record the reply.
    Ask { provider: String },
    /// Look for the reply file; asking again is free.
    AwaitReply { provider: String },
    /// Run the project's checks on the results of the phase.
    RunChecks,
    /// Finish an interrupted apply, or roll it back.
    SettleApply,
}

/// Returns the next effect; `None` if a person or a reply is needed, or the session has ended.
pub fn next_effect(state: &State) -> Option<Effect> {
    if state.applying.is_some() {
        return Some(Effect::SettleApply);
    }
    state.setup.as_ref()?;
    let at_gate = |stage: Stage| match state.approver() {
        Approver::Manual => None,
        Approver::Skip => Some(Effect::PassGate { stage }),
        Approver::Ai(_) if state.gate_over_budget => None,
        Approver::Ai(provider) => Some(Effect::Judge { stage, provider: provider.clone() }),
    };
    let provider = || state.provider(state.phase).to_owned();
    match &state.step {
        Step::PromptWanted { phase, iteration } => {
            Some(Effect::WritePrompt { phase: *phase, iteration: *iteration })
        }
        Step::PromptReady => at_gate(Stage::Prompt),
        Step::AskWanted => Some(Effect::Ask { provider: provider() }),
        Step::Asked { is_free: true } => Some(Effect::AwaitReply { provider: provider() }),
        Step::ReplyReady { .. } => at_gate(Stage::Response),
        Step::ChecksWanted => Some(Effect::RunChecks),
        Step::NotCreated
        | Step::Asked { is_free: false }
        | Step::AskFailed { .. }
        | Step::Paused(_)
        | Step::Ended => None,
    }
}
