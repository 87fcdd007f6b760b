//! How a provider is asked, whoever it is.
//!
//! A provider gets a [`Request`] and pushes what arrives into a [`Sink`]: the reply's text piece by piece, so that
//! nothing of it is held in memory, and progress. What it gives back says how the call ended and what it cost.

use std::path::Path;
use std::time::Duration;

use aiwf_advice::Advice;
use serde::{Deserialize, Serialize};

use crate::agent::InstalledProgram;
use crate::ask_error::AskError;
use crate::payload::Payload;
use crate::sink::Sink;
use aiwf_process::Stop;

/// What an agent may change while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Nothing: it reads the project and answers.
    ReadOnly,
    /// The file at the response path and nothing else.
    WriteResponse,
    /// The directory it works in, whole, in its own way of working.
    WriteDirectory,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What the call is, for recordings and messages: `planning-1`.
    pub name: &'a str,
    /// What is sent.
    pub payload: &'a Payload,
    /// The directory an agent works in: the project, or a worktree of it.
    pub directory: &'a Path,
    /// The file an agent may write its reply to; absolute.
    pub response_path: Option<&'a Path>,
    /// What an agent may change.
    pub permission: Permission,
    /// Raised when the call is to be given up.
    pub stop: &'a Stop,
}

/// What a call cost, as the provider reports it; what it does not report is unknown and never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, those that came from a cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens received, those of reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// How many of the tokens sent came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// The price in dollars, where the provider names one itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// How long a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the first byte arrived.
    pub first_byte: Option<Duration>,
    /// Until the last.
    pub total: Duration,
}

/// A tool that the model wants used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the result has to name; made by us where the model's API has none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments; a text when the model wrote something that is not JSON.
    pub arguments: serde_json::Value,
    /// What the model's API wants back with the call, unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// How a call ended; the text went into the sink.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it cost.
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// Tools the model wants used before it goes on.
    pub tool_calls: Vec<ToolCall>,
    /// Things worth saying, such as a tool that was denied.
    pub notes: Vec<String>,
    /// How long it took.
    pub timings: Timings,
    /// How many requests it took.
    pub n_attempts: u32,
}

/// What a provider gives back.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The reply is in the sink, whole.
    Reply(Reply),
    /// A person will put the reply in place.
    AwaitsPerson,
}

/// One thing that was looked at to see whether a provider can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at: `program`, `url`, `key`, `recordings`.
    pub what: &'static str,
    /// Whether it is well.
    pub is_ok: bool,
    /// What was found.
    pub found: String,
    /// What to do about it, when it is not well.
    #[serde(skip)]
    pub advice: Option<Advice>,
}

impl Check {
    /// Something that is well.
    pub(crate) fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, is_ok: true, found: found.into(), advice: None }
    }

    /// Something that is not well, and one thing to do about it.
    pub(crate) fn bad(what: &'static str, found: impl Into<String>, advice: impl Into<Advice>) -> Self {
        Self { what, is_ok: false, found: found.into(), advice: Some(advice.into()) }
    }
}

/// Someone who can be asked.
pub trait Ask {
    /// Whether asking twice costs nothing and changes nothing.
    fn is_free(&self) -> bool {
        false
    }

    /// What of a request cannot be sent as it is; called before the request is put on record.
    fn refuse(&self, request: &Request<'_>) -> Result<(), AskError> {
        let _ = request;
        Ok(())
    }

    /// Asks once; the text of the reply goes into the sink as it arrives.
    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError>;

    /// Looks whether it can be asked, without asking it.
    fn check(&self) -> Vec<Check>;

    /// Looks at the program it is, when it is one; the program may be run for its version and its help.
    fn program(&self) -> Option<InstalledProgram> {
        None
    }

    /// Looks at the program it is, when it is one, and runs it for its version only.
    fn version(&self) -> Option<InstalledProgram> {
        None
    }
}
