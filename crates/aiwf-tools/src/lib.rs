//! Runs tools: MCP servers, the policy, and results.
//!
//! In: configured servers, calls as written by a model, and a policy. Out: one result per call. It knows no model and
//! no prompt: the caller asks [`Policy`] which tools to show, passes the calls to [`execute_tools`], and shows the
//! output of [`format_results_prompt`].
//!
//! A server starts when the first call needs it, and never before the user agreed to its exact command
//! (`ServersOptions::is_trusted`); a tool that changed since its first use is refused until it is pinned again
//! ([`Pins`]). [`sandbox`] contains our own tools: files under three mounts.

mod error;
mod shown;

mod expand;
mod mcp_json;
mod server_spec;

mod arguments;
mod pins;
mod policy;
mod tool;

mod servers;
mod tool_result;

mod execute;
mod results_prompt;

pub mod sandbox;

pub use arguments::check_arguments;
pub use error::ToolsError;
pub use execute::{Call, CallError, ExecuteOptions, Outcome, execute_tools};
pub use mcp_json::{McpJson, parse_mcp_json};
pub use pins::{PinState, Pins, PinsFile};
pub use policy::{Access, Grant, Offered, Policy, Refusal, Rules};
pub use results_prompt::format_results_prompt;
pub use server_spec::{Launch, ServerSpec};
pub use servers::{
    CallOptions, IsTrusted, Listed, LogSink, Lookup, Progress, Servers, ServersOptions, supervise_with,
};
pub use tool::{Annotations, Tool, canonical};
pub use tool_result::{Attachment, AttachmentKind, ResultsDir, ToolResult};
