//! The tool loop for programs that ask a model by themselves.
//!
//! The engine's own calls go through an exchange; this is the same executor and the same rules, handed one reply at a time.

use std::rc::Rc;

use aiwf_provider::{Payload, Stop, ToolCall, ToolSpec};
use aiwf_session::ToolUse;

use super::rounds::{CutShort, Rounds};
use super::tool_caller::{PhaseTools, ToolCaller};
use crate::ask::toolbox::KeptResults;

/// How a model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStyle {
    /// By its API: it is given a list of tools, and its calls come beside the text.
    Api,
    /// In its text, where [`crate::CliMcpResponseHandler`] finds them.
    Text,
}

/// What became of a reply.
#[derive(Debug)]
pub struct ToolRound {
    /// The calls that were run or refused.
    pub uses: Vec<ToolUse>,
    /// Whether the model is to be asked again; the reply is final otherwise.
    pub asks_again: bool,
}

/// One exchange with a model that has tools.
///
/// A program that asks a model by itself gets one from [`crate::Toolbox::tool_loop`] and hands it each reply:
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

    /// The tools that may be called now, by the names that the model knows them by.
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.caller.callable()
    }

    /// How many rounds of calls were run.
    pub fn n_rounds(&self) -> u32 {
        self.rounds.n_rounds()
    }

    /// Why it ended before the model was done, when it did.
    pub fn cut_short(&self) -> Option<CutShort> {
        self.rounds.cut_short()
    }

    /// What a person should know about how the loop ended.
    pub fn warning(&self) -> Option<String> {
        self.rounds.warning()
    }

    /// Takes a reply: runs what it calls and adds both to the payload, or finds that it is the last one.
    ///
    /// `tool_calls` are those that came by the API; in [`CallStyle::Text`] the calls are read from the text instead. A
    /// call that no policy grants is refused, and the model is told.
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
