//! `aiwf trust`: lists, gives and withdraws consent.

use std::fmt::Write as _;

use aiwf_engine::config::{Config, Flags};
use aiwf_engine::{Agreement, AgreementKind, Engine};
use clap::Subcommand;
use serde_json::json;

use super::adopt::ask;
use super::prompt::name_parser;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// List what you agreed to, in every project.
    #[command(after_help = "Example: aiwf trust list --json")]
    List,
    /// Show what this project asks for, and agree to exactly that.
    #[command(
        after_help = "Examples:\n  aiwf trust add provider our-agent\n  aiwf trust add project --yes\n  aiwf trust add server files"
    )]
    Add {
        /// What to agree to: provider, project, server, flow, check, test, session, change or run.
        #[arg(value_name = "KIND", value_parser = kind_parser())]
        kind: AgreementKind,
        /// Its name; not needed for `project`.
        #[arg(value_name = "NAME", default_value = "", hide_default_value = true)]
        name: String,
        /// Agree without asking.
        #[arg(long)]
        yes: bool,
    },
    /// Withdraw consent.
    #[command(after_help = "Example: aiwf trust remove provider our-agent")]
    Remove {
        /// What was agreed to: provider, project, server, flow, check, test, session, change or run.
        #[arg(value_name = "KIND", value_parser = kind_parser())]
        kind: AgreementKind,
        /// Its name or the start of its hash; not needed for `project`.
        #[arg(value_name = "NAME", default_value = "", hide_default_value = true)]
        name: String,
    },
}

fn kind_parser() -> impl clap::builder::TypedValueParser<Value = AgreementKind> {
    name_parser(AgreementKind::ALL.map(AgreementKind::as_str), |name| {
        AgreementKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    })
}

impl TrustCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List => "trust list",
            Self::Add { .. } => "trust add",
            Self::Remove { .. } => "trust remove",
        }
    }
}

pub(crate) fn run(command: &TrustCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        TrustCommand::List => list(&engine.agreements()?, output),
        TrustCommand::Add { kind, name, yes } => add(*kind, name, *yes, engine, output),
        TrustCommand::Remove { kind, name } => {
            let project = engine.settings().project_root.to_string_lossy().into_owned();
            let is_this = *kind == AgreementKind::Project && name.is_empty();
            let removed = engine.withdraw(*kind, if is_this { &project } else { name })?;
            if output.is_json() {
                return output.json(json!({ "removed": removed }), Exit::Done);
            }
            output::print(|out| {
                use std::io::Write as _;
                for agreement in &removed {
                    writeln!(out, "removed {} {}", agreement.kind.as_str(), escaped_line(&agreement.name))?;
                }
                Ok(())
            })?;
            Ok(Exit::Done)
        }
    }
}

fn list(agreements: &[Agreement], output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(json!({ "agreements": agreements }), Exit::Done);
    }
    output::print(|out| {
        use std::io::Write as _;
        if agreements.is_empty() {
            return writeln!(out, "you have not agreed to anything");
        }
        agreements.iter().try_for_each(|agreement| out.write_all(shown(agreement).as_bytes()))
    })?;
    Ok(Exit::Done)
}

fn add(
    kind: AgreementKind,
    name: &str,
    is_yes: bool,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let agreement = engine.preview_agreement(kind, name)?;
    let is_agreed = is_yes || ask(&shown(&agreement), "Agree to exactly this?", output);
    if is_agreed {
        engine.agree(&agreement)?;
    }
    let exit = if is_agreed { Exit::Done } else { Exit::Waiting };
    if output.is_json() {
        return output.json(json!({ "agreed": is_agreed, "agreement": agreement }), exit);
    }
    output::print(|out| {
        use std::io::Write as _;
        if is_yes || !output::can_ask(output) {
            out.write_all(shown(&agreement).as_bytes())?;
        }
        writeln!(out, "{}", if is_agreed { "agreed" } else { "not agreed; `--yes` agrees without asking" })
    })?;
    Ok(exit)
}

fn shown(agreement: &Agreement) -> String {
    let Agreement { kind, name, sha256, shown, project } = agreement;
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(text, "{} {}", kind.as_str(), escaped_line(name));
    let _ = writeln!(text, "  {}", sha256.get(..12).unwrap_or(sha256));
    if name != project && !project.is_empty() {
        let _ = writeln!(text, "  in {}", escaped_line(project));
    }
    let heading = format!("{} {name}", kind.as_str());
    for line in shown.lines().filter(|line| *line != heading) {
        let _ = writeln!(text, "  {}", escaped_line(line.trim_start()));
    }
    text
}

/// Says which settings of the project do not count, and how to agree to them.
pub(super) fn warn_of_loosened(engine: &Engine) {
    // A configuration that cannot be read is reported by the command itself.
    let Ok(config) = Config::load(engine.settings(), &Flags::default()) else { return };
    if config.checkout.loosened.is_empty() || config.checkout.is_agreed {
        return;
    }
    let line = |setting: &aiwf_engine::config::Loosening| {
        let (key, value) = (escaped_line(&setting.key), escaped_line(&setting.value));
        format!("\n  {}: {key} = {value} (in effect: {})", setting.origin, escaped_line(&setting.instead))
    };
    let lines: String = config.checkout.loosened.iter().map(line).collect();
    output::warn(&format!(
        "this project loosens settings, which needs your consent{lines}\n  agree with `aiwf trust add project`"
    ));
}
