//! An MCP server over the engine, so that any MCP client can drive sessions.
//!
//! Tools, prompts and resources are the engine's own functions under other names: what they decide is decided there,
//! what they say is what the command line says as JSON. [`serve_stdio`] serves one client on the standard input and
//! output, [`serve_http`] several on a loopback address behind a token. Approving is offered only when whoever starts
//! the server says so. Nothing here runs before one of the two is called: other commands pay nothing for it.

mod address;
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
mod token;
mod tool_error;
mod tools;

pub use address::{AddressError, LoopbackAddress};
pub use serve::{Ended, Options, ServeError, serve_http, serve_stdio};
pub use token::{Token, TokenError};
pub use tools::Approvals;
