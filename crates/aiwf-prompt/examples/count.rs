//! Counts one file on one thread with the library that the vocabularies come from, and then as prompts are counted;
//! prints the loading and counting times as JSON.
//!
//! `cargo run --release -p aiwf-prompt --example count -- FILE`

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::time::Instant;

use aiwf_prompt::{CountTokens as _, Tokenizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: count FILE")?;
    let text = std::fs::read_to_string(path)?;
    let start = Instant::now();
    let library = bpe_openai::o200k_base();
    let load_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let tokens = library.count(text.as_str());
    let count_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    Tokenizer::O200kBase.load();
    let ours_load_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let ours = Tokenizer::O200kBase.count(&[vec![text.as_str()]]);
    let ours_count_s = start.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({
            "load_s": load_s, "count_s": count_s, "tokens": tokens, "bytes": text.len(),
            "ours_load_s": ours_load_s, "ours_count_s": ours_count_s, "ours_tokens": ours.first().map(|tokens| tokens.0),
        })
    );
    Ok(())
}
