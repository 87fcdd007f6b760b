//! Puts tool calls together that arrive in pieces.
//!
//! Arguments that are no JSON become a text: the tool loop shows it to the model, which can fix what it said. A
//! failure of the whole call would throw a paid reply away.

use serde_json::Value;

use super::stream::FoldError;
use crate::ask::ToolCall;
use crate::payload::{Payload, Turn};

/// How large all calls of a reply may be together.
pub(super) const MAX_CALLS_BYTES: usize = 4 * 1024 * 1024;

/// How many calls a reply may have.
pub(super) const MAX_CALLS: usize = 256;

/// What an id begins with that we made because the API gave none.
const OUR_ID: &str = "aiwf-call-";

/// The calls of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    so_far: Vec<Pieces>,
    n_bytes: usize,
    // Ids of ours continue where the conversation's earlier calls ended.
    n_earlier: usize,
}

#[derive(Debug, Default)]
struct Pieces {
    slot: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    signature: Option<String>,
}

/// A piece of a call; a text that is not there adds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece<'a> {
    /// Where the call stands in the reply, when the API says so.
    pub(super) slot: Option<u64>,
    pub(super) id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) arguments: Option<&'a str>,
    pub(super) signature: Option<&'a str>,
}

impl Calls {
    /// No calls yet, in a conversation that may have had some.
    pub(super) fn after(payload: &Payload) -> Self {
        let n_earlier = payload.turns.iter().map(n_calls).sum();
        Self { n_earlier, ..Self::default() }
    }

    /// Begins a call.
    pub(super) fn begin(&mut self, piece: Piece<'_>) -> Result<(), FoldError> {
        if self.so_far.len() >= MAX_CALLS {
            return Err(FoldError::TooManyCalls);
        }
        self.so_far.push(Pieces { slot: piece.slot, ..Pieces::default() });
        self.add_to(self.so_far.len() - 1, piece)
    }

    /// Adds to the call in the slot, to the last one when no slot is said, or begins a call.
    ///
    /// An id that differs begins a call too: some servers put every call into slot 0.
    pub(super) fn add(&mut self, piece: Piece<'_>) -> Result<(), FoldError> {
        let in_slot = |pieces: &Pieces| piece.slot.is_none() || pieces.slot == piece.slot;
        let same_id = |pieces: &Pieces| match piece.id.filter(|id| !id.is_empty()) {
            Some(id) => pieces.id.is_empty() || pieces.id == id,
            None => true,
        };
        match self.so_far.iter().rposition(|pieces| in_slot(pieces) && same_id(pieces)) {
            Some(idx) => self.add_to(idx, piece),
            None => self.begin(piece),
        }
    }

    fn add_to(&mut self, idx: usize, piece: Piece<'_>) -> Result<(), FoldError> {
        let Some(call) = self.so_far.get_mut(idx) else { return Ok(()) };
        let texts = [piece.id, piece.name, piece.arguments, piece.signature];
        self.n_bytes += texts.iter().flatten().map(|text| text.len()).sum::<usize>();
        if self.n_bytes > MAX_CALLS_BYTES {
            return Err(FoldError::CallsTooLarge);
        }
        if call.id.is_empty() {
            call.id.push_str(piece.id.unwrap_or_default());
        }
        if call.name.is_empty() {
            call.name.push_str(piece.name.unwrap_or_default());
        }
        call.arguments.push_str(piece.arguments.unwrap_or_default());
        if let Some(signature) = piece.signature {
            call.signature = Some(signature.to_owned());
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.so_far.is_empty()
    }

    /// The calls, whole.
    pub(super) fn into_calls(self) -> Vec<ToolCall> {
        let first = self.n_earlier + 1;
        let whole = |(idx, pieces): (usize, Pieces)| ToolCall {
            id: if pieces.id.is_empty() { format!("{OUR_ID}{}", first + idx) } else { pieces.id },
            name: pieces.name,
            arguments: arguments(pieces.arguments),
            signature: pieces.signature,
        };
        self.so_far.into_iter().enumerate().map(whole).collect()
    }
}

fn n_calls(turn: &Turn) -> usize {
    match turn {
        Turn::Assistant { tool_calls, .. } => tool_calls.len(),
        Turn::Tool { .. } | Turn::User { .. } => 0,
    }
}

fn arguments(text: String) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// An id as the API gave it; `None` when it is one of ours.
pub(super) fn api_s_id(id: &str) -> Option<&str> {
    (!id.starts_with(OUR_ID)).then_some(id)
}

/// Arguments as an object, for APIs that take nothing else back.
pub(super) fn as_object(arguments: &Value) -> Value {
    if arguments.is_object() {
        arguments.clone()
    } else {
        serde_json::json!({ "malformed_arguments": arguments })
    }
}

/// The schema of a tool's arguments, for APIs that take no tool without one.
pub(super) fn schema(parameters: &Value) -> Value {
    if parameters.is_object() {
        parameters.clone()
    } else {
        serde_json::json!({ "type": "object", "properties": {} })
    }
}
