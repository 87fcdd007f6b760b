//! `aiwf workflow`: runs of workflow packages, from their start to their end.

use std::ffi::OsString;
use std::path::PathBuf;

use aiwf_engine::{Engine, NewRun, Run, RunError, RunReport, read_stdin};
use clap::{Args, Subcommand};
use serde_json::Value;

use crate::call_args::{CallArgs, ServerArgs, TrustArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::run_output;
use crate::talk::{self, Console, Opening};
use crate::usage_error::UsageError;

/// Names a run.
#[derive(Debug, Args)]
pub(crate) struct RunId {
    /// Run or conversation: id, unique prefix, or `latest`.
    #[arg(value_name = "RUN")]
    id: String,
}

/// The provider, and how calls are made.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Provider to ask [default: the one used before, else `[workflow] provider`].
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Model for this command [default: the provider's `model`, else the default for its API].
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) call: CallArgs,
    #[command(flatten)]
    pub(crate) servers: ServerArgs,
}

impl AskArgs {
    /// The engine for a command that asks once and ends.
    pub(crate) fn engine(&self, engine: &Engine, output: &Output<'_>) -> Engine {
        self.servers.engine(self.call.engine_of_run(engine, output)).with_model(self.model.clone())
    }

    /// The engine for an interactive conversation.
    pub(crate) fn console(&self, engine: &Engine) -> Console {
        Console::new(&self.call, self.servers, &engine.clone().with_model(self.model.clone()))
    }

    pub(crate) fn provider(&self) -> Option<&str> {
        self.provider.as_deref()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Start a run and continue until it waits for you or is complete.
    #[command(
        after_help = "On a terminal, this opens a conversation; with --input, it runs one turn.\nExit code 3 means that the run is waiting for you.\n\nExample: aiwf workflow run my-flow.bmad --input 'The login page is slow'"
    )]
    Run(NewArgs),
    /// Resume an interrupted or waiting run.
    #[command(after_help = "Example: aiwf workflow resume latest")]
    Resume(SayArgs),
    /// Send a message to a run or conversation.
    #[command(
        after_help = "A message whose first line is WIDGET_SUBMIT answers a question from the model.\n\nExample: aiwf workflow say latest 'Yes, go on'"
    )]
    Say(SayArgs),
    /// Return a run to an earlier node, keeping its history.
    #[command(after_help = "Example: aiwf workflow rewind latest --to draft --reason 'wrong customer'")]
    Rewind {
        #[command(flatten)]
        run: RunId,
        /// Node to return to.
        #[arg(long, value_name = "NODE")]
        to: String,
        /// Reason, recorded in the journal.
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: Option<String>,
        #[command(flatten)]
        trust: TrustArgs,
    },
    /// Start a new run from another run's state at a node, without asking a model yet.
    #[command(after_help = "Example: aiwf workflow fork latest --at draft --input 'Try it shorter'")]
    Fork {
        #[command(flatten)]
        run: RunId,
        /// Node to start from.
        #[arg(long, value_name = "NODE")]
        at: String,
        /// Continue with this message, or - for stdin.
        #[arg(long, value_name = "TEXT|-")]
        input: Option<String>,
        /// Start the new run at once.
        #[arg(long)]
        start: bool,
        #[command(flatten)]
        ask: AskArgs,
    },
    /// A spelling of 0.1.0.
    #[command(external_subcommand)]
    Moved(Vec<OsString>),
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Package: a directory, or a `.bmad` or `.zip` file.
    #[arg(value_name = "PATH")]
    package: PathBuf,
    /// Id of the workflow [default: the only one].
    #[arg(long, value_name = "ID")]
    workflow: Option<String>,
    /// Agent to start with [default: the entry node's].
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// First message, or - for stdin.
    #[arg(long, value_name = "TEXT|-")]
    input: Option<String>,
    /// Let the model continue without asking about each step.
    #[arg(long)]
    autopilot: bool,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SayArgs {
    #[command(flatten)]
    run: RunId,
    /// Message, or - for stdin [default in a pipe: stdin].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    #[command(flatten)]
    ask: AskArgs,
}

impl WorkflowCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "workflow run",
            Self::Resume(_) => "workflow resume",
            Self::Say(_) => "workflow say",
            Self::Rewind { .. } => "workflow rewind",
            Self::Fork { .. } => "workflow fork",
            Self::Moved(_) => "workflow",
        }
    }
}

pub(crate) fn run(command: &WorkflowCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        WorkflowCommand::Run(args) => begin(args, engine, output),
        WorkflowCommand::Resume(args) => resume(args, engine, output),
        WorkflowCommand::Say(args) => say(args, engine, output),
        WorkflowCommand::Rewind { run, to, reason, trust } => {
            let report = trust.engine(engine.clone()).rewind_run(&run.id, to, reason.as_deref())?;
            let next = format!("aiwf workflow resume {}", report.run_id);
            run_output::decided(&report, &next, output)
        }
        WorkflowCommand::Fork { run, at, input, start, ask } => {
            fork(&run.id, at, input.as_deref(), *start, ask, engine, output)
        }
        WorkflowCommand::Moved(words) => Err(UsageError::moved("workflow", words).into()),
    }
}

/// A text argument; `-` reads stdin.
pub(crate) fn given(text: Option<&str>) -> Result<Option<String>, Failure> {
    match text {
        Some("-") => {
            output::note_waiting_for_input();
            Ok(Some(read_stdin()?))
        }
        text => Ok(text.map(str::to_owned)),
    }
}

fn begin(args: &NewArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let new = NewRun {
        package: &args.package,
        workflow: args.workflow.as_deref(),
        agent: args.agent.as_deref(),
        provider: args.ask.provider(),
        is_autopilot: args.autopilot,
    };
    if args.input.is_none() && talk::is_possible(&args.ask.call, output) {
        let console = args.ask.console(engine);
        let run = console.engine.start_run(&new)?;
        output::note(&format!("run {}; /help shows the commands, Ctrl-D leaves\n", run.id()));
        return console.talk(run, Opening::Start, args.ask.provider());
    }
    let input = given(args.input.as_deref())?;
    let engine = args.ask.engine(engine, output);
    let mut run = engine.start_run(&new)?;
    turn(&mut run, output, |run| run.start(input.as_deref()))
}

/// Runs one turn and prints the result.
pub(crate) fn turn(
    run: &mut Run<'_>,
    output: &Output<'_>,
    turn: impl FnOnce(&mut Run<'_>) -> Result<RunReport, RunError>,
) -> Result<Exit, Failure> {
    let report = turn(run).map_err(|error| {
        // The run exists although the turn failed, so the error must name it.
        let mut failure = Failure::from(error);
        failure.fields.insert("run_id", Value::from(run.id()));
        failure
    })?;
    run_output::turn(&report, output)
}

fn resume(args: &SayArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let (which, provider) = (args.run.id.as_str(), args.ask.provider());
    if args.text.is_none() && talk::is_possible(&args.ask.call, output) {
        let console = args.ask.console(engine);
        let run = console.engine.open_run(which, provider)?;
        let opening = talk::opening_of(&run.report());
        return console.talk(run, opening, provider);
    }
    let text = given(args.text.as_deref())?;
    let engine = args.ask.engine(engine, output);
    let mut run = engine.open_run(which, provider)?;
    turn(&mut run, output, |run| run.resume(text.as_deref()))
}

fn say(args: &SayArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let (which, provider) = (args.run.id.as_str(), args.ask.provider());
    if args.text.is_none() && talk::is_possible(&args.ask.call, output) {
        let console = args.ask.console(engine);
        let run = console.engine.open_run(which, provider)?;
        return console.talk(run, Opening::Listen, provider);
    }
    let text =
        text_or_stdin(args.text.as_deref(), "aiwf workflow say RUN TEXT")?.ok_or(RunError::NothingSaid)?;
    let engine = args.ask.engine(engine, output);
    let mut run = engine.open_run(which, provider)?;
    turn(&mut run, output, |run| run.say(&text))
}

/// The message: the argument, or stdin if it is not a terminal; `None` if it is blank.
pub(crate) fn text_or_stdin(text: Option<&str>, usage: &'static str) -> Result<Option<String>, Failure> {
    use std::io::IsTerminal as _;
    let text = match text {
        None if std::io::stdin().is_terminal() => {
            return Err(UsageError::NothingToSay { usage }.into());
        }
        None => read_stdin()?,
        text => given(text)?.unwrap_or_default(),
    };
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

fn fork(
    which: &str,
    at: &str,
    input: Option<&str>,
    is_started: bool,
    ask: &AskArgs,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let input = given(input)?;
    let engine = ask.engine(engine, output);
    let mut run = engine.fork_run(which, at, ask.provider())?;
    if input.is_none() && !is_started {
        let next = format!("aiwf workflow resume {}", run.id());
        return run_output::decided(&run.report(), &next, output);
    }
    turn(&mut run, output, |run| run.resume(input.as_deref()))
}
