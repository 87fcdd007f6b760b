//! `aiwf do`: a change in any repository, from a request to files, a branch or a commit.
//!
//! Creates a session of the flow `do`, runs it until a decision is needed or it ends, and applies the result. On a
//! terminal each gate is a dialogue; without one it stops at the first gate.

use std::io::{IsTerminal as _, Write as _};

use aiwf_engine::machine::Delivery;
use aiwf_engine::{
    ApplyChange, ApplyOptions, ApplyReport, Engine, FileChangeKind, NewRequest, NotifyEvent, SessionError,
    SessionReport, SessionStatus, WaitsFor, read_stdin,
};
use clap::Args;
use serde_json::{Value, json};

use super::apply::{show_conflicts, warn_about};
use super::checks;
use super::session::{about_session, without_nulls};
use crate::advice_words;
use crate::call_args::{CallArgs, GateFlags, PromptArgs, ServerArgs, announce_limit};
use crate::clipboard;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::gate_dialogue::{self, Answer, without_comments};
use crate::output::{self, Output};
use crate::session_output;
use crate::typed_path::from_project;
use crate::typed_text::typed_text;
use crate::usage_error::UsageError;

/// The default flow.
const FLOW: &str = "do";

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct DoArgs {
    /// What to change, @FILE to read it, or - for stdin [default: write it in your editor].
    #[arg(value_name = "REQUEST")]
    request: Option<String>,
    /// Provider for every phase: claude-code, codex, gemini-cli, or any other [default: the first that
    /// works].
    #[arg(long, visible_alias = "agent", value_name = "PROVIDER")]
    provider: Option<String>,
    /// Model to ask, instead of the configured one.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Flow to follow: do, change, spec, or one of your own.
    #[arg(long, value_name = "FLOW", default_value = FLOW)]
    flow: String,
    /// Show these files to every phase, relative to the current directory (repeatable).
    #[arg(long = "file", value_name = "GLOB")]
    files: Vec<String>,
    /// Run this command on the result, before the review (repeatable).
    #[arg(long = "check", value_name = "CMD", value_parser = check_command)]
    checks: Vec<String>,
    /// Put the result on a new branch [default name: aiwf/ and the request].
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    branch: Option<String>,
    /// Commit the result.
    #[arg(long)]
    commit: bool,
    /// Let the agent edit the project directly instead of a worktree.
    #[arg(long, conflicts_with_all = ["branch", "commit"])]
    in_place: bool,
    /// Merge files that changed in the meantime, if they merge cleanly.
    #[arg(long)]
    merge: bool,
    /// Copy the prompt to the clipboard when it is for a web chat.
    #[arg(long)]
    copy: bool,
    /// Wait for a usage limit to end instead of stopping.
    #[arg(long)]
    wait: bool,
    /// Spend at most this many dollars.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<u64>,
    /// Name of the session; reusable once the session has ended.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    gates: GateFlags,
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    prompt: PromptArgs,
}

/// A command that does something: an empty one would always pass.
fn check_command(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("expected a command, such as 'cargo test'") } else { Ok(text.to_owned()) }
}

/// An amount of dollars, in millionths.
fn dollars(text: &str) -> Result<u64, String> {
    let wrong = || "expected an amount in dollars, such as 2.50".to_owned();
    let text = text.trim_start_matches('$');
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() > 9 || part.len() > 6 || !is_number(whole) || !is_number(part) {
        return Err(wrong());
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_too_large| wrong())? };
    let part: u64 = format!("{part:0<6}").parse().map_err(|_too_large| wrong())?;
    Some(whole * 1_000_000 + part).filter(|micros| *micros > 0).ok_or_else(wrong)
}

pub(crate) fn run(args: &DoArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let request = request(args, engine, output)?;
    let chosen = engine.choose_agent(args.provider.as_deref())?;
    output::note(&format!("agent: {} ({})\n", chosen.provider, escaped_line(&chosen.why)));
    let mut engine = args.prompt.engine(args.servers.engine(args.call.engine(engine)));
    if let Some(model) = &args.model {
        engine = engine.with_model_of(chosen.provider.clone(), model.clone());
    }
    let engine = engine.with_max_cost(args.max_cost);
    if args.checks.is_empty() {
        checks::offer_detected(!args.gates.is_yes(), &engine, output)?;
    }
    let created = engine.begin_flow(&NewRequest {
        flow: args.flow.clone(),
        name: args.name.clone(),
        request,
        files: args.files.iter().map(|pattern| from_project(pattern, engine.settings())).collect(),
        provider: Some(chosen.provider.clone()),
        flags: args.gates.flags()?,
        checks: args.checks.clone(),
        delivery: Delivery { branch: args.branch.clone(), commits: args.commit },
        in_place: args.in_place,
    })?;
    for warning in &created.warnings {
        output::warn(warning);
    }
    output::note(&format!("session: {}\n", created.id));
    // A context that cannot be read is told when the first prompt is built.
    if let Some(context) = engine.context_report().ok().and_then(|report| report.line()) {
        output::note(&format!("context: {}\n", escaped_line(&context)));
    }
    let walk = Walk {
        id: &created.id,
        started_by: StartedBy::Request,
        agent: Some(&chosen.provider),
        is_unattended: args.gates.is_yes(),
        waits: args.wait,
        copies: args.copy,
        apply: ApplyOptions {
            merges: args.merge,
            refuses_self_running: args.gates.is_yes(),
            ..ApplyOptions::default()
        },
    };
    walk.run(&engine, output).map_err(|failure| {
        let failure = about_session(failure, Some(created.id.as_str()).into(), &engine);
        walk.with_summary(failure, &engine)
    })
}

/// The request: from the command line, stdin, or an editor.
fn request(args: &DoArgs, engine: &Engine, output: &Output<'_>) -> Result<String, Failure> {
    let from_stdin = || -> Result<String, Failure> { Ok(read_stdin()?.trim_end().to_owned()) };
    let request = match args.request.as_deref() {
        Some("-") => from_stdin()?,
        Some(request) => typed_text(request, engine.settings())?,
        None if !std::io::stdin().is_terminal() => from_stdin()?,
        None if output::can_ask(output) => {
            without_comments(&engine.edit_text("request.md", REQUEST_TEMPLATE)?)
        }
        None => String::new(),
    };
    // Checked before an agent is started.
    if request.trim().is_empty() {
        return Err(UsageError::NoRequest.into());
    }
    Ok(request)
}

/// The initial text in the editor.
const REQUEST_TEMPLATE: &str =
    "\n# What should change? Lines that start with `#` are ignored. Save and close to start.\n";

/// The command that started a walk; it decides how the walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartedBy {
    /// A request: the end is a summary, and whatever waits ends with the exit code for waiting.
    Request,
    /// The command `run`.
    Run,
    /// The command `approve`, which is done once something was decided.
    Approve,
}

/// A session that is walked to a decision or to its end.
pub(crate) struct Walk<'w> {
    pub(crate) id: &'w str,
    pub(crate) started_by: StartedBy,
    /// Who does the work, if this command chose; otherwise the provider of the current phase is reported.
    pub(crate) agent: Option<&'w str>,
    /// Whether no person can decide: the walk then stops where one is needed, and applies the result at the end.
    pub(crate) is_unattended: bool,
    /// Whether a usage limit is waited for.
    pub(crate) waits: bool,
    /// Whether a prompt for a web chat goes to the clipboard.
    pub(crate) copies: bool,
    pub(crate) apply: ApplyOptions,
}

impl Walk<'_> {
    pub(crate) fn run(&self, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
        let mut done: Result<(), SessionError> = engine.run_session(Some(self.id)).map(drop);
        let mut has_decided = false;
        loop {
            let report = engine.session_report(Some(self.id))?;
            match done {
                Err(error) => {
                    if let Some(until) = report.limit_until.filter(|_| self.waits) {
                        announce_limit(until);
                        let Some(next) = engine.retry_after_limit(Some(self.id), until) else {
                            return Err(error.into());
                        };
                        done = next.map(drop);
                        continue;
                    }
                    let failure = about_session(Failure::from(error), Some(self.id).into(), engine);
                    let is_askable = has_decided || report.waits_for == Some(WaitsFor::Retry);
                    if !is_askable || !self.can_ask(output) || failure.exit == Exit::Interrupted {
                        return Err(failure);
                    }
                    // The user decides what comes next.
                    output::note_failure(&failure);
                    done = Ok(());
                }
                Ok(()) if report.status == SessionStatus::Complete => {
                    return self.finish(engine, output, &report);
                }
                Ok(()) if self.can_ask(output) => match gate_dialogue::ask(engine, &report, output)? {
                    Answer::Decided(decided) => {
                        has_decided = true;
                        done = decided;
                    }
                    Answer::Leave => return self.stop(engine, output, &report, has_decided),
                },
                Ok(()) => return self.stop(engine, output, &report, has_decided),
            }
        }
    }

    fn can_ask(&self, output: &Output<'_>) -> bool {
        !self.is_unattended && output::can_ask(output)
    }

    /// Stops and reports what the session waits for.
    fn stop(
        &self,
        engine: &Engine,
        output: &Output<'_>,
        report: &SessionReport,
        has_decided: bool,
    ) -> Result<Exit, Failure> {
        if self.copies {
            copy_for_chat(engine, report);
        }
        let exit = match (self.started_by, report.status) {
            (StartedBy::Run | StartedBy::Approve, SessionStatus::Rejected) => Exit::Refused,
            (StartedBy::Approve, SessionStatus::Waiting | SessionStatus::Complete) if has_decided => {
                Exit::Done
            }
            _ => Exit::Waiting,
        };
        if output.is_json() {
            return output.json(self.summary(engine, report, None), exit);
        }
        if self.can_ask(output) && report.status != SessionStatus::Complete {
            output::note(&format!("all progress is saved; `aiwf run {}` continues here\n\n", self.id));
        }
        session_output::report(report, output, exit)
    }

    /// Applies the result of a complete session, after asking the user.
    fn finish(&self, engine: &Engine, output: &Output<'_>, report: &SessionReport) -> Result<Exit, Failure> {
        let change = report.change.as_ref();
        let makes_files = change.is_some_and(|change| change.has_changes() && !change.applied);
        if !makes_files {
            return match self.started_by {
                StartedBy::Request => self.print_end(engine, output, report, None),
                StartedBy::Run | StartedBy::Approve => session_output::report(report, output, Exit::Done),
            };
        }
        let mut options = self.apply.clone();
        if !self.is_unattended {
            let chosen = if output::can_ask(output) {
                gate_dialogue::ask_apply(engine, self.id, &options, output)?
            } else {
                None
            };
            match chosen {
                Some(chosen) => options = chosen,
                // The command's work is done; applying is another command.
                None => return self.stop(engine, output, report, true),
            }
        }
        let applied = match engine.apply(Some(self.id), &options) {
            Ok(applied) => applied,
            // The user must resolve the conflict; nothing was written.
            Err(error) => {
                if let SessionError::Conflicts { report, .. } = &error {
                    show_conflicts(report, output);
                }
                tell_user(engine, report, &error);
                let is_persons = matches!(
                    error,
                    SessionError::Conflicts { .. }
                        | SessionError::SelfRunningFiles { .. }
                        | SessionError::NotCommitted { .. }
                );
                let failure = Failure::from(error);
                return Err(if is_persons { failure.exiting(Exit::Waiting) } else { failure });
            }
        };
        warn_about(&applied);
        self.print_end(engine, output, report, Some(&applied))
    }

    /// What programs read: where the session stands, its checks, and what was applied.
    fn summary(&self, engine: &Engine, report: &SessionReport, applied: Option<&ApplyReport>) -> Value {
        let standing = self.standing(engine, report, applied).map(|(name, value)| (name.to_owned(), value));
        let rest = json!({
            "gate": report.gate,
            "limit_until": report.limit_until,
            "problems": report.problems,
            "next": self.next(report, applied),
        });
        let mut value = Value::Object(standing.into_iter().collect());
        if let (Some(fields), Value::Object(rest)) = (value.as_object_mut(), rest) {
            fields.extend(rest);
        }
        without_nulls(value)
    }

    /// The same for a command that failed on the way, beside its error.
    fn with_summary(&self, mut failure: Failure, engine: &Engine) -> Failure {
        if let Ok(report) = engine.session_report(Some(self.id)) {
            for (name, value) in self.standing(engine, &report, None) {
                if !value.is_null() {
                    failure.fields.entry(name).or_insert(value);
                }
            }
        }
        failure
    }

    fn standing(
        &self,
        engine: &Engine,
        report: &SessionReport,
        applied: Option<&ApplyReport>,
    ) -> [(&'static str, Value); 9] {
        let checks: Vec<Value> = report
            .checks
            .iter()
            .map(|check| json!({ "name": check.name, "exit_code": check.exit_code, "passed": check.passed }))
            .collect();
        let files = applied.map_or_else(|| planned_files(engine, report), |applied| json!(applied.files));
        [
            ("session_id", json!(report.session_id)),
            ("flow", json!(report.flow)),
            ("phase", json!(report.phase)),
            ("status", json!(report.status)),
            ("agent", json!(report.provider.as_deref().or(self.agent))),
            ("checks", Value::from(checks)),
            ("files", files),
            ("branch", json!(applied.and_then(|applied| applied.branch.as_ref()))),
            ("commit", json!(applied.and_then(|applied| applied.commit.as_ref()))),
        ]
    }

    /// What to do next; the report is from before the apply.
    fn next(&self, report: &SessionReport, applied: Option<&ApplyReport>) -> String {
        if applied.is_some() { format!("aiwf undo {}", self.id) } else { advice_words::next(&report.next) }
    }

    fn print_end(
        &self,
        engine: &Engine,
        output: &Output<'_>,
        report: &SessionReport,
        applied: Option<&ApplyReport>,
    ) -> Result<Exit, Failure> {
        if output.is_json() {
            return output.json(self.summary(engine, report, applied), Exit::Done);
        }
        output::print(|out| {
            writeln!(out, "done      {}", self.id)?;
            for check in &report.checks {
                writeln!(out, "check     {}: {}", escaped_line(&check.name), escaped_line(&check.outcome))?;
            }
            let Some(applied) = applied else {
                return writeln!(out, "next      {}", advice_words::next(&report.next));
            };
            for file in applied.files.iter().filter(|file| file.change != ApplyChange::Same) {
                writeln!(out, "{:9} {}", change_word(file.change), escaped_line(&file.target))?;
            }
            if let Some(branch) = &applied.branch {
                writeln!(out, "branch    {}", escaped_line(branch))?;
            }
            if let Some(commit) = &applied.commit {
                writeln!(out, "commit    {}", commit.get(..12).unwrap_or(commit))?;
            }
            writeln!(out, "next      {}", self.next(report, Some(applied)))
        })?;
        Ok(Exit::Done)
    }
}

/// Copies a prompt that a person pastes into a chat; a failure only adds a step.
pub(crate) fn copy_for_chat(engine: &Engine, report: &SessionReport) {
    if report.waits_for != Some(WaitsFor::Reply) {
        return;
    }
    let preview = engine.preview_session(Some(report.session_id.as_str()));
    let copied = preview.map_err(Failure::from).and_then(|preview| Ok(clipboard::copy(&preview.text())?));
    match copied {
        Ok(how) => output::note(&format!("{how}\n")),
        Err(failure) => output::note_failure(&failure),
    }
}

/// The files that a session plans to write, as an apply would list them, and those that an agent edited in the project.
fn planned_files(engine: &Engine, report: &SessionReport) -> Value {
    let entry = |path: &str, change: ApplyChange, run_by: Option<&'static str>| {
        without_nulls(json!({ "name": path, "target": path, "change": change, "run_by": run_by }))
    };
    let planned = engine.file_changes(Some(report.session_id.as_str())).unwrap_or_default();
    let edited = report.change.iter().flat_map(|change| &change.edited);
    let mut files: Vec<Value> = edited.map(|file| entry(&file.path, ApplyChange::Changed, None)).collect();
    for file in &planned {
        let change = match file.kind {
            FileChangeKind::Added | FileChangeKind::Renamed => ApplyChange::New,
            FileChangeKind::Changed => ApplyChange::Changed,
            FileChangeKind::Deleted => ApplyChange::Deleted,
        };
        files.push(entry(&file.path, change, file.run_by));
        files.extend(file.from.as_deref().map(|from| entry(from, ApplyChange::Deleted, None)));
    }
    files.into()
}

/// Tells the user's own program that the result waits to be applied; a failure is only worth a note.
///
/// The engine tells of everything else.
fn tell_user(engine: &Engine, report: &SessionReport, error: &SessionError) {
    let title = report.change.as_ref().map(|change| change.request.as_str()).unwrap_or_default();
    let what = format!("not applied: {error}");
    let (event, session) = (NotifyEvent::Waiting, report.session_id.as_str());
    if let Some(note) = engine.notify(aiwf_engine::Notification { event, session, title, what: &what }) {
        output::note(&format!("{note}\n"));
    }
}

/// The change of a file, in one word.
fn change_word(change: ApplyChange) -> &'static str {
    match change {
        ApplyChange::New => "added",
        ApplyChange::Changed => "changed",
        ApplyChange::Deleted => "deleted",
        ApplyChange::Merged => "merged",
        ApplyChange::Conflict => "replaced",
        ApplyChange::Same => "same",
    }
}
