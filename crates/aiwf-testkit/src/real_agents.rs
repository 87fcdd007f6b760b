//! Where the real agents are, for the tests that start them.

#![expect(clippy::disallowed_methods, reason = "the suite says in the environment where it put the agents")]

use std::env;
use std::path::PathBuf;

/// The program of a real agent, or none when the slow suites do not run and the test has nothing to do.
///
/// Such a test stands in a module named `real_agents`: that is how `cargo xtask test agents` finds it. It runs where
/// nothing but the loopback interface can be reached.
///
/// # Panics
///
/// When the slow suites run and nobody said where the agents are.
pub fn real_agent(name: &str) -> Option<PathBuf> {
    if env::var_os("AIWF_SLOW").is_none_or(|value| value != "1") {
        return None;
    }
    let Some(dir) = env::var_os("AIWF_AGENTS_BIN") else {
        panic!("`AIWF_AGENTS_BIN` is not set; `cargo xtask test agents` installs the agents and sets it");
    };
    Some(PathBuf::from(dir).join(name))
}
