//! Starts programs: agents, checks and git.
//!
//! A [`Program`] runs without a shell in a process group of its own, within [`Limits`] of time and output, until it ends
//! or a [`Stop`] is raised; whatever ends it ends the whole group. Where [`supervisor::supervise_with`] was called, a
//! supervisor also ends the group when this process is killed. A program that is [`detached`] continues without us.

#![warn(missing_docs)]

mod child;
pub mod detached;
mod in_terminal;
mod stop;
pub mod supervisor;

pub use child::{CHUNK, Child, ChildError, Ended, Environment, Limits, Program, Stderr, Wait, output};
pub use in_terminal::run_in_terminal;
pub use stop::Stop;
