//! `aiwf prompt`: build, preview, send, diff, recipes, schema.

mod build;
mod build_args;
mod diff;
mod send;

use aiwf_engine::prompt::{PromptAggregator, Recipe};
use aiwf_engine::{Engine, schema};
use build_args::ShowArgs;
use clap::Subcommand;
use diff::DiffArgs;
pub(super) use diff::{CountingArgs, dollars, percent};
use send::SendArgs;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Build a prompt and print it, or write it to a file.
    #[command(
        subcommand_value_name = "RECIPE",
        subcommand_help_heading = "Recipes",
        after_help = "Example: aiwf prompt build change --phase plan --instructions 'Add login' --file 'src/**'"
    )]
    Build(ShowArgs),
    /// Print the same bytes as `build`, and their anatomy to stderr.
    #[command(
        subcommand_value_name = "RECIPE",
        subcommand_help_heading = "Recipes",
        after_help = "Example: aiwf prompt preview change --phase plan --instructions 'Add login'"
    )]
    Preview(ShowArgs),
    /// Build a prompt, send it to a provider and print the reply.
    #[command(
        subcommand_value_name = "RECIPE",
        subcommand_help_heading = "Recipes",
        after_help = "Example: aiwf prompt send change --provider codex --phase plan --instructions 'Add login'"
    )]
    Send(SendArgs),
    /// Compare two prompts: sections, common prefix, and what a cache would miss.
    #[command(
        after_help = "Examples:\n  aiwf prompt diff before.json after.json --min-stable 0.95\n  aiwf prompt diff login:plan@1 login:plan@2"
    )]
    Diff(DiffArgs),
    /// List the recipes and their components in order.
    #[command(after_help = "Example: aiwf prompt recipes")]
    Recipes,
    /// Print the JSON Schema of a recipe's `--input` document.
    #[command(
        after_help = "The keys of a document may also be written in camelCase.\n\nExample: aiwf prompt schema reply"
    )]
    Schema {
        /// Name of the recipe.
        #[arg(value_parser = recipe_parser())]
        recipe: Recipe,
    },
}

impl PromptCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Build(_) => "prompt build",
            Self::Preview(_) => "prompt preview",
            Self::Send(_) => "prompt send",
            Self::Diff(_) => "prompt diff",
            Self::Recipes => "prompt recipes",
            Self::Schema { .. } => "prompt schema",
        }
    }
}

/// Parses one of a fixed set of names; clap lists them and suggests the nearest.
pub(crate) fn name_parser<T: Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static str>,
    find: fn(&str) -> Option<T>,
) -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(names).try_map(move |name| find(&name).ok_or("unknown name"))
}

fn recipe_parser() -> impl clap::builder::TypedValueParser<Value = Recipe> {
    name_parser(Recipe::ALL.map(Recipe::as_str), Recipe::from_name)
}

pub(crate) fn run(command: &PromptCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        PromptCommand::Build(args) => build::build(args, engine, output),
        PromptCommand::Preview(args) => build::preview(args, engine, output),
        PromptCommand::Send(args) => send::run(args, engine, output),
        PromptCommand::Diff(args) => diff::run(args, engine, output),
        PromptCommand::Recipes => recipes(output),
        PromptCommand::Schema { recipe } => print_schema(*recipe, output),
    }
}

fn recipes(output: &Output<'_>) -> Result<Exit, Failure> {
    let described = |recipe: Recipe| match recipe {
        Recipe::Session => ("a step of a session", "text"),
        Recipe::Change => ("a phase of a change", "xml"),
        Recipe::Workflow => ("a turn of a workflow run, an agent session or a chat", "messages"),
        Recipe::Reply => ("a reply to an agent's report", "text"),
    };
    let aggregator = PromptAggregator::global();
    if output.is_json() {
        let recipes: Vec<_> = Recipe::ALL
            .into_iter()
            .map(|recipe| {
                let (description, format) = described(recipe);
                let components: Vec<_> = aggregator
                    .components(recipe)
                    .into_iter()
                    .map(|(id, order)| json!({ "id": id, "order": order }))
                    .collect();
                json!({ "recipe": recipe.as_str(), "description": description, "format": format, "components": components })
            })
            .collect();
        return output.json(json!({ "recipes": recipes }), Exit::Done);
    }
    output::print(|out| {
        use std::io::Write as _;
        for (index, recipe) in Recipe::ALL.into_iter().enumerate() {
            let (description, format) = described(recipe);
            if index > 0 {
                writeln!(out)?;
            }
            writeln!(out, "{} — {description} (natural format: {format})", recipe.as_str())?;
            for (id, order) in aggregator.components(recipe) {
                writeln!(out, "  {order:>4}  {id}")?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn print_schema(recipe: Recipe, output: &Output<'_>) -> Result<Exit, Failure> {
    let schema = schema(recipe);
    if output.is_json() {
        return output.json(json!({ "recipe": recipe.as_str(), "schema": schema }), Exit::Done);
    }
    output::print(|out| {
        use std::io::Write as _;
        writeln!(out, "{schema:#}")
    })?;
    Ok(Exit::Done)
}
