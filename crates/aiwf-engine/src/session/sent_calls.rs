//! Reads from the journal what a session sent, call by call.
//!
//! The journal has the sections of every request with their hashes; their texts are in the approved prompt files. A text
//! that does not match its hash is not used.

use aiwf_session::{Call, Event, SentParts, State};
use aiwf_store::sha256_hex;

use crate::ask::sent_parts::{OwnedPiece, SentCall, kept_list, role_of, tool_pieces, turn_piece};
use crate::ledger::SessionLedger;
use crate::session::session_error::SessionError;

/// The calls of a session, oldest first. Calls of judges are not among them: each is about another text.
pub(crate) fn sent_calls(ledger: &SessionLedger) -> Result<Vec<SentCall>, SessionError> {
    let journal = ledger.journal()?;
    let mut state = State::default();
    let mut calls: Vec<SentCall> = Vec::new();
    // The sections of the exchange, and the turns that were added to it.
    let (mut sections, mut turns): (Option<Vec<OwnedPiece>>, Option<Vec<OwnedPiece>>) = (None, None);
    for line in journal.lines() {
        if let Event::PromptSent { provider, payload_sha256, parts, .. } = &line.event {
            sections = section_pieces(ledger, &state, parts.as_deref());
            turns = Some(Vec::new());
            calls.push(call(&state, provider, payload_sha256));
        }
        if let Event::AskedAgain { provider, payload_sha256, call: settled, .. } = &line.event {
            settle(&mut calls, settled);
            calls.push(call(&state, provider, payload_sha256));
        }
        if let Event::ReplyReceived { call: Some(settled), .. }
        | Event::AskFailed { call: Some(settled), .. } = &line.event
        {
            settle(&mut calls, settled);
        }
        if let Event::PromptSent { parts, .. } | Event::AskedAgain { parts, .. } = &line.event {
            let parts = parts.as_deref();
            let of_turns = kept_list(ledger, parts.and_then(|parts| parts.turns.as_ref()));
            let added = of_turns.map(|turns| turns.iter().map(turn_piece).collect::<Vec<_>>());
            turns = turns.zip(added).map(|(mut turns, added)| {
                turns.extend(added);
                turns
            });
            let tools = kept_list(ledger, parts.and_then(|parts| parts.tools.as_ref()));
            if let (Some(call), Some(tools), Some(sections), Some(turns)) =
                (calls.last_mut(), tools, &sections, &turns)
            {
                let mut pieces = tool_pieces(&tools);
                pieces.extend(sections.iter().chain(turns).cloned());
                call.pieces = Some(pieces);
            }
        }
        state = state.evolve(&line.event);
    }
    Ok(calls)
}

fn call(state: &State, provider: &str, payload_sha256: &str) -> SentCall {
    SentCall {
        round: round_name(state.phase.as_str(), state.iteration),
        provider: provider.to_owned(),
        model: None,
        payload_sha256: payload_sha256.to_owned(),
        usage: None,
        pieces: None,
    }
}

/// `planning@1`.
pub(crate) fn round_name(phase: &str, iteration: u32) -> String {
    format!("{phase}@{iteration}")
}

fn settle(calls: &mut [SentCall], settled: &Call) {
    if let Some(call) = calls.last_mut() {
        call.usage = settled.usage;
        call.model.clone_from(&settled.model);
    }
}

/// The sections of the prompt that was approved last.
fn section_pieces(
    ledger: &SessionLedger,
    state: &State,
    parts: Option<&SentParts>,
) -> Option<Vec<OwnedPiece>> {
    let system_path = state.system_prompt_path();
    let (mut system, mut user) = (String::new(), String::new());
    for file in &state.written {
        let sha256 = state.bound.get(&file.path).map_or(&file.sha256, |bound| &bound.sha256);
        let text = String::from_utf8(text_of(ledger, &file.path, sha256)?).ok()?;
        let is_system = system_path.as_ref() == Some(&file.path);
        if is_system { system = text } else { user = text }
    }
    let Some(parts) = parts else { return Some(whole_files(system, user)) };
    let (mut rest_of_system, mut rest_of_user) = (system.as_str(), user.as_str());
    let mut pieces = Vec::new();
    for section in &parts.sections {
        let role = role_of(&section.role);
        let n_bytes = usize::try_from(section.bytes).ok()?;
        let text = if role == "file" {
            String::from_utf8(ledger.kept(&section.sha256)?).ok()?
        } else {
            let rest = if role == "system" { &mut rest_of_system } else { &mut rest_of_user };
            let (text, after) = rest.split_at_checked(n_bytes)?;
            *rest = after;
            text.to_owned()
        };
        if sha256_hex(text.as_bytes()) != section.sha256 {
            return None;
        }
        pieces.push(OwnedPiece { section: section.id.clone(), source: section.source.clone(), role, text });
    }
    Some(pieces)
}

/// The prompt files, when the journal does not name the sections in them.
pub(crate) fn whole_files(system: String, user: String) -> Vec<OwnedPiece> {
    let piece = |section: &str, role: &'static str, text: String| OwnedPiece {
        section: section.to_owned(),
        source: String::new(),
        role,
        text,
    };
    let pieces = [piece("system-prompt", "system", system), piece("prompt", "user", user)];
    pieces.into_iter().filter(|piece| !piece.text.is_empty()).collect()
}

/// The bytes of a prompt file: stored with its approval, or still on disk.
pub(crate) fn text_of(ledger: &SessionLedger, path: &str, sha256: &str) -> Option<Vec<u8>> {
    let on_disk = || ledger.read(path).ok().flatten().filter(|bytes| sha256_hex(bytes) == sha256);
    ledger.kept(sha256).or_else(on_disk)
}
