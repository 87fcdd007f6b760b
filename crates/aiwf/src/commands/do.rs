//! `aiwf do`: a change in any repository, from a request to files, a branch or a commit.
//!
//! Begins a session of the flow `do`, runs it until a decision is needed or it ends, and applies what it made. On a
//! terminal each gate is a dialogue; without one it stops at the first gate.

use std::io::{IsTerminal as _, Write as _};

use aiwf_engine::machine::Delivery;
use aiwf_engine::{
    ApplyChange, ApplyOptions, ApplyReport, Engine, NewRequest, NotifyEvent, SessionError, SessionReport,
    SessionStatus, WaitsFor, read_stdin,
};
use clap::Args;
use serde_json::{Value, json};

use super::apply::{show_conflicts, warn_about};
use super::session::about_session;
use crate::advice_words;
use crate::call_args::{CallArgs, GateFlags, PromptArgs, ServerArgs, retry_after_limit};
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::gate_dialogue::{self, Answer, without_comments};
use crate::output::{self, Output};
use crate::session_output;
use crate::typed_path::from_project;
use crate::usage_error::UsageError;

/// The flow that is followed when none is named.
const FLOW: &str = "do";

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct DoArgs {
    /// What to change, or - for stdin [default: write it in your editor].
    #[arg(value_name = "REQUEST", allow_hyphen_values = true)]
    request: Option<String>,
    /// Who does the work: claude, codex, gemini, or any provider [default: the first that works].
    #[arg(long, visible_alias = "agent", value_name = "PROVIDER")]
    provider: Option<String>,
    /// Model to ask, whatever the configuration says.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Flow to follow: do, change, spec, or one of your own.
    #[arg(long, value_name = "FLOW", default_value = FLOW)]
    flow: String,
    /// Show these files to every phase, relative to the current directory (repeatable).
    #[arg(long = "file", value_name = "GLOB")]
    files: Vec<String>,
    /// Run this command on the result, before the review (repeatable).
    #[arg(long = "check", value_name = "CMD")]
    checks: Vec<String>,
    /// Put the result on a new branch [default name: aiwf/ and the request].
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    branch: Option<String>,
    /// Commit the result.
    #[arg(long)]
    commit: bool,
    /// Let the agent edit the project itself instead of a worktree.
    #[arg(long, conflicts_with_all = ["branch"])]
    in_place: bool,
    /// Merge files that changed meanwhile, where that is clean.
    #[arg(long)]
    merge: bool,
    /// Wait for a usage limit to end instead of stopping.
    #[arg(long)]
    wait: bool,
    /// Spend at most this many dollars.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<u64>,
    /// Name of the session; free again once the session has ended.
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
    let begun = engine.begin_flow(&NewRequest {
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
    for warning in &begun.warnings {
        output::warn(warning);
    }
    output::note(&format!("session: {}\n", begun.id));
    let walk = Walk {
        id: &begun.id,
        begun: Begun::Request,
        is_unattended: args.gates.is_yes(),
        waits: args.wait,
        apply: ApplyOptions {
            merges: args.merge,
            refuses_self_running: args.gates.is_yes(),
            ..ApplyOptions::default()
        },
    };
    walk.run(&engine, output)
        .map_err(|failure| about_session(failure, Some(begun.id.as_str()).into(), &engine))
}

/// The request: from the command line, stdin, or an editor.
fn request(args: &DoArgs, engine: &Engine, output: &Output<'_>) -> Result<String, Failure> {
    let from_stdin = || -> Result<String, Failure> { Ok(read_stdin()?.trim_end().to_owned()) };
    let request = match args.request.as_deref() {
        Some("-") => from_stdin()?,
        Some(request) => request.to_owned(),
        None if !std::io::stdin().is_terminal() => from_stdin()?,
        None if output::can_ask(output) => {
            without_comments(&engine.edit_text("request.md", REQUEST_TEMPLATE)?)
        }
        None => String::new(),
    };
    // Before an agent is looked for: nothing is started for nothing.
    if request.trim().is_empty() {
        return Err(UsageError::NoRequest.into());
    }
    Ok(request)
}

/// What an editor is opened with.
const REQUEST_TEMPLATE: &str =
    "\n# What should change? Lines that begin with `#` are left out. Save and close to begin.\n";

/// What began a walk, which decides how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
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
    pub(crate) begun: Begun,
    /// Whether nobody is there to decide: then what needs a person stops the walk, and the end is applied.
    pub(crate) is_unattended: bool,
    /// Whether a usage limit is waited for.
    pub(crate) waits: bool,
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
                        let Some(next) = retry_after_limit(engine, Some(self.id), until) else {
                            return Err(error.into());
                        };
                        done = next.map(drop);
                        continue;
                    }
                    let failure = about_session(Failure::from(error), Some(self.id).into(), engine);
                    let is_askable = has_decided || report.waits_for == Some(WaitsFor::Retry);
                    if !is_askable || !self.can_ask(output) || failure.exit == Exit::Interrupted {
                        self.notify(engine, NotifyEvent::Waiting, &report);
                        return Err(failure);
                    }
                    // The person decides what follows.
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

    /// Ends with what the session waits for.
    fn stop(
        &self,
        engine: &Engine,
        output: &Output<'_>,
        report: &SessionReport,
        has_decided: bool,
    ) -> Result<Exit, Failure> {
        self.notify(engine, NotifyEvent::Waiting, report);
        let exit = match (self.begun, report.status) {
            (Begun::Run | Begun::Approve, SessionStatus::Rejected) => Exit::Refused,
            (Begun::Approve, SessionStatus::Waiting | SessionStatus::Complete) if has_decided => Exit::Done,
            _ => Exit::Waiting,
        };
        if output.is_json() {
            return output.json(summary(report, None), exit);
        }
        if self.can_ask(output) && report.status != SessionStatus::Complete {
            output::note(&format!("everything is kept; `aiwf run {}` continues here\n\n", self.id));
        }
        session_output::report(report, output, exit)
    }

    /// Applies what a complete session made; a person is asked before.
    fn finish(&self, engine: &Engine, output: &Output<'_>, report: &SessionReport) -> Result<Exit, Failure> {
        let change = report.change.as_ref();
        let makes_files = change.is_some_and(|change| change.has_changes() && !change.applied);
        if !makes_files {
            self.notify(engine, NotifyEvent::Ended, report);
            return match self.begun {
                Begun::Request => self.print_end(output, report, None),
                Begun::Run | Begun::Approve => session_output::report(report, output, Exit::Done),
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
                // What was to be done is done; applying is another command.
                None => return self.stop(engine, output, report, true),
            }
        }
        let applied = match engine.apply(Some(self.id), &options) {
            Ok(applied) => applied,
            // What stands in the way is for a person to decide; nothing was written.
            Err(error) => {
                if let SessionError::Conflicts { report } = &error {
                    show_conflicts(report, output);
                }
                self.notify(engine, NotifyEvent::Waiting, report);
                let is_persons =
                    matches!(error, SessionError::Conflicts { .. } | SessionError::SelfRunningFiles { .. });
                let failure = Failure::from(error);
                return Err(if is_persons { failure.exiting(Exit::Waiting) } else { failure });
            }
        };
        warn_about(&applied);
        self.notify(engine, NotifyEvent::Ended, report);
        self.print_end(output, report, Some(&applied))
    }

    fn print_end(
        &self,
        output: &Output<'_>,
        report: &SessionReport,
        applied: Option<&ApplyReport>,
    ) -> Result<Exit, Failure> {
        if output.is_json() {
            return output.json(summary(report, applied), Exit::Done);
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
            writeln!(out, "next      aiwf undo {}", self.id)
        })?;
        Ok(Exit::Done)
    }

    /// Tells the user's own program; a failure is only worth a note.
    fn notify(&self, engine: &Engine, event: NotifyEvent, report: &SessionReport) {
        let title = report.change.as_ref().map(|change| change.request.as_str()).unwrap_or_default();
        let what = advice_words::next(&report.next);
        let notification = aiwf_engine::Notification { event, session: self.id, title, what: &what };
        if let Some(note) = engine.notify(notification) {
            output::note(&format!("{note}\n"));
        }
    }
}

/// What becomes of a file, in a word.
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

/// What programs read: where the session stands, its checks, and what was applied.
fn summary(report: &SessionReport, applied: Option<&ApplyReport>) -> Value {
    let checks: Vec<Value> = report
        .checks
        .iter()
        .map(|check| json!({ "name": check.name, "exit_code": check.exit_code, "passed": check.passed }))
        .collect();
    let files = match applied {
        Some(applied) => json!(applied.files),
        None => json!(report.change.as_ref().map(|change| change.changed_paths()).unwrap_or_default()),
    };
    let mut value = json!({
        "session_id": report.session_id,
        "flow": report.flow,
        "phase": report.phase,
        "status": report.status,
        "agent": report.provider,
        "checks": checks,
        "files": files,
        "branch": applied.and_then(|applied| applied.branch.clone()),
        "commit": applied.and_then(|applied| applied.commit.clone()),
        "gate": report.gate,
        "limit_until": report.limit_until,
        "problems": report.problems,
        "next": advice_words::next(&report.next),
    });
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    value
}
