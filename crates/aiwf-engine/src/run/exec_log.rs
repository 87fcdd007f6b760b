//! `execution.jsonl`: one line for each tool call.
//!
//! Derived from the journal and appended after it, so a crash in between loses nothing: missing lines are added when
//! the run is opened.

use aiwf_store::{Durability, Line};
use serde::Serialize;

use super::event::{RunEvent, ToolExec};
use crate::ledger::SessionLedger;
use crate::run::run_error::RunError;

/// Relative to the run.
const LOGS: &str = "state/logs";
pub(crate) const LOG: &str = "state/logs/execution.jsonl";

#[derive(Serialize)]
struct LogLine<'a> {
    ts: &'a str,
    kind: &'static str,
    #[serde(flatten)]
    exec: &'a ToolExec,
}

/// The log line of an event; `None` if it is not a tool call.
fn log_line(line: &Line<RunEvent>) -> Option<Vec<u8>> {
    let RunEvent::ToolRan { exec, .. } = &line.event else { return None };
    let mut text = serde_json::to_vec(&LogLine { ts: &line.at, kind: "tool.exec", exec }).ok()?;
    text.push(b'\n');
    Some(text)
}

/// The complete log of a journal.
pub(crate) fn text(lines: &[Line<RunEvent>]) -> Vec<u8> {
    lines.iter().filter_map(log_line).flatten().collect()
}

pub(crate) fn append_line(ledger: &SessionLedger, line: &Line<RunEvent>) -> Result<(), RunError> {
    match log_line(line) {
        Some(text) => Ok(ledger.files()?.append(LOG, &text)?),
        None => Ok(()),
    }
}

/// Rewrites the log if it does not match the journal.
pub(crate) fn repair(ledger: &SessionLedger, lines: &[Line<RunEvent>]) -> Result<(), RunError> {
    let files = ledger.files()?;
    let wanted = text(lines);
    if ledger.usable(LOG).as_ref() == Some(&wanted) {
        return Ok(());
    }
    // Anything else at this path is not our log. Links are removed, not followed.
    if files.refuse_links(LOGS).is_err() {
        files.remove(LOGS)?;
    }
    if !files.is_file(LOG) {
        files.remove(LOG)?;
    }
    Ok(files.write(LOG, &wanted, Durability::Process)?)
}
