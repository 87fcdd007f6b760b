//! The common verbs on a run of a package or a conversation.

use std::io::Write as _;

use aiwf_engine::{Engine, RunPhase};
use serde_json::{Value, json};

use super::session::SessionCommand;
use super::workflow::{given, turn};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::run_output;
use crate::usage_error::UsageError;

/// Performs a verb on a run; `None` if the verb does not apply to runs.
pub(super) fn run(
    command: &SessionCommand,
    id: &str,
    engine: &Engine,
    output: &Output<'_>,
) -> Option<Result<Exit, Failure>> {
    if let Some(given) = inapplicable_flag(command) {
        return Some(Err(UsageError::NotForRuns { given }.into()));
    }
    Some(match command {
        SessionCommand::Status { .. } => status(id, engine, output),
        SessionCommand::Show { entries, .. } => show(id, *entries, engine, output),
        SessionCommand::Preview { input, servers, .. } => {
            preview(id, input.as_deref(), &servers.engine(engine.clone()), output)
        }
        SessionCommand::Events { .. } => events(id, engine, output),
        SessionCommand::Verify(_) => verify(id, engine, output),
        SessionCommand::Cancel { reason, trust, .. } => {
            cancel(id, reason.as_deref(), &trust.engine(engine.clone()), output)
        }
        SessionCommand::Run { asking, .. }
        | SessionCommand::Step(asking)
        | SessionCommand::Retry { asking, .. } => {
            let provider = if let SessionCommand::Run { continuing, .. } = command {
                continuing.provider.as_deref()
            } else {
                None
            };
            let engine = asking.servers.engine(asking.call.engine_of_run(engine, output));
            resume(id, provider, &engine, output)
        }
        SessionCommand::Approve(_)
        | SessionCommand::Reject { .. }
        | SessionCommand::Respond { .. }
        | SessionCommand::Restore { .. }
        | SessionCommand::Assign { .. }
        | SessionCommand::Undo { .. }
        | SessionCommand::Comment(_)
        | SessionCommand::Revise { .. }
        | SessionCommand::List(_)
        | SessionCommand::Apply(_)
        | SessionCommand::Diff { .. } => return None,
    })
}

/// A flag or argument that does not apply to runs.
fn inapplicable_flag(command: &SessionCommand) -> Option<String> {
    let flag = |name: &str, is_given: bool| is_given.then(|| name.to_owned());
    match command {
        SessionCommand::Status { usage, .. } => flag("--usage", *usage),
        SessionCommand::Events { follow, .. } => flag("--follow", *follow),
        SessionCommand::Show { artifact, .. } => artifact.clone(),
        SessionCommand::Preview { prompt, copy, .. } => {
            flag("--fs-ability", prompt.is_given()).or_else(|| flag("--copy", *copy))
        }
        SessionCommand::Step(asking) => flag("--fs-ability", asking.prompt.is_given()),
        SessionCommand::Run { asking, continuing } => {
            flag("--yes", continuing.yes).or_else(|| flag("--fs-ability", asking.prompt.is_given()))
        }
        SessionCommand::Retry { asking, switching, gate } => flag("--expect", gate.is_given())
            .or_else(|| switching.given().map(str::to_owned))
            .or_else(|| flag("--fs-ability", asking.prompt.is_given())),
        SessionCommand::Approve(_)
        | SessionCommand::Reject { .. }
        | SessionCommand::Respond { .. }
        | SessionCommand::Cancel { .. }
        | SessionCommand::Restore { .. }
        | SessionCommand::Assign { .. }
        | SessionCommand::Undo { .. }
        | SessionCommand::Comment(_)
        | SessionCommand::Revise { .. }
        | SessionCommand::List(_)
        | SessionCommand::Apply(_)
        | SessionCommand::Diff { .. }
        | SessionCommand::Verify(_) => None,
    }
}

/// Continues a run that was interrupted or waits.
fn resume(id: &str, provider: Option<&str>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut run = engine.open_run(id, provider)?;
    let report = run.report();
    if report.phase == RunPhase::WaitingUser {
        // Nothing was interrupted: the run waits for the user, so the model is not asked again.
        run_output::decided(&report, &format!("aiwf workflow say {id} TEXT"), output)?;
        return Ok(Exit::Waiting);
    }
    turn(&mut run, output, |run| run.resume(None))
}

fn status(id: &str, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    run_output::status(&engine.run_status(id)?, output)
}

fn show(id: &str, entries: Option<usize>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    run_output::shown(engine.run_history(id)?, entries, output)
}

fn preview(id: &str, input: Option<&str>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let input = given(input)?;
    run_output::preview(&engine.preview_run(id, input.as_deref())?, output)
}

fn verify(id: &str, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    run_output::verified(&engine.verify_run(id)?, output)
}

fn cancel(id: &str, reason: Option<&str>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    run_output::decided(&engine.cancel_run(id, reason)?, "", output)
}

fn events(id: &str, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let lines = engine.run_events(id)?;
    if output.is_json() {
        let events: Vec<Value> = lines
            .iter()
            .map(|line| json!({ "seq": line.seq, "at": line.at, "sha256": line.sha256, "event": line.event }))
            .collect();
        return output.json(json!({ "events": events }), Exit::Done);
    }
    output::print(|out| {
        lines.iter().try_for_each(|line| writeln!(out, "{:>4}  {}  {}", line.seq, line.at, line.event.name()))
    })?;
    Ok(Exit::Done)
}
