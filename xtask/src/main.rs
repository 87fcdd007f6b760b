//! The project's own tasks: `cargo xtask test | tidy | bench | docs`.
//!
//! In: the words after `cargo xtask`. Out: an exit code, 0 done, 1 something is wrong, 2 wrong usage.
//! Each task is a module; this file only picks one and prints how it ended.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: it starts programs, writes scratch files and prints"
)]

mod agents;
mod args;
mod bench;
mod docs;
mod failure;
mod faults;
mod imports;
mod mcp;
mod namespace;
mod npm;
mod page;
mod picture;
mod record_demo;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use failure::Failure;
use workspace::Workspace;

const HELP: &str = "\
The project's own tasks.

Usage: cargo xtask <TASK>

Tasks:
  test [--quick] [STEP…]     format, lints, tidy, all tests, doc tests, slow suites
                             --quick leaves the slow suites out; STEP runs only the steps named
                             --update takes the book's pictures of the page anew, in the suite `page`
  tidy                       what no compiler checks: crate edges, manifests, names, messages, lists
  bench [OPTION…] [NAME…]    measures the binary against references in the same run
                             --against REV also builds the git revision REV below target/, runs it beside
                             the present build turn by turn, and prints new/old for each row
                             --check exits with 1 when a target is missed
                             --json prints one line of JSON instead of a table
                             --peers installs the tools to compare with under target/
                             --smoke runs each bench once, small, in a debug build, and measures nothing
  docs [--no-book]           makes the book's reference and picture from the code, man pages, completions,
                             and builds the book with mdbook, which it installs once
  record-demo                records the demo's answers anew, after a template or a standard changed
  help                       this text
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprint!("{failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(words: &[String]) -> Result<(), Failure> {
    let Some((task, rest)) = words.split_first() else {
        return Err(Failure::usage("no task is named").hint("`cargo xtask help` lists the tasks"));
    };
    if matches!(task.as_str(), "help" | "--help" | "-h") || rest.iter().any(|word| word == "--help") {
        print!("{HELP}");
        return Ok(());
    }
    let workspace = Workspace::locate()?;
    match task.as_str() {
        "test" => test::run(&workspace, rest),
        "tidy" => tidy::run(&workspace, rest),
        "bench" => bench::run(&workspace, rest),
        "docs" => docs::run(&workspace, rest),
        "record-demo" => record_demo::run(&workspace, rest),
        unknown => Err(Failure::usage(format!("unknown task `{unknown}`"))
            .hint("the tasks are `test`, `tidy`, `bench`, `docs`, `record-demo` and `help`")),
    }
}
