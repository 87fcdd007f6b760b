//! `aiwf test`: runs the test cases of prompts and replies.

mod github;
mod junit;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use aiwf_engine::{Agreement, Engine, TestOptions, TestReport};
use clap::Args;

use super::adopt::ask;
use crate::call_args::stop_on_signals;
use crate::call_progress;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TestArgs {
    /// Test files, or directories with tests [default: the project].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Run only cases whose name matches this regular expression.
    #[arg(long, value_name = "RE")]
    filter: Option<String>,
    /// Write golden files instead of comparing with them.
    #[arg(long)]
    update: bool,
    /// Run again whenever a file of the tests changes.
    #[arg(long)]
    watch: bool,
    /// Number of threads [default: one for each core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Ask providers for the replies of cases that have none.
    #[arg(long, help_heading = "Replies")]
    live: bool,
    /// With `--live`, ask for replies that no recording has, and record them.
    #[arg(long, requires = "live", help_heading = "Replies")]
    record_missing: bool,
    /// Run each case this many times.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Replies")]
    repeat: u32,
    /// Share of cases that must pass, from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share, help_heading = "Replies")]
    min_pass: f64,
    /// Fail if a case passes less often than in this file, made with `--json`.
    #[arg(long, value_name = "FILE", help_heading = "Replies")]
    baseline: Option<PathBuf>,
    /// Agree to the programs that these test files run, and remember it.
    #[arg(long, help_heading = "Replies")]
    trust_programs: bool,
    /// Write the results as `JUnit` XML.
    #[arg(long, help = "Write the results as JUnit XML", value_name = "FILE", help_heading = "Reports")]
    junit: Option<PathBuf>,
    /// Print an annotation for GitHub for each failure.
    #[arg(long, help_heading = "Reports")]
    github: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a share from 0 to 1, such as 0.9".to_owned())
}

impl TestArgs {
    fn options(&self) -> TestOptions {
        TestOptions {
            paths: self.paths.clone(),
            filter: self.filter.clone(),
            update: self.update,
            live: self.live,
            record_missing: self.record_missing,
            repeat: self.repeat,
            min_pass: self.min_pass,
            jobs: self.jobs.map(usize::from),
            baseline: self.baseline.clone(),
        }
    }
}

/// How often a watched directory is looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(300);

pub(crate) fn run(args: &TestArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let options = args.options();
    let stop = stop_on_signals();
    let engine = engine.clone().stopped_by(stop.clone());
    let engine = if args.live { engine.watched_by(call_progress::line()) } else { engine };
    agree(args, &engine, &options, output)?;
    loop {
        let seen = engine.test_fingerprint(&options)?;
        let exit = run_once(args, &engine, &options, output)?;
        if stop.is_raised() {
            return Ok(Exit::Interrupted);
        }
        if !args.watch {
            return Ok(exit);
        }
        output::note("waiting for changes; Ctrl-C ends\n");
        while engine.test_fingerprint(&options).is_ok_and(|now| now == seen) {
            if stop.is_raised() {
                return Ok(exit);
            }
            std::thread::sleep(WATCH_INTERVAL);
        }
    }
}

/// Asks for consent to the programs of these tests; typing the flag is consent.
fn agree(
    args: &TestArgs,
    engine: &Engine,
    options: &TestOptions,
    output: &Output<'_>,
) -> Result<(), Failure> {
    let mut is_held = false;
    for program in engine.test_programs(options)? {
        if args.trust_programs || ask(&shown(args, &program), "Agree to exactly this?", output) {
            engine.agree(&program)?;
        } else {
            is_held = true;
        }
    }
    if is_held {
        output::note("agree to programs of tests with `--trust-programs`\n");
    }
    Ok(())
}

fn shown(args: &TestArgs, program: &Agreement) -> String {
    let text = format!(
        "a test runs a program\n  {}\n  in {}\n",
        escaped_line(&program.shown),
        escaped_line(&program.project)
    );
    if args.github { github::harmless(&text) } else { text }
}

fn run_once(
    args: &TestArgs,
    engine: &Engine,
    options: &TestOptions,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let report = engine.test(options, &|_| ())?;
    let exit = exit_of(&report);
    if let Some(given) = &args.junit {
        engine.write_test_report(given, junit::text(&report).as_bytes())?;
    }
    let annotations = if args.github { github::annotations(&report) } else { String::new() };
    if output.is_json() {
        output::note(&annotations);
        return output.json(&report, exit);
    }
    output::print(|out| {
        use std::io::Write as _;
        if args.github {
            let mut table = Vec::new();
            table::write(&mut table, &report, output::width())?;
            out.write_all(github::harmless(&String::from_utf8_lossy(&table)).as_bytes())?;
        } else {
            table::write(out, &report, output::width())?;
        }
        out.write_all(annotations.as_bytes())
    })?;
    Ok(exit)
}

fn exit_of(report: &TestReport) -> Exit {
    if report.is_passed() {
        Exit::Done
    } else if report.only_providers_failed() {
        Exit::ProviderFailed
    } else {
        Exit::Refused
    }
}
