//! The tool loop for programs that ask a model themselves.
//!
//! The engine's own calls use an exchange. This is the same executor with the same rules, for one reply at a time.

use std::rc::Rc;

use aiwf_provider::{Payload, Stop, ToolCall, ToolSpec};
use aiwf_session::ToolUse;

use super::rounds::{CutShort, Rounds};
use super::tool_caller::{PhaseTools, ToolCaller};
use crate::ask::toolbox::KeptResults;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStyle {
    /// Through its API: it gets a list of tools, and its calls are separate from the text.
    Api,
    /// In its text, parsed by [`crate::CliMcpResponseHandler`].
    Text,
}

/// The result of handling a reply.
#[derive(Debug)]
pub struct ToolRound {
    /// Calls that were run or refused.
    pub uses: Vec<ToolUse>,
    /// Whether to ask the model again; otherwise the reply is final.
    pub asks_again: bool,
}

/// One exchange with a model that has tools.
///
/// A program that asks a model itself gets one from [`crate::Toolbox::tool_loop`] and passes it each reply:
///
/// ```ignore
/// let mut tool_loop = toolbox.tool_loop("reply", Access::Write, CallStyle::Text, None)?;
/// let answer = loop {
///     let reply = ask(&payload)?;
///     if !tool_loop.take(reply.clone(), &[], &mut payload).asks_again {
///         break reply;
///     }
/// };
/// ```
#[derive(Debug)]
pub struct ToolLoop {
    caller: ToolCaller,
    rounds: Rounds,
}

impl ToolLoop {
    pub(crate) fn new(
        tools: Rc<PhaseTools>,
        max_rounds: Option<u32>,
        results: KeptResults,
        stop: &Stop,
    ) -> Self {
        let caller = ToolCaller::new(tools, results, stop);
        let rounds = caller.rounds(max_rounds);
        Self { caller, rounds }
    }

    /// The callable tools, under the names that the model sees.
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.caller.callable()
    }

    pub fn n_rounds(&self) -> u32 {
        self.rounds.n_rounds()
    }

    /// Why it ended before the model was done, if it did.
    pub fn cut_short(&self) -> Option<CutShort> {
        self.rounds.cut_short()
    }

    /// A warning for the user about how the loop ended.
    pub fn warning(&self) -> Option<String> {
        self.rounds.warning()
    }

    /// Handles a reply: runs its calls and adds both to the payload, or finds that it is final.
    ///
    /// `tool_calls` are those made through the API; with [`CallStyle::Text`] calls are read from the text instead. A
    /// call that the policy does not grant is refused, and the model is told.
    pub fn take(&mut self, text: String, tool_calls: &[ToolCall], payload: &mut Payload) -> ToolRound {
        let round = self.rounds.n_rounds() + 1;
        let last = ToolRound { uses: Vec::new(), asks_again: false };
        let Some(wanted) = self.caller.requested_calls(text, tool_calls.to_vec(), payload, round) else {
            return last;
        };
        if !self.rounds.begin_round() {
            return last;
        }
        let done = self.caller.run(wanted, payload);
        let asks_again = self.rounds.end_round(&done.results) && self.rounds.may_ask_again();
        ToolRound { uses: done.uses, asks_again }
    }
}
