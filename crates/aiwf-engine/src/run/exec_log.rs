//! `execution.jsonl`: one line for each call of a tool.
//!
//! Derived from the journal and appended to after it, so that a crash in between loses nothing: what is missing is
//! made again when the run is opened.

use aiwf_store::{Durability, Line, append, write_atomic};
use serde::Serialize;

use super::directory::RunDirectory;
use super::event::{RunEvent, ToolExec};
use crate::run_error::RunError;

#[derive(Serialize)]
struct LogLine<'a> {
    ts: &'a str,
    kind: &'static str,
    #[serde(flatten)]
    exec: &'a ToolExec,
}

/// The line of an event; nothing when it is no call.
fn log_line(line: &Line<RunEvent>) -> Option<Vec<u8>> {
    let RunEvent::ToolRan { exec, .. } = &line.event else { return None };
    let mut text = serde_json::to_vec(&LogLine { ts: &line.at, kind: "tool.exec", exec }).ok()?;
    text.push(b'\n');
    Some(text)
}

/// The whole log of a journal.
pub(crate) fn text(lines: &[Line<RunEvent>]) -> Vec<u8> {
    lines.iter().filter_map(log_line).flatten().collect()
}

/// Adds a call to the log.
pub(crate) fn append_line(directory: &RunDirectory, line: &Line<RunEvent>) -> Result<(), RunError> {
    match log_line(line) {
        Some(text) => Ok(append(&directory.exec_log_path(), &text)?),
        None => Ok(()),
    }
}

/// Makes the log anew when it is not what the journal says.
pub(crate) fn repair(directory: &RunDirectory, lines: &[Line<RunEvent>]) -> Result<(), RunError> {
    let path = directory.exec_log_path();
    if crate::read::is_link(&directory.logs_dir()) {
        aiwf_store::remove(&directory.logs_dir())?;
    }
    let wanted = text(lines);
    let found = if crate::read::is_link(&path) { None } else { std::fs::read(&path).ok() };
    if found.as_ref() == Some(&wanted) {
        return Ok(());
    }
    aiwf_store::create_dir(&directory.logs_dir())?;
    if crate::read::is_link(&path) {
        aiwf_store::remove(&path)?;
    }
    Ok(write_atomic(&path, Durability::Process, |out| out.write_all(&wanted))?)
}
