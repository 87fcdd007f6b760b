//! Builds a prompt from Rust: what `aiwf prompt build change` does, without the command line.
//!
//! Run it in a project: `cargo run -p aiwf-engine --example embed`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what it made")]

use std::error::Error;

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::prompt::{Tokenizer, Tokens};
use aiwf_engine::{BuildOptions, ChangeDocument, ChangeFlags, ContextDocument, Document, Engine};

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new(Settings::resolve(None, Environment::read()?)?);

    // A document says what the prompt is for; its JSON form is what `--input` takes.
    let document = ChangeDocument {
        agent: Some("claude".to_owned()),
        phase: Some("plan".to_owned()),
        instructions: "Add a login page.".to_owned(),
        context: vec![ContextDocument {
            kind: "artifact".to_owned(),
            name: Some("decision".to_owned()),
            content: "Sessions are kept in a cookie.".to_owned(),
        }],
        ..ChangeDocument::default()
    };
    let flags = ChangeFlags { files: vec!["*.md".to_owned()], ..ChangeFlags::default() };

    // Files are optional: they are cut, the last path first, until the budget holds.
    let options = BuildOptions {
        budget: Some(Tokens(20_000)),
        tokenizer: Some(Tokenizer::O200kBase),
        ..BuildOptions::default()
    };
    let mut built = engine.build(Document::Change(document), &flags, &options, &|_| {})?;

    let metadata = built.metadata();
    eprintln!("{} tokens, counted with {}", metadata.token_estimate, metadata.tokenizer);
    for section in built.prompt.sections() {
        for part in section.parts.iter().filter(|part| !part.is_kept) {
            eprintln!("left out: {} ({})", part.id, part.reason.as_deref().unwrap_or_default());
        }
    }
    for problem in &built.problems {
        eprintln!("{}: {}", problem.source, problem.message);
    }
    println!("{}", built.prompt.full_prompt());
    Ok(())
}
