//! `aiwf chat`: a conversation with a model that has tools but no persona.

use std::path::PathBuf;

use aiwf_engine::{Engine, NewConversation, RunError};
use clap::Args;

use super::workflow::{AskArgs, text_or_stdin, turn};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::talk::{self, Opening};

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Package whose files the model may read.
    #[arg(long, value_name = "PATH")]
    package: Option<PathBuf>,
    /// Send this message and exit, or - for stdin.
    #[arg(long, value_name = "TEXT|-")]
    input: Option<String>,
    #[command(flatten)]
    ask: AskArgs,
}

pub(crate) fn run(args: &ChatArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let new =
        NewConversation { package: args.package.as_deref(), agent: None, provider: args.ask.provider() };
    if args.input.is_none() && talk::is_possible(&args.ask.call, output) {
        let console = args.ask.console(engine);
        let run = console.engine.start_conversation(&new)?;
        return console.talk(run, Opening::Listen, args.ask.provider());
    }
    let text =
        text_or_stdin(args.input.as_deref(), "aiwf chat --input TEXT")?.ok_or(RunError::NothingSaid)?;
    let engine = args.ask.engine(engine, output);
    let mut run = engine.start_conversation(&new)?;
    turn(&mut run, output, |run| run.say(&text))
}
