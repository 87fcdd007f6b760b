//! The slow suite `agents`: the tests that start the real agents, where only the loopback interface can be reached.
//!
//! The agents come from npm, in the versions below. The tests named `real_agents` run in a network namespace of their
//! own, so that an agent that ignores the address it was given talks to nobody.

use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::namespace::Namespace;
use crate::npm::{Package, Set};
use crate::workspace::{self, Workspace};

/// `aiwf-provider/src/agent/installed.rs` names the same versions in hints; a test compares them.
const AGENTS: Set = Set {
    name: "agents",
    size: "1 GB",
    packages: &[
        Package { name: "@openai/codex", version: "0.166.0", program: "codex" },
        Package { name: "@google/gemini-cli", version: "0.61.0", program: "gemini" },
        Package { name: "@anthropic-ai/claude-code", version: "2.1.325", program: "claude" },
    ],
    check: check_version,
};

/// The part of a test's path that says it starts a real agent.
const TESTS: &str = "real_agents";

pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let namespace = Namespace::available()?;
    let programs_dir = AGENTS.ensure_installed()?;
    namespace.test(workspace, TESTS, "AIWF_AGENTS_BIN", &programs_dir)
}

/// Starts the agent once: a package without its program, or a node too old for it, shows here and not in a test.
fn check_version(agent: &Package, programs_dir: &Path) -> Result<(), Failure> {
    let mut command = Command::new(programs_dir.join(agent.program));
    let version = workspace::capture(command.arg("--version")).map_err(|failure| {
        failure.hint("the agents need node 20 or newer; `node --version` says which it is")
    })?;
    if version.contains(agent.version) {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` says it is not version {}", agent.program, agent.version)).detail(version))
}
