//! `aiwf profile`: adds a profile, or writes a new one.

use std::io::Write as _;
use std::path::PathBuf;

use aiwf_engine::Engine;
use clap::Subcommand;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// The flow that a profile is made for, unless another profile is its model.
const GENERATE: &str = "generate";

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileToolCommand {
    /// Install a copy of a profile and pin it.
    #[command(after_help = "Example: aiwf profile add ../profiles/our-service")]
    Add {
        /// Directory of the profile.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Create a working profile to edit.
    #[command(after_help = "Example: aiwf profile new our-python --from python-module --project")]
    New {
        /// Name of the profile.
        name: String,
        /// Start from `generate`, for code in any language, or from a copy of a profile.
        #[arg(long, value_name = "FLOW|PROFILE", default_value = GENERATE)]
        from: String,
        /// Create it in this project instead of for all your projects.
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
        ProfileToolCommand::New { name, from, project } => {
            (name.clone(), engine.new_profile(name, from, *project)?)
        }
    };
    if output.is_json() {
        return output.json(json!({ "name": name, "path": path }), Exit::Done);
    }
    output::print(|out| writeln!(out, "{}\n\nnext: aiwf {name} init --help", path.display()))?;
    Ok(Exit::Done)
}
