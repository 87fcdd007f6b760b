//! `aiwf config`: the effective settings, and where they come from.

use std::io::Write as _;

use aiwf_engine::Engine;
use aiwf_engine::config::{Config, Flags};
use clap::Subcommand;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting.
    #[command(after_help = "Example: aiwf config show --origin")]
    Show {
        /// Show where each value comes from.
        #[arg(long)]
        origin: bool,
    },
}

pub(crate) fn run(command: &ConfigCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let ConfigCommand::Show { origin } = command;
    let entries = Config::load(engine.settings(), &Flags::default())?.entries();
    if output.is_json() {
        let settings: Vec<Value> = entries
            .iter()
            .map(
                |entry| json!({ "key": entry.key, "value": entry.value, "origin": entry.origin.to_string() }),
            )
            .collect();
        return output.json(json!({ "settings": settings }), Exit::Done);
    }
    let width = entries.iter().map(|entry| entry.key.len() + entry.value.len() + 3).max().unwrap_or(0);
    output::print(|out| {
        for entry in &entries {
            let setting = format!("{} = {}", entry.key, entry.value);
            if *origin {
                writeln!(out, "{setting:width$}  # {}", entry.origin)?;
            } else {
                writeln!(out, "{setting}")?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
