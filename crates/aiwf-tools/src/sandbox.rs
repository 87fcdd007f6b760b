//! The files a model may touch: three mounts, one resolver, five tools.
//!
//! In: a path under `@project`, `@pkg` or `@state` and the arguments of a call. Out: the flat JSON of its result, or a
//! code and a message. Nothing here knows a package or a run: who guards a write is handed in. No real path is in
//! any result or message, because none is ever looked at: paths are aliases on the way in and on the way out.

mod alias_path;
mod apply_patch;
mod list;
mod mounts;
mod read;
mod search;
mod tool_error;
mod write;

pub use alias_path::{AliasPath, Mount};
pub use apply_patch::{ApplyPatchArgs, FrontMatterPatch, FrontMatterUpdate, apply_patch};
pub use list::{ListArgs, list};
pub use mounts::Mounts;
pub use read::{ReadArgs, read};
pub use search::{SearchArgs, search};
pub use tool_error::{ErrorCode, ToolError, parse_args};
pub use write::{WriteArgs, WriteGate, Written, write};

/// How much one call may read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsLimits {
    /// How many bytes one read may return.
    pub max_read_bytes: u64,
    /// How many bytes one write may take.
    pub max_write_bytes: u64,
}

impl Default for FsLimits {
    fn default() -> Self {
        Self { max_read_bytes: 524_288, max_write_bytes: 2_097_152 }
    }
}
