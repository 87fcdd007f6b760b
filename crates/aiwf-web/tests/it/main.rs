//! The page as a browser meets it, without a browser and without a socket: requests in, answers out.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "helper functions of tests stop at the first surprise"
)]

mod attacks;
mod browser;
mod comments;
mod decisions;
mod hostile_text;
mod views;
