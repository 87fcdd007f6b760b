//! `aiwf ui`: serves the page of this project.

use aiwf_engine::Engine;
use aiwf_web::{Access, Listening, Note, Options};
use clap::Args;
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// Port on this machine; 0 for any free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Turn off all decisions on the page
    #[arg(long)]
    read_only: bool,
}

/// What a program needs to open the page.
#[derive(Serialize)]
struct Opened<'a> {
    url: &'a str,
    port: u16,
    code: &'a str,
}

pub(crate) fn run(args: &UiArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let access = if args.read_only { Access::ReadOnly } else { Access::Full };
    let options = Options { port: args.port, access, version: env!("CARGO_PKG_VERSION") };
    let is_opened = !args.no_open && output::can_ask(output);
    // The file that leads the browser here is removed when the page ends.
    let mut opened = None;
    let mut printed = Ok(Exit::Done);
    let on_listening = |page: &Listening| {
        if output.is_json() {
            printed = output.json(Opened { url: &page.url, port: page.port, code: &page.code }, Exit::Done);
            return;
        }
        output::note(&format!("page     {}\n", page.url));
        output::note(&format!("code     {} (once, for a browser without scripts)\n", page.code));
        output::note("Ctrl-C ends it\n");
        if is_opened {
            match engine.open_in_browser(&page.url) {
                Ok(file) => opened = Some(file),
                Err(why) => output::note(&format!("no browser was opened: {why}\n")),
            }
        }
    };
    aiwf_web::serve(engine, options, on_listening, |note| match note {
        Note::NewCode(code) => output::note(&format!("code     {code} (once)\n")),
    })?;
    drop(opened);
    printed?;
    Ok(Exit::Interrupted)
}
