//! The menu of a run's agent: what it shows, and what a line of the user means to it.
//!
//! The package says what a line means; this reads what lies outside of the package, and only through the mounts that
//! a model has.

use std::fs::File;
use std::io::Read as _;

use aiwf_package::{
    AgentDefinition, Confidence, MAX_PREVIEW_BYTES, MenuCommand, MenuData, MenuError, Package, route,
    visible_menu,
};
use aiwf_prompt::DataContext;
use aiwf_tools::sandbox::{AliasPath, Mount, Mounts, ToolError};

use crate::Engine;

/// The maximum size of a file that a menu item runs.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024;

/// What a line means to an agent.
#[derive(Debug)]
pub enum MenuChoice {
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

/// An item of an agent's menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuEntry {
    /// What selects it.
    pub number: usize,
    pub description: String,
    /// The words that select it as well.
    pub triggers: Vec<String>,
}

pub(super) fn menu_of(agent: &AgentDefinition) -> Vec<MenuEntry> {
    let menu = visible_menu(agent);
    let entry = |item: &aiwf_package::VisibleItem<'_>| MenuEntry {
        number: item.number,
        description: item.description.to_owned(),
        triggers: item.triggers.iter().map(|trigger| (*trigger).to_owned()).collect(),
    };
    menu.items.iter().map(entry).collect()
}

impl Engine {
    /// Interprets a line that was said to an agent. After the first message, only an exact menu command counts.
    pub fn choose_in_menu(
        &self,
        package: &Package,
        agent: &AgentDefinition,
        line: &str,
        is_talking: bool,
    ) -> Result<MenuChoice, MenuError> {
        let routed = route(package, agent, line)?;
        // In the middle of a conversation, a word of a description is just a word.
        if is_talking && routed.confidence < Confidence::Exact {
            return Ok(MenuChoice::Say { text: line.to_owned(), data: None });
        }
        let is_sure = routed.confidence > Confidence::Low;
        let details = Some(routed.details).filter(|details| !details.trim().is_empty());
        let with_details = |text: String| match &details {
            Some(details) => format!("{}\n\n{details}", text.trim_end()),
            None => text,
        };
        let files = ProjectFiles { engine: self };
        Ok(match routed.command {
            MenuCommand::Chat { text } => MenuChoice::Say { text, data: None },
            MenuCommand::ClarifyChoice { candidates } => MenuChoice::Clarify(candidates),
            MenuCommand::ShowMenu => MenuChoice::ShowMenu,
            // The user did not ask for that explicitly.
            MenuCommand::StartWorkflow { .. }
            | MenuCommand::ResumeRun
            | MenuCommand::ExecScript { .. }
            | MenuCommand::RunAction { .. }
            | MenuCommand::DismissAgent
                if !is_sure =>
            {
                MenuChoice::Clarify(routed.item.into_iter().collect())
            }
            MenuCommand::StartWorkflow { workflow, data, validate } => {
                files.check(&validate)?;
                MenuChoice::StartWorkflow { workflow, input: details, data: files.data(data)? }
            }
            MenuCommand::ResumeRun => MenuChoice::ResumeRun,
            MenuCommand::ExecScript { path, content, data } => {
                let text = content.map_or_else(|| files.read(&path, MAX_SCRIPT_BYTES), Ok)?;
                MenuChoice::Say { text: with_details(text), data: files.data(data)? }
            }
            MenuCommand::RunAction { text, data } => {
                MenuChoice::Say { text: with_details(text), data: files.data(data)? }
            }
            MenuCommand::DismissAgent => MenuChoice::Dismiss,
        })
    }
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

    fn check(&self, paths: &[String]) -> Result<(), MenuError> {
        let mounts = self.mounts();
        let is_there = |path: &str| AliasPath::parse(path).is_ok_and(|path| mounts.has_file(&path));
        let missing: Vec<String> = paths.iter().filter(|path| !is_there(path)).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(MenuError::FilesMissing { missing }) }
    }

    fn data(&self, data: Option<MenuData>) -> Result<Option<DataContext>, MenuError> {
        let Some(data) = data else { return Ok(None) };
        let (preview, n_cut_bytes) = match data.preview {
            Some(preview) => (preview, data.n_cut_bytes),
            None => self.beginning(&data.path)?,
        };
        Ok(Some(DataContext { label: data.label, path: data.path, preview, n_cut_bytes }))
    }

    /// The beginning of a file, and how many bytes follow.
    fn beginning(&self, path: &str) -> Result<(String, u64), MenuError> {
        let file = self.file(path)?;
        let n_bytes = file.metadata().map(|metadata| metadata.len()).unwrap_or_default();
        let bytes = bytes(file, path, MAX_PREVIEW_BYTES as u64)?;
        let beginning = String::from_utf8_lossy(&bytes).trim_end_matches('\u{fffd}').to_owned();
        let n_cut = n_bytes.saturating_sub(beginning.len() as u64);
        Ok((beginning, n_cut))
    }

    /// A whole file.
    fn read(&self, path: &str, limit: u64) -> Result<String, MenuError> {
        let bytes = bytes(self.file(path)?, path, limit.saturating_add(1))?;
        if bytes.len() as u64 > limit {
            return Err(not_loaded(path, &format!("it has more than {limit} bytes")));
        }
        String::from_utf8(bytes).map_err(|error| {
            let n_valid = error.utf8_error().valid_up_to();
            not_loaded(path, &format!("it is not UTF-8 text: byte {n_valid} is wrong"))
        })
    }

    fn file(&self, path: &str) -> Result<File, MenuError> {
        let alias = AliasPath::parse(path).map_err(|error| not_loaded(path, &reason(path, &error)))?;
        self.mounts().file(&alias).map_err(|error| not_loaded(path, &reason(path, &error)))
    }
}

/// The first `limit` bytes of a file.
fn bytes(file: File, path: &str, limit: u64) -> Result<Vec<u8>, MenuError> {
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

fn not_loaded(path: &str, reason: &str) -> MenuError {
    MenuError::NotLoaded { path: path.to_owned(), reason: reason.to_owned() }
}
