//! `aiwf profile`: adds a profile, or writes a new one.

use std::io::Write as _;
use std::path::PathBuf;

use aiwf_engine::Engine;
use clap::Subcommand;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileToolCommand {
    /// Copy a profile to the installed ones and pin it.
    #[command(after_help = "Example: aiwf profile add ../profiles/our-service")]
    Add {
        /// Its directory.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Write a new profile that works.
    #[command(after_help = "Example: aiwf profile new our-service --project")]
    New {
        /// Its name.
        name: String,
        /// For this project alone, instead of for the user.
        #[arg(long)]
        project: bool,
    },
}

impl ProfileToolCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Add { .. } => "profile add",
            Self::New { .. } => "profile new",
        }
    }
}

pub(crate) fn run(
    command: &ProfileToolCommand,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let (name, path) = match command {
        ProfileToolCommand::Add { directory } => engine.add_profile(directory)?,
        ProfileToolCommand::New { name, project } => (name.clone(), engine.new_profile(name, *project)?),
    };
    if output.is_json() {
        return output.json(json!({ "name": name, "path": path }), Exit::Done);
    }
    output::print(|out| writeln!(out, "{}\n\nnext: aiwf {name} init --help", path.display()))?;
    Ok(Exit::Done)
}
