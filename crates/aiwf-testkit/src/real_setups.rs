//! Where the tools are that set up a repository for agents, for the tests that import what they make.

#![expect(clippy::disallowed_methods, reason = "the suite says in the environment where it put the tools")]

use std::env;
use std::path::PathBuf;

/// The program of a tool that sets up repositories, or none when the slow suites do not run and the test has nothing to do.
///
/// Such a test stands in a module named `real_setups`: that is how `cargo xtask test imports` finds it. It runs where
/// nothing but the loopback interface can be reached.
///
/// # Panics
///
/// When the slow suites run and nobody said where the tools are.
pub fn real_setup_tool(name: &str) -> Option<PathBuf> {
    if env::var_os("AIWF_SLOW").is_none_or(|value| value != "1") {
        return None;
    }
    let Some(dir) = env::var_os("AIWF_SETUPS_BIN") else {
        panic!("`AIWF_SETUPS_BIN` is not set; `cargo xtask test imports` installs the tools and sets it");
    };
    Some(PathBuf::from(dir).join(name))
}
