//! `aiwf tools`: lists and calls the tools of servers, and manages pins.

use std::io::Write as _;
use std::path::Path;

use aiwf_engine::tool::{Progress, ToolResult};
use aiwf_engine::{Consent, Engine, EngineError, ServerTools, Toolbox, read_stdin, read_text};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::call_args::CallArgs;
use crate::command_error::CommandError;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, ErrorJson, Output};
use crate::usage_error::UsageError;

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools of all servers, or of one.
    #[command(after_help = "Examples:\n  aiwf tools list\n  aiwf tools list --server files --json")]
    List {
        /// List only the tools of this server.
        #[arg(long, value_name = "NAME")]
        server: Option<String>,
        #[command(flatten)]
        consent: ConsentArgs,
    },
    /// Call one tool and print its result.
    #[command(
        after_help = "Examples:\n  aiwf tools call files__read_text_file --args '{\"path\": \"README.md\"}'\n  \
                      aiwf tools call search__query --args @query.json\n  echo '{}' | aiwf tools call clock__now --args -"
    )]
    Call {
        /// Tool to call.
        #[arg(value_name = "SERVER__TOOL")]
        tool: String,
        /// Arguments: a JSON object, @FILE to read one from a file, or - for stdin.
        #[arg(long, value_name = "JSON|@FILE|-", default_value = "{}", allow_hyphen_values = true)]
        args: String,
        #[command(flatten)]
        consent: ConsentArgs,
    },
    /// Pin tools as they are now, accepting any changes.
    #[command(
        after_help = "Examples:\n  aiwf tools pin files__read_text_file\n  aiwf tools pin files\n  aiwf tools pin"
    )]
    Pin(TargetArgs),
    /// Remove pins; the next use of a tool pins it again.
    #[command(after_help = "Example: aiwf tools unpin files")]
    Unpin {
        /// Server, or one of its tools [default: all].
        #[arg(value_name = "SERVER[__TOOL]")]
        target: Option<String>,
    },
    /// Show which tools are pinned, new or changed.
    #[command(after_help = "Example: aiwf tools status files")]
    Status(TargetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// Server, or one of its tools [default: all].
    #[arg(value_name = "SERVER[__TOOL]")]
    target: Option<String>,
    #[command(flatten)]
    consent: ConsentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ConsentArgs {
    /// Start servers you have not agreed to yet, and remember your consent to their exact commands.
    #[arg(long)]
    trust_servers: bool,
}

impl ToolsCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List { .. } => "tools list",
            Self::Call { .. } => "tools call",
            Self::Pin(_) => "tools pin",
            Self::Unpin { .. } => "tools unpin",
            Self::Status(_) => "tools status",
        }
    }
}

pub(crate) fn run(command: &ToolsCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        ToolsCommand::List { server, consent } => {
            if let Some(server) = server.as_deref().filter(|server| server.contains("__")) {
                return Err(UsageError::ServerName { given: server.to_owned() }.into());
            }
            let toolbox = open(engine, consent)?;
            print_tools(&toolbox.list(server.as_deref())?, &toolbox, output, Detail::Descriptions)
        }
        ToolsCommand::Status(TargetArgs { target, consent }) => {
            let toolbox = open(engine, consent)?;
            print_tools(&toolbox.list(target.as_deref())?, &toolbox, output, Detail::Pins)
        }
        ToolsCommand::Call { tool, args, consent } => {
            let arguments = arguments(args, engine)?;
            let toolbox = open(engine, consent)?;
            let result = toolbox.call(tool, &arguments, &note_progress)?;
            print_result(tool, &result, output)
        }
        ToolsCommand::Pin(TargetArgs { target, consent }) => {
            let names = open(engine, consent)?.pin(target.as_deref())?;
            print_names("pinned", &names, output)
        }
        ToolsCommand::Unpin { target } => {
            let toolbox = open(engine, &ConsentArgs { trust_servers: false })?;
            print_names("unpinned", &toolbox.unpin(target.as_deref())?, output)
        }
    }
}

fn open(engine: &Engine, consent: &ConsentArgs) -> Result<Toolbox, Failure> {
    let engine = CallArgs::default().engine(engine);
    let consent = if consent.trust_servers { Consent::Given } else { Consent::Remembered };
    let toolbox = engine.tools(consent, output::server_starts)?;
    for problem in toolbox.problems() {
        output::warn(&escaped_line(problem));
    }
    if toolbox.is_empty() {
        return Err(CommandError::NoServer.into());
    }
    Ok(toolbox)
}

/// Parses the object in `--args`.
fn arguments(words: &str, engine: &Engine) -> Result<Map<String, Value>, Failure> {
    let (place, text) = if words == "-" {
        ("stdin".to_owned(), read_stdin()?)
    } else if let Some(path) = words.strip_prefix('@') {
        let shown = Path::new(path);
        let text = read_text(&engine.settings().current_dir.join(shown))
            .map_err(|error: EngineError| error.about(shown))?;
        (format!("`{path}`"), text)
    } else {
        ("`--args`".to_owned(), words.to_owned())
    };
    let found = match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => return Ok(arguments),
        Ok(Value::Array(_)) => "a list",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::Bool(_)) => "a boolean",
        Ok(Value::Null) => "`null`",
        Err(error) => return Err(UsageError::ArgsNotJson { place, reason: error.to_string() }.into()),
    };
    Err(UsageError::ArgsNotAnObject { place, found }.into())
}

fn note_progress(progress: &Progress) {
    if !output::is_watched() {
        return;
    }
    let total = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
    let message = progress.message.as_deref().map(|text| format!(" {}", escaped_line(text)));
    output::note(&format!("{}{total}{}\n", progress.done, message.unwrap_or_default()));
}

/// How much to show of each tool.
#[derive(Clone, Copy)]
enum Detail {
    Descriptions,
    Pins,
}

fn print_tools(
    servers: &[ServerTools],
    toolbox: &Toolbox,
    output: &Output<'_>,
    detail: Detail,
) -> Result<Exit, Failure> {
    let has_failed = servers.iter().any(|server| server.error.is_some());
    let exit = if has_failed { Exit::Refused } else { Exit::Done };
    if output.is_json() {
        let servers: Vec<Value> = servers.iter().map(server_json).collect();
        return output.json(json!({ "servers": servers, "problems": toolbox.problems() }), exit);
    }
    output::print(|out| {
        for (index, server) in servers.iter().enumerate() {
            let blank = if index == 0 { "" } else { "\n" };
            writeln!(out, "{blank}{}: {}", server.name, escaped_line(&server.command))?;
            let width = server.tools.iter().map(|tool| tool.full_name.len()).max().unwrap_or(0);
            for tool in &server.tools {
                let marks = format!(
                    "  {:width$}  {:9}  {:7}",
                    tool.full_name,
                    if tool.is_read_only { "read-only" } else { "writes" },
                    tool.pin
                );
                let more = match detail {
                    Detail::Descriptions => {
                        tool.tool.description.as_deref().map(first_line).unwrap_or_default()
                    }
                    Detail::Pins => match &tool.changed {
                        Some(changed) => {
                            format!("its {changed} changed; `aiwf tools pin {}`", tool.full_name)
                        }
                        None => tool.sha256.chars().take(12).collect(),
                    },
                };
                writeln!(out, "{}", format!("{marks}  {more}").trim_end())?;
            }
        }
        Ok(())
    })?;
    for server in servers {
        for problem in &server.problems {
            output::warn(&escaped_line(problem));
        }
        if let Some(error) = &server.error {
            output::note_failure(&Failure::of_tools(error));
        }
    }
    Ok(exit)
}

fn server_json(server: &ServerTools) -> Value {
    let mut value = json!(server);
    if let (Some(error), Some(object)) = (&server.error, value.as_object_mut()) {
        object.insert("error".to_owned(), json!(ErrorJson::of(&Failure::of_tools(error))));
    }
    value
}

/// The first sentence or line of a description, short enough for one line of a list.
fn first_line(description: &str) -> String {
    const LENGTH: usize = 80;
    let line = escaped_line(description.trim().lines().next().unwrap_or_default());
    if line.chars().count() <= LENGTH {
        return line;
    }
    line.chars().take(LENGTH - 1).chain(['…']).collect()
}

fn print_result(name: &str, result: &ToolResult, output: &Output<'_>) -> Result<Exit, Failure> {
    let exit = if result.is_error { Exit::Refused } else { Exit::Done };
    if output.is_json() {
        return output.json(json!({ "tool": name, "result": result }), exit);
    }
    output::print(|out| {
        out.write_all(result.text.as_bytes())?;
        if result.text.is_empty() || result.text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") }
    })?;
    if let Some(path) = &result.path {
        output::note(&format!("the complete result is in `{}`\n", path.display()));
    }
    if result.is_error {
        output::note_failure(&CommandError::ToolFailed { tool: name.to_owned() }.into());
    }
    Ok(exit)
}

fn print_names(what: &'static str, names: &[String], output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(json!({ what: names }), Exit::Done);
    }
    output::print(|out| names.iter().try_for_each(|name| writeln!(out, "{what} {name}")))?;
    if names.is_empty() {
        output::note(&format!("nothing is {what}\n"));
    }
    Ok(Exit::Done)
}
