//! The menu of an agent, as a terminal and a program are shown it.

use std::fmt::Write as _;

use aiwf_engine::Engine;
pub(crate) use aiwf_engine::MenuChoice as Chosen;
use aiwf_engine::package::{AgentDefinition, MenuError, Package, visible_menu};
use serde_json::{Value, json};

use crate::escape::escaped_line;
use crate::failure::Failure;

/// Interprets a line; what an error names is escaped for a terminal.
pub(crate) fn choose(
    engine: &Engine,
    package: &Package,
    agent: &AgentDefinition,
    line: &str,
    is_talking: bool,
) -> Result<Chosen, Failure> {
    let chosen = engine.choose_in_menu(package, agent, line, is_talking);
    chosen.map_err(|error| match error {
        MenuError::NotLoaded { path, reason } => {
            MenuError::NotLoaded { path: escaped_line(&path), reason }.into()
        }
        MenuError::FilesMissing { missing } => {
            MenuError::FilesMissing { missing: missing.iter().map(|path| escaped_line(path)).collect() }
                .into()
        }
        other @ (MenuError::UnknownWorkflow { .. }
        | MenuError::ClassicWorkflow { .. }
        | MenuError::UnknownPrompt { .. }
        | MenuError::Denied { .. }
        | MenuError::NotValid { .. }) => other.into(),
    })
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
