//! Prints the transition table of changes for `ARCHITECTURE.md`.
//!
//! `cargo run -p aiwf-session --example change_transitions`

#![expect(clippy::print_stdout, reason = "an example prints")]

fn main() {
    print!("{}", aiwf_session::change_transition_table());
}
