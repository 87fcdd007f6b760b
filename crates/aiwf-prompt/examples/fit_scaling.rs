//! Fits 100,000 sections into half their size, next to a plain sort of as many keys, and prints both times as JSON.
//!
//! `cargo run --release -p aiwf-prompt --example fit_scaling`

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::time::Instant;

use aiwf_prompt::{Item, Need, Tokens, fit};

const N_SECTIONS: u64 = 100_000;
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spread = |index: u64| index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let items: Vec<Item> = (0..N_SECTIONS)
        .map(|index| Item {
            need: Need::Optional(u32::try_from(spread(index) % 1000).unwrap_or(0)),
            tokens: Tokens(spread(index + 7) % 500),
        })
        .collect();
    let total: Tokens = items.iter().map(|item| item.tokens).sum();
    let (mut fit_s, mut sort_s) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let cuts = fit(&items, Tokens(total.0 / 2))
            .map_err(|refusal| format!("nothing is required: {refusal:?}"))?;
        fit_s = fit_s.min(start.elapsed().as_secs_f64());
        std::hint::black_box(cuts);
        let mut keys: Vec<(u64, u64)> = (0..N_SECTIONS).map(|index| (spread(index) % 1000, index)).collect();
        let start = Instant::now();
        keys.sort_unstable();
        sort_s = sort_s.min(start.elapsed().as_secs_f64());
        std::hint::black_box(keys);
    }
    println!("{}", serde_json::json!({ "fit_s": fit_s, "sort_s": sort_s }));
    Ok(())
}
