//! `aiwf agent`: a conversation with an agent of a package, its menu included.

use std::io::Write as _;
use std::path::PathBuf;

use aiwf_engine::package::{AgentDefinition, GlobalCommand, Package, global_command};
use aiwf_engine::{Engine, NewConversation, PackageToolError};
use clap::Args;
use serde_json::json;

use super::workflow::{AskArgs, text_or_stdin, turn};
use crate::agent_menu::{self, Chosen};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::talk::{self, Opening};

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Package: a directory, or a `.bmad` or `.zip` file.
    #[arg(value_name = "PATH")]
    package: PathBuf,
    /// Id of the agent.
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Send this message and exit, or - for stdin.
    #[arg(long, value_name = "TEXT|-")]
    input: Option<String>,
    #[command(flatten)]
    ask: AskArgs,
}

pub(crate) fn run(args: &AgentArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let package = engine.package(&args.package)?;
    let agent = package.agent(&args.agent).map_err(PackageToolError::from)?;
    let new = NewConversation {
        package: Some(&args.package),
        agent: Some(&args.agent),
        provider: args.ask.provider(),
    };
    if args.input.is_none() && talk::is_possible(&args.ask.call, output) {
        let console = args.ask.console(engine);
        let run = console.engine.start_conversation(&new)?;
        return console.talk(run, Opening::Listen, args.ask.provider());
    }
    let Some(text) = text_or_stdin(args.input.as_deref(), "aiwf agent PATH AGENT --input TEXT")? else {
        return show_menu(agent, output);
    };
    let engine = args.ask.engine(engine, output);
    let provider = args.ask.provider();
    match chosen(&engine, &package, agent, &text)? {
        Chosen::Say { text, data } => {
            let mut run = engine.start_conversation(&new)?;
            turn(&mut run, output, |run| match data {
                Some(data) => run.say_with_data(&text, data),
                None => run.say(&text),
            })
        }
        Chosen::StartWorkflow { workflow, input, data } => {
            let mut run = talk::begin(&engine, &args.package, &workflow, Some(&args.agent), provider)?;
            turn(&mut run, output, |run| match data {
                Some(data) => run.start_with_data(input.as_deref(), data),
                None => run.start(input.as_deref()),
            })
        }
        Chosen::ResumeRun => {
            let id = talk::newest_run(&engine, Some(&package.manifest.name))?;
            let mut run = engine.open_run(&id, provider)?;
            turn(&mut run, output, |run| run.resume(None))
        }
        Chosen::ShowMenu | Chosen::Dismiss => show_menu(agent, output),
        Chosen::Clarify(numbers) => clarify(agent, &numbers, output),
    }
}

/// Interprets the input; only some commands of a conversation make sense without one.
fn chosen(
    engine: &Engine,
    package: &Package,
    agent: &AgentDefinition,
    text: &str,
) -> Result<Chosen, Failure> {
    match global_command(text) {
        Some(GlobalCommand::Resume) => Ok(Chosen::ResumeRun),
        Some(GlobalCommand::Menu | GlobalCommand::Dismiss | GlobalCommand::Pause | GlobalCommand::Stop) => {
            Ok(Chosen::ShowMenu)
        }
        None => agent_menu::choose(engine, package, agent, text, false),
    }
}

fn show_menu(agent: &AgentDefinition, output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        let json = json!({ "agent": agent.id, "menu": agent_menu::as_json(agent) });
        return output.json(json, Exit::Done);
    }
    output::print(|out| write!(out, "{}\n{}", agent_menu::introduced(agent), agent_menu::shown(agent)))?;
    Ok(Exit::Done)
}

/// Lists the items that the input may mean; the next input must be one of their numbers.
fn clarify(agent: &AgentDefinition, numbers: &[usize], output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        let json = json!({ "agent": agent.id, "candidates": numbers, "menu": agent_menu::as_json(agent) });
        return output.json(json, Exit::Waiting);
    }
    output::print(|out| out.write_all(agent_menu::candidates(agent, numbers).as_bytes()))?;
    output::note("which one? give its number with `--input`\n");
    Ok(Exit::Waiting)
}
