//! `cargo xtask test`: everything a change must pass, in the order that finds a mistake soonest.
//!
//! In: step names to run, or none for all. Out: success, or the first step that failed and how to run it
//! again. Snapshots are never updated here, so a changed prompt fails instead of slipping in.

use std::process::Command;
use std::time::Instant;

use crate::args::Args;
use crate::failure::Failure;
use crate::workspace::{self, Workspace};

/// One thing that must pass.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<(), Failure>,
}

/// A step that takes minutes, or needs more than cargo; `--quick` leaves it out.
struct Suite {
    name: &'static str,
    /// What must be on the machine beside cargo, said when the suite fails.
    needs: Option<&'static str>,
    run: fn(&Workspace) -> Result<(), Failure>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", run: fmt },
    Step { name: "clippy", run: clippy },
    Step { name: "tidy", run: crate::tidy::check_all },
    Step { name: "tests", run: tests },
    Step { name: "doc-tests", run: doc_tests },
];

/// The slow suites. A test in a crate that belongs to one asks for `AIWF_SLOW=1`.
const SLOW: &[Suite] = &[
    Suite { name: "fuzz-smoke", needs: None, run: fuzz_smoke },
    Suite { name: "benches", needs: None, run: crate::bench::smoke },
    Suite { name: "faults", needs: Some("strace (Debian's package)"), run: crate::faults::run },
    Suite {
        name: "agents",
        needs: Some("npm with node 20 or newer, the network for the first time, and network namespaces"),
        run: crate::agents::run,
    },
    Suite {
        name: "mcp",
        needs: Some("npm with node 20 or newer, the network for the first time, and network namespaces"),
        run: crate::mcp::run,
    },
    Suite {
        name: "imports",
        needs: Some(
            "npm with node 20 or newer, python3, the network for the first time, and network namespaces",
        ),
        run: crate::imports::run,
    },
    Suite {
        name: "page",
        needs: Some("Debian's chromium and chromium-driver, which it installs with apt-get"),
        run: crate::page::run,
    },
];

/// Cases per property in `fuzz-smoke`; a plain test run has proptest's 256.
const MANY_CASES: &str = "1000";

pub(crate) fn run(workspace: &Workspace, words: &[String]) -> Result<(), Failure> {
    let names: Vec<&str> =
        STEPS.iter().map(|step| step.name).chain(SLOW.iter().map(|suite| suite.name)).collect();
    let args = Args::parse(words, &["--quick", "--update"], &names)?;
    if args.has("--update") {
        crate::page::update_pictures();
    }
    let started_at = Instant::now();
    let mut n_passed = 0;
    for step in STEPS.iter().filter(|step| args.selects(step.name)) {
        perform(step.name, || (step.run)(workspace))?;
        n_passed += 1;
    }
    let mut n_skipped = 0;
    for suite in SLOW.iter().filter(|suite| args.selects(suite.name)) {
        if args.has("--quick") {
            n_skipped += 1;
            continue;
        }
        perform(suite.name, || {
            (suite.run)(workspace).map_err(|failure| match suite.needs {
                Some(needs) => failure.detail(format!("it needs beside cargo: {needs}")),
                None => failure,
            })
        })?;
        n_passed += 1;
    }
    println!("\n`cargo xtask test` is done in {:.1} s", started_at.elapsed().as_secs_f64());
    println!("steps: {n_passed} passed, 0 failed, {n_skipped} skipped");
    Ok(())
}

fn perform(name: &str, step: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    println!("\n== {name}");
    let started_at = Instant::now();
    let outcome = step();
    let seconds = started_at.elapsed().as_secs_f64();
    match outcome {
        Ok(()) => {
            println!("== {name} passed in {seconds:.1} s");
            Ok(())
        }
        Err(failure) => Err(failure
            .detail(format!("step `{name}` failed after {seconds:.1} s"))
            .or_hint(format!("run this step again with `cargo xtask test {name}`"))),
    }
}

fn fmt(workspace: &Workspace) -> Result<(), Failure> {
    announce_and_run(workspace.cargo().args(["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<(), Failure> {
    let mut command = workspace.cargo();
    command.args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]);
    announce_and_run(&mut command)
}

fn tests(workspace: &Workspace) -> Result<(), Failure> {
    let mut command = workspace.cargo();
    if has_nextest(workspace) {
        command.args(["nextest", "run", "--workspace", "--locked"]);
    } else {
        command.args(["test", "--workspace", "--locked", "--lib", "--bins", "--tests"]);
    }
    announce_and_run(frozen_snapshots(&mut command))
}

fn doc_tests(workspace: &Workspace) -> Result<(), Failure> {
    let mut command = workspace.cargo();
    command.args(["test", "--workspace", "--doc", "--locked"]);
    announce_and_run(frozen_snapshots(&mut command))
}

/// Runs the property tests with many more cases.
///
/// The whole workspace in the dev profile, so that nothing is built again; the names pick the tests.
fn fuzz_smoke(workspace: &Workspace) -> Result<(), Failure> {
    let mut command = workspace.cargo();
    command.env("PROPTEST_CASES", MANY_CASES).env("AIWF_SLOW", "1");
    if has_nextest(workspace) {
        command.args(["nextest", "run", "--workspace", "--locked", "--profile", "slow"]);
        command.args(["-E", "test(properties) | test(prop_)"]);
    } else {
        command.args(["test", "--workspace", "--locked", "--lib", "--bins", "--tests"]);
        command.args(["--", "properties", "prop_"]);
    }
    announce_and_run(frozen_snapshots(&mut command))
}

pub(crate) fn has_nextest(workspace: &Workspace) -> bool {
    workspace::capture(workspace.cargo().args(["nextest", "--version"])).is_ok()
}

/// Keeps insta from writing or accepting anything, whatever the caller's environment says.
pub(crate) fn frozen_snapshots(command: &mut Command) -> &mut Command {
    command.env("INSTA_UPDATE", "no").env("INSTA_FORCE_PASS", "0")
}

fn announce_and_run(command: &mut Command) -> Result<(), Failure> {
    println!("   {}", workspace::shown(command));
    workspace::run(command)
}
