//! What the events of a reply add up to, whichever API sent them.
//!
//! Each API folds its own events into a [`Stream`]; text is not kept here but handed on as it arrives.

use serde_json::Value;

use super::calls::Calls;
use super::fault::Fault;
use crate::ask::Usage;
use crate::payload::Payload;

/// Why a reply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The model was done, or wants tools used.
    Done,
    /// It reached the limit of output tokens.
    OutputLimit,
    /// The model reads no more than it has.
    WindowFull,
    /// It, or a filter, refused; in the API's words.
    Refused(String),
    /// It made a call that cannot be read, or stopped half way; in the API's words.
    Broken(String),
    /// A reason that is not known here; in the API's words.
    Other(String),
}

/// What cannot be folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FoldError {
    /// The API reported a failure.
    Fault(Fault),
    /// The tool calls are larger than they may be.
    CallsTooLarge,
    /// There are more tool calls than there may be.
    TooManyCalls,
}

/// What arrived of a reply, its text apart.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) usage: Usage,
    /// Anthropic counts what went into its cache apart; it is part of the input.
    pub(super) uncached: Option<u64>,
    pub(super) cache_written: Option<u64>,
    pub(super) model: Option<String>,
    pub(super) calls: Calls,
    pub(super) ending: Option<Ending>,
    /// Whether the API said that this is all of the reply.
    pub(super) is_whole: bool,
    /// Whether nothing follows that is worth reading.
    pub(super) is_over: bool,
}

impl Stream {
    /// Nothing has arrived yet.
    pub(super) fn of(payload: &Payload) -> Self {
        Self { calls: Calls::after(payload), ..Self::default() }
    }

    /// What the call cost, when the API said anything about it.
    pub(super) fn usage(&self) -> Option<Usage> {
        (self.usage != Usage::default()).then(|| self.usage.clone())
    }

    /// Keeps the model's name the first time it is said.
    pub(super) fn name_model(&mut self, name: Option<&Value>) {
        if self.model.is_none() {
            self.model = name.and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned);
        }
    }
}

/// A count, when the event has it.
pub(super) fn count(object: Option<&Value>, name: &str) -> Option<u64> {
    object?.get(name)?.as_u64()
}

/// A text, when the event has it.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}
