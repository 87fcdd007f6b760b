//! Reads a reply while it arrives: bytes → events → text for the sink, and how it all ended.
//!
//! Text goes to the sink piece by piece and is not kept, so a reply of any size takes the same memory.

use std::time::{Duration, Instant};

use aiwf_advice::{Action, Advice};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::api::Api;
use super::calls::{MAX_CALLS, MAX_CALLS_BYTES};
use super::fault::fault_of_body;
use super::retry::{Failure, Retry};
use super::sse::{EventTooLarge, Events, MAX_EVENT_BYTES};
use super::stream::{Ending, FoldError, Stream};
use super::transport::{Transport, cause, text};
use crate::ask::{Reply, Timings, Usage};
use crate::ask_error::AskError;
use crate::limit::{Clock, wait_of_text};
use crate::payload::Payload;
use crate::sink::{Progress, Sink};

/// How long the end of a body is waited for after the last event of a reply.
const MAX_END_WAIT: Duration = Duration::from_millis(300);

/// Reads the replies of one call, of which at most one delivers anything.
pub(super) struct Reading<'a, 's> {
    pub(super) transport: &'a Transport<'a>,
    pub(super) api: &'a Api,
    pub(super) payload: &'a Payload,
    pub(super) sink: &'s mut dyn Sink,
    pub(super) max_bytes: u64,
    pub(super) max_output_tokens: u64,
    pub(super) n_bytes: u64,
    pub(super) has_words: bool,
    pub(super) timings: Timings,
}

enum Trouble {
    EventTooLarge,
    Failure(Failure),
}

impl From<EventTooLarge> for Trouble {
    fn from(EventTooLarge: EventTooLarge) -> Self {
        Self::EventTooLarge
    }
}

impl<E: Into<Failure>> From<E> for Trouble {
    fn from(failure: E) -> Self {
        Self::Failure(failure.into())
    }
}

impl Reading<'_, '_> {
    /// Reads the events of an answer until the reply is whole.
    pub(super) async fn read(&mut self, response: Response, attempt_at: Instant) -> Result<Reply, Failure> {
        if let Some(kind) = other_than_events(&response) {
            return Err(self.no_events(response, &kind).await);
        }
        let mut stream = Stream::of(self.payload);
        let broken = match self.read_events(response, attempt_at, &mut stream).await {
            Ok(broken) => broken,
            Err(Trouble::Failure(failure)) => return Err(failure),
            Err(Trouble::EventTooLarge) => {
                return Err(self
                    .malformed(&format!("an event is larger than {MAX_EVENT_BYTES} bytes"))
                    .into());
            }
        };
        self.timings.total = self.transport.watch.started_at.elapsed();
        self.conclude(stream, broken)
    }

    /// Gives what broke the connection, if it did not end as it should.
    async fn read_events(
        &mut self,
        mut response: Response,
        attempt_at: Instant,
        stream: &mut Stream,
    ) -> Result<Option<String>, Trouble> {
        let watch = self.transport.watch;
        let mut events = Events::default();
        let mut deadline = watch.first_byte(attempt_at);
        let broken = loop {
            match watch.until(deadline, response.chunk()).await? {
                Ok(Some(bytes)) => {
                    self.timings.first_byte.get_or_insert_with(|| watch.started_at.elapsed());
                    deadline = watch.total();
                    events.push(&bytes, |data| self.take(stream, data).map_err(Trouble::Failure))?;
                    if stream.is_over {
                        read_to_end(response).await;
                        return Ok(None);
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(cause(&error)),
            }
        };
        events.end(|data| {
            // What a cut left of an event is no JSON, and says nothing that the cut does not.
            let is_cut = data != "[DONE]" && serde_json::from_str::<Value>(data).is_err();
            if is_cut { Ok(()) } else { self.take(stream, data).map_err(Trouble::Failure) }
        })?;
        Ok(broken)
    }

    /// Folds an event and hands its text over.
    fn take(&mut self, stream: &mut Stream, data: &str) -> Result<(), Failure> {
        if data.trim() == "[DONE]" {
            stream.is_whole = true;
            stream.is_over = true;
        }
        if stream.is_over || data.trim().is_empty() {
            return Ok(());
        }
        let event: Value = serde_json::from_str(data)
            .map_err(|error| self.malformed(&format!("an event is not JSON ({error}): {data}")))?;
        let mut text = String::new();
        let folded = (self.api.fold)(stream, &event, &mut text);
        self.deliver(&text)?;
        folded.map_err(|error| self.not_folded(error, stream, data))
    }

    fn deliver(&mut self, text: &str) -> Result<(), AskError> {
        if text.is_empty() {
            return Ok(());
        }
        let n_bytes = self.n_bytes.saturating_add(text.len() as u64);
        if n_bytes > self.max_bytes {
            return Err(AskError::TooLarge { provider: self.provider(), limit: self.max_bytes });
        }
        self.sink.text(text).map_err(AskError::Sink)?;
        self.n_bytes = n_bytes;
        self.has_words = self.has_words || text.contains(|character: char| !character.is_whitespace());
        self.sink.progress(Progress::Bytes(n_bytes));
        Ok(())
    }

    fn not_folded(&self, error: FoldError, stream: &Stream, data: &str) -> Failure {
        match error {
            FoldError::Fault(fault) => {
                let message = self.transport.shown(&fault.message);
                if self.n_bytes > 0 {
                    return self.cut(message, stream.usage()).into();
                }
                let wait = if fault.is_limit { wait_of_text(data, &Clock::of_system()) } else { None };
                let watch = self.transport.watch;
                let (retry, advice) = match wait {
                    _ if !fault.is_passing => (Retry::Never, ask_again_when_fixed()),
                    Some(wait) if !watch.may_wait(wait) => {
                        return watch.limit_reached(wait, message, stream.usage()).into();
                    }
                    Some(wait) if !wait.is_zero() => (Retry::After(wait), wait_and_retry()),
                    Some(_) | None => (Retry::BackOff, wait_and_retry()),
                };
                Failure { error: self.failed(message, advice, stream.usage()), retry }
            }
            FoldError::CallsTooLarge => {
                self.malformed(&format!("its tool calls are larger than {MAX_CALLS_BYTES} bytes")).into()
            }
            FoldError::TooManyCalls => {
                self.malformed(&format!("it has more than {MAX_CALLS} tool calls")).into()
            }
        }
    }

    /// Judges what arrived.
    fn conclude(&self, stream: Stream, broken: Option<String>) -> Result<Reply, Failure> {
        let usage = stream.usage();
        if !stream.is_whole {
            let how = broken.unwrap_or_else(|| "the stream ended before the reply did".to_owned());
            let retry = if self.n_bytes == 0 { Retry::BackOff } else { Retry::Never };
            return Err(Failure { error: self.cut(self.transport.shown(&how), usage), retry });
        }
        let mut notes = Vec::new();
        match stream.ending {
            Some(Ending::Done) | None => {}
            Some(Ending::OutputLimit) => {
                let limit = self.max_output_tokens;
                let message = format!("it reached the {limit} tokens that `max_output_tokens` allows");
                return Err(self.cut(message, usage).into());
            }
            Some(Ending::WindowFull) => {
                let message = "the prompt and the reply fill the model's context window".to_owned();
                return Err(self.cut(message, usage).into());
            }
            Some(Ending::Refused(reason)) => {
                let message = format!("the request was refused ({})", self.transport.shown(&reason));
                let hint = "change what the prompt asks for, or use another provider";
                return Err(self.failed(message, hint, usage).into());
            }
            Some(Ending::Broken(reason)) => {
                let message = format!("the model stopped early ({})", self.transport.shown(&reason));
                return Err(self
                    .failed(message, Advice::from(Action::Retry).then(" asks again"), usage)
                    .into());
            }
            Some(Ending::Other(reason)) => {
                let reason = self.transport.shown(&reason);
                notes.push(format!("the reply ended for an unknown reason: `{reason}`"));
            }
        }
        if !self.has_words && stream.calls.is_empty() {
            return Err(AskError::Empty { provider: self.provider(), usage: usage.map(Box::new) }.into());
        }
        let tool_calls = stream.calls.into_calls();
        // The name goes into journals, and a server can say anything.
        let model = stream.model.map(|name| self.transport.shown(&name));
        Ok(Reply { usage, model, tool_calls, notes, timings: self.timings, n_attempts: 0 })
    }

    /// An answer that is well and no reply: a page of a proxy, or an error under the wrong status.
    async fn no_events(&self, response: Response, kind: &str) -> Failure {
        let body = match self.transport.beginning(response).await {
            Ok(body) => body,
            Err(error) => return error.into(),
        };
        let said = serde_json::from_slice::<Value>(&body).ok().and_then(|value| value.get("error").cloned());
        match said.and_then(|_| fault_of_body(&body, 200)) {
            Some(fault) => {
                let message = self.transport.shown(&fault.message);
                self.failed(message, ask_again_when_fixed(), None).into()
            }
            None => self
                .malformed(&format!("it is `{}` , not a stream of events", self.transport.shown(kind)))
                .into(),
        }
    }

    fn provider(&self) -> String {
        self.transport.watch.provider.to_owned()
    }

    fn cut(&self, message: String, usage: Option<Usage>) -> AskError {
        AskError::Cut { provider: self.provider(), message, usage: usage.map(Box::new) }
    }

    fn failed(&self, message: String, advice: impl Into<Advice>, usage: Option<Usage>) -> AskError {
        AskError::Failed {
            provider: self.provider(),
            message,
            advice: Box::new(advice.into()),
            usage: usage.map(Box::new),
        }
    }

    fn malformed(&self, message: &str) -> AskError {
        AskError::Malformed { provider: self.provider(), message: self.transport.shown(message) }
    }
}

/// The type of an answer that can hold no events; servers that say no type, or another one, are taken at their bytes.
fn other_than_events(response: &Response) -> Option<String> {
    let kind = text(response.headers(), &CONTENT_TYPE)?;
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(essence.as_str(), "application/json" | "text/html").then_some(essence)
}

/// Reads the end of a body whose reply is whole: only then can its connection be used again.
///
/// It comes with the last event, or a server leaves the body open; that is not waited for.
async fn read_to_end(mut response: Response) {
    let read = async { while let Ok(Some(_)) = response.chunk().await {} };
    // A connection that is not used again is no failure.
    drop(tokio::time::timeout(MAX_END_WAIT, read).await);
}

fn wait_and_retry() -> Advice {
    Advice::from("wait, then ").then(Action::Retry)
}

fn ask_again_when_fixed() -> Advice {
    Advice::from("fix what it reports, then ").then(Action::Retry)
}
