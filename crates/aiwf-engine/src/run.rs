//! Runs of workflow packages, and conversations with their agents or with nobody in particular.
//!
//! A run is a conversation that walks through a graph: what is said is in its journal, where it stands in its state
//! file. [`Run`] is one that is being worked on: it says something to the model, runs the tools the model calls, and
//! goes on until the model waits, is done, or cannot go on.

mod event;
mod report;
pub(crate) mod state_desk;
pub(crate) mod tools;

use std::path::Path;

use aiwf_package::{AgentDefinition, Package};
use aiwf_prompt::DataContext;

pub use crate::run_error::RunError;
pub use event::{
    Block, Fault, ForkedFrom, Layer, RunEvent, RunKind, RunPackage, RunPhase, RunSetup, StateWriter, ToolExec,
};
pub use report::{
    NodeProgress, PreviewMessage, RunEntry, RunPreview, RunReport, RunShown, RunStatus, RunSummary,
};

use crate::Engine;

/// A run that is to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// The package: a directory or an archive.
    pub package: &'a Path,
    /// The workflow; not needed when there is one.
    pub workflow: Option<&'a str>,
    /// The agent it begins with; the entry node's, else the first, when not said.
    pub agent: Option<&'a str>,
    /// Who answers; as the configuration says when not said.
    pub provider: Option<&'a str>,
    /// Whether the model goes on by itself.
    pub is_autopilot: bool,
}

/// A conversation that is to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewConversation<'a> {
    /// The package; a chat needs none.
    pub package: Option<&'a Path>,
    /// The agent to talk to; none is a chat.
    pub agent: Option<&'a str>,
    /// Who answers; as the configuration says when not said.
    pub provider: Option<&'a str>,
}

/// A run that is being worked on.
#[derive(Debug)]
pub struct Run<'e> {
    engine: &'e Engine,
}

impl Engine {
    /// Begins a run; the model has not been asked yet.
    pub fn start_run(&self, new: &NewRun<'_>) -> Result<Run<'_>, RunError> {
        Err(RunError::NoProvider)
    }
    /// Begins a conversation; the model has not been asked yet.
    pub fn start_conversation(&self, new: &NewConversation<'_>) -> Result<Run<'_>, RunError> {
        Err(RunError::NoProvider)
    }
    /// Opens a run or conversation to go on with it: its id, a unique beginning of it, or `latest`.
    ///
    /// `provider` answers from now on, when it is said.
    pub fn open_run(&self, which: &str, provider: Option<&str>) -> Result<Run<'_>, RunError> {
        Err(RunError::NoProvider)
    }
    /// A new run that goes on from where another one stood at a node.
    pub fn fork_run(&self, which: &str, at: &str, provider: Option<&str>) -> Result<Run<'_>, RunError> {
        Err(RunError::NoProvider)
    }
    /// Goes back to a node; a state file that somebody else changed is set aside and the last known one taken.
    pub fn rewind_run(&self, which: &str, to: &str, reason: Option<&str>) -> Result<RunReport, RunError> {
        Err(RunError::NoProvider)
    }
    /// Ends a run for good.
    pub fn cancel_run(&self, which: &str, reason: Option<&str>) -> Result<RunReport, RunError> {
        Err(RunError::NoProvider)
    }
    /// Where a run stands; changes nothing.
    pub fn run_status(&self, which: &str) -> Result<RunStatus, RunError> {
        Err(RunError::NoProvider)
    }
    /// A run and everything that happened in it; changes nothing.
    pub fn run_history(&self, which: &str) -> Result<RunShown, RunError> {
        Err(RunError::NoProvider)
    }
    /// All runs and conversations, oldest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>, RunError> {
        Err(RunError::NoProvider)
    }
    /// The next request of a run as `resume`, or as `say` when there is input; changes nothing.
    pub fn preview_run(&self, which: &str, input: Option<&str>) -> Result<RunPreview, RunError> {
        Err(RunError::NoProvider)
    }
}

impl Run<'_> {
    /// Its id.
    pub fn id(&self) -> &str {
        ""
    }
    /// Where it stands.
    pub fn report(&self) -> RunReport {
        std::process::abort()
    }
    /// The start directive, with what the user has to say to it.
    pub fn start(&mut self, input: Option<&str>) -> Result<RunReport, RunError> {
        Err(RunError::NoProvider)
    }
    /// The start directive of a run that a menu item brought data along for.
    pub fn start_with_data(&mut self, input: Option<&str>, data: DataContext) -> Result<RunReport, RunError> {
        Err(RunError::NoProvider)
    }
    /// Says something, and goes on until the model waits or is done.
    pub fn say(&mut self, input: &str) -> Result<RunReport, RunError> {
        Err(RunError::NoProvider)
    }
    /// Says something that a menu item brought data along for.
    pub fn say_with_data(&mut self, input: &str, data: DataContext) -> Result<RunReport, RunError> {
        Err(RunError::NoProvider)
    }
    /// Goes on after an interruption.
    pub fn resume(&mut self, input: Option<&str>) -> Result<RunReport, RunError> {
        Err(RunError::NoProvider)
    }
    /// The package, when there is one.
    pub fn package(&self) -> Option<&Package> {
        None
    }
    /// Where the package was read from.
    pub fn package_path(&self) -> Option<&Path> {
        None
    }
    /// The agent that is talked to, or works on the current node.
    pub fn agent(&self) -> Option<&AgentDefinition> {
        None
    }
}
