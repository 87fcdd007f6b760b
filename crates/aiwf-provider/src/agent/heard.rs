//! What an agent's output says: text, usage, notes, failures.
//!
//! Output comes in chunks of any size; [`JsonLines`] makes events of it and leaves alone what is none. Nothing here
//! does anything: what is to be done is a list of steps.

use aiwf_advice::Advice;
use serde_json::Value;

use crate::ask::{Reply, Timings, Usage};
use crate::ask_error::AskError;
use crate::limit::Limit;
use aiwf_process::Ended;

/// How much of an agent's own words an error repeats.
const MAX_WORDS: usize = 2_000;

/// Something to do because of what was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More of the reply.
    Text(String),
    /// What came so far is not the reply.
    Restart,
    /// Something to tell the agent.
    Send(String),
}

/// What is wrong with a reply whose program ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// There is none where it should be.
    Missing(String),
    /// It cannot be read.
    Malformed(String),
}

/// What was heard so far.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing that was heard or not")]
pub(crate) struct Heard {
    /// What is to be done now.
    pub(crate) steps: Vec<Step>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
    pub(crate) notes: Vec<String>,
    /// The agent says that it failed, in its own words.
    pub(crate) failure: Option<String>,
    /// What it said about a failure beside those words, such as when a limit is lifted; not shown.
    pub(crate) details: Option<String>,
    /// Something went wrong that may or may not matter.
    pub(crate) complaint: Option<String>,
    /// What is wrong with the reply; how the program ended says more, and is judged first.
    pub(crate) flaw: Option<Flaw>,
    /// Whether anything of a reply was said.
    pub(crate) has_said: bool,
    /// Whether the reply has a word in it.
    pub(crate) has_text: bool,
    /// The agent says that it is through.
    pub(crate) is_whole: bool,
    /// There is nothing more to wait for, though the agent may go on running.
    pub(crate) is_done: bool,
}

impl Heard {
    /// More of the reply.
    pub(crate) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.has_said = true;
            self.has_text |= !text.trim().is_empty();
            self.steps.push(Step::Text(text.to_owned()));
        }
    }

    /// A reply that stands for all that came before.
    pub(crate) fn say_anew(&mut self, text: &str) {
        if std::mem::take(&mut self.has_said) {
            self.steps.push(Step::Restart);
        }
        self.has_text = false;
        self.say(text);
    }

    /// A failure; the first one said is the cause.
    pub(crate) fn fail(&mut self, words: &str) {
        let words = if words.trim().is_empty() { "it does not say why" } else { words };
        self.failure.get_or_insert_with(|| words.to_owned());
    }
}

/// Takes what an agent prints.
pub(crate) trait Fold {
    /// Takes a chunk of any size.
    fn bytes(&mut self, bytes: &[u8], heard: &mut Heard) -> Result<(), AskError>;

    /// Takes the end.
    fn end(&mut self, heard: &mut Heard) -> Result<(), AskError>;
}

/// Takes the events of one agent's format.
pub(crate) trait Events {
    /// Takes an event; one that is not known changes nothing.
    fn event(&mut self, event: &Value, heard: &mut Heard);
}

/// Makes events of lines of JSON; other lines are left alone.
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

    fn finish_line(&mut self, heard: &mut Heard) {
        let line = std::mem::take(&mut self.line);
        if let Ok(event @ Value::Object(_)) = serde_json::from_str(&String::from_utf8_lossy(&line)) {
            self.events.event(&event, heard);
        }
    }
}

impl<E: Events> Fold for JsonLines<E> {
    fn bytes(&mut self, bytes: &[u8], heard: &mut Heard) -> Result<(), AskError> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.finish_line(heard);
            }
        }
        Ok(())
    }

    fn end(&mut self, heard: &mut Heard) -> Result<(), AskError> {
        self.finish_line(heard);
        Ok(())
    }
}

/// Text at a place in an event.
pub(crate) fn text_at<'v>(event: &'v Value, pointer: &str) -> Option<&'v str> {
    event.pointer(pointer).and_then(Value::as_str)
}

/// A count at a place in an event.
pub(crate) fn count_at(event: &Value, pointer: &str) -> Option<u64> {
    event.pointer(pointer).and_then(Value::as_u64)
}

/// Who answered and what to say about failures.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) provider: &'a str,
    /// The usage limit that a failure is, by the agent's words and what else it said about it.
    pub(crate) limit: &'a dyn Fn(&str, Option<&str>) -> Option<Limit>,
    /// What to do about a failure, by the agent's words and how it ended.
    pub(crate) advice: &'a dyn Fn(&str, &Ended) -> Advice,
}

impl Judge<'_> {
    /// Whether there is a reply: an agent's own failure comes first, then its exit, then what is missing.
    pub(crate) fn judge(&self, heard: Heard, ended: &Ended) -> Result<Reply, AskError> {
        let provider = self.provider.to_owned();
        let usage = heard.usage.clone().map(Box::new);
        let limit_reached = |words: &str| {
            let limit = (self.limit)(words, heard.details.as_deref())?;
            // A number after a bar is the time, which the error has already.
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
        // An agent that said it was through need not go by itself.
        let is_clean = ended.code == Some(0) || (heard.is_done && ended.is_our_doing);
        if let Some(words) = heard.failure {
            return Err(failed(words));
        }
        if !is_clean {
            return Err(failed(exit_words(heard.complaint.as_deref(), ended)));
        }
        match heard.flaw {
            Some(Flaw::Missing(message)) => return Err(failed(message)),
            Some(Flaw::Malformed(message)) => return Err(AskError::Malformed { provider, message }),
            None => {}
        }
        if !heard.is_whole {
            if let Some(error) = heard.complaint.as_deref().and_then(limit_reached) {
                return Err(error);
            }
            let message = match heard.complaint {
                Some(complaint) => shown(&complaint),
                None => "it ended without saying that it was through".to_owned(),
            };
            return Err(AskError::Cut { provider, message, usage });
        }
        if !heard.has_text {
            return Err(AskError::Empty { provider, usage });
        }
        Ok(Reply {
            usage: heard.usage,
            model: heard.model,
            notes: heard.notes,
            timings: Timings { first_byte: ended.first_byte, total: ended.total },
            n_attempts: 1,
            ..Reply::default()
        })
    }
}

fn exit_words(complaint: Option<&str>, ended: &Ended) -> String {
    let end = match (ended.code, ended.signal) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("signal {signal} ended it"),
        (None, None) => "nobody knows how it ended".to_owned(),
    };
    let words = complaint.or(Some(ended.stderr.as_str())).map(str::trim).filter(|words| !words.is_empty());
    match words {
        Some(words) => format!("{end}: {words}"),
        None => end,
    }
}

/// An agent's words as an error shows them: no control characters, and the end of what is too long.
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

/// Without the sequences that colour a terminal, and without other control characters.
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
#[path = "heard_tests.rs"]
mod tests;
