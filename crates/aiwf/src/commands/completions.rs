//! `aiwf completions`: prints or installs the completion script of a shell.
//!
//! The script itself knows no commands: it asks the program, which answers in `completer.rs`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use aiwf_engine::config::Environment;
use aiwf_engine::{Durability, Engine, EngineError, create_dir, read_text, write_atomic};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_complete::env::Shells;
use serde_json::json;

use crate::command_error::CommandError;
use crate::completer::VARIABLE;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::usage_error::UsageError;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell [default: the one in `SHELL`].
    shell: Option<Shell>,
    /// Install the script where the shell looks for it: bash, zsh or fish.
    #[arg(long)]
    install: bool,
    /// Replace a file that aiwf did not write.
    #[arg(long, requires = "install")]
    force: bool,
}

/// Marks a file that `--install` wrote.
const MARKER: &str = "# Written by `aiwf completions`; written again after an update, changes here are lost.";

pub(crate) fn run(args: &CompletionsArgs, output: &Output<'_>) -> Result<Exit, Failure> {
    let environment = Environment::read().map_err(CommandError::NoCurrentDir)?;
    let shell = match args.shell {
        Some(shell) => shell,
        None => shell_of(&environment)?,
    };
    let script = script(shell).map_err(CommandError::Unprintable)?;
    if args.install {
        return install(shell, &script, args.force, &environment, output);
    }
    if output.is_json() {
        return output.json(json!({ "shell": shell.to_string(), "script": script }), Exit::Done);
    }
    output::print(|out| out.write_all(script.as_bytes()))?;
    Ok(Exit::Done)
}

/// The shell that the user types into.
fn shell_of(environment: &Environment) -> Result<Shell, UsageError> {
    let program = environment.shell.as_ref();
    let name =
        program.and_then(|program| program.file_stem()).map(|name| name.to_string_lossy().into_owned());
    let shell = name.as_deref().and_then(|name| name.parse().ok());
    shell.ok_or(UsageError::NoShell { found: name })
}

/// The script of a shell, with a line that marks it as ours.
fn script(shell: Shell) -> io::Result<String> {
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).ok_or(io::ErrorKind::Unsupported)?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "aiwf", "aiwf", "aiwf", &mut script)?;
    let script = String::from_utf8_lossy(&script);
    let script = script.trim();
    Ok(match (shell, script.split_once('\n')) {
        // Zsh reads from the first line what a file completes. It then runs the file as the function `_aiwf`, and
        // only the next completion would be answered.
        (Shell::Zsh, Some((first, rest))) => format!(
            "{first}\n{MARKER}\n{rest}\n\n\
             if [[ \"${{funcstack[1]}}\" == _aiwf ]]; then\n    _clap_dynamic_completer_aiwf \"$@\"\nfi\n"
        ),
        _ => format!("{MARKER}\n{script}\n"),
    })
}

/// Where a shell looks for the script.
fn place(shell: Shell, environment: &Environment) -> Result<PathBuf, Failure> {
    let (base, path) = match shell {
        Shell::Bash => (&environment.data_home, "bash-completion/completions/aiwf"),
        Shell::Zsh => (&environment.data_home, "zsh/site-functions/_aiwf"),
        Shell::Fish => (&environment.config_home, "fish/completions/aiwf.fish"),
        Shell::Elvish | Shell::PowerShell | _ => {
            return Err(UsageError::NotInstallable { shell: shell.to_string() }.into());
        }
    };
    base.as_ref().map(|base| base.join(path)).ok_or_else(|| CommandError::NoHome.into())
}

fn install(
    shell: Shell,
    script: &str,
    is_forced: bool,
    environment: &Environment,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let path = place(shell, environment)?;
    let is_there = path.symlink_metadata().is_ok();
    let is_ours = || read_text(&path).is_ok_and(|text| text.lines().any(|line| line == MARKER));
    if is_there && !is_forced && !is_ours() {
        return Err(CommandError::ForeignFile { path }.into());
    }
    if let Some(directory) = path.parent() {
        create_dir(directory).map_err(EngineError::from)?;
    }
    write_atomic(&path, Durability::Process, |file| file.write_all(script.as_bytes()))
        .map_err(EngineError::from)?;
    let next = next_step(shell, &path.parent().unwrap_or(&path).display().to_string());
    if output.is_json() {
        return output.json(json!({ "shell": shell.to_string(), "path": path, "next": next }), Exit::Done);
    }
    output::print(|out| writeln!(out, "wrote {}", path.display()))?;
    output::note(&format!("{next}\n"));
    Ok(Exit::Done)
}

/// What the user still has to do.
fn next_step(shell: Shell, directory: &str) -> String {
    match shell {
        Shell::Bash => {
            "open a new shell to use it; it needs the package `bash-completion`, else source the file in `~/.bashrc`"
                .to_owned()
        }
        Shell::Zsh => {
            format!("add `fpath=({directory} $fpath)` before `compinit` in `~/.zshrc`, then open a new shell")
        }
        Shell::Fish | Shell::Elvish | Shell::PowerShell | _ => "open a new shell to use it".to_owned(),
    }
}

/// The command line with the commands of every profile that can be read.
pub(crate) fn with_profiles(command: Command, engine: &Engine) -> Command {
    engine.profiles().iter().filter_map(|found| found.profile.as_ref().ok()).fold(
        command,
        |command, profile| {
            command.subcommand(super::profile::with_choices(super::profile::command(profile), profile))
        },
    )
}
