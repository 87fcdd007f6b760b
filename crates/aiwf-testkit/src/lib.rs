//! Runs the program in a world of its own.
//!
//! A [`TestProject`] is a project directory and a home that nobody else has. Nothing of the surroundings reaches
//! the program but what a test puts there, and what comes back is one text: output, errors and exit code. A
//! [`ModelServer`] is the model behind the APIs that the program, or an agent it starts, talks to.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot be set up stops there")]

pub mod model_server;
mod outcome;
mod project;
mod real_agents;
mod real_mcp;
mod real_setups;
mod scratch_dir;
mod small_package;
mod tool_server;
mod tree;

pub use model_server::ModelServer;
pub use outcome::Outcome;
pub use project::{Run, Running, TestProject};
pub use real_agents::real_agent;
pub use real_mcp::real_mcp_server;
pub use real_setups::real_setup_tool;
pub use scratch_dir::scratch_dir;
pub use small_package::{SmallPackage, copy_example_package};
pub use tool_server::TOOL_SERVER;
pub use tree::{Tree, replace_with_link};
