//! Workflow packages: loading, checks, the state file and its guard.
//!
//! A package is a graph of steps with agents, in a directory or a `.bmad` archive. [`check`] reports everything that is
//! wrong with one; [`Package`] is one that passed. [`guard`] checks every write of a run's state file;
//! [`complete_node`] and [`rewind`] change it: pure functions of texts. [`route`] maps a user's line to a command of
//! the agent's menu.

mod files;
mod finding;
mod finding_code;
mod schema;

mod archive;

mod agent;
mod graph;
mod manifest;

mod check;
mod condition;
mod package;

mod menu;

mod diagram;
mod pack;
mod scaffold;

mod guard;
mod progress;
mod rejected;
mod state;

#[cfg(test)]
mod fixture;

pub use agent::{
    AgentDefinition, AgentMetadata, AgentPrompt, AgentTools, FsTools, McpTools, MenuItem, Persona,
};
pub use archive::{ArchiveError, read_archive};
pub use check::{Checked, check};
pub use diagram::{DiagramFormat, diagram, progress_picture};
pub use files::{ExtractError, Files, SourceError, read_files};
pub use finding::{Finding, Severity};
pub use finding_code::FindingCode;
pub use graph::{Edge, Graph, Node, NodeType};
pub use guard::{Accepted, Conditions, StateWarning, guard};
pub use manifest::{Integrity, Manifest, ManifestEntry, Runtime, WorkflowRecord};
pub use menu::{
    Confidence, DataFormat, GlobalCommand, MAX_PREVIEW_BYTES, Menu, MenuCommand, MenuData, MenuError,
    MenuFault, Routed, VisibleItem, global_command, route, visible_menu,
};
pub use pack::{PackError, archive_name, pack};
pub use package::{Package, PackageError, SelectError, Workflow, get_agent_definition};
pub use progress::{CompleteNode, Moved, complete_node, rewind};
pub use rejected::{RejectCode, Rejected};
pub use scaffold::scaffold;
pub use state::{NodeStatus, RunIdentity, State, adopt_state, initial_state, is_complete, progress};
