//! The menu of an agent: what a user sees, and what a line of input means.
//!
//! In: an agent of a package and a text. Out: a command as data. No model is asked and nothing is read or started;
//! equal texts give equal commands. Only the first line is matched; the others are details for the command. A terminal
//! counts as a desktop: web-only items are hidden.

mod alias_path;
mod handler;
mod menu_error;
mod names;

pub(crate) use alias_path::data;
pub(crate) use handler::{find_workflow, script};
pub(crate) use names::faults as trigger_faults;

use alias_path::{Mount, alias_path};
use handler::Handler;
use names::Match;

pub use alias_path::{DataFormat, MAX_PREVIEW_BYTES, MenuData};
pub use menu_error::MenuError;

use crate::agent::{AgentDefinition, MenuItem};
use crate::package::Package;

/// The visible items of a menu, and what is wrong with the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu<'a> {
    pub items: Vec<VisibleItem<'a>>,
    /// Items and triggers that can never be selected, and why.
    pub faults: Vec<MenuFault>,
}

/// An item as shown to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleItem<'a> {
    /// Its number among the visible items, from 1.
    pub number: usize,
    /// Its index in the agent's menu, from 0.
    pub index: usize,
    /// The words that select it or one of its handlers.
    pub triggers: Vec<&'a str>,
    pub description: &'a str,
}

/// Why an item, or one of its triggers, can never be selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("item {} of the agent's menu {message}", index + 1)]
pub struct MenuFault {
    /// The index of the item in the agent's menu, from 0.
    pub index: usize,
    /// What is wrong: lower case, no final period.
    pub message: &'static str,
}

/// How certain it is that a text means a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Part of a word of a description, or no match: ask before starting anything.
    Low,
    /// Part of a trigger, or a word of a description.
    Medium,
    High,
    /// A number, or an exact trigger or code.
    Exact,
}

/// A command selected through the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MenuCommand {
    ShowMenu,
    /// Start a run.
    StartWorkflow {
        workflow: String,
        data: Option<MenuData>,
        /// Files outside the package that must exist first, by alias; those inside were checked.
        validate: Vec<String>,
    },
    /// Resume the newest run.
    ResumeRun,
    /// Send the text of a Markdown file, once.
    ExecScript {
        path: String,
        /// The text; `None` if the file is outside the package and must be read first.
        content: Option<String>,
        data: Option<MenuData>,
    },
    /// Send a text of the package.
    RunAction {
        text: String,
        data: Option<MenuData>,
    },
    /// Send the user's text.
    Chat {
        /// The whole text, byte for byte.
        text: String,
    },
    DismissAgent,
    /// Ask which item is meant.
    ClarifyChoice {
        /// The numbers of the possible items, unique and sorted. Empty for an empty menu.
        candidates: Vec<usize>,
    },
}

/// The meaning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    pub command: MenuCommand,
    pub confidence: Confidence,
    /// The lines after the first; empty for a chat, which already includes them.
    pub details: String,
    /// The number of the selected item.
    pub item: Option<usize>,
}

/// A command that is available everywhere, even in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalCommand {
    Menu,
    /// Dismiss the agent.
    Dismiss,
    /// Pause between two turns; the run can be resumed later.
    Pause,
    Stop,
    Resume,
}

impl GlobalCommand {
    /// Every command, in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::Menu, Self::Dismiss, Self::Pause, Self::Stop, Self::Resume];

    /// Its name, without `/` or `*`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Menu => "menu",
            Self::Dismiss => "dismiss",
            Self::Pause => "pause",
            Self::Stop => "stop",
            Self::Resume => "resume",
        }
    }
}

/// The global command in the first line, if any: `/menu` or `*menu`, and so on.
///
/// Call this before [`route`]: a menu may use the same words.
pub fn global_command(input: &str) -> Option<GlobalCommand> {
    let line = split(input).0;
    let name = line.strip_prefix(['/', '*'])?;
    GlobalCommand::ALL.into_iter().find(|command| command.as_str().eq_ignore_ascii_case(name))
}

/// The menu of an agent as shown in a terminal.
pub fn visible_menu(agent: &AgentDefinition) -> Menu<'_> {
    let mut menu = Menu { items: Vec::new(), faults: Vec::new() };
    for (index, item) in agent.menu.iter().enumerate() {
        if item.ide_only && item.web_only {
            let message = "is both `ide-only` and `web-only`, so it is never shown";
            menu.faults.push(MenuFault { index, message });
        } else if !item.web_only {
            menu.faults.extend(names::faults(item).map(|message| MenuFault { index, message }));
            menu.items.push(VisibleItem {
                number: menu.items.len() + 1,
                index,
                triggers: names::shown(item),
                description: &item.description,
            });
        }
    }
    menu
}

/// What a text means to an agent.
///
/// An empty text shows the menu. Digits select by number. Otherwise an exact trigger or code counts, then part of a
/// trigger or description if one matches better than all others. Text that matches nothing is sent to the agent. An
/// error concerns the selected item: the text was understood, but the command is not possible.
pub fn route(package: &Package, agent: &AgentDefinition, input: &str) -> Result<Routed, MenuError> {
    let (line, details) = split(input);
    let routed =
        |command, confidence, item| Routed { command, confidence, details: details.to_owned(), item };
    if line.is_empty() {
        return Ok(routed(MenuCommand::ShowMenu, Confidence::Exact, None));
    }
    let menu = visible_menu(agent);
    let items: Vec<(usize, &MenuItem)> = menu
        .items
        .iter()
        .filter_map(|visible| Some((visible.number, agent.menu.get(visible.index)?)))
        .collect();
    if line.bytes().all(|byte| byte.is_ascii_digit()) {
        let chosen =
            line.parse::<usize>().ok().and_then(|wanted| items.iter().find(|(number, _)| *number == wanted));
        let Some((number, item)) = chosen else {
            let candidates = items.iter().map(|(number, _)| *number).collect();
            return Ok(routed(MenuCommand::ClarifyChoice { candidates }, Confidence::Low, None));
        };
        let command = handler::own(item).command(package, agent, item)?;
        return Ok(routed(command, Confidence::Exact, Some(*number)));
    }
    let best = names::best(&items, line);
    match best.as_slice() {
        [] => {
            let command = MenuCommand::Chat { text: input.to_owned() };
            Ok(Routed { command, confidence: Confidence::Low, details: String::new(), item: None })
        }
        [one] => {
            let command = one.handler().command(package, agent, one.item)?;
            Ok(routed(command, one.confidence(), Some(one.number)))
        }
        several => {
            let mut candidates: Vec<usize> = several.iter().map(|one| one.number).collect();
            candidates.dedup();
            Ok(routed(MenuCommand::ClarifyChoice { candidates }, Confidence::Low, None))
        }
    }
}

impl<'a> Match<'a> {
    fn handler(&self) -> Handler<'a> {
        self.trigger.map_or_else(|| handler::own(self.item), handler::of_trigger)
    }
}

/// The first line that is not blank, and the lines after it.
fn split(input: &str) -> (&str, &str) {
    let (line, details) = input.trim().split_once('\n').unwrap_or((input.trim(), ""));
    (line.trim_end(), details.trim_start_matches(['\r', '\n']))
}

#[cfg(test)]
#[path = "menu_tests.rs"]
mod tests;
