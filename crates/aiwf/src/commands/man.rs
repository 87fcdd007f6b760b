//! `aiwf man`: man pages for all commands, including those of profiles; for packagers.

use std::io::Write as _;
use std::path::Path;

use aiwf_engine::{Durability, Engine, EngineError, create_dir, write_atomic};
use clap::Command;
use serde_json::json;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

pub(crate) fn run(dir: &Path, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut command = super::completions::with_profiles(crate::cli::command(), engine);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &mut pages).map_err(CommandError::Unprintable)?;
    let dir = engine.settings().current_dir.join(dir);
    create_dir(&dir).map_err(EngineError::from)?;
    for (name, page) in &pages {
        write_atomic(&dir.join(name), Durability::Process, |file| file.write_all(page))
            .map_err(EngineError::from)?;
    }
    if output.is_json() {
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        return output.json(json!({ "dir": dir, "pages": names }), Exit::Done);
    }
    output::print(|out| writeln!(out, "{} pages in {}", pages.len(), dir.display()))?;
    Ok(Exit::Done)
}

/// Adds the page of a command and of all visible subcommands.
fn add_pages(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    pages.push((man.get_filename(), page));
    let is_shown = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    command.get_subcommands().filter(is_shown).try_for_each(|command| add_pages(command, pages))
}
