//! `aiwf PROFILE …`: the commands a profile declares, with real flags made from its manifest.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use aiwf_engine::config::{Flags, Settings};
use aiwf_engine::machine::Role;
use aiwf_engine::profile::{Action, Param, ParamKind, Profile};
use aiwf_engine::{Engine, SessionError, SessionStatus};
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _};
use serde_json::{Map, Value, json};

use crate::call_args::{CallArgs, GateFlags, PromptArgs, ServerArgs};
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::typed_path::from_project;
use crate::typed_text::typed_text;
use crate::{session_output, usage};

/// The flags of `init` that every profile has.
const ROLE_FLAGS: [(Role, &str, &str); 4] = [
    (Role::PLANNER, "planner", "planning"),
    (Role::GENERATOR, "generator", "generating"),
    (Role::REVIEWER, "reviewer", "reviewing"),
    (Role::REVISER, "reviser", "revising"),
];

/// The command line of a profile.
pub(crate) fn command(profile: &Profile) -> Command {
    let mut init = Command::new("init")
        .about("Start a session and write its first prompt")
        .after_help(example_of_init(profile));
    for param in profile.params() {
        init = init.args(flags(param));
    }
    for (_, flag, task) in ROLE_FLAGS {
        init = init.arg(
            Arg::new(flag)
                .long(flag)
                .value_name("PROVIDER")
                .help(format!("Provider for {task}"))
                .help_heading("Session"),
        );
    }
    init = GateFlags::augment_args(init.next_help_heading("Session"));
    init = PromptArgs::augment_args(ServerArgs::augment_args(CallArgs::augment_args(init)));
    let mut command = Command::new(profile.name().to_owned())
        .about(escaped_line(profile.description()))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .global(true)
                .help_heading("Global options")
                .help("Print one line of JSON instead of text"),
        )
        .arg(
            // The id of the program's own flag, so that completions and man pages list it once.
            Arg::new("project_dir")
                .long("project-dir")
                .value_name("DIR")
                .global(true)
                .help_heading("Global options")
                .help("Project directory [default: the nearest one at or above the working directory]"),
        )
        .after_help(example_of_init(profile))
        .subcommand(init)
        .subcommand(
            Command::new("info")
                .about("Describe the profile and its parameters")
                .after_help(format!("Example: aiwf {} info", profile.name())),
        );
    for declared in profile.commands() {
        let mut sub = Command::new(declared.name.clone())
            .about(escaped_line(&declared.help))
            .after_help(format!("Example: aiwf {} {}", profile.name(), declared.name));
        if declared.action.is_about_session() {
            sub = sub.arg(Arg::new("id").value_name("ID").help("Session id [default: the only open one]"));
        }
        if let Action::ComponentPreview { .. } = declared.action {
            sub = sub.arg(Arg::new("html").long("html").value_name("FILE").help("Write a standalone page"));
        }
        command = command.subcommand(sub);
    }
    command
}

/// The shortest `init` that starts a session. The manifest contains no values, so their kinds are shown.
fn example_of_init(profile: &Profile) -> String {
    let mut example = format!("Example: aiwf {} init", profile.name());
    for param in profile.params().iter().filter(|param| param.is_required && param.default.is_none()) {
        let kind =
            if matches!(param.kind, ParamKind::File { .. } | ParamKind::Files) { "FILE" } else { "…" };
        let _ = write!(example, " --{} {kind}", param.name);
    }
    example
}

/// The command line with the names of every choice, for completion.
///
/// Not used to parse a real command, because the profile reports all invalid parameters at once.
pub(super) fn with_choices(command: Command, profile: &Profile) -> Command {
    command.mut_subcommand("init", |init| {
        profile.params().iter().filter(|param| !param.choices().is_empty()).fold(init, |init, param| {
            let names: Vec<String> = param.choices().iter().map(|choice| choice.name.clone()).collect();
            init.mut_arg(param.name.clone(), |arg| arg.value_parser(names))
        })
    })
}

/// The flags of a parameter.
fn flags(param: &Param) -> Vec<Arg> {
    let arg = Arg::new(param.name.clone()).long(param.name.clone()).help(help(param));
    match &param.kind {
        ParamKind::Boolean { negation } => {
            let mut args = vec![arg.action(ArgAction::SetTrue)];
            if let Some(negation) = negation {
                args.push(
                    Arg::new(negation.clone())
                        .long(negation.clone())
                        .action(ArgAction::SetTrue)
                        .conflicts_with(param.name.clone())
                        .help(escaped_line(&format!("The opposite of --{}", param.name))),
                );
            }
            args
        }
        ParamKind::List { .. } => vec![arg.action(ArgAction::Append).value_name("TEXT")],
        ParamKind::Files => vec![arg.action(ArgAction::Append).value_name("GLOB")],
        ParamKind::Text => vec![arg.value_name("TEXT|@FILE")],
        ParamKind::File { .. } => vec![arg.value_name("FILE")],
        ParamKind::Path => vec![arg.value_name("PATH")],
        ParamKind::Integer { .. } => vec![arg.value_name("N").allow_negative_numbers(true)],
        ParamKind::Choice { .. } | ParamKind::String { .. } => {
            vec![arg.value_name(if param.choices().is_empty() { "TEXT" } else { "NAME" })]
        }
    }
}

fn help(param: &Param) -> String {
    let mut help = param.help.trim_end_matches('.').to_owned();
    let choices: Vec<&str> = param.choices().iter().map(|choice| choice.name.as_str()).collect();
    if !choices.is_empty() {
        let _ = write!(help, " [{}]", choices.join(", "));
    }
    match &param.default {
        Some(default) => {
            let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
            let _ = write!(help, " (default: {default})");
        }
        None if param.is_required => help.push_str(" (required)"),
        None => {}
    }
    // Clap adds its own colours, so the text cannot be escaped when it is printed.
    escaped_line(&help)
}

/// The project directory in the arguments. It must be known before the profile, which may be the project's own.
pub(crate) fn project_dir(words: &[OsString]) -> Option<PathBuf> {
    const FLAG: &str = "--project-dir";
    let words: Vec<_> = words.iter().take_while(|word| *word != "--").collect();
    let position = words.iter().rposition(|word| word.to_string_lossy().split('=').next() == Some(FLAG))?;
    let word = words.get(position)?.to_string_lossy();
    match word.split_once('=') {
        Some((_, directory)) => Some(PathBuf::from(directory)),
        None => words.get(position + 1).map(PathBuf::from),
    }
}

/// Runs `aiwf PROFILE …`.
pub(crate) fn run(words: &[OsString], engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let profile = match engine.profile(&name) {
        Ok(profile) => profile,
        // The first argument decides between one of our commands and a profile.
        Err(SessionError::UnknownProfile { known, .. }) => {
            let output = Output::new(output::is_json_asked_for(), "");
            return Ok(output.failure(&usage::unknown_command(&name, &known).into()));
        }
        Err(error) => return Err(error.into()),
    };
    let mut command = command(&profile).bin_name(format!("aiwf {name}"));
    let matches = match command.try_get_matches_from_mut(words) {
        Ok(matches) => matches,
        Err(error) => return Ok(output::usage(&error, &command)),
    };
    let Some((sub, sub_matches)) = matches.subcommand() else {
        return Err(Failure::bug("a profile command without a command"));
    };
    let words = format!("{name} {sub}");
    let output =
        Output::new(output.is_json() || matches.get_flag("json") || sub_matches.get_flag("json"), &words);
    // The report of a new session already says it.
    if sub != "init" {
        for warning in engine.profile_warnings(&name) {
            output::warn(&warning);
        }
    }
    let outcome = match sub {
        "init" => init(&profile, sub_matches, engine, &output),
        "info" => info(&profile, &output),
        declared_name => declared(&profile, declared_name, sub_matches, engine, &output),
    };
    Ok(outcome.unwrap_or_else(|failure| output.failure(&failure)))
}

fn init(
    profile: &Profile,
    matches: &ArgMatches,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let flags = session_flags(matches)?;
    let new = engine.new_session(profile.name(), given(profile, matches, engine.settings())?, &flags)?;
    let call = CallArgs::from_arg_matches(matches).unwrap_or_default();
    let servers = ServerArgs::from_arg_matches(matches).unwrap_or_default();
    let prompt = PromptArgs::from_arg_matches(matches).unwrap_or_default();
    let created = prompt.engine(servers.engine(call.engine(engine))).create_session(new)?;
    if !output.is_json()
        && let Some(ability) = engine.ability_in_force(Some(created.id.as_str()))?
    {
        session_output::ability(&ability.provider, ability.fs_ability, ability.lowered_from);
    }
    let report = engine.session_report(Some(&created.id))?;
    let exit = if report.status == SessionStatus::Paused { Exit::Waiting } else { Exit::Done };
    session_output::report(&report, output, exit)
}

fn session_flags(matches: &ArgMatches) -> Result<Flags, Failure> {
    let mut flags = GateFlags::from_arg_matches(matches).unwrap_or_default().flags()?;
    for (role, flag, _) in ROLE_FLAGS {
        if let Some(provider) = matches.get_one::<String>(flag) {
            flags.roles.insert(role, provider.clone());
        }
    }
    Ok(flags)
}

/// The parameter values from flags.
fn given(
    profile: &Profile,
    matches: &ArgMatches,
    settings: &Settings,
) -> Result<Map<String, Value>, Failure> {
    let mut given = Map::new();
    for param in profile.params() {
        let value = match &param.kind {
            ParamKind::Boolean { negation } => {
                let is_no = negation.as_ref().is_some_and(|negation| matches.get_flag(negation));
                match (matches.get_flag(&param.name), is_no) {
                    (true, _) => Some(Value::Bool(true)),
                    (_, true) => Some(Value::Bool(false)),
                    (false, false) => None,
                }
            }
            ParamKind::List { .. } => matches
                .get_many::<String>(&param.name)
                .map(|values| Value::Array(values.map(|value| Value::from(value.as_str())).collect())),
            ParamKind::Files => matches
                .get_many::<String>(&param.name)
                .map(|values| values.map(|value| Value::from(from_project(value, settings))).collect()),
            ParamKind::Text => {
                let typed = matches.get_one::<String>(&param.name);
                typed.map(|value| typed_text(value, settings)).transpose()?.map(Value::from)
            }
            ParamKind::File { .. } | ParamKind::Path => {
                matches.get_one::<String>(&param.name).map(|value| Value::from(from_project(value, settings)))
            }
            ParamKind::String { .. } | ParamKind::Integer { .. } | ParamKind::Choice { .. } => {
                matches.get_one::<String>(&param.name).map(|value| Value::from(value.as_str()))
            }
        };
        if let Some(value) = value {
            given.insert(param.name.clone(), value);
        }
    }
    Ok(given)
}

fn info(profile: &Profile, output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        let params: Vec<Value> = profile
            .params()
            .iter()
            .map(|param| json!({ "name": param.name, "help": param.help, "required": param.is_required }))
            .collect();
        let commands: Vec<&str> = profile.commands().iter().map(|command| command.name.as_str()).collect();
        let scopes: Vec<&str> = profile.scopes().iter().map(|scope| scope.name.as_str()).collect();
        return output.json(
            json!({
                "name": profile.name(),
                "version": profile.version(),
                "description": profile.description(),
                "params": params,
                "scopes": scopes,
                "commands": commands,
                "sha256": profile.hash().to_string(),
            }),
            Exit::Done,
        );
    }
    output::print(|out| {
        let version = profile.version().map(|version| format!(" {version}")).unwrap_or_default();
        writeln!(out, "{}{version} — {}", profile.name(), profile.description())?;
        for param in profile.params() {
            writeln!(out, "  --{:18} {}", param.name, help(param))?;
        }
        for command in profile.commands() {
            writeln!(out, "  {:20} {}", command.name, command.help)?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn declared(
    profile: &Profile,
    name: &str,
    matches: &ArgMatches,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let Some(command) = profile.commands().iter().find(|command| command.name == name) else {
        return Err(Failure::bug("a profile command that the profile does not declare"));
    };
    match &command.action {
        Action::List(of) => list(profile, *of, output),
        Action::Ddl { .. } | Action::ComponentPreview { .. } => {
            super::profile_action::run(profile, &command.action, matches, engine, output)
        }
    }
}

fn list(profile: &Profile, of: aiwf_engine::profile::ListOf, output: &Output<'_>) -> Result<Exit, Failure> {
    let rows = profile.list(of);
    if output.is_json() {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| json!({ "name": row.name, "help": row.help, "related": row.related }))
            .collect();
        return output.json(json!({ "rows": rows }), Exit::Done);
    }
    output::print(|out| {
        for row in &rows {
            writeln!(out, "{:12} {} [{}]", row.name, row.help, row.related.join(", "))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
