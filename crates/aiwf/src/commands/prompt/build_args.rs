//! The flags of `prompt build` and `prompt preview`, one set for each recipe.

use std::path::PathBuf;

use aiwf_engine::prompt::{Format, FsAbility, Recipe, SessionPhase, Tokenizer, Tokens};
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};

use super::name_parser;

#[derive(Debug, Subcommand)]
pub(crate) enum RecipeArgs {
    /// A step of a session: plan, standards, code, review, feedback, profile prompt.
    Session(SessionArgs),
    /// A phase of a change: system template, files, artifacts, thoughts, instructions.
    Change(ChangeArgs),
    /// A turn of a workflow run, an agent session or a chat.
    #[command(after_help = "Example: aiwf prompt build workflow --input turn.json")]
    Workflow(DocumentArgs),
    /// A reply to an agent's report.
    #[command(after_help = "Example: aiwf prompt build reply --input request.json")]
    Reply(DocumentArgs),
}

impl RecipeArgs {
    pub(super) fn recipe(&self) -> Recipe {
        match self {
            Self::Session(_) => Recipe::Session,
            Self::Change(_) => Recipe::Change,
            Self::Workflow(_) => Recipe::Workflow,
            Self::Reply(_) => Recipe::Reply,
        }
    }

    pub(super) fn common(&self) -> &CommonArgs {
        match self {
            Self::Session(args) => &args.common,
            Self::Change(args) => &args.common,
            Self::Workflow(args) | Self::Reply(args) => &args.common,
        }
    }
}

/// The flags of `prompt build` and `prompt preview` for every recipe.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Include the tools that `prompt send --tools` would send; needs `--for`.
    #[arg(long, global = true, help_heading = "Tools")]
    pub(super) tools: bool,
    /// Start tool servers you have not agreed to yet, and remember your consent.
    #[arg(long, global = true, help_heading = "Tools")]
    pub(super) trust_servers: bool,
    /// Copy the prompt to the clipboard instead of printing it.
    #[arg(long, global = true, help_heading = "Building", display_order = 900)]
    pub(super) copy: bool,
    #[command(subcommand)]
    pub(super) recipe: RecipeArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  aiwf prompt build session --session-dir .aiwf/sessions/ID --phase planning \\\n      --iteration 1 --profile-prompt prompt.md"
)]
pub(crate) struct SessionArgs {
    /// A JSON document (`aiwf prompt schema session`), or - for stdin; flags override it.
    #[arg(long, value_name = "FILE|-")]
    pub(super) input: Option<PathBuf>,
    /// Session directory.
    #[arg(long, value_name = "DIR", required_unless_present = "input")]
    pub(super) session_dir: Option<String>,
    /// Phase that the session is in.
    #[arg(long, required_unless_present = "input", value_parser = name_parser(SessionPhase::ALL.map(SessionPhase::as_str), SessionPhase::from_name))]
    pub(super) phase: Option<SessionPhase>,
    /// Iteration, counted from 1.
    #[arg(long, value_name = "N", required_unless_present = "input", value_parser = iteration)]
    pub(super) iteration: Option<u32>,
    /// File with the profile's prompt, or - for stdin.
    #[arg(long, value_name = "FILE|-", required_unless_present = "input")]
    pub(super) profile_prompt: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example: aiwf prompt build change --phase plan --instructions 'Add login' --file 'src/**'"
)]
pub(crate) struct ChangeArgs {
    /// A JSON document (`aiwf prompt schema change`), or - for stdin; flags add to it.
    #[arg(long, value_name = "FILE|-")]
    pub(super) input: Option<PathBuf>,
    /// Agent whose template to use: claude, codex, gemini, or one of your own.
    #[arg(long)]
    pub(super) agent: Option<String>,
    /// Phase whose template to use: plan, challenge, implement, review, archive, or one of your own.
    #[arg(long)]
    pub(super) phase: Option<String>,
    /// What to do; @FILE reads a file, @- reads stdin, @@ is a literal @.
    #[arg(long, value_name = "TEXT|@FILE", required_unless_present = "input", allow_hyphen_values = true)]
    pub(super) instructions: Option<String>,
    /// Files to show the agent: name, directory or pattern (repeatable).
    #[arg(long = "file", value_name = "GLOB")]
    pub(super) files: Vec<String>,
    /// Result of an earlier phase (repeatable).
    #[arg(long = "artifact", value_name = "NAME=FILE", value_parser = name_and_file)]
    pub(super) artifacts: Vec<(String, String)>,
    /// Reasoning to carry over (repeatable).
    #[arg(long = "thought", value_name = "TEXT")]
    pub(super) thoughts: Vec<String>,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DocumentArgs {
    /// A JSON document (`aiwf prompt schema RECIPE`), or - for stdin.
    #[arg(long, value_name = "FILE|-")]
    pub(super) input: PathBuf,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Building")]
pub(crate) struct CommonArgs {
    /// Output format [default: the recipe's own].
    #[arg(long, value_parser = name_parser(Format::ALL.map(Format::as_str), Format::from_name))]
    pub(super) format: Option<Format>,
    /// Provider the prompt is for; its capabilities shape the prompt.
    #[arg(long = "for", value_name = "PROVIDER")]
    pub(super) provider: Option<String>,
    /// What the receiver can do with files.
    #[arg(long, value_name = "ABILITY", value_parser = name_parser(FsAbility::ALL.map(FsAbility::as_str), FsAbility::from_name))]
    pub(super) fs_ability: Option<FsAbility>,
    /// Whether the receiver takes a separate system prompt.
    #[arg(long, value_name = "on|off", value_parser = on_off(), hide_possible_values = true)]
    pub(super) system_prompt: Option<bool>,
    /// Whether to reference files as `@path` instead of including their text.
    #[arg(long, value_name = "on|off", value_parser = on_off(), hide_possible_values = true)]
    pub(super) attachments: Option<bool>,
    /// Maximum number of tokens; optional parts are cut to fit.
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub(super) budget: Option<Tokens>,
    /// Tokenizer to count with; all but `estimate` are exact.
    #[arg(long, value_parser = name_parser(Tokenizer::ALL.map(Tokenizer::as_str), Tokenizer::from_name))]
    pub(super) tokenizer: Option<Tokenizer>,
    /// Write to this file atomically instead of stdout.
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print the anatomy to stderr: each section with its share, its source, and why it was kept or cut.
    #[arg(long)]
    pub(super) explain: bool,
    /// Omit the text of sections from `--json`.
    #[arg(long)]
    pub(super) no_content: bool,
}

fn on_off() -> impl TypedValueParser<Value = bool> {
    name_parser(["on", "off"], |name| Some(name == "on"))
}

fn iteration(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number from 1".to_owned()),
        Ok(iteration) => Ok(iteration),
    }
}

fn tokens(text: &str) -> Result<Tokens, String> {
    let digits = text.replace(['_', ','], "");
    match digits.parse() {
        Ok(0) => Err("the budget must be at least 1 token".to_owned()),
        Ok(tokens) => Ok(Tokens(tokens)),
        Err(_) => Err("expected a number of tokens, such as 128000 or 128_000".to_owned()),
    }
}

fn name_and_file(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.to_owned())),
        _ => Err("expected NAME=FILE, such as plan=plan.md".to_owned()),
    }
}
