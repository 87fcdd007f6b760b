//! Rebuilds from the journal what a run sent, call by call.
//!
//! The journal has the conversation; rules and tools are stored by their hash. A rebuilt request is used only if its
//! hash is the one that was recorded when it was sent.

use aiwf_prompt::left_out_note;
use aiwf_provider::{Payload, PayloadMessage, ToolSpec, Turn};
use aiwf_session::{Call, LeftOut, SentParts};

use super::conversation::{View, render_entries};
use super::event::RunEvent;
use super::record::Record;
use crate::ask::sent_parts::{SentCall, kept_list, pieces_of};
use crate::ledger::SessionLedger;
use crate::session::session_error::SessionError;

/// The calls of a run, oldest first.
pub(crate) fn sent_calls(ledger: &SessionLedger) -> Result<Vec<SentCall>, SessionError> {
    let journal = ledger.run_journal()?;
    let mut record = Record::default();
    let mut calls: Vec<SentCall> = Vec::new();
    let mut view = View { is_complete: false, is_native: true };
    for line in journal.lines() {
        record.evolve(&line.event);
        match &line.event {
            RunEvent::RunAsked { provider, payload_sha256, n_left_out, left_out, .. } => {
                let node = record.announced.as_ref().and_then(|(node, _)| node.clone());
                let payload = record.parts.as_ref().and_then(|parts| {
                    rebuilt(ledger, &record, parts, (*n_left_out, left_out), payload_sha256, &mut view)
                });
                calls.push(SentCall {
                    round: node.unwrap_or_else(|| "conversation".to_owned()),
                    provider: provider.clone(),
                    model: None,
                    payload_sha256: payload_sha256.clone(),
                    usage: None,
                    pieces: payload.map(|payload| pieces_of(&payload)),
                });
            }
            RunEvent::RunReplied { call, .. } | RunEvent::RunAskFailed { call, .. } => {
                settle(&mut calls, call);
            }
            RunEvent::RunCreated { .. }
            | RunEvent::Said { .. }
            | RunEvent::StateIntended { .. }
            | RunEvent::ToolRan { .. }
            | RunEvent::RunStopped { .. }
            | RunEvent::Rewound { .. }
            | RunEvent::RunCancelled { .. } => {}
        }
    }
    Ok(calls)
}

fn settle(calls: &mut [SentCall], settled: &Call) {
    if let Some(call) = calls.last_mut() {
        call.usage = settled.usage;
        call.model.clone_from(&settled.model);
    }
}

/// The request with the recorded hash. How the conversation was shown then is not recorded, so each way is tried,
/// beginning with the one of the call before.
fn rebuilt(
    ledger: &SessionLedger,
    record: &Record,
    parts: &SentParts,
    (n_left_out, left_out): (usize, &[LeftOut]),
    payload_sha256: &str,
    view: &mut View,
) -> Option<Payload> {
    let base = base(ledger, parts)?;
    let (complete, native) = (view.is_complete, view.is_native);
    let views = [(complete, native), (!complete, native), (complete, !native), (!complete, !native)];
    for (is_complete, is_native) in views {
        let tried = View { is_complete, is_native };
        // A long list of what was left out is recorded in part; usually that is the oldest of the conversation.
        let lists = if n_left_out == 0 { &[LeftOutTurns::None][..] } else { &LeftOutTurns::SOME };
        for list in lists {
            let payload =
                Payload { turns: turns(record, tried, n_left_out, left_out, *list), ..base.clone() };
            if payload.sha256() == payload_sha256 {
                *view = tried;
                return Some(payload);
            }
        }
    }
    None
}

/// Rules and tools.
fn base(ledger: &SessionLedger, parts: &SentParts) -> Option<Payload> {
    let tools: Vec<ToolSpec> = kept_list(ledger, parts.tools.as_ref())?;
    let mut payload = Payload { tools, ..Payload::default() };
    for section in &parts.sections {
        let text = String::from_utf8(ledger.kept(&section.sha256)?).ok()?;
        payload.sections.push(aiwf_provider::SectionHash::new(&section.id, &section.source, &text, None));
        if section.role == "system" {
            payload.system.push(text);
        } else {
            payload.messages.push(PayloadMessage::new(aiwf_prompt::Role::User, text));
        }
    }
    Some(payload)
}

/// Which entries of the conversation a request left out.
#[derive(Clone, Copy)]
enum LeftOutTurns {
    None,
    Listed,
    Oldest,
}

impl LeftOutTurns {
    const SOME: [Self; 2] = [Self::Listed, Self::Oldest];
}

fn turns(
    record: &Record,
    view: View,
    n_left_out: usize,
    left_out: &[LeftOut],
    list: LeftOutTurns,
) -> Vec<Turn> {
    let mut turns = Vec::new();
    if n_left_out > 0 {
        turns.push(Turn::User { content: left_out_note(n_left_out).into() });
    }
    for (index, rendered) in render_entries(&record.entries, view).into_iter().enumerate() {
        // `left_out_of` in compose.rs names them so.
        let is_listed = || {
            let name = format!("message {} ({})", index + 1, rendered.name());
            left_out.iter().any(|entry| entry.id == name)
        };
        let is_left_out = match list {
            LeftOutTurns::None => false,
            LeftOutTurns::Listed => is_listed(),
            LeftOutTurns::Oldest => index < n_left_out,
        };
        if !is_left_out {
            turns.extend(rendered.turns);
        }
    }
    turns
}
