//! Tests of the parsers from outside: whole replies, properties that hold for any text, and hostile texts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are not covered by the switches in clippy.toml"
)]

mod cases;
mod hostile;
mod parsed_json;
mod properties;
