//! The real agents asked by aiwf, with a scripted model behind them: what arrives there, and what comes of it.
//!
//! Run by `cargo xtask test agents`; without it the tests have nothing to do.

mod do_walk;
mod failures;
mod integrate;
mod mcp;
mod sessions;
mod single_calls;
mod world;
