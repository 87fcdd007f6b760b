//! The slow suite `mcp`: the tests that start real MCP servers and clients, where only the loopback interface can be
//! reached.
//!
//! They come from npm, in the versions below. One of them binds every interface when it speaks HTTP, so the
//! tests named `real_mcp` run in a network namespace of their own.

use std::path::Path;

use crate::failure::Failure;
use crate::namespace::Namespace;
use crate::npm::{Package, Set};
use crate::workspace::Workspace;

/// The one place where their versions stand.
const SERVERS: Set = Set {
    name: "mcp",
    size: "60 MB",
    packages: &[
        Package {
            name: "@modelcontextprotocol/server-everything",
            version: "2026.8.31",
            program: "mcp-server-everything",
        },
        Package {
            name: "@modelcontextprotocol/server-filesystem",
            version: "2026.8.31",
            program: "mcp-server-filesystem",
        },
        // A client, for our own server.
        Package { name: "@modelcontextprotocol/inspector", version: "2.12.0", program: "mcp-inspector" },
    ],
    check: check_program,
};

/// The part of a test's path that says it starts a real server.
const TESTS: &str = "real_mcp";

pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let namespace = Namespace::available()?;
    let programs_dir = SERVERS.ensure_installed()?;
    namespace.test(workspace, TESTS, "AIWF_MCP_BIN", &programs_dir)
}

/// The servers have no `--version`: that the program is there must do.
fn check_program(server: &Package, programs_dir: &Path) -> Result<(), Failure> {
    if programs_dir.join(server.program).exists() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` has no program `{}`", server.name, server.program)))
}
