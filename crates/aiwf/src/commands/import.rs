//! `aiwf import …`: makes flows from what a repository already has.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use aiwf_engine::{Engine, ImportKind, ImportOptions, ImportPlan, ImportState};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::adopt::ask;
use crate::escape::{escaped, escaped_line};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// What to import from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// `.specify/` and its agent commands, as spec-kit makes them.
    SpecKit,
    /// `openspec/`, as OpenSpec makes it.
    Openspec,
    /// Commands and skills of Claude Code.
    ClaudeCommands,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// What to import: spec-kit, openspec or claude-commands.
    #[arg(value_name = "KIND", hide_possible_values = true)]
    kind: Kind,
    /// Directory to read, such as the project that uses it.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Name of the flow; a prefix if there are several [default: the kind, or each command's name].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Write to the project in this directory [default: this project].
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Show the files that would be written, with their text, without writing.
    #[arg(long)]
    dry_run: bool,
    /// Replace files of an earlier import that have not changed since.
    #[arg(long)]
    force: bool,
    /// Write without asking.
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: &ImportArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let plan = engine.plan_import(&ImportOptions {
        kind: match args.kind {
            Kind::SpecKit => ImportKind::SpecKit,
            Kind::Openspec => ImportKind::Openspec,
            Kind::ClaudeCommands => ImportKind::ClaudeCommands,
        },
        from: args.path.clone(),
        name: args.name.clone(),
        to: args.to.clone(),
        replaces: args.force,
    })?;
    let changes = plan.files.iter().any(|file| file.state != ImportState::Same);
    if output.is_json() {
        let writes = changes && !args.dry_run;
        if writes {
            engine.write_import(&plan)?;
        }
        return output.json(as_json(&plan, args.dry_run, writes), Exit::Done);
    }
    output::print(|out| out.write_all(shown(&plan).as_bytes()))?;
    if args.dry_run {
        output::print(|out| out.write_all(texts(&plan).as_bytes()))?;
        output::print(|out| writeln!(out, "nothing was written (--dry-run)"))?;
        return Ok(Exit::Done);
    }
    if changes {
        if !args.yes && output::can_ask(output) && !ask(&texts(&plan), "Write these files?", output) {
            output::print(|out| writeln!(out, "nothing was written"))?;
            return Ok(Exit::Refused);
        }
        engine.write_import(&plan)?;
    }
    output::print(|out| out.write_all(end(&plan, args.to.is_some()).as_bytes()))?;
    Ok(Exit::Done)
}

/// The flows, the files and what is left behind.
fn shown(plan: &ImportPlan) -> String {
    let mut text = String::new();
    for flow in &plan.flows {
        let _ = writeln!(text, "flow      {}: {}", flow.name, flow.phases.join(" → "));
    }
    for file in &plan.files {
        let word = match file.state {
            ImportState::New => "new",
            ImportState::Same => "same",
            ImportState::Replaces => "replace",
        };
        let n_lines = file.text.lines().count();
        let from = match file.from.as_slice() {
            [] => String::new(),
            from => format!(", from {}", from.join(", ")),
        };
        let line = format!("{} ({n_lines} line{}{from})", file.path, if n_lines == 1 { "" } else { "s" });
        let _ = writeln!(text, "{word:9} {}", escaped_line(&line));
    }
    for note in &plan.notes {
        let _ = writeln!(text, "note      {}", escaped_line(note));
    }
    if !plan.not_carried.is_empty() {
        let _ = writeln!(text, "\nnot carried over:");
    }
    for one in &plan.not_carried {
        let line = one.line.map(|line| format!(":{line}")).unwrap_or_default();
        let head = format!("{}{line}: {}", one.file, one.what);
        let _ = writeln!(text, "  {}", escaped_line(&head));
        let _ = writeln!(text, "    why: {}", escaped_line(&one.why));
        let _ = writeln!(text, "    instead: {}", escaped_line(&one.instead));
    }
    if !plan.not_carried.is_empty() {
        text.push('\n');
    }
    text
}

/// The text of every file that would be written.
fn texts(plan: &ImportPlan) -> String {
    let mut text = String::new();
    for file in plan.files.iter().filter(|file| file.state != ImportState::Same) {
        let _ = writeln!(text, "--- {}", escaped_line(&file.path));
        text.push_str(&escaped(&file.text));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

fn end(plan: &ImportPlan, is_elsewhere: bool) -> String {
    let n_files = plan.files.iter().filter(|file| file.state != ImportState::Same).count();
    let Some(flow) = plan.flows.first() else { return String::new() };
    if n_files == 0 {
        return "nothing to do: everything is already in place\n".to_owned();
    }
    let place = if is_elsewhere { "in that project: " } else { "" };
    format!(
        "wrote {n_files} file{}\nnext      {place}aiwf flow graph {name}, then aiwf do --flow {name} \"…\"\n",
        if n_files == 1 { "" } else { "s" },
        name = flow.name
    )
}

fn as_json(plan: &ImportPlan, is_dry: bool, is_written: bool) -> Value {
    let mut value = json!(plan);
    if let Some(fields) = value.as_object_mut() {
        if let Some(files) = fields.get_mut("files").and_then(Value::as_array_mut) {
            for file in files.iter_mut().filter_map(Value::as_object_mut) {
                let bytes = file.get("text").and_then(Value::as_str).map_or(0, str::len);
                file.insert("bytes".to_owned(), bytes.into());
                if !is_dry {
                    file.remove("text");
                }
            }
        }
        fields.insert("written".to_owned(), is_written.into());
    }
    value
}
