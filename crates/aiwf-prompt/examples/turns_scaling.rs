//! Fits a conversation of 10,000 turns into half its size, next to a plain pass over the same list, and prints both
//! times as JSON.
//!
//! `cargo run --release -p aiwf-prompt --example turns_scaling`

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::hint::black_box;
use std::time::Instant;

use aiwf_prompt::{Tokens, TurnKind, TurnWeight, fit_turns};

const N_TURNS: u64 = 10_000;
const ROUNDS: usize = 101;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spread = |index: u64| index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    // Rounds of twenty turns: a directive, a request, and nine calls with their results.
    let kind = |index: u64| match index % 20 {
        0 => TurnKind::Context,
        1 => TurnKind::Request,
        place if place % 2 == 0 => TurnKind::Assistant { n_calls: 1 },
        _ => TurnKind::ToolResult,
    };
    let turns: Vec<TurnWeight> = (0..N_TURNS)
        .map(|index| TurnWeight { tokens: Tokens(spread(index) % 500), kind: kind(index) })
        .collect();
    let total: Tokens = turns.iter().map(|turn| turn.tokens).sum();
    let (mut fit_s, mut pass_s) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let fit = fit_turns(black_box(&turns), Tokens(total.0 / 2))?;
        fit_s = fit_s.min(start.elapsed().as_secs_f64());
        black_box(fit);
        let start = Instant::now();
        let mut sum = Tokens(0);
        let kept: Vec<bool> = black_box(&turns)
            .iter()
            .map(|turn| {
                sum += turn.tokens;
                sum.0 > total.0 / 2
            })
            .collect();
        pass_s = pass_s.min(start.elapsed().as_secs_f64());
        black_box(kept);
    }
    println!("{}", serde_json::json!({ "fit_s": fit_s, "pass_s": pass_s }));
    Ok(())
}
