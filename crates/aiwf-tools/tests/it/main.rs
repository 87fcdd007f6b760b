//! Servers that work, and servers that do not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

mod execute;
mod faulty_servers;
mod fixture;
mod http_servers;
mod real_mcp;
mod working_servers;
