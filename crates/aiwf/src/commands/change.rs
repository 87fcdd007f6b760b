//! `aiwf change …`: a change of the project, planned, challenged, implemented, reviewed and recorded by agents.
//!
//! A change is a session with other phases; what both do is printed by the same code.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use aiwf_engine::{
    ApplyOptions, ApproveOptions, Decided, Engine, NewChange, PhaseOptions, SessionRef, SessionSummary,
    read_stdin, read_text,
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::session;
use crate::call_args::{CallArgs, GateArgs, PromptArgs, ServerArgs, TrustArgs, saying};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::naming_change;
use crate::output::{self, Output};
use crate::session_output;
use crate::typed_path::{from_project, from_session};

/// Names a change.
#[derive(Debug, Args)]
pub(crate) struct ChangeName {
    /// The change.
    #[arg(value_name = "NAME")]
    name: String,
}

impl ChangeName {
    fn which(&self) -> SessionRef<'_> {
        SessionRef::Change(&self.name)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangeCommand {
    /// Begin a change; nothing is asked yet.
    #[command(after_help = "Example: aiwf change new login 'Add a login page' --file 'src/**'")]
    New {
        #[command(flatten)]
        change: ChangeName,
        /// What to change.
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        request: String,
        /// Show these files to every phase, relative to the current directory (repeatable).
        #[arg(long = "file", value_name = "GLOB")]
        files: Vec<String>,
        /// Skip all gates.
        #[arg(long)]
        yes: bool,
    },
    /// Plan the change, until a person is needed.
    #[command(after_help = "Example: aiwf change plan login --agent gemini")]
    Plan(PhaseArgs),
    /// Let the plan be challenged; its verdict decides what follows.
    #[command(after_help = "Example: aiwf change challenge login --agent codex")]
    Challenge(PhaseArgs),
    /// Let the plan be implemented, once its challenge passed.
    #[command(after_help = "Example: aiwf change implement login --agent claude --write")]
    Implement {
        #[command(flatten)]
        phase: PhaseArgs,
        /// Let the agent edit the project itself; what it changes is on record.
        #[arg(long)]
        write: bool,
    },
    /// Let the implementation be reviewed; its verdict decides what follows.
    #[command(after_help = "Example: aiwf change review login --agent codex")]
    Review(PhaseArgs),
    /// Let the record of the change be written.
    #[command(after_help = "Example: aiwf change archive login")]
    Archive(PhaseArgs),
    /// Walk through the phases until a person is needed or the change is complete.
    #[command(after_help = "Example: aiwf change run login --yes")]
    Run {
        #[command(flatten)]
        change: ChangeName,
        /// Skip all gates from now on.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        servers: ServerArgs,
        #[command(flatten)]
        call: CallArgs,
        #[command(flatten)]
        prompt: PromptArgs,
    },
    /// Show where a change stands.
    #[command(after_help = "Example: aiwf change status login --usage")]
    Status {
        #[command(flatten)]
        change: ChangeName,
        /// Show what its calls cost, and what they may cost.
        #[arg(long)]
        usage: bool,
    },
    /// List the changes, the one that was worked on last first.
    #[command(after_help = "Example: aiwf change list")]
    List {
        /// Only changes that stand so.
        #[arg(long, default_value = "all", value_parser = ["in-progress", "waiting", "paused", "rejected", "complete", "cancelled", "all"])]
        status: String,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Print something of a change: plan, challenge, implementation, review, archive, prompt, response, code, or a path.
    #[command(after_help = "Example: aiwf change show login plan")]
    Show {
        #[command(flatten)]
        change: ChangeName,
        /// What to print; what was approved last when left out.
        #[arg(value_name = "ARTIFACT", default_value = "latest")]
        artifact: String,
    },
    /// Approve what lies at the gate, exactly as it is on disk.
    #[command(after_help = "Example: aiwf change approve login")]
    Approve(ApproveArgs),
    /// Turn down what lies at the gate; the next prompt carries the feedback.
    #[command(after_help = "Example: aiwf change reject login --feedback 'Keep the old route'")]
    Reject {
        #[command(flatten)]
        change: ChangeName,
        #[command(flatten)]
        gate: GateArgs,
        /// What should be different.
        #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
        feedback: String,
        #[command(flatten)]
        call: CallArgs,
        #[command(flatten)]
        servers: ServerArgs,
        #[command(flatten)]
        prompt: PromptArgs,
    },
    /// Put a reply in place.
    #[command(after_help = "Example: aiwf change respond login --file reply.md")]
    Respond {
        #[command(flatten)]
        change: ChangeName,
        #[command(flatten)]
        gate: GateArgs,
        /// The reply, or - for the standard input.
        #[arg(long, value_name = "FILE|-", default_value = "-")]
        file: PathBuf,
        /// Keep the request and the reply in this directory, for a provider of type replay.
        #[arg(long, value_name = "DIR")]
        record: Option<PathBuf>,
        #[command(flatten)]
        servers: ServerArgs,
        #[command(flatten)]
        trust: TrustArgs,
    },
    /// Ask again with the same approved prompt.
    #[command(after_help = "Example: aiwf change retry login")]
    Retry {
        #[command(flatten)]
        change: ChangeName,
        #[command(flatten)]
        gate: GateArgs,
        #[command(flatten)]
        call: CallArgs,
        #[command(flatten)]
        servers: ServerArgs,
        #[command(flatten)]
        prompt: PromptArgs,
    },
    /// Print the next prompt exactly as it will be sent.
    #[command(after_help = "Example: aiwf change preview login")]
    Preview {
        #[command(flatten)]
        change: ChangeName,
        #[command(flatten)]
        servers: ServerArgs,
        #[command(flatten)]
        prompt: PromptArgs,
    },
    /// Print the events of a change.
    #[command(after_help = "Example: aiwf change events login --follow")]
    Events {
        #[command(flatten)]
        change: ChangeName,
        /// Go on printing as they happen, until the change has ended.
        #[arg(long)]
        follow: bool,
    },
    /// Put the implemented files in place: differences shown, conflicts refused, all or nothing.
    #[command(after_help = "Example: aiwf change apply login --dry-run")]
    Apply {
        #[command(flatten)]
        change: ChangeName,
        /// A directory in place of the project.
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
        /// Only show what would be done.
        #[arg(long)]
        dry_run: bool,
        /// Replace files that changed since the implementation; each is kept as FILE.orig.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        trust: TrustArgs,
    },
    /// Check the journal's chain and every approved file.
    #[command(after_help = "Example: aiwf change verify login")]
    Verify(ChangeName),
    /// Give a change up.
    #[command(after_help = "Example: aiwf change cancel login")]
    Cancel {
        #[command(flatten)]
        change: ChangeName,
        #[command(flatten)]
        trust: TrustArgs,
    },
    /// Bring the approved bytes of a file back.
    #[command(after_help = "Example: aiwf change restore login plan.md")]
    Restore {
        #[command(flatten)]
        change: ChangeName,
        /// The file, as `aiwf change status` names it.
        #[arg(value_name = "FILE")]
        file: String,
        #[command(flatten)]
        trust: TrustArgs,
    },
}

/// What every phase takes.
#[derive(Debug, Args)]
pub(crate) struct PhaseArgs {
    #[command(flatten)]
    change: ChangeName,
    /// Who does the work: claude, codex, gemini, or any provider.
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Add this to what the change is about.
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

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    change: ChangeName,
    /// Accept the edits of files that were approved before.
    #[arg(long, conflicts_with_all = ["accept", "max_rounds"])]
    rebind: bool,
    /// Go on to the record although the review did not pass.
    #[arg(long, conflicts_with = "max_rounds")]
    accept: bool,
    /// Allow more rounds.
    #[arg(long, value_name = "N")]
    max_rounds: Option<u32>,
    /// Skip all gates from now on, this one included.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    gate: GateArgs,
    #[command(flatten)]
    hash_prompts: session::HashPromptsArgs,
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    servers: ServerArgs,
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
            Self::Status { .. } => "change status",
            Self::List { .. } => "change list",
            Self::Show { .. } => "change show",
            Self::Approve(_) => "change approve",
            Self::Reject { .. } => "change reject",
            Self::Respond { .. } => "change respond",
            Self::Retry { .. } => "change retry",
            Self::Preview { .. } => "change preview",
            Self::Events { .. } => "change events",
            Self::Apply { .. } => "change apply",
            Self::Verify(_) => "change verify",
            Self::Cancel { .. } => "change cancel",
            Self::Restore { .. } => "change restore",
        }
    }

    /// The change that it is about.
    fn change_name(&self) -> Option<&str> {
        match self {
            Self::List { .. } => None,
            Self::Plan(args) | Self::Challenge(args) | Self::Review(args) | Self::Archive(args) => {
                Some(&args.change.name)
            }
            Self::Implement { phase, .. } => Some(&phase.change.name),
            Self::Approve(args) => Some(&args.change.name),
            Self::New { change, .. }
            | Self::Run { change, .. }
            | Self::Status { change, .. }
            | Self::Show { change, .. }
            | Self::Reject { change, .. }
            | Self::Respond { change, .. }
            | Self::Retry { change, .. }
            | Self::Preview { change, .. }
            | Self::Events { change, .. }
            | Self::Apply { change, .. }
            | Self::Verify(change)
            | Self::Cancel { change, .. }
            | Self::Restore { change, .. } => Some(&change.name),
        }
    }
}

pub(crate) fn run(command: &ChangeCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    run_command(command, engine, output).map_err(|failure| {
        let failure = match command.change_name() {
            Some(name) => session::with_place(failure, SessionRef::Change(name), engine),
            None => failure,
        };
        in_words_of_changes(failure, command.change_name())
    })
}

fn run_command(command: &ChangeCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        ChangeCommand::New { change, request, files, yes } => {
            let new = NewChange {
                name: change.name.clone(),
                request: request.clone(),
                files: typed_files(files, engine),
                opens_gates: *yes,
            };
            session_output::report(&engine.create_change(new)?, output, Exit::Done)
        }
        ChangeCommand::Plan(args) => phase("plan", args, false, engine, output),
        ChangeCommand::Challenge(args) => phase("challenge", args, false, engine, output),
        ChangeCommand::Implement { phase: args, write } => phase("implement", args, *write, engine, output),
        ChangeCommand::Review(args) => phase("review", args, false, engine, output),
        ChangeCommand::Archive(args) => phase("archive", args, false, engine, output),
        ChangeCommand::Run { change, yes, servers, call, prompt } => {
            let decided =
                prompt.engine(servers.engine(call.engine(engine))).run_change(&change.name, *yes)?;
            print_decided(&decided, Waiting::Counts, output)
        }
        ChangeCommand::Status { change, usage: true } => {
            session_output::usage(&engine.session_usage(change.which())?, output)
        }
        ChangeCommand::Status { change, usage: false } => {
            session_output::report(&engine.session_report(change.which())?, output, Exit::Done)
        }
        ChangeCommand::List { status, limit } => list(status, *limit, engine, output),
        ChangeCommand::Show { change, artifact } => {
            session::show(change.which(), Some(artifact), engine, output)
        }
        ChangeCommand::Approve(args) => approve(args, engine, output),
        ChangeCommand::Reject { change, feedback, gate, call, servers, prompt } => {
            let engine = &gate.engine(engine, change.which())?;
            let engine = prompt.engine(servers.engine(call.engine(engine)));
            let decided = engine.reject(change.which(), feedback)?;
            print_decided(&decided, Waiting::IsFine, output)
        }
        ChangeCommand::Respond { change, file, record, gate, servers, trust } => {
            let engine = &gate.engine(engine, change.which())?;
            let reply = if file.as_os_str() == "-" {
                read_stdin()?
            } else {
                read_text(&engine.settings().current_dir.join(file))?
            };
            let engine = trust.engine(servers.engine(saying(engine)));
            let decided = engine.respond(change.which(), &reply, record.as_deref())?;
            print_decided(&decided, Waiting::IsFine, output)
        }
        ChangeCommand::Retry { change, gate, call, servers, prompt } => {
            let engine = &gate.engine(engine, change.which())?;
            let engine = prompt.engine(servers.engine(call.engine(engine)));
            let decided = engine.retry(change.which())?;
            print_decided(&decided, Waiting::IsFine, output)
        }
        ChangeCommand::Preview { change, servers, prompt } => {
            session::preview(change.which(), &prompt.engine(servers.engine(engine.clone())), output)
        }
        ChangeCommand::Events { change, follow } => session::events(change.which(), *follow, engine, output),
        ChangeCommand::Apply { change, to, dry_run, force, trust } => {
            let options = ApplyOptions { to: to.clone(), is_dry_run: *dry_run, is_forced: *force };
            session::apply(change.which(), &options, &trust.engine(engine.clone()), output)
        }
        ChangeCommand::Verify(change) => session::verify(change.which(), engine, output),
        ChangeCommand::Cancel { change, trust } => {
            let engine = trust.engine(engine.clone());
            print_decided(&engine.cancel(change.which())?, Waiting::IsFine, output)
        }
        ChangeCommand::Restore { change, file, trust } => {
            trust.engine(engine.clone()).restore(change.which(), &from_session(file, engine.settings()))?;
            session_output::report(&engine.session_report(change.which())?, output, Exit::Done)
        }
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
        agent: args.agent.clone(),
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
    print_decided(&decided, Waiting::Counts, output)
}

fn approve(args: &ApproveArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let which = args.change.which();
    let engine = args.gate.engine(engine, which)?.skipping_gates(args.yes);
    let engine = args.prompt.engine(args.servers.engine(args.call.engine(&engine)));
    let decided = match (args.rebind, args.accept, args.max_rounds) {
        (true, ..) => engine.rebind(which)?,
        (_, true, _) => engine.accept(which)?,
        (.., Some(max_rounds)) => engine.raise_cap(which, max_rounds)?,
        (false, false, None) => {
            let hash_prompts = args.hash_prompts.chosen();
            engine.approve(which, &ApproveOptions { fs_ability: None, hash_prompts })?
        }
    };
    print_decided(&decided, Waiting::IsFine, output)
}

/// Whether a command that leaves somebody awaited has done what it was asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// It was to go on.
    Counts,
    /// It was a decision, and that was taken.
    IsFine,
}

fn print_decided(decided: &Decided, waiting: Waiting, output: &Output<'_>) -> Result<Exit, Failure> {
    let exit = match decided.report.status {
        "rejected" => Exit::Refused,
        "paused" => Exit::Waiting,
        "waiting" if waiting == Waiting::Counts => Exit::Waiting,
        _ => Exit::Done,
    };
    let printed = session_output::decided(decided, output, exit)?;
    if exit == Exit::Refused {
        let verdicts = decided.report.change.iter().flat_map(|change| &change.verdicts);
        let verdict =
            verdicts.filter(|(phase, _)| **phase == decided.report.phase).map(|(_, verdict)| verdict);
        let mut text = format!("stopped: the {} said", decided.report.phase);
        for verdict in verdict {
            let _ = write!(text, " {}", verdict.as_str());
        }
        output::note(&format!("{text}\n"));
    }
    Ok(printed)
}

fn list(status: &str, limit: usize, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut changes = engine.list_changes()?;
    changes.retain(|change| status == "all" || status == change.status);
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

/// What a command calls a change: its name, which is its id when it has none.
fn called(change: &SessionSummary) -> &str {
    change.name.as_deref().unwrap_or(&change.session_id)
}

/// Commands that both sessions and changes have.
const SHARED: [&str; 14] = [
    "apply", "approve", "cancel", "events", "list", "preview", "reject", "respond", "restore", "retry",
    "run", "show", "status", "verify",
];

/// Names the commands of changes where the engine speaks of sessions.
fn in_words_of_changes(failure: Failure, name: Option<&str>) -> Failure {
    let hint = failure.hint.as_deref().map(reworded).map(|hint| naming_change(&hint, name.unwrap_or("NAME")));
    Failure { message: reworded(&failure.message), hint, ..failure }
}

fn reworded(text: &str) -> String {
    let mut text = text.replace("the session", "the change").replace("this session", "this change");
    for command in SHARED {
        text = text.replace(&format!("`aiwf {command}"), &format!("`aiwf change {command}"));
    }
    text.replace(" ID ", " NAME ")
        .replace("session `", "change `")
        .replace("plan, standards,", "plan, challenge, implementation, archive,")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_commands_of_changes() {
        let hint = "`aiwf restore ID plan.md` brings it back; `aiwf approve ID --rebind` accepts it; `aiwf change list`";
        let taken = Failure::from(aiwf_engine::SessionError::Lock(aiwf_engine::LockError::Taken));
        let failure = in_words_of_changes(Failure { hint: Some(hint.to_owned()), ..taken }, Some("login"));
        assert_eq!(failure.message, "another aiwf is working on this change");
        assert_eq!(
            failure.hint.as_deref(),
            Some(
                "`aiwf change restore login plan.md` brings it back; `aiwf change approve login --rebind` accepts it; `aiwf change list`"
            )
        );
    }
}
