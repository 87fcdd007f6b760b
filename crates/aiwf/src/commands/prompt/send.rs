//! `aiwf prompt send`: builds, sends, prints the reply.

use std::fs::File;
use std::io;
use std::num::NonZeroU32;

use aiwf_engine::prompt::Recipe;
use aiwf_engine::{Engine, EngineError, Sent, SessionError, ToolOptions};
use clap::Args;
use serde_json::json;

use super::build::{self, Inputs};
use super::build_args::RecipeArgs;
use crate::call_args::{CallArgs, TrustArgs, agreeing};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::progress::FileBar;
use crate::usage_error::UsageError;

/// The heading of these flags in the help.
const SENDING: &str = "Sending";

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// Who is asked: a built-in provider, or one of the configuration.
    // An id of its own: the recipes have a `provider` too, whose flag is `--for`.
    #[arg(id = "send_to", long = "provider", value_name = "NAME", global = true, help_heading = SENDING)]
    provider: Option<String>,
    /// Keep request and reply in this directory, for a provider of type replay.
    #[arg(long, value_name = "DIR", global = true, help_heading = SENDING)]
    record: Option<std::path::PathBuf>,
    /// Say on the standard error what happens during the call, in lines of JSON.
    #[arg(long, global = true, help_heading = SENDING)]
    events: bool,
    /// Let the model call the tools of `[tools.grant] reply`.
    #[arg(long, global = true, help_heading = SENDING)]
    tools: bool,
    /// How many rounds of tool calls there may be, instead of `[tools] max_rounds`.
    #[arg(long, value_name = "N", global = true, help_heading = SENDING)]
    max_rounds: Option<NonZeroU32>,
    /// Start tool servers you have not agreed to yet, and remember that.
    #[arg(long, global = true, help_heading = SENDING)]
    trust_servers: bool,
    #[command(subcommand)]
    recipe: RecipeArgs,
}

pub(super) fn run(args: &SendArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let Some(provider) = &args.provider else {
        return Err(UsageError::NoProvider.into());
    };
    let tools = tools(args)?;
    build::check_stdin_is_asked_for_once(&args.recipe)?;
    let (document, flags) = Inputs { engine }.document(&args.recipe)?;
    let common = args.recipe.common();
    let call = CallArgs { record: args.record.clone(), events: args.events, trust: TrustArgs::default() };
    let bar = FileBar::new();
    let options = build::options(common);
    let engine = agreeing(call.engine(engine), args.trust_servers);
    let sent = engine
        .send(document, &flags, &options, provider, tools, &|progress| bar.show(progress))
        .map_err(without_a_session)?;
    output::problems(&sent.problems);
    for note in &sent.notes {
        output::say(note);
    }
    if let Some(warning) = sent.tools.as_ref().and_then(|tools| tools.warning.as_ref()) {
        output::warn(warning);
    }
    for path in &sent.touched {
        output::say(&format!("warning: the agent changed `{path}`, which it was not to touch"));
    }
    let exit = if sent.touched.is_empty() { Exit::Done } else { Exit::Refused };
    print(&sent, output, exit)
}

/// A failure in the words of who has no session that a retry would be for.
fn without_a_session(error: SessionError) -> Failure {
    let hint = if let SessionError::Ask(error) = &error {
        Some(error.hint_to("`aiwf prompt send`").replace("; what arrived is kept", ""))
    } else {
        None
    };
    let failure = Failure::from(error);
    Failure { hint: hint.or(failure.hint), ..failure }
}

/// Whether tools are used, and how; a flag that would do nothing is an error.
fn tools(args: &SendArgs) -> Result<Option<ToolOptions>, Failure> {
    let recipe = args.recipe.recipe();
    if args.tools && recipe != Recipe::Reply {
        return Err(UsageError::ToolsElsewhere { recipe: recipe.as_str() }.into());
    }
    if !args.tools && (args.max_rounds.is_some() || args.trust_servers) {
        let flag = if args.trust_servers { "--trust-servers" } else { "--max-rounds" };
        return Err(UsageError::WithoutTools { flag }.into());
    }
    Ok(args.tools.then_some(ToolOptions { max_rounds: args.max_rounds }))
}

fn print(sent: &Sent, output: &Output<'_>, exit: Exit) -> Result<Exit, Failure> {
    let unreadable = |source: io::Error| {
        Failure::from(EngineError::Unreadable { path: sent.reply_path().to_owned(), source })
    };
    if output.is_json() {
        let reply = std::fs::read_to_string(sent.reply_path()).map_err(unreadable)?;
        let mut result = json!({
            "prompt_sha256": sent.prompt_sha256,
            "reply": reply,
            "usage": sent.usage,
            "provider": sent.provider,
        });
        if let (Some(model), Some(result)) = (&sent.model, result.as_object_mut()) {
            result.insert("model".to_owned(), model.as_str().into());
        }
        if let (false, Some(result)) = (sent.touched.is_empty(), result.as_object_mut()) {
            result.insert("touched".to_owned(), json!(sent.touched));
        }
        if let (Some(tools), Some(result)) = (&sent.tools, result.as_object_mut()) {
            result.insert("rounds".to_owned(), tools.rounds.into());
            result.insert("tool_calls".to_owned(), json!(tools.tool_calls));
            let ends =
                [("max_rounds_reached", tools.max_rounds_reached), ("loop_detected", tools.loop_detected)];
            for (name, _) in ends.into_iter().filter(|(_, is_so)| *is_so) {
                result.insert(name.to_owned(), true.into());
            }
        }
        return output.json(result, exit);
    }
    // A reply may be large: it goes from the file to the output piece by piece.
    let mut reply = File::open(sent.reply_path()).map_err(unreadable)?;
    output::print(|out| io::copy(&mut reply, out).map(drop))?;
    if output::is_stdout_watched() {
        output::note("\n");
    }
    Ok(exit)
}
