//! The parsed output of an agent: text, usage, notes, failures.
//!
//! Output comes in chunks of any size; [`JsonLines`] turns it into events and ignores other lines. Pure: the results
//! are a list of steps for the caller.

use aiwf_advice::Advice;
use serde_json::Value;

use crate::ask::{Reply, Timings, Usage};
use crate::ask_error::AskError;
use crate::limit::Limit;
use aiwf_process::Ended;

/// The maximum length of an agent's message in an error.
const MAX_WORDS: usize = 2_000;

/// A step for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More text of the reply.
    Text(String),
    /// The text so far is not the reply.
    Restart,
    /// Input for the agent.
    Send(String),
}

/// A problem with the reply of a program that exited normally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplyFault {
    /// The reply is missing where it should be.
    Missing(String),
    /// The reply cannot be parsed.
    Malformed(String),
}

/// The parsed output so far.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact about the output")]
pub(crate) struct AgentOutput {
    /// Steps to perform now.
    pub(crate) steps: Vec<Step>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
    pub(crate) notes: Vec<String>,
    /// The agent's message about its failure.
    pub(crate) failure: Option<String>,
    /// Additional data about a failure, such as the time when a limit ends; not shown.
    pub(crate) details: Option<String>,
    /// A message about a problem that may or may not matter.
    pub(crate) complaint: Option<String>,
    /// A problem with the reply. The exit of the program is judged first, because it says more.
    pub(crate) fault: Option<ReplyFault>,
    /// Whether any text of the reply arrived.
    pub(crate) has_said: bool,
    /// Whether the reply contains more than white space.
    pub(crate) has_text: bool,
    /// Whether the agent reported that it is done.
    pub(crate) is_whole: bool,
    /// Whether the reply is complete, although the agent may keep running.
    pub(crate) is_done: bool,
}

impl AgentOutput {
    /// Adds text to the reply.
    pub(crate) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.has_said = true;
            self.has_text |= !text.trim().is_empty();
            self.steps.push(Step::Text(text.to_owned()));
        }
    }

    /// Replaces all text so far.
    pub(crate) fn say_anew(&mut self, text: &str) {
        if std::mem::take(&mut self.has_said) {
            self.steps.push(Step::Restart);
        }
        self.has_text = false;
        self.say(text);
    }

    /// Records a failure; the first one is the cause.
    pub(crate) fn fail(&mut self, words: &str) {
        let words = if words.trim().is_empty() { "it gave no reason" } else { words };
        self.failure.get_or_insert_with(|| words.to_owned());
    }
}

/// Parses an agent's output.
pub(crate) trait Fold {
    /// Takes a chunk of any size.
    fn bytes(&mut self, bytes: &[u8], output: &mut AgentOutput) -> Result<(), AskError>;

    /// Called at the end of the output.
    fn end(&mut self, output: &mut AgentOutput) -> Result<(), AskError>;
}

/// Handles the events of one agent's format.
pub(crate) trait Events {
    /// Handles an event; unknown ones change nothing.
    fn event(&mut self, event: &Value, output: &mut AgentOutput);
}

/// Turns lines of JSON into events; other lines are ignored.
#[derive(Debug)]
pub(crate) struct JsonLines<E> {
    events: E,
    // Invariant: no longer than an agent's whole output may be, since that is checked where it is read.
    line: Vec<u8>,
}

impl<E: Events> JsonLines<E> {
    pub(crate) fn new(events: E) -> Self {
        Self { events, line: Vec::new() }
    }

    fn finish_line(&mut self, output: &mut AgentOutput) {
        let line = std::mem::take(&mut self.line);
        if let Ok(event @ Value::Object(_)) = serde_json::from_str(&String::from_utf8_lossy(&line)) {
            self.events.event(&event, output);
        }
    }
}

impl<E: Events> Fold for JsonLines<E> {
    fn bytes(&mut self, bytes: &[u8], output: &mut AgentOutput) -> Result<(), AskError> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.finish_line(output);
            }
        }
        Ok(())
    }

    fn end(&mut self, output: &mut AgentOutput) -> Result<(), AskError> {
        self.finish_line(output);
        Ok(())
    }
}

/// The text at a JSON pointer.
pub(crate) fn text_at<'v>(event: &'v Value, pointer: &str) -> Option<&'v str> {
    event.pointer(pointer).and_then(Value::as_str)
}

/// The number at a JSON pointer.
pub(crate) fn count_at(event: &Value, pointer: &str) -> Option<u64> {
    event.pointer(pointer).and_then(Value::as_u64)
}

/// Decides whether a call succeeded.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) provider: &'a str,
    /// The usage limit in a failure, if it is one.
    pub(crate) limit: &'a dyn Fn(&str, Option<&str>) -> Option<Limit>,
    /// The advice for a failure.
    pub(crate) advice: &'a dyn Fn(&str, &Ended) -> Advice,
}

impl Judge<'_> {
    /// Returns the reply, or the error: first the agent's own failure, then its exit, then a missing reply.
    pub(crate) fn judge(&self, output: AgentOutput, ended: &Ended) -> Result<Reply, AskError> {
        let provider = self.provider.to_owned();
        let usage = output.usage.clone().map(Box::new);
        let limit_reached = |words: &str| {
            let limit = (self.limit)(words, output.details.as_deref())?;
            // The number after a bar is the time, which the error already contains.
            let message = shown(words);
            let message = message.trim_end_matches(|letter: char| letter.is_ascii_digit());
            let message = message.strip_suffix('|').map_or_else(|| shown(words), str::to_owned);
            let (provider, usage) = (provider.clone(), usage.clone());
            Some(AskError::LimitReached { provider, until: limit.until, message, usage })
        };
        let failed = |words: String| {
            if let Some(error) = limit_reached(&words) {
                return error;
            }
            let message = shown(&words);
            let advice = Box::new((self.advice)(&words, ended));
            AskError::Failed { provider: provider.clone(), message, advice, usage: usage.clone() }
        };
        // An agent that reported that it is done need not exit by itself.
        let is_clean = ended.code == Some(0) || (output.is_done && ended.is_our_doing);
        if let Some(words) = output.failure {
            return Err(failed(words));
        }
        if !is_clean {
            return Err(failed(exit_words(output.complaint.as_deref(), ended)));
        }
        match output.fault {
            Some(ReplyFault::Missing(message)) => return Err(failed(message)),
            Some(ReplyFault::Malformed(message)) => return Err(AskError::Malformed { provider, message }),
            None => {}
        }
        if !output.is_whole {
            if let Some(error) = output.complaint.as_deref().and_then(limit_reached) {
                return Err(error);
            }
            let message = match output.complaint {
                Some(complaint) => shown(&complaint),
                None => "it exited without reporting that it was done".to_owned(),
            };
            return Err(AskError::Cut { provider, message, usage });
        }
        if !output.has_text {
            return Err(AskError::Empty { provider, usage });
        }
        Ok(Reply {
            usage: output.usage,
            model: output.model,
            notes: output.notes,
            timings: Timings { first_byte: ended.first_byte, total: ended.total },
            n_attempts: 1,
            ..Reply::default()
        })
    }
}

fn exit_words(complaint: Option<&str>, ended: &Ended) -> String {
    let end = match (ended.code, ended.signal) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was killed by signal {signal}"),
        (None, None) => "its exit status is unknown".to_owned(),
    };
    let words = complaint.or(Some(ended.stderr.as_str())).map(str::trim).filter(|words| !words.is_empty());
    match words {
        Some(words) => format!("{end}: {words}"),
        None => end,
    }
}

/// An agent's message for an error: without control characters, and only the end if it is too long.
pub(crate) fn shown(words: &str) -> String {
    let plain = plain(words);
    let plain = plain.trim().trim_end_matches('.');
    let n_over = plain.len().saturating_sub(MAX_WORDS);
    if n_over == 0 {
        return plain.to_owned();
    }
    let start = (n_over..plain.len()).find(|at| plain.is_char_boundary(*at)).unwrap_or(plain.len());
    format!("…{}", plain.get(start..).unwrap_or_default())
}

/// Removes colour sequences and other control characters.
fn plain(words: &str) -> String {
    let mut plain = String::with_capacity(words.len());
    let mut rest = words.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter == '\u{1b}' {
            if rest.next_if_eq(&'[').is_some() {
                while rest.next_if(|letter| !('@'..='~').contains(letter)).is_some() {}
                rest.next();
            }
        } else if letter == '\n' || letter == '\t' || !letter.is_control() {
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
#[path = "agent_output_tests.rs"]
mod tests;
