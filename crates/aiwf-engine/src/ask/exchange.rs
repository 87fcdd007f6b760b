//! One exchange with a provider, for any asker: a phase of a session, a judge at a gate, `prompt send`, a run.
//!
//! The order of events is fixed here only. What cannot be sent is refused first, then what exceeds the budget. The
//! journal records that a request is sent before it is sent. A reply is complete on disk before it is recorded, and
//! results of tools are recorded before the next request. Each [`Asker`] supplies what differs: where the bytes go, and
//! how events are recorded.

use std::ops::ControlFlow;
use std::rc::Rc;

use aiwf_config::Config;
use aiwf_provider::{AskError, Payload, ToolCall};
use aiwf_session::{Call, Total};

use super::budget;
use super::call::{CallFailure, CallFiles, CallOutcome, Order};
use super::providers::SharedProvider;
use super::repeats::CallResult;
use super::rounds::Rounds;
use crate::Engine;
use crate::session::session_error::SessionError;

/// Why a request was not sent.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The request is invalid for this provider.
    Unsendable(SessionError),
    /// It may exceed the budget.
    OverBudget(String),
    /// The user stopped the exchange.
    Stopped(AskError),
}

impl From<Refusal> for SessionError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unsendable(error) => error,
            Refusal::OverBudget(message) => Self::OverLimit { message },
            Refusal::Stopped(error) => error.into(),
        }
    }
}

/// A request about to be sent.
#[derive(Debug)]
pub(crate) struct OutgoingRequest<'a> {
    pub(crate) provider: &'a str,
    pub(crate) payload: &'a Payload,
    pub(crate) payload_sha256: String,
    pub(crate) is_free: bool,
}

/// A reply that is complete on disk and not recorded yet.
#[derive(Debug)]
pub(crate) struct ArrivedReply {
    pub(crate) call: Box<Call>,
    /// Calls made through the API's own tool protocol.
    pub(crate) tool_calls: Vec<ToolCall>,
    /// Whether the agent wrote to the response path.
    pub(crate) has_written: bool,
    pub(crate) files: CallFiles,
    /// The round that its calls would start, from 1.
    pub(crate) round: u32,
}

/// The result of an asker's callback: a value to continue with, or the end of the exchange.
pub(crate) type AskerResult<A, T = ()> = Result<ControlFlow<<A as Asker>::End, T>, <A as Asker>::Error>;

/// The owner of an exchange. When a method that starts with `on` returns, the event is recorded.
pub(crate) trait Asker: Sized {
    /// The calls of a reply, in the form that the asker runs.
    type Calls;
    /// The result of the exchange.
    type End;
    type Error: From<SessionError>;

    fn config(&self) -> &Config;

    /// Spent before the next call; `unsettled` is a call that is not recorded yet.
    fn spent(&self, unsettled: Option<&Call>) -> Total;

    /// The files for the next call.
    fn files(&mut self) -> Result<CallFiles, Self::Error>;

    /// The request was refused and nothing was sent.
    fn on_refused(&mut self, refusal: Refusal) -> Result<Self::End, Self::Error>;

    /// The request is about to be sent.
    fn on_sent(&mut self, sending: &OutgoingRequest<'_>) -> Result<(), Self::Error>;

    /// A person will provide the reply.
    fn on_person(&mut self, files: &CallFiles) -> Result<Self::End, Self::Error>;

    fn on_failed(&mut self, failure: CallFailure, files: &CallFiles) -> Result<Self::End, Self::Error>;

    /// A reply arrived. Returns its calls; `None` if it is the final reply.
    fn on_arrived(
        &mut self,
        arrived: &mut ArrivedReply,
        sent: &Payload,
    ) -> AskerResult<Self, Option<Self::Calls>>;

    /// The reply is final.
    fn on_reply(&mut self, arrived: ArrivedReply, tool_loop: &Rounds) -> Result<Self::End, Self::Error>;

    /// Runs the calls of a reply and records their results; adds them to the payload if it is sent again.
    fn on_calls(
        &mut self,
        calls: Self::Calls,
        payload: &mut Rc<Payload>,
    ) -> AskerResult<Self, Vec<CallResult>>;

    /// The results are recorded, and another request is allowed.
    fn after_calls(&mut self, arrived: &mut ArrivedReply) -> AskerResult<Self> {
        let _ = arrived;
        Ok(ControlFlow::Continue(()))
    }

    /// The next request; by default the same one with the additions.
    fn next_order(&mut self, order: Order) -> AskerResult<Self, Order> {
        Ok(ControlFlow::Continue(order))
    }

    /// The provider is about to be asked again; `call` produced the previous reply.
    fn on_asked_again(&mut self, sending: &OutgoingRequest<'_>, call: Box<Call>) -> Result<(), Self::Error> {
        drop(call);
        self.on_sent(sending)
    }

    /// The provider is not asked again; `call` produced the previous reply.
    fn on_not_asked_again(&mut self, refusal: Refusal, call: Box<Call>) -> Result<Self::End, Self::Error> {
        drop(call);
        self.on_refused(refusal)
    }
}

/// An exchange with an opened provider.
pub(crate) struct Exchange<'e> {
    engine: &'e Engine,
    provider: String,
    opened: SharedProvider,
    tool_loop: Rounds,
}

/// Continues with the value, or ends the exchange.
macro_rules! go_on {
    ($flow:expr) => {
        match $flow {
            ControlFlow::Continue(value) => value,
            ControlFlow::Break(end) => return Ok(end),
        }
    };
}

impl<'e> Exchange<'e> {
    /// Opens the provider; the exchange opens no other.
    pub(crate) fn open(
        engine: &'e Engine,
        config: &Config,
        provider: &str,
        tool_loop: Rounds,
    ) -> Result<Self, SessionError> {
        let opened = engine.open_provider(provider, config)?;
        Ok(Self { engine, provider: provider.to_owned(), opened, tool_loop })
    }

    /// Whether asking again costs nothing and changes nothing.
    pub(crate) fn is_free(&self) -> bool {
        self.opened.is_free()
    }

    pub(crate) fn refuse(&self, order: &Order) -> Result<(), SessionError> {
        order.refuse(self.opened.as_ref(), self.engine)
    }

    /// Sends a request and handles replies until the final one.
    pub(crate) fn run<A: Asker>(self, asker: &mut A, order: Order) -> Result<A::End, A::Error> {
        if let Some(refusal) = self.refusal(asker, &order, None)? {
            return asker.on_refused(refusal);
        }
        asker.on_sent(&self.sending(&order))?;
        self.resume(asker, order)
    }

    /// Like [`Self::run`], for a request that is already recorded.
    pub(crate) fn resume<A: Asker>(mut self, asker: &mut A, mut order: Order) -> Result<A::End, A::Error> {
        loop {
            let files = asker.files()?;
            let made = order.make(&self.provider, self.opened.as_ref(), &files, self.engine, asker.config());
            let mut arrived = match made {
                Ok(CallOutcome::AwaitsPerson) => return asker.on_person(&files),
                Ok(CallOutcome::Replied { call, tool_calls, has_written }) => {
                    let round = self.tool_loop.n_rounds() + 1;
                    ArrivedReply { call, tool_calls, has_written, files, round }
                }
                Err(failure) => return asker.on_failed(failure, &files),
            };
            let calls = go_on!(asker.on_arrived(&mut arrived, &order.payload)?);
            let Some(calls) = calls else { return asker.on_reply(arrived, &self.tool_loop) };
            if !self.tool_loop.begin_round() {
                return asker.on_reply(arrived, &self.tool_loop);
            }
            let results = go_on!(asker.on_calls(calls, &mut order.payload)?);
            if !self.tool_loop.end_round(&results) {
                return asker.on_reply(arrived, &self.tool_loop);
            }
            go_on!(asker.after_calls(&mut arrived)?);
            if !self.tool_loop.may_ask_again() {
                return asker.on_reply(arrived, &self.tool_loop);
            }
            if self.engine.call_context().stop.is_raised() {
                let stopped = AskError::Stopped { provider: self.provider };
                return asker.on_not_asked_again(Refusal::Stopped(stopped), arrived.call);
            }
            order = go_on!(asker.next_order(order)?);
            if let Some(refusal) = self.refusal(asker, &order, Some(&arrived.call))? {
                return asker.on_not_asked_again(refusal, arrived.call);
            }
            asker.on_asked_again(&self.sending(&order), arrived.call)?;
        }
    }

    fn sending<'a>(&'a self, order: &'a Order) -> OutgoingRequest<'a> {
        OutgoingRequest {
            provider: &self.provider,
            payload: &order.payload,
            payload_sha256: order.payload.sha256(),
            is_free: self.opened.is_free(),
        }
    }

    fn refusal<A: Asker>(
        &self,
        asker: &A,
        order: &Order,
        unsettled: Option<&Call>,
    ) -> Result<Option<Refusal>, SessionError> {
        if let Err(error) = self.refuse(order) {
            return Ok(Some(Refusal::Unsendable(error)));
        }
        if self.opened.is_free() {
            return Ok(None);
        }
        let (spent, settings) = (asker.spent(unsettled), self.engine.settings());
        let refused = budget::refuse(&self.provider, &order.payload, &spent, asker.config(), settings)?;
        Ok(refused.map(Refusal::OverBudget))
    }
}
