//! Prints the transition table for `ARCHITECTURE.md`.
//!
//! `cargo run -p aiwf-session --example transitions`

#![expect(clippy::print_stdout, reason = "an example prints")]

fn main() {
    print!("{}", aiwf_session::transition_table());
}
