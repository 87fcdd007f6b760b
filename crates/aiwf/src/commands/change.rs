//! `aiwf change …`: creates a change, and runs its phases with the agents of your choice.
//!
//! A change is a session with the flow `change`; all other commands for it are the common ones.

use std::ffi::OsString;
use std::io::Write as _;

use aiwf_engine::{Decided, Engine, NewChange, PhaseOptions, SessionRef, SessionSummary};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::list::{ALL, StatusFilter, change_status_parser};
use super::session;
use crate::call_args::{CallArgs, ContinueArgs, NewSessionArgs, PromptArgs, ServerArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::session_output;
use crate::typed_path::from_project;
use crate::typed_text::typed_text;
use crate::usage_error::UsageError;

#[derive(Debug, Subcommand)]
pub(crate) enum ChangeCommand {
    /// Create a change without asking a provider yet.
    #[command(
        after_help = "Example: aiwf change new login 'Add a login page' --file 'src/**' --provider claude"
    )]
    New {
        /// Name of the change; reusable once the change has ended.
        #[arg(value_name = "NAME")]
        name: String,
        /// What to change, or @FILE to read it.
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        request: String,
        /// Show these files to every phase, relative to the current directory (repeatable).
        #[arg(long = "file", value_name = "GLOB")]
        files: Vec<String>,
        #[command(flatten)]
        session: NewSessionArgs,
    },
    /// Plan the change, until a decision is needed.
    #[command(after_help = "Example: aiwf change plan login --provider gemini")]
    Plan(PhaseArgs),
    /// Challenge the plan; the verdict decides what comes next.
    #[command(after_help = "Example: aiwf change challenge login --provider codex")]
    Challenge(PhaseArgs),
    /// Implement the plan after its challenge has passed.
    #[command(after_help = "Example: aiwf change implement login --provider claude --write")]
    Implement {
        #[command(flatten)]
        phase: PhaseArgs,
        /// Let the agent edit the project directly; its changes are recorded.
        #[arg(long)]
        write: bool,
    },
    /// Review the implementation; the verdict decides what comes next.
    #[command(after_help = "Example: aiwf change review login --provider codex")]
    Review(PhaseArgs),
    /// Write the record of the change.
    #[command(after_help = "Example: aiwf change archive login")]
    Archive(PhaseArgs),
    /// Run a change through its phases until a decision is needed or it is complete.
    #[command(after_help = "Example: aiwf change run login --provider claude --yes")]
    Run {
        #[command(flatten)]
        change: ChangeName,
        #[command(flatten)]
        continuing: ContinueArgs,
        #[command(flatten)]
        servers: ServerArgs,
        #[command(flatten)]
        call: CallArgs,
        #[command(flatten)]
        prompt: PromptArgs,
    },
    /// List changes, most recent first.
    #[command(after_help = "Example: aiwf change list")]
    List {
        /// Filter by status.
        #[arg(long, default_value = ALL, value_parser = change_status_parser())]
        status: StatusFilter,
        /// Maximum number of changes to show.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// A spelling of 0.1.0.
    #[command(external_subcommand)]
    Moved(Vec<OsString>),
}

/// Names a change.
#[derive(Debug, Args)]
pub(crate) struct ChangeName {
    /// Name or id of the change.
    #[arg(value_name = "NAME")]
    name: String,
}

/// Options of every phase.
#[derive(Debug, Args)]
pub(crate) struct PhaseArgs {
    #[command(flatten)]
    change: ChangeName,
    /// Provider for this phase: claude, codex, gemini, or any provider.
    #[arg(long, visible_alias = "agent", value_name = "PROVIDER")]
    provider: Option<String>,
    /// Add these instructions to the change request.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    instructions: Option<String>,
    /// Show these files to this phase too, relative to the current directory (repeatable).
    #[arg(long = "file", value_name = "GLOB")]
    files: Vec<String>,
    /// Skip the gates of this phase.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    prompt: PromptArgs,
}

impl ChangeCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::New { .. } => "change new",
            Self::Plan(_) => "change plan",
            Self::Challenge(_) => "change challenge",
            Self::Implement { .. } => "change implement",
            Self::Review(_) => "change review",
            Self::Archive(_) => "change archive",
            Self::Run { .. } => "change run",
            Self::List { .. } => "change list",
            Self::Moved(_) => "change",
        }
    }

    /// The change that it is about.
    fn change_name(&self) -> Option<&str> {
        match self {
            Self::List { .. } | Self::Moved(_) => None,
            Self::Plan(args) | Self::Challenge(args) | Self::Review(args) | Self::Archive(args) => {
                Some(&args.change.name)
            }
            Self::Implement { phase, .. } => Some(&phase.change.name),
            Self::New { name, .. } => Some(name),
            Self::Run { change, .. } => Some(&change.name),
        }
    }
}

pub(crate) fn run(command: &ChangeCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    run_command(command, engine, output).map_err(|failure| match command.change_name() {
        Some(name) => session::about_session(failure, SessionRef::Change(name), engine),
        None => failure,
    })
}

fn run_command(command: &ChangeCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        ChangeCommand::New { name, request, files, session } => {
            let new = NewChange {
                name: name.clone(),
                request: typed_text(request, engine.settings())?,
                files: typed_files(files, engine),
                provider: session.provider.clone(),
                flags: session.gates.flags()?,
            };
            session_output::report(&engine.create_change(new)?, output, Exit::Done)
        }
        ChangeCommand::Plan(args) => phase("plan", args, false, engine, output),
        ChangeCommand::Challenge(args) => phase("challenge", args, false, engine, output),
        ChangeCommand::Implement { phase: args, write } => phase("implement", args, *write, engine, output),
        ChangeCommand::Review(args) => phase("review", args, false, engine, output),
        ChangeCommand::Archive(args) => phase("archive", args, false, engine, output),
        ChangeCommand::Run { change, continuing, servers, call, prompt } => {
            let engine = prompt.engine(servers.engine(call.engine(engine))).skipping_gates(continuing.yes);
            let switching = continuing.switching();
            let name = Some(change.name.as_str());
            let engine = switching.engine(engine, name)?;
            let done = engine.run_change(&change.name, continuing.provider.as_deref());
            let decided = switching.waiting(&engine, name, done)?;
            print_decided(&decided, output)
        }
        ChangeCommand::List { status, limit } => list(*status, *limit, engine, output),
        ChangeCommand::Moved(words) => Err(UsageError::moved("change", words).into()),
    }
}

fn typed_files(typed: &[String], engine: &Engine) -> Vec<String> {
    typed.iter().map(|pattern| from_project(pattern, engine.settings())).collect()
}

fn phase(
    phase: &str,
    args: &PhaseArgs,
    may_write: bool,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let options = PhaseOptions {
        agent: args.provider.clone(),
        instructions: args.instructions.clone(),
        files: typed_files(&args.files, engine),
        may_write,
        opens_gates: args.yes,
    };
    let decided = args.prompt.engine(args.servers.engine(args.call.engine(engine))).run_phase(
        &args.change.name,
        phase,
        options,
    )?;
    print_decided(&decided, output)
}

fn print_decided(decided: &Decided, output: &Output<'_>) -> Result<Exit, Failure> {
    session_output::decided(decided, output, session::waiting_exit(decided))
}

fn list(status: StatusFilter, limit: usize, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut changes = engine.list_changes()?;
    changes.retain(|change| status.accepts(change.status));
    let total = changes.len();
    changes.truncate(limit);
    if output.is_json() {
        let changes: Vec<Value> = changes
            .iter()
            .map(|change| {
                session::without_nulls(json!({
                    "session_id": change.session_id,
                    "name": called(change),
                    "request": change.context.get("request"),
                    "phase": change.phase,
                    "status": change.status,
                    "iteration": change.iteration,
                    "created_at": change.created_at,
                    "updated_at": change.updated_at,
                    "error": change.error,
                }))
            })
            .collect();
        return output.json(json!({ "changes": changes, "total": total }), Exit::Done);
    }
    output::print(|out| {
        if changes.is_empty() {
            return writeln!(out, "no changes");
        }
        for change in &changes {
            let (name, phase) = (called(change), &change.phase);
            writeln!(out, "{name:20} {phase:12} {:12} {}", change.status, change.updated_at)?;
            if let Some(error) = &change.error {
                writeln!(out, "  {}", error.replace('\n', "\n  "))?;
            }
        }
        Ok(())
    })?;
    if total > changes.len() {
        output::note(&format!("{} more; `--limit {total}` shows all\n", total - changes.len()));
    }
    Ok(Exit::Done)
}

/// The name of a change on the command line; its id if it has no name.
fn called(change: &SessionSummary) -> &str {
    change.name.as_deref().unwrap_or(&change.session_id)
}
