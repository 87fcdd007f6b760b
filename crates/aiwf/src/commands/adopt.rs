//! `aiwf adopt`: shows what a foreign session contains, asks, and trusts it.

use std::fmt::Write as _;

use aiwf_engine::{Adoption, Engine};
use clap::Args;
use serde_json::json;

use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Args)]
pub(crate) struct AdoptArgs {
    /// Session, change or run: id, unique prefix, or `latest`.
    #[arg(value_name = "ID")]
    id: String,
    /// Trust it without asking.
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: &AdoptArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let adoption = engine.adoption(&args.id)?;
    let is_adopted = !adoption.is_trusted && (args.yes || ask(&shown(&adoption), "Adopt it?", output));
    if is_adopted {
        engine.adopt(&adoption)?;
    }
    let is_trusted = adoption.is_trusted || is_adopted;
    let exit = if is_trusted { Exit::Done } else { Exit::Waiting };
    if output.is_json() {
        return output.json(json!({ "adopted": is_adopted, "adoption": adoption }), exit);
    }
    output::print(|out| {
        use std::io::Write as _;
        if args.yes || !output::can_ask(output) {
            out.write_all(shown(&adoption).as_bytes())?;
        }
        let (kind, id) = (adoption.kind, escaped_line(&adoption.id));
        match (adoption.is_trusted, is_adopted) {
            (true, _) => writeln!(out, "{kind} {id} is already yours"),
            (_, true) => writeln!(out, "adopted {kind} {id}"),
            (_, false) => writeln!(out, "not adopted; `aiwf adopt {id} --yes` trusts it"),
        }
    })?;
    Ok(exit)
}

/// Shows a text and asks; without a terminal the answer is no.
pub(super) fn ask(shown: &str, question: &str, output: &Output<'_>) -> bool {
    if !output::can_ask(output) {
        return false;
    }
    output::note(shown);
    output::note(&format!("{question} [y/N] "));
    let mut line = String::new();
    let is_read = std::io::stdin().read_line(&mut line).is_ok();
    is_read && matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// What adopting would trust.
fn shown(adoption: &Adoption) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:9} {}", escaped_line(value));
    };
    line(adoption.kind.as_str(), &adoption.id);
    line("about", &adoption.about);
    let people =
        if adoption.people.is_empty() { "nobody yet".to_owned() } else { adoption.people.join(", ") };
    line("decided", &format!("by {people}"));
    line("began", &adoption.created_at);
    line("phase", &adoption.phase);
    line("providers", &adoption.providers.join(", "));
    for gate in &adoption.gates {
        line("gate", &format!("{}: {}, without asking you", gate.gate, gate.approver));
    }
    for path in &adoption.outside_paths {
        line("outside", path);
    }
    let n = adoption.events;
    let events = if n == 1 { "1 event".to_owned() } else { format!("{n} events") };
    line("journal", &format!("{events}, the last is {} at {}", adoption.last_event, adoption.updated_at));
    if let Some(problem) = &adoption.problem {
        line("problem", problem);
    }
    text
}
