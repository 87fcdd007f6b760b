//! Runs tools: MCP servers, what may be called, and what came back.
//!
//! In: servers as configured, calls as a model made them, and a policy. Out: one result for each call. It knows no
//! model and no prompt: whoever talks to one asks [`Policy`] which tools to show, hands the calls to
//! [`execute_tools`], and shows what [`format_results_prompt`] makes of the results.
//!
//! A server is started when the first call needs it, never before a person has agreed to its exact command
//! (`ServersOptions::is_trusted`); a tool that changed since it was first used is refused until it is pinned again ([`Pins`]).
//! [`sandbox`] has the tools that are our own: files under three mounts.

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
pub use tool_result::{Attachment, ResultsDir, ToolResult};
