//! Tests of profiles from outside: the shipped ones, their prompts, and properties that hold for any files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are not covered by the switches in clippy.toml"
)]

mod example_shop;
mod prompts;
mod properties;
mod shipped;
