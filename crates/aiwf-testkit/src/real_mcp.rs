//! Where the real MCP servers are, for the tests that start them.

#![expect(clippy::disallowed_methods, reason = "the suite says in the environment where it put the servers")]

use std::env;
use std::path::PathBuf;

/// The program of a real MCP server, or none when the slow suites do not run and the test has nothing to do.
///
/// Such a test stands in a module named `real_mcp`: that is how `cargo xtask test mcp` finds it. It runs where nothing
/// but the loopback interface can be reached.
///
/// # Panics
///
/// When the slow suites run and nobody said where the servers are.
pub fn real_mcp_server(name: &str) -> Option<PathBuf> {
    if env::var_os("AIWF_SLOW").is_none_or(|value| value != "1") {
        return None;
    }
    let Some(dir) = env::var_os("AIWF_MCP_BIN") else {
        panic!("`AIWF_MCP_BIN` is not set; `cargo xtask test mcp` installs the servers and sets it");
    };
    Some(PathBuf::from(dir).join(name))
}
