//! Drives a session from Rust: what `aiwf PROFILE init`, `preview`, `approve` and `respond` do.
//!
//! Run it in a directory with a `schema.sql`: `cargo run -p aiwf-engine --example session`.

#![expect(clippy::print_stdout, reason = "an example shows what happened")]

use std::error::Error;

use aiwf_engine::config::{Environment, Flags, Settings};
use aiwf_engine::{ApproveOptions, Engine};
use serde_json::{Map, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new(Settings::resolve(None, Environment::read()?)?);

    // The parameters are those that the profile's manifest declares.
    let params: Map<String, Value> = [
        ("entity", "Customer"),
        ("table", "customer"),
        ("bounded-context", "sales"),
        ("schema-file", "schema.sql"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), Value::from(value)))
    .collect();
    let created = engine.create_session(engine.new_session("jpa-mt", params, &Flags::default())?)?;

    // What will be sent, before anybody says yes.
    let preview = engine.preview_session(Some(created.id.as_str()))?;
    println!("{} bytes wait for approval", preview.prompt.len());

    // The default provider is a person, so the reply is handed in.
    engine.approve(Some(created.id.as_str()), &ApproveOptions::default())?;
    engine.respond(Some(created.id.as_str()), "# Plan\n\nOne entity.\n", None)?;
    engine.approve(Some(created.id.as_str()), &ApproveOptions::default())?;

    let report = engine.session_report(Some(created.id.as_str()))?;
    println!("{} is {}, waiting in {}", report.session_id, report.status, report.phase);
    Ok(())
}
