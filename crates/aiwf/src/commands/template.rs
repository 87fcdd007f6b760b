//! `aiwf template`: the system templates of every layer.

use std::io::Write as _;

use aiwf_engine::Engine;
use clap::Subcommand;
use serde_json::json;

use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum TemplateCommand {
    /// List every template; `*` marks the ones that `template show` prints.
    #[command(after_help = "Example: aiwf template list")]
    List,
    /// Print the template for an agent and a phase.
    #[command(after_help = "Example: aiwf template show claude plan")]
    Show {
        /// Agent: claude, codex, gemini, base, or one of your own.
        agent: String,
        /// Phase: plan, challenge, implement, review, archive, or one of your own.
        phase: String,
    },
    /// Check the syntax, variables and markers of every template.
    #[command(after_help = "Example: aiwf template check")]
    Check,
}

impl TemplateCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List => "template list",
            Self::Show { .. } => "template show",
            Self::Check => "template check",
        }
    }
}

pub(crate) fn run(command: &TemplateCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        TemplateCommand::List => list(engine, output),
        TemplateCommand::Show { agent, phase } => show(agent, phase, engine, output),
        TemplateCommand::Check => check(engine, output),
    }
}

fn list(engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let listings = engine.list_templates()?;
    if output.is_json() {
        let templates: Vec<_> = listings
            .iter()
            .map(|listing| {
                json!({
                    "file": listing.file,
                    "layer": listing.layer.as_str(),
                    "path": listing.path,
                    "hidden": listing.hidden_by.is_some(),
                    "used": listing.hidden_by.is_none(),
                })
            })
            .collect();
        return output.json(json!({ "templates": templates }), Exit::Done);
    }
    let width = listings.iter().map(|listing| listing.file.chars().count()).max().unwrap_or(0);
    output::print(|out| {
        for listing in &listings {
            let hidden = listing.hidden_by.as_deref();
            let hidden = hidden.map(|by| format!("  (hidden by {})", escaped_line(by))).unwrap_or_default();
            let mark = if listing.hidden_by.is_none() { '*' } else { ' ' };
            let (file, path) = (escaped_line(&listing.file), escaped_line(&listing.path));
            writeln!(out, "{mark} {file:width$}  {:8}  {path}{hidden}", listing.layer.as_str())?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn show(agent: &str, phase: &str, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let (source, layer) = engine.show_template(agent, phase)?;
    if output.is_json() {
        let template = json!({ "path": source.name, "layer": layer.as_str(), "template": source.text });
        return output.json(template, Exit::Done);
    }
    output::note(&format!("from {} ({})\n", source.name, layer.as_str()));
    output::print(|out| out.write_all(source.text.as_bytes()))?;
    Ok(Exit::Done)
}

fn check(engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let checks = engine.check_templates()?;
    let n_faulty = checks.iter().filter(|check| !check.problems.is_empty()).count();
    let exit = if n_faulty == 0 { Exit::Done } else { Exit::Refused };
    if output.is_json() {
        let templates: Vec<_> = checks
            .iter()
            .map(|check| json!({ "path": check.path, "ok": check.problems.is_empty(), "problems": check.problems }))
            .collect();
        return output.json(json!({ "templates": templates }), exit);
    }
    output::print(|out| {
        for check in checks.iter().filter(|check| !check.problems.is_empty()) {
            writeln!(out, "{}", escaped_line(&check.path))?;
            for problem in &check.problems {
                writeln!(out, "  {}", problem.replace('\n', "\n  "))?;
            }
        }
        writeln!(out, "{} templates checked, {n_faulty} with problems", checks.len())
    })?;
    Ok(exit)
}
