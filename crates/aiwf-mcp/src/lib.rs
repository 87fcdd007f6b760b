//! An MCP server over the engine, so that any MCP client can drive sessions.
//!
//! Tools, prompts and resources are functions of the engine: it makes the decisions, and results equal the JSON of the
//! command line. [`serve_stdio`] serves one client on stdin and stdout, [`serve_http`] several on a loopback address
//! behind a token. Clients can approve only if the user who starts the server allows it. Nothing runs before one of the
//! two is called, so other commands pay nothing for it.

mod advice_words;
mod arguments;
mod hidden_paths;
mod http;
mod page;
mod prompts;
mod resources;
mod serve;
mod server;
mod start_schema;
mod tool_error;
mod tools;

pub use aiwf_loopback::{
    AddressError, Ended, LoopbackAddress, ServeError as LoopbackError, Token, TokenError,
};
pub use serve::{Options, ServeError, serve_http, serve_stdio};
pub use tools::Approvals;
