//! What a request consists of: pieces in the order that providers read them, and their record in the journal.
//!
//! The record lets a later command compare a request with the next one. Texts that are in no other file of the session
//! are stored by their hash.

use aiwf_prompt::Piece;
use aiwf_provider::{Payload, SectionHash, ToolSpec, Turn};
use aiwf_session::{SentParts, SentSection, Usage};

use crate::ledger::SessionLedger;
use crate::session::session_error::SessionError;

/// A piece of a request with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedPiece {
    pub(crate) section: String,
    pub(crate) source: String,
    pub(crate) role: &'static str,
    pub(crate) text: String,
}

impl OwnedPiece {
    pub(crate) fn as_piece(&self) -> Piece<'_> {
        Piece { section: &self.section, source: &self.source, role: self.role, text: &self.text }
    }
}

const SYSTEM: &str = "system";
const FILE: &str = "file";
const USER: &str = "user";

/// The role of a piece, as written in a journal.
pub(crate) fn role_of(written: &str) -> &'static str {
    match written {
        SYSTEM => SYSTEM,
        FILE => FILE,
        "tool" => "tool",
        "assistant" => "assistant",
        _ => USER,
    }
}

/// Every API reads tools first, then system text, files, messages and the turns of the conversation.
pub(crate) fn pieces_of(payload: &Payload) -> Vec<OwnedPiece> {
    let mut pieces = tool_pieces(&payload.tools);
    pieces.extend(section_pieces(payload));
    pieces.extend(payload.turns.iter().map(turn_piece));
    pieces
}

fn section_pieces(payload: &Payload) -> Vec<OwnedPiece> {
    let system = payload.system.iter().map(|text| (SYSTEM, text));
    let messages = payload.messages.iter().flat_map(|message| {
        let role = role_of(message.role.as_str());
        message.blocks.iter().map(move |text| (role, text))
    });
    let mut sections = payload.sections.iter();
    let owned = |(role, text): (&'static str, &String), section: Option<&SectionHash>| OwnedPiece {
        section: section.map_or_else(|| role.to_owned(), |section| section.id.clone()),
        source: section.map(|section| section.source.clone()).unwrap_or_default(),
        role,
        text: text.clone(),
    };
    let mut pieces: Vec<OwnedPiece> = Vec::new();
    for block in system {
        pieces.push(owned(block, sections.next()));
    }
    pieces.extend(payload.files.iter().map(|file| OwnedPiece {
        section: format!("file:{}", file.path),
        source: format!("file:{}", file.path),
        role: FILE,
        text: file.text.clone(),
    }));
    for block in messages {
        pieces.push(owned(block, sections.next()));
    }
    pieces
}

pub(crate) fn tool_pieces(tools: &[ToolSpec]) -> Vec<OwnedPiece> {
    let piece = |tool: &ToolSpec| OwnedPiece {
        section: format!("tool:{}", tool.name),
        source: "tools".to_owned(),
        role: "tools",
        text: serde_json::json!(tool).to_string(),
    };
    tools.iter().map(piece).collect()
}

pub(crate) fn turn_piece(turn: &Turn) -> OwnedPiece {
    let (section, role, text) = match turn {
        Turn::Assistant { content, tool_calls } if tool_calls.is_empty() => {
            ("reply".to_owned(), "assistant", content.to_string())
        }
        Turn::Assistant { content, tool_calls } => {
            let calls = serde_json::json!(tool_calls);
            ("reply".to_owned(), "assistant", format!("{content}{calls}"))
        }
        Turn::Tool { name, content, .. } => (format!("result:{name}"), "tool", content.to_string()),
        Turn::User { content } => ("message".to_owned(), USER, content.to_string()),
    };
    OwnedPiece { section, source: "conversation".to_owned(), role, text }
}

/// The record of a request; stores its tools, its attached files, and the turns from `first_turn` on.
pub(crate) fn sent_parts(
    ledger: &SessionLedger,
    payload: &Payload,
    first_turn: usize,
) -> Result<SentParts, SessionError> {
    let section = |piece: &OwnedPiece| SentSection {
        id: piece.section.clone(),
        source: piece.source.clone(),
        role: piece.role.to_owned(),
        bytes: piece.text.len() as u64,
        sha256: aiwf_store::sha256_hex(piece.text.as_bytes()),
    };
    ledger.keep_all(payload.files.iter().map(|file| file.text.as_bytes()))?;
    let keep = |value: serde_json::Value| ledger.keep(value.to_string().as_bytes());
    let turns = payload.turns.get(first_turn..).filter(|turns| !turns.is_empty());
    let tools = Some(&payload.tools).filter(|tools| !tools.is_empty());
    Ok(SentParts {
        sections: section_pieces(payload).iter().map(section).collect(),
        tools: tools.map(|tools| keep(serde_json::json!(tools))).transpose()?,
        turns: turns.map(|turns| keep(serde_json::json!(turns))).transpose()?,
    })
}

/// Stores the text of the sections, for requests whose text is in no file.
pub(crate) fn keep_sections(ledger: &SessionLedger, payload: &Payload) -> Result<(), SessionError> {
    let messages = payload.messages.iter().flat_map(|message| &message.blocks);
    ledger.keep_all(payload.system.iter().chain(messages).map(String::as_bytes))
}

/// Reads stored tools or turns; `None` if they are missing or unreadable.
pub(crate) fn kept_list<T: serde::de::DeserializeOwned>(
    ledger: &SessionLedger,
    sha256: Option<&String>,
) -> Option<Vec<T>> {
    match sha256 {
        None => Some(Vec::new()),
        Some(sha256) => serde_json::from_slice(&ledger.kept(sha256)?).ok(),
    }
}

/// A request that was sent, as its journal knows it.
#[derive(Clone, Debug)]
pub(crate) struct SentCall {
    /// The phase with its iteration, `planning@1`; for a run, the node.
    pub(crate) round: String,
    pub(crate) provider: String,
    /// The model that answered.
    pub(crate) model: Option<String>,
    pub(crate) payload_sha256: String,
    pub(crate) usage: Option<Usage>,
    /// `None` if the journal does not say what was sent.
    pub(crate) pieces: Option<Vec<OwnedPiece>>,
}
