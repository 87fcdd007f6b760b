//! What each command on a session does: it sets up the engine by the flags, decides, and prints the report.

use std::io::Write as _;
use std::path::Path;

use aiwf_engine::left_out_lines;
use aiwf_engine::machine::VersionName;
use aiwf_engine::{
    ApplyOptions, ApproveOptions, Engine, PromptApproval, Purpose, SessionRef, SessionStatus, read_stdin,
    read_text,
};
use serde_json::{Value, json};

use super::{ApproveArgs, AskingArgs, SessionCommand, SessionId};
use crate::anatomy::cache_line;
use crate::call_args::{CallArgs, ContinueArgs, GateArgs, SwitchArgs, reporting};
use crate::clipboard;
use crate::commands::apply::{apply, undo};
use crate::commands::comment;
use crate::commands::r#do::{StartedBy, Walk, copy_for_chat};
use crate::commands::journal::{events, verify};
use crate::commands::list;
use crate::commands::show::{named_artifact, show, shown};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::session_output;
use crate::typed_path::from_session;
use crate::usage_error::UsageError;

/// Does what a command says.
pub(super) fn run(command: &SessionCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        SessionCommand::Step(args) => step(args, engine, output),
        SessionCommand::Run { asking, continuing } => run_on(asking, continuing, engine, output),
        SessionCommand::Approve(args) => approve(args, engine, output),
        SessionCommand::Reject { session, feedback, gate, call, servers, prompt } => {
            let engine = &gate.engine(engine, session.given())?;
            let engine = prompt.engine(servers.engine(call.engine(engine)));
            let decided = engine.reject(session.given(), feedback.as_deref().unwrap_or_default())?;
            session_output::decided(&decided, output, paused_exit(&decided))
        }
        SessionCommand::Retry { asking, switching, gate } => retry(asking, switching, gate, engine, output),
        SessionCommand::Respond { session, file, paste, record, gate, servers, trust } => {
            let engine = &gate.engine(engine, session.given())?;
            let reply = if *paste { clipboard::paste()? } else { reply_in(file, engine)? };
            let engine = trust.engine(servers.engine(reporting(engine)));
            let approval = PromptApproval::Implied;
            let decided = engine.respond_with(session.given(), &reply, record.as_deref(), approval)?;
            session_output::decided(&decided, output, Exit::Done)
        }
        SessionCommand::Cancel { session, reason, trust } => {
            let engine = trust.engine(engine.clone());
            let decided = engine.cancel(session.given(), reason.as_deref())?;
            session_output::decided(&decided, output, Exit::Done)
        }
        SessionCommand::Restore { id, file, trust } => {
            let (id, file) = match (id, file) {
                (Some(id), Some(file)) => (id.clone(), from_session(file, engine.settings()).into_owned()),
                (id, _) => engine.only_stale_file(id.as_deref())?,
            };
            trust.engine(engine.clone()).restore(Some(&id), &file)?;
            session_output::report(&engine.session_report(Some(&id))?, output, Exit::Done)
        }
        SessionCommand::Assign { id, assignments, trust } => {
            let decided = trust.engine(reporting(engine)).assign(Some(id.as_str()), assignments)?;
            session_output::decided(&decided, output, Exit::Done)
        }
        SessionCommand::Undo { session, trust } => {
            undo(session.given().into(), &trust.engine(engine.clone()), output)
        }
        SessionCommand::Status { session, usage } => status(session, *usage, engine, output),
        SessionCommand::List(args) => list::run(args, engine, output),
        SessionCommand::Show { id, artifact, .. } => {
            let (id, artifact) = shown(id.as_deref(), artifact.as_deref(), engine);
            show(id.into(), artifact, engine, output)
        }
        SessionCommand::Preview { session, copy, servers, prompt, .. } => {
            let engine = prompt.engine(servers.engine(engine.clone()));
            preview(session.given().into(), *copy, &engine, output)
        }
        SessionCommand::Events { session, follow } => events(session.given().into(), *follow, engine, output),
        SessionCommand::Apply(args) => {
            let options = args.options();
            apply(args.session.given().into(), &options, &args.trust.engine(engine.clone()), output)
        }
        SessionCommand::Comment(args) => comment::run(args, engine, output),
        SessionCommand::Revise { id, artifact, reason, gate, call, servers, prompt } => {
            let (id, artifact) = reopened(id.as_deref(), artifact.as_deref())?;
            let engine = prompt.engine(servers.engine(call.engine(&gate.engine(engine, id)?)));
            let decided = engine.revise(id, artifact, reason)?;
            session_output::decided(&decided, output, paused_exit(&decided))
        }
        SessionCommand::Diff { session, versions, iteration } => {
            diff(session, versions.as_deref(), *iteration, engine, output)
        }
        SessionCommand::Verify(session) => verify(session.given().into(), engine, output),
    }
}

fn step(args: &AskingArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let AskingArgs { session, call, servers, prompt } = args;
    let decided = prompt.engine(servers.engine(call.engine(engine))).step_session(session.given())?;
    let exit = waiting_exit(&decided);
    session_output::decided(&decided, output, exit)
}

fn run_on(
    asking: &AskingArgs,
    continuing: &ContinueArgs,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let AskingArgs { session, call, servers, prompt } = asking;
    let engine = prompt.engine(servers.engine(call.engine(engine))).skipping_gates(continuing.yes);
    let engine = continuing.switching().engine(engine, session.given())?;
    if !continuing.yes && continuing.provider.is_none() && can_talk(call, output) {
        return in_dialogue(session, StartedBy::Run, continuing.switching().wait, &engine, output);
    }
    let done = engine.run_session_with(session.given(), continuing.provider.as_deref());
    let decided = continuing.switching().waiting(&engine, session.given(), done)?;
    let exit = waiting_exit(&decided);
    session_output::decided(&decided, output, exit)
}

fn approve(args: &ApproveArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let given = args.session.given();
    let engine = args.gate.engine(engine, given)?.skipping_gates(args.yes);
    let engine = args.prompt.engine(args.servers.engine(args.call.engine(&engine)));
    let engine = args.switching.engine(engine, given)?;
    if args.decides_nothing() && can_talk(&args.call, output) {
        return in_dialogue(&args.session, StartedBy::Approve, false, &engine, output);
    }
    let decided = match (args.rebind, args.accept, args.max_iterations) {
        (true, ..) => engine.rebind(given)?,
        (_, true, _) => engine.accept(given)?,
        (.., Some(max_iterations)) => engine.raise_cap(given, max_iterations)?,
        (false, false, None) => {
            let hash_prompts = args.hash_prompts.chosen();
            let provider = args.switching.provider.clone();
            let note = args.note.clone();
            let options = ApproveOptions { provider, fs_ability: None, hash_prompts, note };
            let done = engine.approve(given, &options);
            args.switching.waiting(&engine, given, done)?
        }
    };
    if args.copy {
        copy_for_chat(&engine, &decided.report);
    }
    session_output::decided(&decided, output, paused_exit(&decided))
}

fn retry(
    asking: &AskingArgs,
    switching: &SwitchArgs,
    gate: &GateArgs,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let AskingArgs { session, call, servers, prompt } = asking;
    let engine = &gate.engine(engine, session.given())?;
    let engine = prompt.engine(servers.engine(call.engine(engine)));
    let engine = switching.engine(engine, session.given())?;
    let done = engine.retry(session.given(), switching.provider.as_deref());
    let decided = switching.waiting(&engine, session.given(), done)?;
    session_output::decided(&decided, output, paused_exit(&decided))
}

/// The reply in a file, or on stdin.
fn reply_in(file: &Path, engine: &Engine) -> Result<String, Failure> {
    if file.as_os_str() == "-" {
        Ok(read_stdin()?)
    } else {
        Ok(read_text(&engine.settings().current_dir.join(file))?)
    }
}

fn status(
    session: &SessionId,
    shows_usage: bool,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let given = session.given();
    match (shows_usage, given) {
        (true, given) => session_output::usage(&engine.session_usage(given)?, output),
        (false, None) => list::waiting(engine, output),
        (false, given) => session_output::report(&engine.session_report(given)?, output, Exit::Done),
    }
}

/// The session and the artifact that `revise` names; one word is the artifact.
fn reopened<'a>(
    id: Option<&'a str>,
    artifact: Option<&'a str>,
) -> Result<(Option<&'a str>, &'a str), UsageError> {
    match (id, artifact) {
        (id, Some(artifact)) => Ok((id, artifact)),
        (Some(artifact), None) => Ok((None, artifact)),
        (None, None) => Err(UsageError::Missing {
            missing: vec!["<ARTIFACT>".to_owned()],
            command: "aiwf revise".to_owned(),
            takes_input: false,
            example: Some("aiwf revise plan --reason 'Use the existing table'".to_owned()),
        }),
    }
}

fn diff(
    session: &SessionId,
    versions: Option<&str>,
    iteration: Option<(u32, u32)>,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let (id, versions) = named_artifact(session.given(), versions, engine);
    let diff = match versions {
        Some(versions) => diff_versions(id, versions, engine)?,
        None => engine.diff_session(id, iteration)?,
    };
    if output.is_json() {
        return output.json(json!({ "diff": diff }), Exit::Done);
    }
    output::print(|out| out.write_all(diff.as_bytes()))?;
    Ok(Exit::Done)
}

/// The diff that a person names: `plan@1..3`, `plan@2`, `plan`.
fn diff_versions(id: Option<&str>, versions: &str, engine: &Engine) -> Result<String, Failure> {
    if let Some((artifact, from, to)) = VersionName::parse_pair(versions) {
        return Ok(engine.diff_versions(id, &artifact, Some((from, to)))?);
    }
    Ok(engine.diff_version(id, &VersionName::parse(versions))?)
}

/// Whether a person can decide at the terminal, and no program reads the output.
fn can_talk(call: &CallArgs, output: &Output<'_>) -> bool {
    !call.events && output::can_ask(output) && output::is_stdout_watched()
}

/// Walks a session in the dialogue of a terminal.
fn in_dialogue(
    session: &SessionId,
    started_by: StartedBy,
    waits: bool,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let (id, _) = engine.resolve_session(session.given(), Purpose::Continue)?;
    let walk = Walk {
        id: &id,
        started_by,
        agent: None,
        is_unattended: false,
        waits,
        copies: false,
        apply: ApplyOptions::default(),
    };
    walk.run(engine, output)
}

/// Exit code 3 if a limit or a verdict stopped the session: a person must decide more than the gate.
fn paused_exit(decided: &aiwf_engine::Decided) -> Exit {
    match decided.report.status {
        SessionStatus::Rejected => Exit::Refused,
        SessionStatus::Paused => Exit::Waiting,
        SessionStatus::InProgress
        | SessionStatus::Waiting
        | SessionStatus::Failed
        | SessionStatus::Complete
        | SessionStatus::Cancelled
        | SessionStatus::Unreadable => Exit::Done,
    }
}

/// Exit code 3 if the command could do nothing because a person or a reply is needed.
pub(in crate::commands) fn waiting_exit(decided: &aiwf_engine::Decided) -> Exit {
    if decided.report.status == SessionStatus::Waiting { Exit::Waiting } else { paused_exit(decided) }
}

pub(in crate::commands) fn without_nulls(value: Value) -> Value {
    if let Value::Object(map) = value {
        map.into_iter().filter(|(_, value)| !value.is_null()).collect()
    } else {
        value
    }
}

fn preview(
    which: SessionRef<'_>,
    is_copied: bool,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let preview = engine.preview_session(which)?;
    if is_copied {
        output::note(&format!("{}\n", clipboard::copy(&preview.text())?));
    }
    if output.is_json() {
        return output.json(&preview, Exit::Done);
    }
    let section =
        |section: &aiwf_engine::provider::SectionHash| format!("  {}  {}\n", section.sha256, section.id);
    let anatomy: String = preview.sections.iter().map(section).collect();
    let metadata = &preview.metadata;
    output::note(&format!("payload_sha256 {}\n{anatomy}", metadata.payload_sha256));
    if let Some(sections) = &preview.cache_breakpoints {
        output::note(&cache_line(sections));
    }
    for file in &preview.files {
        output::note(&format!("attached {} ({} bytes, sha256 {})\n", file.path, file.bytes, file.sha256));
    }
    for line in left_out_lines(&preview.left_out) {
        output::warn(&line);
    }
    for warning in &preview.warnings {
        output::warn(warning);
    }
    session_output::ability(&metadata.provider, metadata.fs_ability, metadata.lowered_from);
    if !is_copied {
        output::print(|out| out.write_all(preview.text().as_bytes()))?;
    }
    Ok(Exit::Done)
}
