//! `aiwf flow …`: lists, shows, checks, draws and scaffolds flows, and starts a session that follows one.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aiwf_engine::machine::{Flow, FlowProblem, flow_mermaid, flow_text};
use aiwf_engine::{Engine, FlowOrigin, FoundFlow, NewRequest, SessionError, read_stdin};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::call_args::{CallArgs, NewSessionArgs, PromptArgs, ServerArgs};
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::session_output;
use crate::typed_path::from_project;
use crate::typed_text::typed_text;

#[derive(Debug, Subcommand)]
pub(crate) enum FlowCommand {
    /// List the flows, built in and your own.
    #[command(after_help = "Example: aiwf flow list")]
    List,
    /// Print the file of a flow.
    #[command(after_help = "Example: aiwf flow show change")]
    Show {
        /// Name of the flow.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Check a flow and report every problem with its line.
    #[command(after_help = "Examples:\n  aiwf flow check our-flow\n  aiwf flow check path/to/flow.toml")]
    Check {
        /// Name of a flow, or path of a flow file or its directory [default: every flow].
        #[arg(value_name = "NAME|PATH")]
        name: Option<String>,
    },
    /// Draw the phases of a flow and where each verdict leads.
    #[command(after_help = "Example: aiwf flow graph spec --format mermaid")]
    Graph {
        /// Name of the flow.
        #[arg(value_name = "NAME")]
        name: String,
        /// Output format [default: text].
        #[arg(long, value_enum, default_value = "text", hide_default_value = true)]
        format: GraphFormat,
    },
    /// Create a flow to edit: `.aiwf/flows/NAME/` with its templates.
    #[command(after_help = "Example: aiwf flow new our-flow")]
    New {
        /// Name of the flow.
        #[arg(value_name = "NAME")]
        name: String,
        /// Write it to `~/.aiwf/flows/`, for all your projects.
        #[arg(long)]
        user: bool,
    },
    /// Start a session that follows a flow, and run it until a decision is needed.
    #[command(
        after_help = "Example: aiwf flow start spec 'Export reports as CSV' --file 'src/**' --provider claude"
    )]
    Start(StartArgs),
}

/// How a flow is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Plain text.
    Text,
    /// A Mermaid state diagram.
    Mermaid,
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Name of the flow.
    #[arg(value_name = "FLOW")]
    flow: String,
    /// What to do, or - for stdin.
    #[arg(value_name = "REQUEST")]
    request: String,
    /// Name of the session; reusable once the session has ended.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Show these files to every phase, relative to the current directory (repeatable).
    #[arg(long = "file", value_name = "GLOB")]
    files: Vec<String>,
    #[command(flatten)]
    session: NewSessionArgs,
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    prompt: PromptArgs,
}

impl FlowCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List => "flow list",
            Self::Show { .. } => "flow show",
            Self::Check { .. } => "flow check",
            Self::Graph { .. } => "flow graph",
            Self::New { .. } => "flow new",
            Self::Start(_) => "flow start",
        }
    }
}

pub(crate) fn run(command: &FlowCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        FlowCommand::List => list(&engine.flows()?, output),
        FlowCommand::Show { name } => {
            let found = engine.flow(name)?;
            if output.is_json() {
                return output.json(as_json(&found), Exit::Done);
            }
            output::print(|out| out.write_all(found.text.as_bytes()))?;
            Ok(Exit::Done)
        }
        FlowCommand::Check { name } => check(&checked(name.as_deref(), engine)?, output),
        FlowCommand::Graph { name, format } => {
            let found = engine.flow(name)?;
            let flow = good(&found)?;
            let drawing = match format {
                GraphFormat::Text => flow_text(flow),
                GraphFormat::Mermaid => flow_mermaid(flow),
            };
            if output.is_json() {
                return output.json(json!({ "flow": found.name, "graph": drawing }), Exit::Done);
            }
            output::print(|out| out.write_all(drawing.as_bytes()))?;
            Ok(Exit::Done)
        }
        FlowCommand::New { name, user } => {
            let origin = if *user { FlowOrigin::User } else { FlowOrigin::Project };
            let path = engine.new_flow(name, origin)?;
            if output.is_json() {
                return output.json(json!({ "flow": name, "path": path.display().to_string() }), Exit::Done);
            }
            output::print(|out| {
                writeln!(out, "wrote {}", path.join("flow.toml").display())?;
                writeln!(out, "next      edit it, then aiwf flow check {name}")
            })?;
            Ok(Exit::Done)
        }
        FlowCommand::Start(args) => start(args, engine, output),
    }
}

fn start(args: &StartArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let request = if args.request == "-" {
        read_stdin()?.trim_end().to_owned()
    } else {
        typed_text(&args.request, engine.settings())?
    };
    let new = NewRequest {
        flow: args.flow.clone(),
        name: args.name.clone(),
        request,
        files: args.files.iter().map(|pattern| from_project(pattern, engine.settings())).collect(),
        provider: args.session.provider.clone(),
        flags: args.session.gates.flags()?,
        ..NewRequest::default()
    };
    let engine = args.prompt.engine(args.servers.engine(args.call.engine(engine)));
    let started = engine.start_flow(&new)?;
    for warning in &started.warnings {
        output::warn(warning);
    }
    session_output::report(&engine.session_report(Some(started.id.as_str()))?, output, Exit::Done)
}

fn list(flows: &[FoundFlow], output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        let flows: Vec<Value> = flows.iter().map(as_json).collect();
        return output.json(json!({ "flows": flows }), Exit::Done);
    }
    output::print(|out| {
        for found in flows {
            let about = match &found.flow {
                Ok(flow) => escaped_line(&flow.title),
                Err(_) => format!("broken: `aiwf flow check {}` shows why", found.name),
            };
            writeln!(out, "{:16} {:9} {about}", found.name, found.origin.as_str())?;
            for hidden in &found.hides {
                writeln!(out, "  overrides the {} flow of the same name", hidden.as_str())?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// The flows to check: the one that is named, by name or path, or all.
fn checked(name: Option<&str>, engine: &Engine) -> Result<Vec<FoundFlow>, Failure> {
    let Some(name) = name else { return Ok(engine.flows()?) };
    let is_path = name.contains('/') || Path::new(name).extension().is_some_and(|end| end == "toml");
    if is_path {
        return Ok(vec![engine.check_flow(&PathBuf::from(name))?]);
    }
    Ok(vec![engine.flow(name)?])
}

fn check(flows: &[FoundFlow], output: &Output<'_>) -> Result<Exit, Failure> {
    let is_good = flows.iter().all(|found| found.flow.is_ok());
    let exit = if is_good { Exit::Done } else { Exit::Refused };
    if output.is_json() {
        let flows: Vec<Value> = flows.iter().map(as_json).collect();
        return output.json(json!({ "flows": flows }), exit);
    }
    output::print(|out| {
        for found in flows {
            match &found.flow {
                Ok(flow) => {
                    let n_phases = flow.phases.len();
                    let phases = if n_phases == 1 { "phase" } else { "phases" };
                    writeln!(out, "{}: {n_phases} {phases}, no problems", found.path)?;
                }
                Err(problems) => {
                    for problem in problems {
                        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
                        writeln!(out, "{}{line}: {}", found.path, escaped_line(&problem.message))?;
                        writeln!(out, "  hint: {}", problem.hint)?;
                    }
                }
            }
        }
        Ok(())
    })?;
    Ok(exit)
}

fn good(found: &FoundFlow) -> Result<&Flow, Failure> {
    found.flow.as_ref().map_err(|problems| {
        let (name, path) = (found.name.clone(), found.path.clone());
        SessionError::BrokenFlow { name, path, problems: problems.clone() }.into()
    })
}

fn as_json(found: &FoundFlow) -> Value {
    let problem = |problem: &FlowProblem| {
        let mut fields = json!({ "message": problem.message, "hint": problem.hint });
        if let (Some(line), Some(fields)) = (problem.line, fields.as_object_mut()) {
            fields.insert("line".to_owned(), line.into());
        }
        fields
    };
    let hides: Vec<&str> = found.hides.iter().map(|origin| origin.as_str()).collect();
    let mut fields = json!({
        "name": found.name,
        "origin": found.origin.as_str(),
        "path": found.path,
        "sha256": found.sha256,
        "hides": hides,
    });
    let more = match &found.flow {
        Ok(flow) => json!({ "title": flow.title, "phases": flow.phases }),
        Err(problems) => json!({ "problems": problems.iter().map(problem).collect::<Vec<_>>() }),
    };
    if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
        fields.extend(more);
    }
    fields
}
