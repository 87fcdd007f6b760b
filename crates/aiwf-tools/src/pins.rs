//! The definitions of tools at their first use.
//!
//! A description is part of the prompt, so a server that changes one after it was trusted can change what the model
//! does. The pins are in the user's own directory (in the project, a checkout could approve itself), under the key of
//! the server, which includes the project's directory: two projects with different servers named `files` do not
//! collide, and a server with two names in two projects is pinned once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aiwf_store::{read_user_file, update_user_file};
use serde::{Deserialize, Serialize};

use crate::error::ToolsError;
use crate::tool::{Parts, Tool};

/// How a tool compares with its pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinState {
    /// It was never used.
    New,
    Same,
    /// It changed; the changed parts in words.
    Changed(String),
}

impl PinState {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Same => "pinned",
            Self::Changed(_) => "changed",
        }
    }
}

/// A pinned tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pinned {
    pub(crate) sha256: String,
    /// Whether it declared itself read-only.
    #[serde(default)]
    pub(crate) is_read_only: bool,
    #[serde(flatten)]
    parts: Parts,
}

/// The pins of all servers, as stored in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// By the key of the server, then by the name of the tool.
    #[serde(default)]
    servers: BTreeMap<String, BTreeMap<String, Pinned>>,
}

impl Pins {
    /// Compares a tool with its pin.
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

    pub(crate) fn get(&self, server_key: &str, tool: &str) -> Option<&Pinned> {
        self.servers.get(server_key)?.get(tool)
    }

    /// The names of the pinned tools of a server.
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

#[derive(Clone, Debug)]
pub struct PinsFile {
    path: PathBuf,
}

impl PinsFile {
    /// The pins in a file, which is created with the first one.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn read(&self) -> Result<Pins, ToolsError> {
        Ok(read_user_file(&self.path)?)
    }

    /// Pins the current definitions of tools, replacing older pins.
    pub fn pin(&self, server_key: &str, tools: &[Tool]) -> Result<(), ToolsError> {
        Ok(update_user_file(&self.path, |pins: &mut Pins| {
            for tool in tools {
                pins.pin(server_key, tool);
            }
        })?)
    }

    /// Pins tools that are used for the first time; returns how each compares with its pin.
    ///
    /// A changed tool keeps its pin and stays refused.
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

    /// Removes pins, all of the server if no tools are given; the next use pins the tools again. Returns the number of
    /// removed pins.
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
