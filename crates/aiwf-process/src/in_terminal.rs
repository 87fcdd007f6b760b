//! Programs that take over the terminal: unbounded, since a person uses them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;

/// Runs a program that takes over the terminal, such as an editor; returns whether it ended well.
#[expect(clippy::disallowed_methods, reason = "the program reads and writes the terminal itself")]
pub fn run_in_terminal(program: &OsStr, args: &[OsString]) -> io::Result<bool> {
    Ok(Command::new(program).args(args).status()?.success())
}
