//! The menu of an agent: displays it, and interprets the user's input.
//!
//! The package says what a line means; this reads what lies outside of the package, and only through the mounts that
//! a model has.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;

use aiwf_engine::Engine;
use aiwf_engine::package::{
    AgentDefinition, Confidence, MAX_PREVIEW_BYTES, MenuCommand, MenuData, MenuError, Package, route,
    visible_menu,
};
use aiwf_engine::prompt::DataContext;
use aiwf_engine::tool::sandbox::{AliasPath, Mount, Mounts, ToolError};
use serde_json::{Value, json};

use crate::command_error::CommandError;
use crate::escape::escaped_line;
use crate::failure::Failure;

/// The maximum size of a file that a menu item runs.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024;

#[derive(Debug)]
pub(crate) enum Chosen {
    /// The menu.
    ShowMenu,
    /// A run of a workflow.
    StartWorkflow { workflow: String, input: Option<String>, data: Option<DataContext> },
    /// The newest run again.
    ResumeRun,
    /// An answer of the agent.
    Say { text: String, data: Option<DataContext> },
    /// The end.
    Dismiss,
    /// Something; which of these items is not clear.
    Clarify(Vec<usize>),
}

/// Interprets a line. After the first message, only an exact menu command counts.
pub(crate) fn choose(
    engine: &Engine,
    package: &Package,
    agent: &AgentDefinition,
    line: &str,
    is_talking: bool,
) -> Result<Chosen, Failure> {
    let routed = route(package, agent, line)?;
    // In the middle of a conversation, a word of a description is just a word.
    if is_talking && routed.confidence < Confidence::Exact {
        return Ok(Chosen::Say { text: line.to_owned(), data: None });
    }
    let is_sure = routed.confidence > Confidence::Low;
    let details = Some(routed.details).filter(|details| !details.trim().is_empty());
    let with_details = |text: String| match &details {
        Some(details) => format!("{}\n\n{details}", text.trim_end()),
        None => text,
    };
    let files = ProjectFiles { engine };
    Ok(match routed.command {
        MenuCommand::Chat { text } => Chosen::Say { text, data: None },
        MenuCommand::ClarifyChoice { candidates } => Chosen::Clarify(candidates),
        MenuCommand::ShowMenu => Chosen::ShowMenu,
        // The user did not ask for that explicitly.
        MenuCommand::StartWorkflow { .. }
        | MenuCommand::ResumeRun
        | MenuCommand::ExecScript { .. }
        | MenuCommand::RunAction { .. }
        | MenuCommand::DismissAgent
            if !is_sure =>
        {
            Chosen::Clarify(routed.item.into_iter().collect())
        }
        MenuCommand::StartWorkflow { workflow, data, validate } => {
            files.check(&validate)?;
            Chosen::StartWorkflow { workflow, input: details, data: files.data(data)? }
        }
        MenuCommand::ResumeRun => Chosen::ResumeRun,
        MenuCommand::ExecScript { path, content, data } => {
            let text = content.map_or_else(|| files.read(&path, MAX_SCRIPT_BYTES), Ok)?;
            Chosen::Say { text: with_details(text), data: files.data(data)? }
        }
        MenuCommand::RunAction { text, data } => {
            Chosen::Say { text: with_details(text), data: files.data(data)? }
        }
        MenuCommand::DismissAgent => Chosen::Dismiss,
    })
}

/// Files of the project that a menu names.
struct ProjectFiles<'e> {
    engine: &'e Engine,
}

impl ProjectFiles<'_> {
    fn mounts(&self) -> Mounts {
        let mut mounts = Mounts::default();
        // A project that is not there has no files: each is refused by its name.
        drop(mounts.mount(Mount::Project, &self.engine.settings().project_root));
        mounts
    }

    fn check(&self, paths: &[String]) -> Result<(), Failure> {
        let mounts = self.mounts();
        let is_there = |path: &str| AliasPath::parse(path).is_ok_and(|path| mounts.has_file(&path));
        let missing: Vec<String> =
            paths.iter().filter(|path| !is_there(path)).map(|path| escaped_line(path)).collect();
        if missing.is_empty() { Ok(()) } else { Err(CommandError::FilesMissing { missing }.into()) }
    }

    fn data(&self, data: Option<MenuData>) -> Result<Option<DataContext>, Failure> {
        let Some(data) = data else { return Ok(None) };
        let (preview, n_cut_bytes) = match data.preview {
            Some(preview) => (preview, data.n_cut_bytes),
            None => self.beginning(&data.path)?,
        };
        Ok(Some(DataContext { label: data.label, path: data.path, preview, n_cut_bytes }))
    }

    /// The beginning of a file, and how many bytes follow.
    fn beginning(&self, path: &str) -> Result<(String, u64), Failure> {
        let file = self.file(path)?;
        let n_bytes = file.metadata().map(|metadata| metadata.len()).unwrap_or_default();
        let bytes = bytes(file, path, MAX_PREVIEW_BYTES as u64)?;
        let beginning = String::from_utf8_lossy(&bytes).trim_end_matches('\u{fffd}').to_owned();
        let n_cut = n_bytes.saturating_sub(beginning.len() as u64);
        Ok((beginning, n_cut))
    }

    /// A whole file.
    fn read(&self, path: &str, limit: u64) -> Result<String, Failure> {
        let bytes = bytes(self.file(path)?, path, limit.saturating_add(1))?;
        if bytes.len() as u64 > limit {
            return Err(not_loaded(path, &format!("it has more than {limit} bytes")));
        }
        String::from_utf8(bytes).map_err(|error| {
            let n_valid = error.utf8_error().valid_up_to();
            not_loaded(path, &format!("it is not UTF-8 text: byte {n_valid} is wrong"))
        })
    }

    fn file(&self, path: &str) -> Result<File, Failure> {
        let alias = AliasPath::parse(path).map_err(|error| not_loaded(path, &reason(path, &error)))?;
        self.mounts().file(&alias).map_err(|error| not_loaded(path, &reason(path, &error)))
    }
}

/// The first `limit` bytes of a file.
fn bytes(file: File, path: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = file.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| not_loaded(path, &error.kind().to_string()))?;
    Ok(bytes)
}

/// Why a file cannot be opened, without the advice for models.
fn reason(path: &str, error: &ToolError) -> String {
    let what = error.message.rsplit_once(": ").map_or(error.message.as_str(), |(what, _)| what);
    match what.strip_prefix(&format!("`{path}` ")) {
        Some(rest) => format!("it {rest}"),
        None => what.to_owned(),
    }
}

fn not_loaded(path: &str, reason: &str) -> Failure {
    MenuError::NotLoaded { path: escaped_line(path), reason: reason.to_owned() }.into()
}

/// Introduces an agent in one line.
pub(crate) fn introduced(agent: &AgentDefinition) -> String {
    let metadata = &agent.metadata;
    let (icon, name, title) =
        (escaped_line(&metadata.icon), escaped_line(&metadata.name), escaped_line(&metadata.title));
    format!("{icon} {name}, {title}").trim_start().to_owned()
}

/// The menu, one item per line; empty if there is none.
pub(crate) fn shown(agent: &AgentDefinition) -> String {
    listed(agent, |_| true)
}

/// The items of the menu with these numbers.
pub(crate) fn candidates(agent: &AgentDefinition, numbers: &[usize]) -> String {
    listed(agent, |number| numbers.contains(&number))
}

fn listed(agent: &AgentDefinition, is_listed: impl Fn(usize) -> bool) -> String {
    let menu = visible_menu(agent);
    let mut text = String::new();
    for item in menu.items.iter().filter(|item| is_listed(item.number)) {
        let triggers =
            item.triggers.iter().map(|trigger| escaped_line(trigger)).collect::<Vec<_>>().join(", ");
        let triggers = if triggers.is_empty() { triggers } else { format!(" ({triggers})") };
        let _ = writeln!(text, "  {}. {}{triggers}", item.number, escaped_line(item.description));
    }
    text
}

/// The menu for a program.
pub(crate) fn as_json(agent: &AgentDefinition) -> Value {
    let item = |item: &aiwf_engine::package::VisibleItem<'_>| json!({ "number": item.number, "triggers": item.triggers, "description": item.description });
    visible_menu(agent).items.iter().map(item).collect()
}
