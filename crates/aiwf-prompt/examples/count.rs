//! Counts one file on one thread and prints how long loading the vocabulary and counting took, as JSON.
//!
//! `cargo run --release -p aiwf-prompt --example count -- FILE`

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::time::Instant;

use aiwf_prompt::Tokenizer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: count FILE")?;
    let text = std::fs::read_to_string(path)?;
    let start = Instant::now();
    Tokenizer::O200kBase.load();
    let load_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let tokens = bpe_openai::o200k_base().count(text.as_str());
    let count_s = start.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({ "load_s": load_s, "count_s": count_s, "tokens": tokens, "bytes": text.len() })
    );
    Ok(())
}
