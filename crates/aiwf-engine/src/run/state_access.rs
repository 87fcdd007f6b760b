//! What a tool may do to the state of a run, and what it must ask first.

use aiwf_package::{Conditions, Graph};
use aiwf_tools::sandbox::ToolError;

use super::event::StateWriter;

/// The run as its tools see it.
///
/// A conversation without a workflow has no graph and is never complete.
pub(crate) trait StateAccess {
    fn graph(&self) -> Option<&Graph>;

    /// What happens if the condition of an edge is false.
    fn conditions(&self) -> Conditions;

    fn is_complete(&self) -> bool;

    /// Uses up the user's confirmation, if their last message is one; later calls return false.
    fn take_confirmation(&mut self) -> bool;

    /// Announces in the journal that the state file is about to be replaced, and stores the new bytes.
    ///
    /// The file may be replaced only after this returns.
    fn intend(&mut self, by: StateWriter, before: &str, after: &str) -> Result<(), ToolError>;

    /// As RFC 3339.
    fn now(&self) -> String;
}
