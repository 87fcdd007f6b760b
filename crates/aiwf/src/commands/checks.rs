//! `aiwf checks`: the commands that check the results of sessions.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_engine::{Check, CheckConsent, CheckEnd, CheckRun, Engine, checks_summary, head_and_tail};
use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Value, json};

use super::adopt::ask;
use crate::call_args::CallArgs;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// The most of its output that a check that failed shows; all of it is in a file.
const MAX_SHOWN: usize = 8 * 1024;

#[derive(Debug, Subcommand)]
pub(crate) enum ChecksCommand {
    /// List the checks, and whether you allowed each.
    #[command(after_help = "Example: aiwf checks list --json")]
    List,
    /// Show the exact commands of checks and ask for your consent.
    #[command(after_help = "Examples:\n  aiwf checks allow tests --yes\n  aiwf checks allow")]
    Allow(AllowArgs),
    /// Run checks now and print each result.
    #[command(after_help = "Examples:\n  aiwf checks run\n  aiwf checks run tests --dir ../copy")]
    Run(RunArgs),
    /// Add a check to the project's configuration, and agree to it.
    #[command(after_help = "Example: aiwf checks add tests 'cargo test --locked'")]
    Add {
        /// Name of the check.
        #[arg(value_name = "NAME")]
        name: String,
        /// Shell command to run.
        #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
        command: String,
    },
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("selection").args(["names", "all"])))]
pub(crate) struct AllowArgs {
    /// Checks to show [default: each that needs your consent].
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Allow every check that needs your consent.
    #[arg(long)]
    all: bool,
    /// Agree without asking; needs a NAME or `--all`.
    #[arg(long, requires = "selection")]
    yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Checks to run [default: those that a session would run].
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Directory to run them in [default: the project].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print an event to stderr when a check starts and ends, one line of JSON each.
    #[arg(long)]
    events: bool,
}

impl ChecksCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List => "checks list",
            Self::Allow(_) => "checks allow",
            Self::Run(_) => "checks run",
            Self::Add { .. } => "checks add",
        }
    }
}

pub(crate) fn run(command: &ChecksCommand, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match command {
        ChecksCommand::List => list(&engine.checks()?, output),
        ChecksCommand::Allow(args) => allow(args, engine, output),
        ChecksCommand::Run(args) => run_checks(args, engine, output),
        ChecksCommand::Add { name, command } => {
            let check = engine.add_check(name, command)?;
            if output.is_json() {
                return output.json(json!({ "check": check }), Exit::Done);
            }
            output::print(|out| writeln!(out, "added check {} to .aiwf/config.toml", escaped_line(name)))?;
            Ok(Exit::Done)
        }
    }
}

fn list(checks: &[Check], output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        return output.json(json!({ "checks": checks }), Exit::Done);
    }
    output::print(|out| {
        if checks.is_empty() {
            return writeln!(out, "no checks");
        }
        checks.iter().try_for_each(|check| {
            let (name, origin) = (escaped_line(&check.name), escaped_line(&check.origin.to_string()));
            writeln!(out, "{name}  {}  ({origin})", consent(check))?;
            writeln!(out, "  {}", escaped_line(&check.run.to_string()))
        })
    })?;
    if checks.is_empty() {
        output::note("add one with `aiwf checks add NAME COMMAND`\n");
    } else if checks.iter().any(|check| !check.may_run()) {
        output::note("allow them with `aiwf checks allow`\n");
    }
    Ok(Exit::Done)
}

fn consent(check: &Check) -> &'static str {
    match check.consent {
        CheckConsent::NotNeeded => "yours",
        CheckConsent::Agreed => "agreed",
        CheckConsent::Missing => "needs your consent",
    }
}

fn allow(args: &AllowArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut checks =
        if args.names.is_empty() { engine.checks()? } else { engine.checks_named(&args.names)? };
    let has_checks = !checks.is_empty();
    checks.retain(|check| !check.may_run());
    let (mut agreed, mut refused) = (Vec::new(), Vec::new());
    for check in checks {
        let is_agreed = args.yes || ask(&shown(&check), "Agree to exactly this?", output);
        if is_agreed {
            engine.agree_to_checks(std::slice::from_ref(&check))?;
            agreed.push(Check { consent: CheckConsent::Agreed, ..check });
        } else {
            refused.push(check);
        }
    }
    let exit = if refused.is_empty() { Exit::Done } else { Exit::Waiting };
    if output.is_json() {
        return output.json(json!({ "agreed": agreed, "not_agreed": refused }), exit);
    }
    let can_ask = output::can_ask(output);
    output::print(|out| {
        for check in &agreed {
            if args.yes {
                out.write_all(shown(check).as_bytes())?;
            }
            writeln!(out, "agreed to {}", escaped_line(&check.name))?;
        }
        for check in refused.iter().filter(|_| !can_ask) {
            out.write_all(shown(check).as_bytes())?;
        }
        match (refused.len(), agreed.len()) {
            (0, 0) if has_checks => writeln!(out, "no check needs your consent"),
            (0, 0) => writeln!(out, "no checks"),
            (0, _) => Ok(()),
            _ => writeln!(out, "not agreed; `--all --yes` agrees without asking"),
        }
    })?;
    Ok(exit)
}

/// Shows the commands of checks that wait for consent and asks for each.
pub(crate) fn allow_pending(engine: &Engine, output: &Output<'_>) -> Result<(), Failure> {
    for check in engine.checks()?.into_iter().filter(|check| !check.may_run() && !check.is_detected()) {
        if ask(&shown(&check), "Agree to exactly this?", output) {
            engine.agree_to_checks(std::slice::from_ref(&check))?;
        }
    }
    Ok(())
}

/// Offers the checks that files of the project suggest, unless it has checks already: asks a person, and tells others
/// how to agree.
pub(crate) fn offer_detected(asks: bool, engine: &Engine, output: &Output<'_>) -> Result<(), Failure> {
    let checks = engine.checks()?;
    if checks.is_empty() || checks.iter().any(|check| check.may_run() || !check.is_detected()) {
        return Ok(());
    }
    if asks && output::can_ask(output) {
        let shown: String = checks.iter().map(shown).collect();
        let one = "Run it on every change from now on? It runs code that an agent wrote.";
        let several = "Run these on every change from now on? They run code that an agent wrote.";
        if ask(&shown, if checks.len() == 1 { one } else { several }, output) {
            engine.agree_to_checks(&checks)?;
        }
        return Ok(());
    }
    let commands: Vec<String> =
        checks.iter().map(|check| format!("`{}`", escaped_line(&check.run.to_string()))).collect();
    let found = commands.join(", ");
    output::note(&format!("checks: none; `aiwf checks allow` agrees to what was found: {found}\n"));
    Ok(())
}

/// Everything that consent covers.
fn shown(check: &Check) -> String {
    let mut text =
        format!("check {}  ({})\n", escaped_line(&check.name), escaped_line(&check.origin.to_string()));
    for line in check.shown.lines() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {}", escaped_line(line));
    }
    text
}

fn run_checks(args: &RunArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let engine = CallArgs { events: args.events, ..CallArgs::default() }.engine(engine);
    let checks = engine.checks_named(&args.names)?;
    let directory = args.dir.clone().unwrap_or_else(|| engine.settings().project_root.clone());
    let runs = engine.run_checks(&checks, &directory)?;
    let is_stopped = runs.iter().any(|run| run.result.ended == CheckEnd::Stopped);
    let passed = runs.len() == checks.len() && runs.iter().all(|run| run.result.passed);
    let exit = match (passed, is_stopped) {
        (true, _) => Exit::Done,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Refused,
    };
    if output.is_json() {
        let checks: Vec<Value> = runs.iter().map(run_json).collect();
        return output.json(json!({ "passed": passed, "checks": checks }), exit);
    }
    output::print(|out| {
        for run in &runs {
            let (name, outcome) = (escaped_line(&run.result.name), escaped_line(&run.result.outcome()));
            let seconds = Duration::from_millis(run.result.millis).as_secs_f64();
            writeln!(out, "{name}  {outcome}  ({seconds:.1} s)")?;
            for note in &run.result.notes {
                writeln!(out, "  {}", escaped_line(note))?;
            }
            if !run.result.passed {
                for line in head_and_tail(&run.printed, MAX_SHOWN).lines() {
                    writeln!(out, "  {line}")?;
                }
                if let Some(kept) = run.kept.as_ref().filter(|_| run.printed.len() > MAX_SHOWN) {
                    writeln!(out, "  full output: {}", escaped_line(&kept.display().to_string()))?;
                }
            }
        }
        if is_stopped {
            return writeln!(out, "stopped after {} of {} checks", runs.len() - 1, checks.len());
        }
        writeln!(out, "{}", checks_summary(runs.iter().map(|run| &run.result)))
    })?;
    Ok(exit)
}

/// A result with its output, and the file with the complete output.
fn run_json(run: &CheckRun) -> Value {
    let mut json = json!(run.result);
    if let Some(output) = json.get_mut("output") {
        let path = run.kept.as_ref().map(|kept| kept.display().to_string());
        *output = json!({
            "path": path,
            "sha256": run.result.output.sha256,
            "n_bytes": run.result.output.n_bytes,
            "shown": head_and_tail(&run.printed, MAX_SHOWN),
        });
    }
    json
}
