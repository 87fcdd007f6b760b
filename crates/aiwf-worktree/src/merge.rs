//! Merges two changes of one file.

use aiwf_process::Stop;

use crate::error::WorktreeError;

/// What became of two changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Both, side by side.
    Clean(Vec<u8>),
    /// They touch the same lines; the text with markers, or nothing where the file is no text.
    Conflict(Option<Vec<u8>>),
}

/// Merges two changes of one file.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8], stop: &Stop) -> Result<Merged, WorktreeError> {
    todo!()
}
