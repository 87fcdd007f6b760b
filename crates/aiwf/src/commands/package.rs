//! `aiwf package`: checks, shows, draws, packs and creates workflow packages.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aiwf_engine::package::{
    DiagramFormat, Finding, Package, PackageError, Severity, SourceError, Workflow, diagram,
};
use aiwf_engine::{Durability, Engine, PackageToolError, write_atomic};
use clap::Subcommand;
use serde_json::{Value, json};

use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum PackageCommand {
    /// Check a package: schemas, references, reachability, agents, step files.
    #[command(
        after_help = "Errors end with exit code 1, warnings alone with 0.\n\nExample: aiwf package check my-flow.bmad"
    )]
    Check {
        /// Package: a directory, or a `.bmad` or `.zip` file.
        path: PathBuf,
    },
    /// Show the contents of a package: workflows, nodes, agents, hash.
    #[command(after_help = "Example: aiwf package show examples/packages/bug-triage")]
    Show {
        /// Package: a directory, or a `.bmad` or `.zip` file.
        path: PathBuf,
    },
    /// Draw the graph of a workflow.
    #[command(after_help = "Example: aiwf package graph my-flow --format svg -o my-flow.svg")]
    Graph {
        /// Package: a directory, or a `.bmad` or `.zip` file.
        path: PathBuf,
        /// Id of the workflow [default: the package's entry].
        #[arg(long, value_name = "ID")]
        workflow: Option<String>,
        /// Output format.
        #[arg(long, default_value = "mermaid", value_parser = ["mermaid", "dot", "svg"])]
        format: String,
        /// Write to this file instead of stdout.
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Pack a directory into a `.bmad` file: same files, same bytes.
    #[command(
        after_help = "A package with errors is not packed; `aiwf package check` lists them.\n\nExample: aiwf package pack my-flow -o my-flow.bmad"
    )]
    Pack {
        /// Directory of the package.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// File to write [default: `NAME.bmad` next to the directory].
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Create a package that passes its checks, in a directory of the same name.
    #[command(after_help = "Example: aiwf package new my-flow")]
    New {
        /// Name of the package.
        name: String,
    },
}

impl PackageCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Check { .. } => "package check",
            Self::Show { .. } => "package show",
            Self::Graph { .. } => "package graph",
            Self::Pack { .. } => "package pack",
            Self::New { .. } => "package new",
        }
    }
}

pub(crate) fn run(command: &PackageCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        PackageCommand::Check { path } => check(path, engine, output),
        PackageCommand::Show { path } => show(path, engine, output),
        PackageCommand::Graph { path, workflow, format, out } => {
            graph(path, workflow.as_deref(), format, out.as_deref(), engine, output)
        }
        PackageCommand::Pack { directory, out } => pack(directory, out.as_deref(), engine, output),
        PackageCommand::New { name } => new(name, engine, output),
    }
}

fn finding_json(finding: &Finding) -> Value {
    let mut json = json!({
        "severity": finding.severity.as_str(),
        "code": finding.code.as_str(),
        "file": finding.file,
        "pointer": finding.pointer,
        "message": finding.message,
        "hint": finding.hint,
    });
    if let (Some(key), Some(json)) = (&finding.key, json.as_object_mut()) {
        json.insert("key".to_owned(), key.clone().into());
    }
    json
}

fn check(path: &Path, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let checked = match engine.check_package(path) {
        Ok(checked) => checked,
        Err(error) if !error.reasons().is_empty() => return refused(path, &error, output),
        Err(error) => return Err(PackageToolError::from(PackageError::from(error)).into()),
    };
    let (n_errors, n_warnings) = checked.counts();
    let exit = if n_errors == 0 { Exit::Done } else { Exit::Refused };
    if output.is_json() {
        let mut json = json!({
            "path": path,
            "errors": n_errors,
            "warnings": n_warnings,
            "findings": checked.findings.iter().map(finding_json).collect::<Vec<_>>(),
        });
        if let (Some(package), Some(json)) = (&checked.package, json.as_object_mut()) {
            json.insert("package".to_owned(), package.manifest.name.clone().into());
            json.insert("version".to_owned(), package.manifest.version.clone().into());
            json.insert("sha256".to_owned(), package.hash.clone().into());
        }
        return output.json(json, exit);
    }
    output::print(|out| {
        for finding in &checked.findings {
            writeln!(out, "{}: {}", finding.severity.as_str(), escaped_line(&finding.to_string()))?;
            writeln!(out, "  hint: {}", escaped_line(&finding.hint))?;
        }
        writeln!(out, "{}", verdict(n_errors, n_warnings))
    })?;
    Ok(exit)
}

fn verdict(n_errors: usize, n_warnings: usize) -> String {
    let counted = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    match (n_errors, n_warnings) {
        (0, 0) => "ok".to_owned(),
        (0, n) => format!("ok, {}", counted(n, "warning")),
        (n, 0) => counted(n, "error"),
        (n, m) => format!("{}, {}", counted(n, "error"), counted(m, "warning")),
    }
}

/// A package that is not even opened: every reason is an error.
fn refused(path: &Path, error: &SourceError, output: &Output<'_>) -> Result<Exit, Failure> {
    let (reasons, hint) = (error.reasons(), error.hint());
    if output.is_json() {
        let finding = |reason: &String| json!({ "severity": "error", "code": "refused", "file": "", "pointer": "", "message": reason, "hint": hint });
        let findings: Vec<Value> = reasons.iter().map(finding).collect();
        let json = json!({ "path": path, "errors": reasons.len(), "warnings": 0, "findings": findings });
        return output.json(json, Exit::Refused);
    }
    output::print(|out| {
        for reason in reasons {
            writeln!(out, "error: {}: {}", escaped_line(&path.display().to_string()), escaped_line(reason))?;
        }
        writeln!(out, "  hint: {}", escaped_line(&hint))?;
        writeln!(out, "{}", verdict(reasons.len(), 0))
    })?;
    Ok(Exit::Refused)
}

fn show(path: &Path, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let package = engine.package(path)?;
    warn(&package);
    if output.is_json() {
        return output.json(package_json(&package), Exit::Done);
    }
    let manifest = &package.manifest;
    output::print(|out| {
        writeln!(out, "{} {}", escaped_line(&manifest.name), escaped_line(&manifest.version))?;
        for text in [&manifest.description, &manifest.author].into_iter().flatten() {
            writeln!(out, "  {}", escaped_line(text))?;
        }
        writeln!(out, "  {} files, SHA-256 {}", package.files.len(), package.hash)?;
        for workflow in &package.workflows {
            writeln!(out)?;
            print_workflow(out, &package, workflow)?;
        }
        writeln!(out, "\nagents")?;
        let width = package.agents.iter().map(|agent| agent.id.chars().count()).max().unwrap_or(0);
        for agent in &package.agents {
            let (name, title) = (escaped_line(&agent.metadata.name), escaped_line(&agent.metadata.title));
            writeln!(out, "  {:width$}  {} {name}, {title}", agent.id, escaped_line(&agent.metadata.icon))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn print_workflow(
    out: &mut impl std::io::Write,
    package: &Package,
    workflow: &Workflow,
) -> std::io::Result<()> {
    let entry = if workflow.is_entry && package.workflows.len() > 1 { " (entry)" } else { "" };
    let name =
        workflow.display_name.as_deref().map(|name| format!(": {}", escaped_line(name))).unwrap_or_default();
    writeln!(out, "workflow {}{name}{entry}", workflow.id)?;
    let nodes = workflow.graph.nodes();
    let width = nodes.iter().map(|node| node.id.chars().count()).max().unwrap_or(0);
    for node in nodes {
        let mark = if node.id == workflow.graph.entry_node_id() { '>' } else { ' ' };
        let ways: Vec<String> = workflow
            .graph
            .edges_from(&node.id)
            .map(|edge| format!("{} ({})", edge.to, escaped_line(&edge.label)))
            .collect();
        let ways = if ways.is_empty() { String::new() } else { format!("  → {}", ways.join(", ")) };
        let agent = node.agent_id().unwrap_or("-");
        writeln!(out, " {mark} {:width$}  {:8}  {agent}{ways}", node.id, node.node_type.as_str())?;
    }
    Ok(())
}

fn package_json(package: &Package) -> Value {
    let manifest = &package.manifest;
    let workflows: Vec<Value> = package.workflows.iter().map(workflow_json).collect();
    let agents: Vec<Value> = package
        .agents
        .iter()
        .map(|agent| {
            json!({
                "id": agent.id,
                "name": agent.metadata.name,
                "title": agent.metadata.title,
                "icon": agent.metadata.icon,
                "role": agent.persona.role,
                "menu": agent.menu.iter().map(|item| &item.description).collect::<Vec<_>>(),
            })
        })
        .collect();
    let mut json = json!({ "package": manifest.name, "version": manifest.version });
    if let Some(json) = json.as_object_mut() {
        for (key, value) in [
            ("description", &manifest.description),
            ("author", &manifest.author),
            ("created_at", &manifest.created_at),
        ] {
            if let Some(value) = value {
                json.insert(key.to_owned(), value.clone().into());
            }
        }
        json.insert("sha256".to_owned(), package.hash.clone().into());
        json.insert("files".to_owned(), package.files.keys().cloned().collect());
        json.insert("workflows".to_owned(), workflows.into());
        json.insert("agents".to_owned(), agents.into());
        json.insert("warnings".to_owned(), package.warnings.iter().map(finding_json).collect());
    }
    json
}

fn workflow_json(workflow: &Workflow) -> Value {
    let nodes: Vec<Value> = workflow
        .graph
        .nodes()
        .iter()
        .map(|node| {
            let mut json = json!({
                "id": node.id,
                "type": node.node_type.as_str(),
                "title": node.name(),
                "file": node.file,
                "inputs": node.inputs,
                "outputs": node.outputs,
            });
            if let (Some(agent), Some(json)) = (node.agent_id(), json.as_object_mut()) {
                json.insert("agent".to_owned(), agent.into());
            }
            json
        })
        .collect();
    let edges: Vec<Value> = workflow
        .graph
        .edges()
        .iter()
        .map(|edge| json!({ "from": edge.from, "to": edge.to, "label": edge.label, "default": edge.is_default }))
        .collect();
    json!({
        "id": workflow.id,
        "entry": workflow.is_entry,
        "workflow_file": workflow.workflow_path,
        "graph_file": workflow.graph_path,
        "entry_node": workflow.graph.entry_node_id(),
        "nodes": nodes,
        "edges": edges,
    })
}

/// Prints warnings about a package to stderr.
fn warn(package: &Package) {
    for finding in package.warnings.iter().filter(|finding| finding.severity == Severity::Warning) {
        output::warn(&escaped_line(&finding.to_string()));
    }
}

fn graph(
    path: &Path,
    workflow: Option<&str>,
    format: &str,
    out: Option<&Path>,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let package = engine.package(path)?;
    let workflow = match workflow {
        None => package
            .entry_workflow()
            .ok_or_else(|| Failure::bug("a package without workflows passed its checks"))?,
        id => package.workflow(id).map_err(PackageToolError::from)?,
    };
    let format = DiagramFormat::ALL
        .into_iter()
        .find(|known| known.as_str() == format)
        .unwrap_or(DiagramFormat::Mermaid);
    let title = workflow.display_name.as_deref().unwrap_or(&workflow.id);
    let drawn = diagram(&workflow.graph, title, format);
    if let Some(out) = out {
        let out = engine.settings().current_dir.join(out);
        write_atomic(&out, Durability::Process, |file| file.write_all(drawn.as_bytes()))
            .map_err(PackageToolError::from)?;
        if output.is_json() {
            return output.json(
                json!({ "workflow": workflow.id, "format": format.as_str(), "path": out }),
                Exit::Done,
            );
        }
        output::print(|stdout| writeln!(stdout, "{}", out.display()))?;
        return Ok(Exit::Done);
    }
    if output.is_json() {
        let json = json!({ "workflow": workflow.id, "format": format.as_str(), "graph": drawn });
        return output.json(json, Exit::Done);
    }
    output::print(|stdout| stdout.write_all(drawn.as_bytes()))?;
    Ok(Exit::Done)
}

fn pack(directory: &Path, out: Option<&Path>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let packed = engine.pack_package(directory, out)?;
    if output.is_json() {
        let json = json!({ "path": packed.path, "bytes": packed.n_bytes, "files": packed.n_files, "sha256": packed.hash });
        return output.json(json, Exit::Done);
    }
    output::print(|out| writeln!(out, "{}", packed.path.display()))?;
    Ok(Exit::Done)
}

fn new(name: &str, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let path = engine.new_package(name)?;
    if output.is_json() {
        return output.json(json!({ "name": name, "path": path }), Exit::Done);
    }
    output::print(|out| writeln!(out, "{}\n\nnext: aiwf package check {name}", path.display()))?;
    Ok(Exit::Done)
}
