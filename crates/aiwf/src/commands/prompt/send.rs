//! `aiwf prompt send`: builds, sends, prints the reply.

use std::fs::File;
use std::io;
use std::num::NonZeroU32;
use std::path::Path;

use aiwf_engine::advice::Action;
use aiwf_engine::machine::LeftOut;
use aiwf_engine::prompt::Recipe;
use aiwf_engine::{
    BuildOptions, Durability, Engine, EngineError, Sent, SessionError, ToolOptions, write_atomic,
};
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
    /// Provider to send to, built in or configured.
    // A separate id: the recipes have a `provider` too, whose flag is `--for`.
    #[arg(id = "send_to", long = "provider", value_name = "NAME", global = true, help_heading = SENDING)]
    provider: Option<String>,
    /// Record the request and its reply in this directory, for a provider of type replay.
    #[arg(long, value_name = "DIR", global = true, help_heading = SENDING)]
    record: Option<std::path::PathBuf>,
    /// Print call events to stderr, one line of JSON each.
    #[arg(long, global = true, help_heading = SENDING)]
    events: bool,
    /// Let the model call the tools of `[tools.grant] reply`.
    #[arg(long, global = true, help_heading = SENDING)]
    tools: bool,
    /// Maximum number of tool-call rounds [default: `[tools] max_rounds`].
    #[arg(long, value_name = "N", global = true, help_heading = SENDING)]
    max_rounds: Option<NonZeroU32>,
    /// Start tool servers you have not agreed to yet, and remember your consent.
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
    let options = BuildOptions { provider: Some(provider.clone()), ..build::options(common) };
    let engine = agreeing(call.engine(engine), args.trust_servers);
    engine.check_provider(provider)?;
    let on_progress = |progress| bar.show(progress);
    let built = if args.tools {
        engine.build_with_tools(document, &flags, &options, provider, &on_progress)
    } else {
        engine.build(document, &flags, &options, &on_progress)
    };
    let mut built = built.map_err(without_a_session)?;
    drop(bar);
    build::report(&built);
    if common.explain {
        output::note(&build::explained(&mut built));
    }
    let left_out = built.left_out.clone();
    let sent = engine.send(&built, provider, tools).map_err(without_a_session)?;
    for note in &sent.notes {
        output::say(note);
    }
    if let Some(warning) = sent.tools.as_ref().and_then(|tools| tools.warning.as_ref()) {
        output::warn(warning);
    }
    for path in &sent.touched {
        output::say(&format!("warning: the agent changed `{path}`, which it was not allowed to touch"));
    }
    let exit = if sent.touched.is_empty() { Exit::Done } else { Exit::Refused };
    let out = common.out.as_deref().filter(|path| *path != Path::new("-"));
    let written = match out {
        Some(given) => {
            write(&sent, given, &engine).map_err(|failure| Failure { exit: Exit::Unwritten, ..failure })
        }
        None => Ok(()),
    };
    let printed = match written {
        Ok(()) if out.is_some() && !output.is_json() => Ok(exit),
        Ok(()) => print(&sent, &left_out, output, exit),
        Err(failure) => Err(failure),
    };
    printed.map_err(|failure| {
        if failure.exit != Exit::Unwritten {
            return failure;
        }
        // A reply may have cost something, so it stays where it is.
        let kept = sent.keep_reply();
        let hint = format!("the reply is kept in `{}`: copy it to a disk with free space", kept.display());
        Failure { advice: Some(Box::new(hint.into())), ..failure }
    })
}

fn write(sent: &Sent, given: &Path, engine: &Engine) -> Result<(), Failure> {
    let mut reply = File::open(sent.reply_path())
        .map_err(|source| EngineError::Unreadable { path: sent.reply_path().to_owned(), source })?;
    let path = engine.settings().current_dir.join(given);
    write_atomic(&path, Durability::Process, |mut out| io::copy(&mut reply, &mut out).map(drop))
        .map_err(|error| EngineError::from(error).about(given).into())
}

/// Words a failure for a command without a session, which has no retry.
fn without_a_session(error: SessionError) -> Failure {
    let advice = if let SessionError::Ask(error) = &error {
        Some(error.advice().replacing(&Action::Retry, &Action::SendPrompt))
    } else {
        None
    };
    let failure = Failure::from(error);
    Failure { advice: advice.map(Box::new).or(failure.advice), ..failure }
}

/// The use of tools; a flag without effect is an error.
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

fn print(sent: &Sent, left_out: &[LeftOut], output: &Output<'_>, exit: Exit) -> Result<Exit, Failure> {
    let unreadable = |source: io::Error| {
        Failure::from(EngineError::Unreadable { path: sent.reply_path().to_owned(), source })
    };
    if output.is_json() {
        let reply = std::fs::read_to_string(sent.reply_path()).map_err(unreadable)?;
        let mut result = json!({
            "payload_sha256": sent.payload_sha256,
            "left_out": left_out,
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
