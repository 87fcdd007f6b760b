//! Renders a large prompt to memory, next to a plain copy of the same bytes, and prints both speeds as JSON.
//!
//! `cargo run --release -p aiwf-prompt --example render_throughput`

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::time::Instant;

use aiwf_prompt::{
    Capability, ChangeRequest, ContextItem, Format, ItemKind, Options, PromptAggregator, Request, Source,
    Text, Tokenizer,
};

const N_FILES: usize = 1000;
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body = "fn area(w: u32, h: u32) -> u32 {\n    if w < h && h > 0 { w * h } else { 0 }\n}\n".repeat(80);
    let request = Request::Change(ChangeRequest {
        phase: None,
        system_prompt: None,
        context: (0..N_FILES)
            .map(|index| ContextItem::new(ItemKind::File, format!("src/file_{index}.rs"), body.as_str()))
            .collect(),
        instructions: Text::from("Explain."),
        instructions_source: Source::Input("instructions".to_owned()),
    });
    let capability = Capability {
        fs_ability: None,
        supports_system_prompt: true,
        supports_file_attachments: false,
        sends_files: false,
    };
    let options = Options { format: Format::Xml, capability, budget: None, counter: &Tokenizer::Estimate };
    let prompt = PromptAggregator::global().aggregate(&request, &options)?;
    let rendered = prompt.full_prompt();
    let (mut render, mut copy) = (f64::INFINITY, f64::INFINITY);
    let mut out = Vec::with_capacity(rendered.len());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        out.clear();
        prompt.write_to(&mut out)?;
        render = render.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let copied = std::hint::black_box(rendered.as_bytes()).to_vec();
        copy = copy.min(start.elapsed().as_secs_f64());
        std::hint::black_box(copied);
    }
    let n_bytes = f64::from(u32::try_from(rendered.len())?);
    let per_second = |seconds: f64| (n_bytes / seconds).round();
    println!(
        "{}",
        serde_json::json!({ "render_bytes_per_s": per_second(render), "copy_bytes_per_s": per_second(copy) })
    );
    Ok(())
}
