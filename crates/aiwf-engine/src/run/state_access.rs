//! What a tool may do to the state of a run, and what it must ask first.

use aiwf_package::{Conditions, Graph};
use aiwf_tools::sandbox::ToolError;

use super::event::StateWriter;

/// The run as its tools see it.
///
/// A conversation without a workflow has no graph and is never complete.
pub(crate) trait StateAccess {
    /// The graph of the workflow.
    fn graph(&self) -> Option<&Graph>;

    /// What a contradicted condition leads to.
    fn conditions(&self) -> Conditions;

    /// Whether the workflow is complete as the state file stands.
    fn is_complete(&self) -> bool;

    /// Uses up the user's confirmation, when their last message is one; the second time there is none.
    fn take_confirmation(&mut self) -> bool;

    /// Puts on record that the state file is about to be replaced, and keeps the new bytes.
    ///
    /// When this has returned, and not before, the file may be replaced.
    fn intend(&mut self, by: StateWriter, before: &str, after: &str) -> Result<(), ToolError>;

    /// Now, as RFC 3339.
    fn now(&self) -> String;
}
