//! The command line.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use aiwf_engine::Engine;
use aiwf_engine::config::{Environment, Settings};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::command_groups::{NAME_WIDTH, with_groups};
use crate::commands::adopt::AdoptArgs;
use crate::commands::agent::AgentArgs;
use crate::commands::cache::CacheArgs;
use crate::commands::change::ChangeCommand;
use crate::commands::chat::ChatArgs;
use crate::commands::checks::ChecksCommand;
use crate::commands::completions::CompletionsArgs;
use crate::commands::config::ConfigCommand;
use crate::commands::demo::DemoArgs;
use crate::commands::r#do::DoArgs;
use crate::commands::flow::FlowCommand;
use crate::commands::import::ImportArgs;
use crate::commands::integrate::IntegrateArgs;
use crate::commands::mcp::McpArgs;
use crate::commands::package::PackageCommand;
use crate::commands::profile_tool::ProfileToolCommand;
use crate::commands::prompt::PromptCommand;
use crate::commands::reply::ReplyCommand;
use crate::commands::rm::RmArgs;
use crate::commands::session::SessionCommand;
use crate::commands::template::TemplateCommand;
use crate::commands::test::TestArgs;
use crate::commands::tools::ToolsCommand;
use crate::commands::trust::TrustCommand;
use crate::commands::ui::UiArgs;
use crate::commands::validate::ValidateTarget;
use crate::commands::workflow::WorkflowCommand;
use crate::escape::escaped_line;
use crate::lean_twin::{CommandGroup, lean_twin};
use crate::output::is_json_asked_for;

/// The flags that every command takes.
const GLOBAL: &str = "Global options";

/// Parses the arguments of the process; an error comes with the parser that reported it.
///
/// The complete parser is built only if the lean one fails: for help and for errors.
pub(crate) fn parse() -> Result<Cli, Box<(clap::Error, clap::Command)>> {
    let mut lean = lean_command();
    match parsed(&mut lean, std::env::args_os()) {
        Ok(cli) => return Ok(cli),
        // The JSON names the command, which needs the complete parser.
        Err(error) if error.kind() == ErrorKind::DisplayVersion && !is_json_asked_for() => {
            return Err(Box::new((error, lean)));
        }
        Err(_) => {}
    }
    let mut complete = command();
    if is_root_help_asked_for() {
        complete = with_profiles(complete);
    }
    parsed(&mut complete, std::env::args_os()).map_err(|error| Box::new((error, complete)))
}

fn lean_command() -> clap::Command {
    Cli::<lean::Command>::command()
}

fn parsed(
    command: &mut clap::Command,
    words: impl IntoIterator<Item = OsString>,
) -> Result<Cli, clap::Error> {
    let matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches)
}

/// Whether the program's own help is requested: only then are profiles loaded.
fn is_root_help_asked_for() -> bool {
    let words: Vec<_> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let is_help = |word: &String| matches!(word.as_str(), "-h" | "--help" | "help");
    let has_command = words.iter().any(|word| !word.starts_with('-') && word != "help");
    !has_command && (words.is_empty() || words.iter().any(is_help))
}

/// The command line, with the examples of each command.
pub(crate) fn command() -> clap::Command {
    let reworded = |reword: fn(&str) -> String| {
        move |recipe: clap::Command| match recipe.get_after_help() {
            Some(example) => {
                let example = reword(&example.to_string());
                recipe.after_help(example)
            }
            None => recipe,
        }
    };
    let for_preview = |example: &str| example.replace(" build ", " preview ");
    let for_send =
        |example: &str| example.replace(" build ", " send --provider codex ").replace(" --file 'src/**'", "");
    // One `help` is enough: it takes any command as arguments.
    let command = <Cli>::command().mut_subcommands(|group| {
        group.disable_help_subcommand(true).mut_subcommands(|command| {
            let command = command.disable_help_subcommand(true);
            match command.get_name() {
                "preview" => command.mut_subcommands(reworded(for_preview)),
                "send" => {
                    let command = command.mut_subcommands(reworded(for_send));
                    hide_tool_flags(command)
                }
                _ => command,
            }
        })
    });
    with_groups(command)
}

/// Hides tool flags in the help of recipes that run no tools; using one is an error with an explanation.
fn hide_tool_flags(send: clap::Command) -> clap::Command {
    let is_about_tools =
        |arg: &&clap::Arg| ["tools", "max_rounds", "trust_servers"].contains(&arg.get_id().as_str());
    let hidden: Vec<clap::Arg> =
        send.get_arguments().filter(is_about_tools).map(|arg| arg.clone().hide(true)).collect();
    send.mut_subcommands(|recipe| if recipe.get_name() == "reply" { recipe } else { recipe.args(&hidden) })
}

/// The width of the program's own help.
const HELP_WIDTH: usize = 80;

const START: &str = "Start with: aiwf do, or watch aiwf demo";

/// The command line with the available profiles as a separate group in its help.
pub(crate) fn with_profiles(command: clap::Command) -> clap::Command {
    let command = command.max_term_width(HELP_WIDTH);
    let profiles = Environment::read().ok().and_then(|environment| Settings::resolve(None, environment).ok());
    let Some(engine) = profiles.map(Engine::new) else { return command };
    let mut group = format!("{START}. Profiles (`aiwf PROFILE --help`):");
    for found in engine.profiles() {
        let about = match &found.profile {
            Ok(profile) => one_line(profile.description()),
            Err(_) => format!("broken: `aiwf profiles {}` shows why", found.name),
        };
        let _ = write!(group, "\n  {:NAME_WIDTH$}  {about}", escaped_line(&found.name));
    }
    // One list of options is enough where all of them belong to the program itself.
    let with_the_others = |arg: clap::Arg| arg.help_heading(None::<&'static str>);
    command
        .mut_arg("json", with_the_others)
        .mut_arg("project_dir", |arg| with_the_others(arg).help("Work on the project in this directory"))
        .after_help(group)
}

/// The part of a description that fits next to a name in the help.
fn one_line(description: &str) -> String {
    const LENGTH: usize = HELP_WIDTH - NAME_WIDTH - 4;
    let text = escaped_line(description);
    if text.chars().count() <= LENGTH {
        return text;
    }
    let start: String = text.chars().take(LENGTH - 1).collect();
    let whole_words = start.rsplit_once(' ').map_or(start.as_str(), |(words, _)| words);
    format!("{}…", whole_words.trim_end_matches([',', ';', ':']))
}

/// An AI workflow engine: `aiwf do` changes a repository; you decide at each gate.
#[derive(Debug, Parser)]
#[command(
    name = "aiwf",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = START
)]
pub(crate) struct Cli<C: Subcommand = Command> {
    /// Print one line of JSON instead of text.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,

    /// Project directory [default: the nearest one at or above the working directory].
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    pub(crate) project_dir: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: C,
}

lean_twin! {
    use crate::commands::session::lean::SessionCommand;

    pub(crate) enum Command {
        /// Build, preview and send prompts.
        #[command(
            after_help = "Example: aiwf prompt preview change --phase plan --instructions 'Add login'"
        )]
        Prompt(CommandGroup<PromptCommand>),
        /// Test prompts and replies against the cases of this project.
        #[command(
            after_help = "Examples:\n  aiwf test\n  aiwf test --update\n  aiwf test profiles/our-service --filter review\n  aiwf test --live --repeat 5 --min-pass 0.8"
        )]
        Test(TestArgs),
        /// List, show and check system templates.
        #[command(after_help = "Example: aiwf template show claude plan")]
        Template(CommandGroup<TemplateCommand>),
        /// Parse an agent's reply.
        #[command(after_help = "Example: aiwf reply parse --as file-markers reply.md")]
        Reply(CommandGroup<ReplyCommand>),
        /// List, call and pin the tools of MCP servers.
        #[command(after_help = "Example: aiwf tools list --server files")]
        Tools(CommandGroup<ToolsCommand>),
        #[command(flatten)]
        Session(SessionCommand),
        /// Change this repository: plan, implement, check and review
        #[command(
            after_help = "Examples:\n  aiwf do 'Add a --json flag to the list command'\n  aiwf do 'Fix the login test' --check 'cargo test' --branch --yes"
        )]
        Do(DoArgs),
        /// Show how much of each call a provider's cache can serve.
        #[command(after_help = "Examples:\n  aiwf cache login\n  aiwf cache latest --json")]
        Cache(CacheArgs),
        /// Remove sessions that have ended.
        #[command(after_help = "Examples:\n  aiwf rm login\n  aiwf rm --older-than 30d --yes")]
        Rm(RmArgs),
        /// Change the project with agents, from plan to review.
        #[command(
            after_help = "Example:\n  aiwf change new login 'Add a login page' --file 'src/**'\n  aiwf change plan login --agent claude\n  aiwf change run login"
        )]
        Change(CommandGroup<ChangeCommand>),
        /// List, check and draw flows, and start sessions
        #[command(after_help = "Example: aiwf flow start spec 'Export reports as CSV'")]
        Flow(CommandGroup<FlowCommand>),
        /// Run workflow packages as a conversation.
        #[command(
            after_help = "Example:\n  aiwf workflow run examples/packages/bug-triage --provider anthropic\n  aiwf workflow say latest 'It began on Monday'\n  aiwf status latest"
        )]
        Workflow(CommandGroup<WorkflowCommand>),
        /// Talk to an agent of a workflow package.
        #[command(
            after_help = "Example: aiwf agent examples/packages/bug-triage support --input 'Is this a bug?'"
        )]
        Agent(AgentArgs),
        /// Chat with a model that can use tools.
        #[command(after_help = "Example: aiwf chat --provider anthropic --input 'What is in this project?'")]
        Chat(ChatArgs),
        /// List profiles, or show one.
        #[command(after_help = "Example: aiwf profiles jpa-mt")]
        Profiles {
            /// Name of the profile to show.
            name: Option<String>,
        },
        /// Create a profile, or add one from elsewhere.
        #[command(name = "profile", after_help = "Example: aiwf profile new our-service --project")]
        ProfileTool(CommandGroup<ProfileToolCommand>),
        /// Check, show, draw, pack and create workflow packages.
        #[command(after_help = "Example: aiwf package check my-flow")]
        Package(CommandGroup<PackageCommand>),
        /// List providers and what each can do.
        #[command(after_help = "Example: aiwf providers codex")]
        Providers {
            /// Name of the provider to show.
            name: Option<String>,
        },
        /// Check profiles, flows, standards, providers and configuration
        #[command(after_help = "Example: aiwf validate providers")]
        Validate {
            /// What to check.
            #[arg(value_enum, default_value_t = ValidateTarget::All)]
            what: ValidateTarget,
        },
        /// Show the configuration.
        #[command(after_help = "Example: aiwf config show --origin")]
        Config(CommandGroup<ConfigCommand>),
        /// Serve this project's sessions to MCP clients.
        #[command(
            after_help = "Examples:\n  claude mcp add aiwf -- aiwf mcp\n  aiwf mcp --http 8765 --token-file token"
        )]
        Mcp(McpArgs),
        /// Serve a local page to inspect sessions and make decisions.
        #[command(after_help = "Examples:\n  aiwf ui\n  aiwf ui --port 8765 --no-open")]
        Ui(UiArgs),
        /// Import spec-kit, OpenSpec or Claude Code commands as flows.
        #[command(
            after_help = "Examples:\n  aiwf import spec-kit .\n  aiwf import openspec . --dry-run\n  aiwf import claude-commands ~/.claude/commands"
        )]
        Import(ImportArgs),
        /// Connect Claude Code, Codex or Gemini CLI to aiwf.
        #[command(
            after_help = "Examples:\n  aiwf integrate claude\n  aiwf integrate codex --dry-run\n  aiwf integrate claude --remove --yes"
        )]
        Integrate(IntegrateArgs),
        /// Review and trust a session you did not create.
        #[command(after_help = "Examples:\n  aiwf adopt 20260301\n  aiwf adopt latest --yes")]
        Adopt(AdoptArgs),
        /// List, add and remove what you trust.
        #[command(
            after_help = "Examples:\n  aiwf trust list\n  aiwf trust add provider our-agent\n  aiwf trust remove provider our-agent"
        )]
        Trust(CommandGroup<TrustCommand>),
        /// List, run and allow the project's checks.
        #[command(
            after_help = "Examples:\n  aiwf checks list\n  aiwf checks allow\n  aiwf checks run tests"
        )]
        Checks(CommandGroup<ChecksCommand>),
        /// Print or install shell completions.
        #[command(after_help = "Examples:\n  aiwf completions --install\n  aiwf completions bash > aiwf.bash")]
        Completions(CompletionsArgs),
        /// Write the man pages, one for each command.
        #[command(hide = true, after_help = "Example: aiwf man --dir man1")]
        Man {
            /// Directory to write to; created if missing.
            #[arg(long, value_name = "DIR", default_value = ".")]
            dir: PathBuf,
        },
        /// Show `aiwf do` on a sample project, with recorded replies.
        #[command(after_help = "Examples:\n  aiwf demo\n  aiwf demo --profile shop")]
        Demo(DemoArgs),
        /// A profile's own commands.
        #[command(external_subcommand)]
        Profile(Vec<OsString>),
    }
}

impl Command {
    /// Whether the command depends on configured gates, limits or tools.
    pub(crate) fn uses_config(&self) -> bool {
        match self {
            Self::Prompt(_)
            | Self::Test(_)
            | Self::Tools(_)
            | Self::Change(_)
            | Self::Flow(_)
            | Self::Do(_)
            | Self::Workflow(_)
            | Self::Agent(_)
            | Self::Chat(_)
            | Self::Validate { .. }
            | Self::Config(_)
            | Self::Mcp(_)
            | Self::Ui(_)
            | Self::Checks(_)
            | Self::Profile(_) => true,
            Self::Session(command) => command.acts(),
            Self::Template(_)
            | Self::Reply(_)
            | Self::Profiles { .. }
            | Self::ProfileTool(_)
            | Self::Package(_)
            | Self::Providers { .. }
            | Self::Cache(_)
            | Self::Rm(_)
            | Self::Import(_)
            | Self::Integrate(_)
            | Self::Adopt(_)
            | Self::Trust(_)
            | Self::Completions(_)
            | Self::Man { .. }
            | Self::Demo(_) => false,
        }
    }

    /// The name of the command in JSON.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Prompt(command) => command.name(),
            Self::Test(_) => "test",
            Self::Template(command) => command.name(),
            Self::Reply(command) => command.name(),
            Self::Tools(command) => command.name(),
            Self::Session(command) => command.name(),
            Self::Change(command) => command.name(),
            Self::Flow(command) => command.name(),
            Self::Workflow(command) => command.name(),
            Self::Do(_) => "do",
            Self::Agent(_) => "agent",
            Self::Chat(_) => "chat",
            Self::Profiles { .. } => "profiles",
            Self::ProfileTool(command) => command.name(),
            Self::Package(command) => command.name(),
            Self::Providers { .. } => "providers",
            Self::Validate { .. } => "validate",
            Self::Config(_) => "config show",
            Self::Mcp(_) => "mcp",
            Self::Ui(_) => "ui",
            Self::Cache(_) => "cache",
            Self::Rm(_) => "rm",
            Self::Import(_) => "import",
            Self::Integrate(_) => "integrate",
            Self::Adopt(_) => "adopt",
            Self::Trust(command) => command.name(),
            Self::Checks(command) => command.name(),
            Self::Completions(_) => "completions",
            Self::Man { .. } => "man",
            Self::Demo(_) => "demo",
            Self::Profile(_) => "profile",
        }
    }
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
