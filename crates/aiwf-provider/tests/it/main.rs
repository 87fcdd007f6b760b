//! Providers as the engine meets them: opened from a setting, asked, and judged by what comes back.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are not covered by the switches in clippy.toml"
)]

mod asking;
mod http_check;
mod http_endings;
mod http_failures;
mod http_keys;
mod http_replies;
mod http_waits;
mod server;
