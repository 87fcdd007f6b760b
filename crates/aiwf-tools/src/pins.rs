//! What tools were when they were first used.
//!
//! A description is part of what a model reads, so a server that changes one after it was trusted can change what the
//! model does. Kept in the user's own directory (a file in the project would let a checkout approve itself), by the
//! key of the server, which has the project's directory in it: two projects that call different servers `files` do
//! not meet, and one server that two projects name differently is pinned once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aiwf_store::{read_user_file, update_user_file};
use serde::{Deserialize, Serialize};

use crate::error::ToolsError;
use crate::tool::{Parts, Tool};

/// How a tool compares with what was pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinState {
    /// It was never used.
    New,
    /// It is what it was.
    Same,
    /// It is not what it was; the parts that differ, in words.
    Changed(String),
}

impl PinState {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Same => "pinned",
            Self::Changed(_) => "changed",
        }
    }
}

/// One tool as it was pinned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pinned {
    /// SHA-256 of the tool.
    pub(crate) sha256: String,
    /// Whether it said that it changes nothing.
    #[serde(default)]
    pub(crate) is_read_only: bool,
    #[serde(flatten)]
    parts: Parts,
}

/// The pins of all servers, as the file has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// By the key of the server, then by the name of the tool.
    #[serde(default)]
    servers: BTreeMap<String, BTreeMap<String, Pinned>>,
}

impl Pins {
    /// How a tool compares with what was pinned.
    pub fn state(&self, server_key: &str, tool: &Tool) -> PinState {
        let Some(pinned) = self.get(server_key, &tool.name) else { return PinState::New };
        if pinned.sha256 == tool.sha256() {
            return PinState::Same;
        }
        let now = tool.parts();
        let differs = [
            ("description", pinned.parts.description != now.description),
            ("schema", pinned.parts.schema != now.schema),
            ("annotations", pinned.parts.annotations != now.annotations),
        ];
        let names: Vec<&str> = differs.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
        PinState::Changed(if names.is_empty() { "name".to_owned() } else { names.join(" and ") })
    }

    /// One tool as it was pinned.
    pub(crate) fn get(&self, server_key: &str, tool: &str) -> Option<&Pinned> {
        self.servers.get(server_key)?.get(tool)
    }

    /// The names of the tools of a server that are pinned.
    pub fn names(&self, server_key: &str) -> Vec<String> {
        self.servers.get(server_key).into_iter().flat_map(BTreeMap::keys).cloned().collect()
    }

    fn pin(&mut self, server_key: &str, tool: &Tool) {
        let pinned = Pinned {
            sha256: tool.sha256(),
            is_read_only: tool.annotations.read_only_hint == Some(true),
            parts: tool.parts(),
        };
        self.servers.entry(server_key.to_owned()).or_default().insert(tool.name.clone(), pinned);
    }
}

/// The file that holds the pins.
#[derive(Clone, Debug)]
pub struct PinsFile {
    path: PathBuf,
}

impl PinsFile {
    /// The pins in a file; it is created when the first tool is pinned.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The pins as they are now.
    pub fn read(&self) -> Result<Pins, ToolsError> {
        Ok(read_user_file(&self.path)?)
    }

    /// Pins tools as they are now, whatever they were.
    pub fn pin(&self, server_key: &str, tools: &[Tool]) -> Result<(), ToolsError> {
        Ok(update_user_file(&self.path, |pins: &mut Pins| {
            for tool in tools {
                pins.pin(server_key, tool);
            }
        })?)
    }

    /// Pins the tools that are used for the first time, and says how each compares.
    ///
    /// A tool that changed keeps its pin: it stays refused.
    pub fn admit(&self, server_key: &str, tools: &[Tool]) -> Result<Vec<PinState>, ToolsError> {
        Ok(update_user_file(&self.path, |pins: &mut Pins| {
            let states = tools.iter().map(|tool| pins.state(server_key, tool)).collect::<Vec<_>>();
            for (tool, state) in tools.iter().zip(&states) {
                if *state == PinState::New {
                    pins.pin(server_key, tool);
                }
            }
            states
        })?)
    }

    /// Forgets tools: the next use pins them again. All of the server when none is named; how many were forgotten.
    pub fn unpin(&self, server_key: &str, tools: Option<&[String]>) -> Result<usize, ToolsError> {
        Ok(update_user_file(&self.path, |pins: &mut Pins| match tools {
            None => pins.servers.remove(server_key).map_or(0, |tools| tools.len()),
            Some(names) => {
                let Some(server) = pins.servers.get_mut(server_key) else { return 0 };
                let n_gone = names.iter().filter(|name| server.remove(*name).is_some()).count();
                if server.is_empty() {
                    pins.servers.remove(server_key);
                }
                n_gone
            }
        })?)
    }
}

#[cfg(test)]
#[path = "pins_tests.rs"]
mod tests;
