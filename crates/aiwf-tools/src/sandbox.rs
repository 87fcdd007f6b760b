//! File tools for models: three mounts, one path resolver, five tools.
//!
//! In: a path under `@project`, `@pkg` or `@state` and the arguments of a call. Out: the flat JSON of the result, or a
//! code and a message. It knows no package and no run: the caller passes the guard of writes. Results and messages
//! contain no real paths, because only aliases are used on the way in and on the way out.

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

/// Size limits of reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsLimits {
    /// Maximum number of bytes per read.
    pub max_read_bytes: u64,
    /// Maximum number of bytes per write.
    pub max_write_bytes: u64,
}

impl Default for FsLimits {
    fn default() -> Self {
        Self { max_read_bytes: 524_288, max_write_bytes: 2_097_152 }
    }
}
