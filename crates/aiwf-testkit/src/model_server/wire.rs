//! What each API sends: an answer as events or as one JSON value, its errors, and the answers to checks.

#![expect(clippy::indexing_slicing, reason = "every value that is indexed is an object made right there")]

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::fmt;
use std::io;

use serde_json::{Value, json};

use super::http::ResponseWriter;
use super::seen_request::{Flavour, SeenRequest};
use super::turn::{Piece, Usage};

/// The deltas of a text that the test did not cut itself: at least so many, when it is long enough.
const N_DELTAS: usize = 4;
const MAX_DELTA_CHARS: usize = 4096;

/// What the model answers, before an API gives it a shape.
pub(super) struct Answer {
    model: String,
    /// The number of the request, from 1; ids are made of it.
    number: usize,
    pieces: Vec<AnswerPiece>,
    usage: Option<Usage>,
}

enum AnswerPiece {
    Text(Vec<String>),
    ToolCall { id: String, name: String, args: Value },
}

impl Answer {
    pub(super) fn new(
        request: &SeenRequest,
        number: usize,
        pieces: Vec<Piece>,
        usage: Option<Usage>,
    ) -> Self {
        let n_pieces = pieces.len();
        let pieces = pieces.into_iter().enumerate().map(|(idx, piece)| match piece {
            Piece::Text(text) => AnswerPiece::Text(deltas(&text)),
            Piece::Chunks(chunks) => AnswerPiece::Text(chunks),
            Piece::ToolCall { name, args } => {
                let id =
                    if n_pieces == 1 { format!("call_{number}") } else { format!("call_{number}_{idx}") };
                AnswerPiece::ToolCall { id, name, args }
            }
        });
        // Chat Completions report the usage of a stream only when they are asked to.
        let is_told = request.flavour != Some(Flavour::Chat)
            || !request.wants_stream()
            || request.body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
        Self {
            model: request.model().to_owned(),
            number,
            pieces: pieces.collect(),
            usage: usage.filter(|_| is_told),
        }
    }

    fn calls_a_tool(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, AnswerPiece::ToolCall { .. }))
    }
}

pub(super) fn deltas(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(N_DELTAS).clamp(1, MAX_DELTA_CHARS);
    characters.chunks(size).map(|delta| delta.iter().collect()).collect()
}

/// A server-sent event.
pub(super) struct Event {
    name: Option<String>,
    data: String,
    /// The bytes of the answer's text in it.
    pub(super) n_text_bytes: usize,
}

impl Event {
    /// An event with the name that its data says it has.
    fn typed(data: &Value) -> Self {
        let name = data.get("type").and_then(Value::as_str).map(str::to_owned);
        Self { name, ..Self::plain(data) }
    }

    fn plain(data: &Value) -> Self {
        Self { name: None, data: data.to_string(), n_text_bytes: 0 }
    }

    fn with_text(self, delta: &str) -> Self {
        Self { n_text_bytes: delta.len(), ..self }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            writeln!(formatter, "event: {name}")?;
        }
        write!(formatter, "data: {}\n\n", self.data)
    }
}

pub(super) fn events(flavour: Flavour, answer: &Answer) -> Vec<Event> {
    match flavour {
        Flavour::Responses => responses::events(answer),
        Flavour::Chat => chat::events(answer),
        Flavour::Anthropic => anthropic::events(answer),
        Flavour::Gemini => gemini::events(answer),
    }
}

pub(super) fn whole(flavour: Flavour, answer: &Answer) -> Value {
    match flavour {
        Flavour::Responses => responses::whole(answer),
        Flavour::Chat => chat::whole(answer),
        Flavour::Anthropic => anthropic::whole(answer),
        Flavour::Gemini => gemini::whole(answer),
    }
}

/// The body of an error in the shape of an API.
pub(super) fn error_body(flavour: Flavour, code: u16) -> String {
    let message = format!("scripted status {code}");
    let body = match flavour {
        Flavour::Responses | Flavour::Chat => {
            json!({"error": {"message": message, "type": openai_error(code), "param": null, "code": null}})
        }
        Flavour::Anthropic => {
            json!({"type": "error", "error": {"type": anthropic_error(code), "message": message}})
        }
        Flavour::Gemini => {
            json!({"error": {"code": code, "message": message, "status": gemini_error(code)}})
        }
    };
    body.to_string()
}

fn openai_error(code: u16) -> &'static str {
    match code {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

fn anthropic_error(code: u16) -> &'static str {
    match code {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn gemini_error(code: u16) -> &'static str {
    match code {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

/// Answers what does not ask the model: whether it is there, which models it has, how long a text is.
pub(super) fn check(request: &SeenRequest, writer: &mut ResponseWriter<'_>) -> io::Result<()> {
    let path = request.bare_path();
    let (code, body) = match request.method.as_str() {
        "HEAD" => (200, Value::Null),
        "GET" if path.ends_with("/v1beta/models") => (200, gemini::models()),
        "GET" if path.ends_with("/models") && request.header("anthropic-version").is_some() => {
            (200, anthropic::models())
        }
        "GET" if path.ends_with("/models") => (200, chat::models()),
        "POST" if path.ends_with("/count_tokens") => (200, json!({"input_tokens": 1})),
        "POST" if path.ends_with(":countTokens") => (200, json!({"totalTokens": 1})),
        _ => (404, json!({"error": {"message": "the model server has no such path"}})),
    };
    writer.whole(code, &[], body.to_string().as_bytes())
}
