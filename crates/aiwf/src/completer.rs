//! Answers completion requests of a shell.
//!
//! In: the words so far, and the environment that the script of `aiwf completions` sets. Out: candidates, each with a
//! line of help. Changes nothing, starts no provider or server, and silently skips what cannot be read.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use aiwf_engine::config::{Environment, Settings, variable};
use aiwf_engine::machine::Flow;
use aiwf_engine::{Engine, LedgerKind, SessionEntry, SessionStatus};
use clap::builder::StyledStr;
use clap::{Arg, Command, ValueHint};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;

use crate::columns::cut;
use crate::commands::{completions, profile};
use crate::escape::escaped_line;
use crate::exit::Exit;

/// The variable by which the script of a shell asks; its value is the shell.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// Flags whose value is a provider.
const PROVIDER_FLAGS: [&str; 7] = ["provider", "agent", "for", "planner", "generator", "reviewer", "reviser"];

/// Answers the shell; `None` if this is not a completion request.
pub(crate) fn answer_if_asked() -> Option<Exit> {
    let shell = variable(VARIABLE)?;
    // Another program may use a variable of this name: only a shell that we know is answered.
    Shells::builtins().completer(Path::new(&shell).file_stem()?.to_str()?)?;
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|word| word != "--") {
        return None;
    }
    let words = arguments.get(2..).unwrap_or_default();
    let environment = Environment::read().ok();
    let current_dir = environment.as_ref().map(|environment| environment.current_dir.clone());
    let settings = environment
        .and_then(|environment| Settings::resolve(profile::project_dir(words).as_deref(), environment).ok());
    let engine = settings.map(|settings| Arc::new(Engine::new(settings)));
    let is_flag = is_flag_begun(words);
    let answered = CompleteEnv::with_factory(|| command(engine.as_ref(), is_flag))
        .var(VARIABLE)
        .bin("aiwf")
        .completer("aiwf")
        .try_complete(&arguments, current_dir.as_deref());
    Some(if answered.is_ok() { Exit::Done } else { Exit::Refused })
}

/// Whether the word at the cursor starts with a hyphen.
fn is_flag_begun(words: &[OsString]) -> bool {
    let index = variable("_CLAP_COMPLETE_INDEX").and_then(|index| index.parse().ok());
    let current = words.get(index.unwrap_or_else(|| words.len().saturating_sub(1)));
    current.is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"))
}

/// The command line with profile commands and candidates for each argument.
fn command(engine: Option<&Arc<Engine>>, is_flag: bool) -> Command {
    let command = crate::cli::command();
    let command = match engine {
        Some(engine) => with_values(completions::with_profiles(command, engine), engine, &[]),
        None => command,
    };
    if is_flag { command } else { with_flags_last(command) }
}

/// The command line with flags offered only where nothing else fits.
fn with_flags_last(command: Command) -> Command {
    command
        .disable_help_flag(true)
        .disable_version_flag(true)
        .mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) })
        .mut_subcommands(with_flags_last)
}

fn with_values(command: Command, engine: &Arc<Engine>, parents: &[&str]) -> Command {
    let name = command.get_name().to_owned();
    let words: Vec<&str> = parents.iter().copied().chain([name.as_str()]).collect();
    command
        .mut_args(|arg| match values_of(&arg, &words) {
            Some(values) => {
                let engine = Arc::clone(engine);
                arg.add(ArgValueCandidates::new(move || {
                    let mut candidates = values.candidates(&engine);
                    candidates.retain(is_plain);
                    candidates
                }))
            }
            None if is_path(&arg) => arg.value_hint(ValueHint::AnyPath),
            None => arg,
        })
        .mut_subcommands(|below| with_values(below, engine, &words))
}

/// Whether a shell reads a candidate as a plain word: names in a checkout may come from a stranger.
fn is_plain(candidate: &CompletionCandidate) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || ['-', '_', '.'].contains(&c);
    candidate.get_value().to_str().is_some_and(|value| value.chars().all(is_plain))
}

/// What an argument's value names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Values {
    Sessions { command: String },
    Changes { command: String },
    Runs,
    Providers,
    Profiles,
    Flows,
    Checks,
}

/// What an argument's value names, if the candidates can be listed.
fn values_of(arg: &Arg, words: &[&str]) -> Option<Values> {
    let command = words.last().copied().unwrap_or_default().to_owned();
    if let Some(flag) = arg.get_long() {
        return match flag {
            "profile" => Some(Values::Profiles),
            "from" if words == ["aiwf", "profile", "new"] => Some(Values::Profiles),
            "flow" => Some(Values::Flows),
            // Here an id means an agent in a package.
            flag if PROVIDER_FLAGS.contains(&flag) && !is_called(arg, "ID") => Some(Values::Providers),
            _ => None,
        };
    }
    match (words, arg.get_id().as_str()) {
        (["aiwf", "providers"], "name") => Some(Values::Providers),
        (["aiwf", "profiles"], "name") => Some(Values::Profiles),
        (["aiwf", "flow", "show" | "check" | "graph"], "name") | (["aiwf", "flow", "start"], "flow") => {
            Some(Values::Flows)
        }
        (["aiwf", "checks", _], "names") => Some(Values::Checks),
        (["aiwf", "prompt", "diff"], "before" | "after") => {
            Some(Values::Sessions { command: "show".to_owned() })
        }
        (["aiwf", "change", "new"], _) => None,
        (["aiwf", "change", _], "name") => Some(Values::Changes { command }),
        (["aiwf", "workflow", _], "id") => Some(Values::Runs),
        (["aiwf", ..], "id") => Some(Values::Sessions { command }),
        _ => None,
    }
}

/// Whether an argument names a file although its value is text.
fn is_path(arg: &Arg) -> bool {
    ["FILE", "FILE|-", "PATH", "GLOB"].iter().any(|name| is_called(arg, name))
}

fn is_called(arg: &Arg, name: &str) -> bool {
    arg.get_value_names().into_iter().flatten().any(|called| called.as_str() == name)
}

impl Values {
    fn candidates(&self, engine: &Engine) -> Vec<CompletionCandidate> {
        match self {
            Self::Sessions { command } => sessions(&engine.list_all().unwrap_or_default(), command),
            Self::Changes { command } => {
                let mut changes = engine.list_all().unwrap_or_default();
                changes.retain(|entry| entry.flow == Flow::CHANGE);
                sessions(&changes, command)
            }
            Self::Runs => {
                let mut runs = engine.list_all().unwrap_or_default();
                runs.retain(|entry| entry.kind == LedgerKind::Run);
                sessions(&runs, "show")
            }
            Self::Providers => {
                let names = engine.provider_names().unwrap_or_default();
                names.iter().map(|name| candidate(name, "")).collect()
            }
            Self::Flows => {
                let flows = engine.flows().unwrap_or_default();
                let title = |flow: &aiwf_engine::FoundFlow| {
                    flow.flow.as_ref().map(|flow| flow.title.clone()).unwrap_or_default()
                };
                flows.iter().map(|flow| candidate(&flow.name, &title(flow))).collect()
            }
            Self::Checks => {
                let checks = engine.checks().unwrap_or_default();
                checks.iter().map(|check| candidate(&check.name, &check.run.to_string())).collect()
            }
            Self::Profiles => {
                let profiles = engine.profiles();
                let about = |profile: &aiwf_engine::profile::Profile| profile.description().to_owned();
                let found = profiles.iter().map(|found| {
                    candidate(&found.name, &found.profile.as_ref().map(about).unwrap_or_default())
                });
                found.collect()
            }
        }
    }
}

/// The sessions that a command can be about, in the order of the list; one with a name is offered by it.
fn sessions(entries: &[SessionEntry], command: &str) -> Vec<CompletionCandidate> {
    let fitting = entries.iter().filter(|entry| fits(entry.status, command));
    fitting.map(|entry| candidate(entry.name.as_ref().unwrap_or(&entry.id), &title(entry))).collect()
}

/// Whether a command can be about a session with this status.
fn fits(status: SessionStatus, command: &str) -> bool {
    use SessionStatus::{Cancelled, InProgress, Paused, Rejected, Unreadable, Waiting};
    let is_waiting = matches!(status, Waiting | Paused | Rejected);
    match command {
        "approve" | "reject" | "respond" | "retry" => is_waiting,
        "step" | "run" | "preview" | "cancel" => is_waiting || status == InProgress,
        "apply" => !matches!(status, Cancelled | Unreadable),
        _ => true,
    }
}

/// The title and status of a session.
fn title(entry: &SessionEntry) -> String {
    const COLUMNS: usize = 60;
    format!("{} ({}, {})", cut(&entry.title, COLUMNS), entry.phase, entry.status)
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    let help = (!help.is_empty()).then(|| StyledStr::from(escaped_line(help)));
    CompletionCandidate::new(value).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_offered_the_sessions_it_can_be_about() {
        for (command, expected) in [
            ("approve", "waiting paused rejected"),
            ("run", "waiting paused rejected in-progress"),
            ("apply", "waiting paused rejected in-progress complete"),
            ("show", "waiting paused rejected in-progress complete cancelled unreadable"),
        ] {
            let all = "waiting paused rejected in-progress complete cancelled unreadable".split(' ');
            let fits = |status: &&str| fits(SessionStatus::from_name(status).unwrap(), command);
            let fitting: Vec<&str> = all.filter(fits).collect();
            assert_eq!(fitting.join(" "), expected, "{command}");
        }
    }

    #[test]
    fn the_command_line_for_completion_is_well_formed() {
        let engine = Arc::new(crate::failure::tests::bare_engine());
        command(Some(&engine), false).debug_assert();
    }
}
