//! What the model does with one request.

use std::time::Duration;

use serde_json::Value;

/// One answer of the model, or the way it fails to give one.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// A text, streamed in several deltas.
    Text(String),
    /// A text in deltas of the test's choice, with a pause before every one but the first.
    TextSlowly {
        /// The deltas.
        chunks: Vec<String>,
        /// The pause.
        delay: Duration,
    },
    /// The model wants a tool to be called.
    ToolCall {
        /// The tool's name.
        name: String,
        /// Its arguments, an object.
        args: Value,
    },
    /// Texts and tool calls in one answer.
    Pieces(Vec<Piece>),
    /// An HTTP status; an empty body becomes an error in the shape of the API that was called.
    Status {
        /// The status.
        code: u16,
        /// Headers beside the usual ones, `retry-after` for example.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// The connection breaks when so many bytes of the text were sent, before the answer's end.
    ///
    /// With none, only what opens the stream is sent. Without streaming they are bytes of the body.
    CutAfter {
        /// The text that would have been the answer.
        text: String,
        /// The bytes of it that are sent at most.
        n_bytes: usize,
    },
    /// Nothing for a while, then the connection is closed.
    Hang(Duration),
    /// These bytes instead of an HTTP response, then the connection is closed.
    Raw(Vec<u8>),
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A text, streamed in several deltas.
    Text(String),
    /// A text in deltas of the test's choice.
    Chunks(Vec<String>),
    /// The model wants a tool to be called.
    ToolCall {
        /// The tool's name.
        name: String,
        /// Its arguments, an object.
        args: Value,
    },
}

impl Turn {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A tool call.
    #[must_use]
    pub fn tool_call(name: impl Into<String>, args: Value) -> Self {
        Self::ToolCall { name: name.into(), args }
    }

    /// A status with the error body of the API that was called.
    #[must_use]
    pub fn status(code: u16) -> Self {
        Self::status_with_body(code, "")
    }

    /// A status with a body of the test's choice.
    #[must_use]
    pub fn status_with_body(code: u16, body: impl Into<String>) -> Self {
        Self::Status { code, headers: Vec::new(), body: body.into() }
    }

    /// The same status with one more header.
    ///
    /// # Panics
    ///
    /// When this is no status: no other turn has headers.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let Self::Status { headers, .. } = &mut self else { panic!("only a status has headers: {self:?}") };
        headers.push((name.into(), value.into()));
        self
    }
}

/// The tokens that an answer reports.
///
/// The APIs count differently: Anthropic leaves cached tokens out of its input, the others count them in. These are
/// the tokens themselves, each in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request that no cache knew.
    pub fresh_input: u64,
    /// Tokens of the request that came from a cache.
    pub cache_read: u64,
    /// Tokens of the request that were put into a cache.
    pub cache_write: u64,
    /// Tokens of the answer.
    pub output: u64,
}

impl Usage {
    /// All tokens of the request.
    pub fn input(&self) -> u64 {
        self.fresh_input + self.cache_read + self.cache_write
    }
}

impl Default for Usage {
    /// Four different numbers, so that a test sees when two are mixed up.
    fn default() -> Self {
        Self { fresh_input: 100, cache_read: 40, cache_write: 8, output: 15 }
    }
}
