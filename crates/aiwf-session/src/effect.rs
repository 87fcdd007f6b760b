//! What the engine has to do next, as data.

use crate::phase::{Phase, Stage};
use crate::setup::Approver;
use crate::state::State;
use crate::step::Step;

/// Something to do that needs no decision of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Build a prompt, write its files, report them.
    WritePrompt {
        /// The phase it is for.
        phase: Phase,
        /// The iteration it is for.
        iteration: u32,
    },
    /// The gate is open: approve what lies there.
    PassGate {
        /// The stage.
        stage: Stage,
    },
    /// Let a provider judge what lies at the gate.
    Judge {
        /// The stage.
        stage: Stage,
        /// The provider.
        provider: String,
    },
    /// Send the approved prompt, take the reply.
    Ask {
        /// The provider.
        provider: String,
    },
    /// Look whether the reply has arrived; asking again is free.
    AwaitReply {
        /// The provider.
        provider: String,
    },
    /// Run the project's checks on what the phase gave.
    RunChecks,
    /// Finish or undo copying code into the project.
    SettleApply,
}

/// What to do next; nothing when a person or a reply is awaited, or when all is done.
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
