//! The menu of an agent: what a user sees, and what a line of theirs means.
//!
//! In: an agent of a package and a text. Out: a command as data. No model is asked, nothing is read or started, and the
//! same text gives the same command. Only the first line is matched; the others are details for whoever carries the
//! command out. A terminal is a desktop: what is for the web alone is not there.

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

/// What a user can choose, and what is wrong with the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu<'a> {
    /// The items that are shown.
    pub items: Vec<VisibleItem<'a>>,
    /// What can never be chosen, and why.
    pub faults: Vec<MenuFault>,
}

/// An item as a user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleItem<'a> {
    /// Its number, from 1, counted over what is shown.
    pub number: usize,
    /// Its place in the agent's menu, from 0.
    pub index: usize,
    /// The words that choose it or one of its handlers.
    pub triggers: Vec<&'a str>,
    /// What it does, in words.
    pub description: &'a str,
}

/// Why an item, or one of its triggers, can never be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("item {} of the agent's menu {message}", index + 1)]
pub struct MenuFault {
    /// The item's place in the agent's menu, from 0.
    pub index: usize,
    /// What is wrong: lower case, no final period.
    pub message: &'static str,
}

/// How sure it is that a text means a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Part of a word of a description, or nothing at all: ask before anything is started.
    Low,
    /// Part of a trigger, or a word of a description.
    Medium,
    /// A word of a trigger.
    High,
    /// A number, a trigger or a code as it is written.
    Exact,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MenuCommand {
    /// Show the menu.
    ShowMenu,
    /// Start a run.
    StartWorkflow {
        /// The id of the workflow.
        workflow: String,
        /// What is given along.
        data: Option<MenuData>,
        /// Files outside the package that have to be there first, by their alias; those inside were looked at.
        validate: Vec<String>,
    },
    /// Go on with the newest run.
    ResumeRun,
    /// Say what a Markdown file says, once.
    ExecScript {
        /// The file, by its alias.
        path: String,
        /// The text; none when the file is not in the package and has to be read first.
        content: Option<String>,
        /// What is given along.
        data: Option<MenuData>,
    },
    /// Say a text of the package.
    RunAction {
        /// The text.
        text: String,
        /// What is given along.
        data: Option<MenuData>,
    },
    /// Say what the user wrote.
    Chat {
        /// All of it, byte for byte.
        text: String,
    },
    /// Let the agent go.
    DismissAgent,
    /// Ask which item is meant.
    ClarifyChoice {
        /// The numbers of the items it can be, each once, in order. Empty for a menu without items.
        candidates: Vec<usize>,
    },
}

/// What a text means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    /// What is to be done.
    pub command: MenuCommand,
    /// How sure that is.
    pub confidence: Confidence,
    /// The lines after the first; empty for a chat, which has them already.
    pub details: String,
    /// The number of the item that was chosen.
    pub item: Option<usize>,
}

/// A command that counts everywhere, in a run too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalCommand {
    /// Show the menu.
    Menu,
    /// Let the agent go.
    Dismiss,
    /// Stop between two turns, to go on later.
    Pause,
    /// Stop.
    Stop,
    /// Go on.
    Resume,
}

impl GlobalCommand {
    /// Every command, in the order the documentation lists them.
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

/// The command that counts everywhere, if the first line is one: `/menu` or `*menu`, and so on.
///
/// Ask this before [`route`]: a menu may use the same words.
pub fn global_command(input: &str) -> Option<GlobalCommand> {
    let line = split(input).0;
    let name = line.strip_prefix(['/', '*'])?;
    GlobalCommand::ALL.into_iter().find(|command| command.as_str().eq_ignore_ascii_case(name))
}

/// The menu of an agent as a terminal shows it.
pub fn visible_menu(agent: &AgentDefinition) -> Menu<'_> {
    let mut menu = Menu { items: Vec::new(), faults: Vec::new() };
    for (index, item) in agent.menu.iter().enumerate() {
        if item.ide_only && item.web_only {
            let message = "is both `ide-only` and `web-only`: it is shown nowhere";
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
/// Nothing written shows the menu; digits are a number of the menu; then a trigger or code as it is written; then a
/// part of a trigger or of a description, if one fits better than all others. What fits nothing is said to the agent.
/// An error is about the item that was chosen: the text was understood, and what it asks for cannot be had.
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
