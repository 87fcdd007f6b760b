//! `aiwf integrate …`: lets Claude Code, Codex and Gemini CLI call aiwf.

use std::io::Write as _;

use aiwf_engine::{Engine, IntegrateError, IntegrationEffect, IntegrationPlan, IntegrationScope};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::adopt::ask;
use crate::coloured_diff::coloured;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// Whose files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// Files of this project, for everyone who works on it.
    Project,
    /// Your own files, for all projects.
    User,
}

#[derive(Debug, Args)]
pub(crate) struct IntegrateArgs {
    /// Agent that should call aiwf: claude, codex or gemini.
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Configuration to change: project or user [default: project; user for codex].
    #[arg(long, value_enum, value_name = "SCOPE", hide_possible_values = true)]
    scope: Option<Scope>,
    /// Remove what was added.
    #[arg(long)]
    remove: bool,
    /// Show the changes without writing.
    #[arg(long)]
    dry_run: bool,
    /// Write without asking.
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: &IntegrateArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let scope = args.scope.map(|scope| match scope {
        Scope::Project => IntegrationScope::Project,
        Scope::User => IntegrationScope::User,
    });
    let plan = engine.plan_integration(&args.agent, scope, args.remove)?;
    if output.is_json() {
        let writes = plan.has_changes() && args.yes && !args.dry_run;
        if writes {
            engine.write_integration(&plan)?;
        }
        let waits = plan.has_changes() && !writes && !args.dry_run;
        return output.json(as_json(&plan, writes), if waits { Exit::Waiting } else { Exit::Done });
    }
    show(&plan)?;
    if !plan.has_changes() {
        return say(if args.remove {
            "nothing to remove"
        } else {
            "nothing to do: everything is already in place"
        });
    }
    if args.dry_run {
        return say("nothing was written (--dry-run)");
    }
    if !args.yes && !output::can_ask(output) {
        return Err(Failure::from(IntegrateError::NotAgreed).exiting(Exit::Waiting));
    }
    if !args.yes && !ask("", "Write these changes?", output) {
        output::print(|out| writeln!(out, "nothing was written"))?;
        return Ok(Exit::Refused);
    }
    engine.write_integration(&plan)?;
    output::print(|out| {
        for file in &plan.files {
            let word = match file.effect {
                IntegrationEffect::Created => "created",
                IntegrationEffect::Changed => "changed",
                IntegrationEffect::Removed => "removed",
                IntegrationEffect::Same | IntegrationEffect::Kept => continue,
            };
            writeln!(out, "{word:9} {}", escaped_line(&file.path))?;
        }
        if !plan.removes {
            writeln!(out, "next      restart {}, and allow its MCP server `aiwf`", plan.agent)?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn say(line: &str) -> Result<Exit, Failure> {
    output::print(|out| writeln!(out, "{line}"))?;
    Ok(Exit::Done)
}

/// The diff of every file, and why others stay as they are.
fn show(plan: &IntegrationPlan) -> Result<(), Failure> {
    for file in &plan.files {
        if let Some(note) = &file.note {
            let line = format!("{}: {note}", file.path);
            output::print(|out| writeln!(out, "kept      {}", escaped_line(&line)))?;
        } else if !file.diff.is_empty() {
            let text = output::styled_text(&coloured(&file.diff));
            output::print(|out| write!(out, "{text}"))?;
            output::print(|out| writeln!(out))?;
        }
    }
    Ok(())
}

fn as_json(plan: &IntegrationPlan, is_written: bool) -> Value {
    let mut value = json!(plan);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("written".to_owned(), is_written.into());
    }
    value
}
