//! `aiwf events` and `aiwf verify`: the journal of a session, printed and checked.

use std::io::Write as _;

use aiwf_engine::{Engine, SessionRef, Verified, event_texts};
use serde_json::{Value, json};

use super::session::without_nulls;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// How often a followed journal is looked at.
const FOLLOW_EVERY: std::time::Duration = std::time::Duration::from_millis(200);

pub(super) fn events(
    which: SessionRef<'_>,
    is_followed: bool,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let as_json = |line: &aiwf_engine::JournalLine| json!({ "seq": line.seq, "at": line.at, "sha256": line.sha256, "event": line.event });
    if output.is_json() && !is_followed {
        let events: Vec<Value> = engine.session_events(which)?.iter().map(as_json).collect();
        return output.json(json!({ "events": events }), Exit::Done);
    }
    let mut n_printed = 0;
    loop {
        let lines = engine.session_events(which)?;
        let texts = if output.is_json() {
            vec![String::new(); lines.len()]
        } else {
            event_texts(lines.iter().map(|line| &line.event))
        };
        output::print(|out| {
            for (line, text) in lines.iter().zip(&texts).skip(n_printed) {
                if output.is_json() {
                    writeln!(out, "{}", as_json(line))?;
                } else {
                    let row = format!("{:>4}  {}  {:17}  {text}", line.seq, line.at, line.event.name());
                    writeln!(out, "{}", escaped_line(row.trim_end()))?;
                }
            }
            Ok(())
        })?;
        n_printed = lines.len();
        if !is_followed || engine.session_report(which)?.stage.is_none() {
            return Ok(Exit::Done);
        }
        std::thread::sleep(FOLLOW_EVERY);
    }
}

pub(super) fn verify(which: SessionRef<'_>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let verified = engine.verify(which)?;
    let is_intact = verified.differences.is_empty() && verified.problems.is_empty();
    let exit = if is_intact { Exit::Done } else { Exit::Refused };
    if let Some(n_bytes) = verified.torn_bytes {
        output::note(&format!(
            "warning: the journal ends in the middle of event {} ({n_bytes} bytes); the next command drops this partial line\n",
            verified.n_events + 1
        ));
    }
    if output.is_json() {
        let differences: Vec<Value> = verified
            .differences
            .iter()
            .map(|file| {
                without_nulls(json!({ "path": file.path, "approved": file.approved, "found": file.found }))
            })
            .collect();
        let verified = json!({
            "session_id": verified.session_id,
            "events": verified.n_events,
            "files": verified.n_files,
            "differences": differences,
            "problems": verified.problems,
            "torn_bytes": verified.torn_bytes,
        });
        return output.json(without_nulls(verified), exit);
    }
    output::print(|out| {
        for problem in &verified.problems {
            writeln!(out, "damaged: {problem}")?;
        }
        for file in &verified.differences {
            let found = file.found.as_deref().unwrap_or("nothing");
            writeln!(out, "{} differs: approved {}, found {found}", file.path, file.approved)?;
        }
        writeln!(out, "{}", summary(&verified))
    })?;
    Ok(exit)
}

/// The result of a verification as a sentence, without the problems.
pub(super) fn summary(verified: &Verified) -> String {
    let events = counted(verified.n_events, "event");
    let files = counted(verified.n_files, "approved file");
    match verified.differences.len() {
        0 => format!("journal intact ({events}); {files} unchanged"),
        n_different => format!("journal intact ({events}); {n_different} of {files} changed"),
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
