//! `cargo xtask bench`: measures the release binary against references within the same run.
//!
//! In: names of benches, or none for all. Out: a table of ratios with their targets. A ratio is taken between
//! runs that follow each other, so a busy machine slows both sides. Numbers of two runs are not compared.
//! `--against REV` builds another revision too and runs it beside the present build, turn by turn.
//! `--smoke` runs each bench once, small and with the debug binary, only to see that it still runs.
//! A new bench is a function that returns rows, and a line in `BENCHES`.

mod calls;
mod change;
mod corpus;
mod examples;
mod lab;
mod measure;
mod packages;
mod page;
mod peers;
mod prompts;
mod repositories;
mod revision;
mod session;
mod sessions;
mod startup;
mod table;

use crate::args::Args;
use crate::failure::Failure;
use crate::workspace::Workspace;
use lab::{Effort, Lab};
use revision::Revision;
use table::Row;

/// One group of measurements.
struct Bench {
    name: &'static str,
    run: fn(&Lab<'_>) -> Result<Vec<Row>, Failure>,
}

const BENCHES: &[Bench] = &[
    Bench { name: "startup", run: startup::startup },
    Bench { name: "session", run: session::session },
    Bench { name: "session-linear", run: session::session_linear },
    Bench { name: "change-plain", run: change::change_plain },
    Bench { name: "change-tokens", run: change::change_tokens },
    Bench { name: "prompt-diff", run: prompts::diff },
    Bench { name: "cache", run: prompts::cache },
    Bench { name: "render", run: examples::render },
    Bench { name: "fit", run: examples::fit },
    Bench { name: "turns", run: examples::turns },
    Bench { name: "search", run: examples::search },
    Bench { name: "package", run: packages::check },
    Bench { name: "run", run: packages::preview },
    Bench { name: "status", run: sessions::status },
    Bench { name: "list", run: sessions::list },
    Bench { name: "approve", run: sessions::approve },
    Bench { name: "whole-session", run: sessions::whole },
    Bench { name: "do", run: repositories::whole },
    Bench { name: "edits", run: examples::edits },
    Bench { name: "tests", run: examples::tests },
    Bench { name: "call", run: calls::call },
    Bench { name: "stream", run: calls::stream },
    Bench { name: "page", run: page::page },
];

pub(crate) fn run(workspace: &Workspace, words: &[String]) -> Result<(), Failure> {
    let names: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
    let args = parse(words, &names)?;
    let effort = if args.has("--smoke") { Effort::Smoke } else { Effort::Measure };
    let other = args.value("--against").map(|name| Revision::check_out(workspace, name)).transpose()?;
    let lab = Lab::open(workspace, effort, other.as_ref())?;
    if args.has("--peers") {
        peers::install_all(&lab)?;
    }
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    for bench in BENCHES.iter().filter(|bench| args.selects(bench.name)) {
        eprintln!("== {}", bench.name);
        match (bench.run)(&lab) {
            Ok(measured) => rows.extend(measured.into_iter().map(|row| (bench.name, row))),
            // The other benches still have something to say.
            Err(failure) => {
                eprint!("{failure}");
                failed.push(bench.name);
            }
        }
    }
    if effort == Effort::Smoke {
        println!("{} benches ran, {} failed; a smoke run measures nothing", n_selected(&args), failed.len());
    } else {
        match (&other, args.has("--json")) {
            (None, false) => print!("{}", table::text(&rows)),
            (None, true) => println!("{}", table::json(&rows)),
            (Some(revision), false) => print!("{}", table::change_text(&rows, &revision.name)),
            (Some(revision), true) => println!("{}", table::change_json(&rows, &revision.name)),
        }
    }
    let n_missed = rows.iter().filter(|(_, row)| row.meets_target() == Some(false)).count();
    if !failed.is_empty() {
        return Err(Failure::new(format!("could not measure {}", failed.join(", "))));
    }
    if effort == Effort::Measure && args.has("--check") && n_missed > 0 {
        return Err(Failure::new(format!("{n_missed} of {} targets are missed", n_targets(&rows))));
    }
    Ok(())
}

fn parse(words: &[String], names: &[&str]) -> Result<Args, Failure> {
    let args = Args::parse(words, &["--against REV", "--check", "--json", "--peers", "--smoke"], names)?;
    if args.value("--against").is_some() {
        for (flag, why) in
            [("--check", "targets belong to references"), ("--peers", "only two builds of aiwf run")]
        {
            if args.has(flag) {
                return Err(Failure::usage(format!("`{flag}` cannot be used with `--against`: {why}"))
                    .hint(format!("omit `{flag}`")));
            }
        }
    }
    Ok(args)
}

/// Runs every bench once, small and with the debug binary: a suite of `cargo xtask test`.
pub(crate) fn smoke(workspace: &Workspace) -> Result<(), Failure> {
    run(workspace, &["--smoke".to_owned()])
}

fn n_selected(args: &Args) -> usize {
    BENCHES.iter().filter(|bench| args.selects(bench.name)).count()
}

fn n_targets(rows: &[(&str, Row)]) -> usize {
    rows.iter().filter(|(_, row)| row.target.is_some()).count()
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
