//! The interface of providers.
//!
//! A provider gets a [`Request`] and writes into a [`Sink`] while the reply arrives: its text piece by piece, so that
//! nothing of it is held in memory, and progress. The returned value says how the call ended and what it cost.

use std::path::Path;
use std::time::Duration;

use aiwf_advice::Advice;
use serde::{Deserialize, Serialize};

use crate::agent::InstalledProgram;
use crate::ask_error::AskError;
use crate::payload::Payload;
use crate::sink::Sink;
use aiwf_process::Stop;

/// What an agent may change during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Nothing: it may only read the project.
    ReadOnly,
    /// Only the file at the response path.
    WriteResponse,
    /// Its whole working directory.
    WriteDirectory,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The name of the call in recordings and messages: `planning-1`.
    pub name: &'a str,
    pub payload: &'a Payload,
    /// The working directory of an agent: the project, or a worktree of it.
    pub directory: &'a Path,
    /// An absolute path to which an agent may write its reply.
    pub response_path: Option<&'a Path>,
    pub permission: Permission,
    /// Set to stop the call.
    pub stop: &'a Stop,
}

/// The usage that the provider reports; a value that it does not report is unknown, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, including those from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens received, including those for reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens sent that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// In dollars, if the provider reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// The duration of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the first byte arrived.
    pub first_byte: Option<Duration>,
    /// Until the last byte arrived.
    pub total: Duration,
}

/// A tool call of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The result refers to it; generated if the API has none.
    pub id: String,
    pub name: String,
    /// A string if the model wrote invalid JSON.
    pub arguments: serde_json::Value,
    /// Opaque data that the API requires back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The end of a call; the text is in the sink.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// Tool calls of the model before it continues.
    pub tool_calls: Vec<ToolCall>,
    /// Notes for the user, such as a denied tool.
    pub notes: Vec<String>,
    pub timings: Timings,
    /// Number of requests.
    pub n_attempts: u32,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The complete reply is in the sink.
    Reply(Reply),
    /// A person will provide the reply.
    AwaitsPerson,
}

/// One check of whether a provider can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The subject: `program`, `url`, `key`, `recordings`.
    pub what: &'static str,
    pub is_ok: bool,
    pub found: String,
    /// Set if the check failed.
    #[serde(skip)]
    pub advice: Option<Advice>,
}

impl Check {
    /// A passed check.
    pub(crate) fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, is_ok: true, found: found.into(), advice: None }
    }

    /// A failed check, with one thing to do about it.
    pub(crate) fn bad(what: &'static str, found: impl Into<String>, advice: impl Into<Advice>) -> Self {
        Self { what, is_ok: false, found: found.into(), advice: Some(advice.into()) }
    }
}

/// A provider.
pub trait Ask {
    /// Whether asking again costs nothing and changes nothing.
    fn is_free(&self) -> bool {
        false
    }

    /// Refuses what cannot be sent unchanged; called before the request is recorded.
    fn refuse(&self, request: &Request<'_>) -> Result<(), AskError> {
        let _ = request;
        Ok(())
    }

    /// Asks once; the text of the reply goes into the sink as it arrives.
    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError>;

    /// Refuses a provider whose program or key is missing, without starting a program or a request.
    fn can_start(&self) -> Result<(), AskError> {
        Ok(())
    }

    /// Checks whether it can be asked, without asking it.
    fn check(&self) -> Vec<Check>;

    /// Its program, if it has one; may run the program for its version and its help.
    fn program(&self) -> Option<InstalledProgram> {
        None
    }

    /// Its program, if it has one; runs the program for its version only.
    fn version(&self) -> Option<InstalledProgram> {
        None
    }
}
