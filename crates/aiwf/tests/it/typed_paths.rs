//! Relative paths on a command line are relative to the current directory, in every option and argument of every command.

use aiwf_testkit::{Outcome, TestProject};

use crate::session::{PLAN, SCHEMA};
use crate::{json, project};

/// The reference of all commands, made from the definition of the command line; a test keeps it up to date.
const REFERENCE: &str = include_str!("../../../../docs/src/reference/commands.md");

/// What the value of an option or argument is called when it is a path or may name one.
const PATH_VALUES: [&str; 8] =
    ["DIR", "FILE", "FILE|-", "GLOB", "JSON|@FILE|-", "NAME=FILE", "PATH", "TEXT|@FILE"];

/// A provider that answers at once, for whatever is asked.
const CONFIG: &str = "[providers.fast]\ntype = \"command\"\nargv = [\"echo\", \"Fine. <review>PASS</review>\"]\n\
    fs_ability = \"none\"\n";

const INIT: &str = "jpa-mt init --entity A --table a --bounded-context s --schema-file schema.sql";
const REACT: &str = "react-component init --component A --design design.md";
const CASES: &str = r#"
[[case]]
name = "it asks"
recipe = "change"
input = "request.json"
[[case.assert]]
type = "tokens.max"
value = 4000
"#;
/// A session at the gate of its first prompt, and at the gate of its first reply.
const SESSION: &[&str] =
    &["jpa-mt init --entity A --table a --bounded-context s --schema-file schema.sql --planner fast"];
const PLANNED: &[&str] = &[
    "jpa-mt init --entity A --table a --bounded-context s --schema-file schema.sql --planner fast",
    "approve",
];
const CHANGE: &[&str] = &["change new one 'Do it' --yes"];

/// What shows where a line looked, or where it wrote.
#[derive(Clone, Copy)]
enum Proof {
    /// The line reads this file of the subdirectory; with a file that is not there it fails and names the directory.
    Reads(&'static str),
    /// The line fails because the file is not there, and names the directory.
    Misses,
    /// The line makes this, in the subdirectory.
    Makes(&'static str),
}

/// One or more options, each as `COMMAND OPTION`, and a line that uses them in a subdirectory.
struct Row {
    covers: &'static [&'static str],
    before: &'static [&'static str],
    line: &'static str,
    proof: Proof,
}

const fn row(
    covers: &'static [&'static str],
    before: &'static [&'static str],
    line: &'static str,
    proof: Proof,
) -> Row {
    Row { covers, before, line, proof }
}

use Proof::{Makes, Misses, Reads};

/// `*` stands for one word of a command, or for all of it.
const ROWS: &[Row] = &[
    row(&["aiwf --project-dir"], &[], "list --project-dir code", Reads("code")),
    row(&["aiwf jpa-mt init --schema-file"], &[], INIT, Reads("schema.sql")),
    row(
        &["aiwf jpa-mt init --design"],
        &[],
        "jpa-mt init --entity A --table a --bounded-context s --schema-file schema.sql --design design.md",
        Reads("design.md"),
    ),
    row(&["aiwf react-component init --design"], &[], REACT, Reads("design.md")),
    row(
        &["aiwf react-component preview --html"],
        &[
            REACT,
            "approve",
            "respond --file reply.md",
            "approve",
            "approve",
            "respond --file component.md",
            "approve",
        ],
        "react-component preview --html page.html",
        Makes("page.html"),
    ),
    row(
        &["aiwf apply --to"],
        &["demo --profile shop"],
        "apply latest --project-dir shop --to out",
        Makes("out"),
    ),
    row(&["aiwf respond --file"], &[INIT, "approve"], "respond --file reply.md", Reads("reply.md")),
    row(
        &["aiwf respond --record"],
        &[INIT, "approve"],
        "respond --file reply.md --record tape",
        Makes("tape"),
    ),
    // One definition serves all commands that make calls.
    row(&["* --record"], SESSION, "approve --record tape", Makes("tape")),
    row(&["* --record"], PLANNED, "retry --record tape", Makes("tape")),
    row(&["* --record"], SESSION, "run --yes --record tape", Makes("tape")),
    row(&["* --record"], CHANGE, "change plan one --agent fast --record tape", Makes("tape")),
    row(
        &["aiwf prompt send --record", "aiwf prompt send * --record"],
        &[],
        "prompt send change --phase plan --instructions x --provider fast --record tape",
        Makes("tape"),
    ),
    row(&["aiwf change new --file"], &[], "change new one 'Do it' --file code/a.rs", Reads("code/a.rs")),
    row(&["aiwf do --file"], &[], "do 'Do it' --name one --flow change --file code/a.rs", Reads("code/a.rs")),
    row(
        &["aiwf flow start --file"],
        &[],
        "flow start change 'Do it' --name one --file code/a.rs",
        Reads("code/a.rs"),
    ),
    // One definition serves all phases.
    row(&["aiwf change * --file"], CHANGE, "change plan one --file code/a.rs", Reads("code/a.rs")),
    row(
        &["aiwf respond --file"],
        &["change new one 'Do it' --yes", "change plan one"],
        "respond one --file reply.md",
        Reads("reply.md"),
    ),
    row(
        &["aiwf respond --record"],
        &["change new one 'Do it' --yes", "change plan one"],
        "respond one --file reply.md --record tape",
        Makes("tape"),
    ),
    row(&["aiwf mcp --token-file"], &[], "mcp --http 127.0.0.1:0 --token-file nope.x", Misses),
    row(&["aiwf man --dir"], &[], "man --dir pages", Makes("pages/aiwf.1")),
    row(&["aiwf demo DIR"], &[], "demo todo", Makes("todo/todo.sh")),
    row(&["aiwf profile add DIR"], &[], "profile add nope.x", Misses),
    row(&["aiwf import PATH"], &[], "import openspec nope.x", Misses),
    row(&["aiwf import --to"], &[], "import openspec . --to nope.x", Misses),
    row(&["aiwf reply parse FILE|-"], &[], "reply parse --as file-markers reply.md", Reads("reply.md")),
    row(&["aiwf test PATH"], &[], "test cases.toml", Reads("cases.toml")),
    row(&["aiwf test --baseline"], &[], "test cases.toml --baseline request.json", Reads("request.json")),
    row(&["aiwf test --junit"], &[], "test cases.toml --junit report.xml", Makes("report.xml")),
    row(&["aiwf tools call --args"], &[], "tools call aiwf__list --args @nope.x", Misses),
    row(&["aiwf package check PATH"], &["package new pkg"], "package check pkg", Reads("pkg")),
    row(&["aiwf package show PATH"], &["package new pkg"], "package show pkg", Reads("pkg")),
    row(&["aiwf package graph PATH"], &["package new pkg"], "package graph pkg", Reads("pkg")),
    row(
        &["aiwf package graph --out"],
        &["package new pkg"],
        "package graph pkg --format svg --out f.svg",
        Makes("f.svg"),
    ),
    row(&["aiwf package pack DIR"], &["package new pkg"], "package pack pkg --out other.bmad", Reads("pkg")),
    row(&["aiwf package pack --out"], &["package new pkg"], "package pack pkg --out f.bmad", Makes("f.bmad")),
    row(
        &["aiwf workflow run PATH"],
        &["package new pkg"],
        "workflow run pkg --provider fast --input hi",
        Reads("pkg"),
    ),
    row(
        &["aiwf workflow run --record"],
        &["package new pkg"],
        "workflow run pkg --provider fast --input hi --record tape",
        Makes("tape"),
    ),
    row(&["aiwf agent PATH"], &[], "agent nope.x analyst --provider fast --input hi", Misses),
    row(
        &["aiwf chat --package"],
        &["package new pkg"],
        "chat --package pkg --provider fast --input hi",
        Reads("pkg"),
    ),
    row(
        &["aiwf prompt * * --input"],
        &[],
        "prompt build change --phase plan --input request.json",
        Reads("request.json"),
    ),
    row(
        &["aiwf prompt * * --input"],
        &[],
        "prompt send change --phase plan --input request.json --provider fast",
        Reads("request.json"),
    ),
    row(
        &["aiwf prompt * change --instructions"],
        &[],
        "prompt preview change --phase plan --instructions @reply.md",
        Reads("reply.md"),
    ),
    row(
        &["aiwf prompt * change --file"],
        &[],
        "prompt preview change --phase plan --instructions x --file code/a.rs",
        Reads("code/a.rs"),
    ),
    row(
        &["aiwf prompt * change --artifact"],
        &[],
        "prompt build change --phase plan --instructions x --artifact plan=reply.md",
        Reads("reply.md"),
    ),
    row(&["aiwf checks run --dir"], &["checks add fine true"], "checks run fine --dir code", Reads("code")),
    row(
        &["aiwf prompt * session --session-dir"],
        &[],
        "prompt build session --phase planning --iteration 1 --session-dir code --profile-prompt reply.md",
        Reads("code"),
    ),
    row(
        &["aiwf prompt * session --profile-prompt"],
        &[],
        "prompt build session --phase planning --iteration 1 --session-dir code --profile-prompt reply.md",
        Reads("reply.md"),
    ),
    row(
        &["aiwf prompt * * --out"],
        &[],
        "prompt build change --phase plan --instructions x --out prompt.xml",
        Makes("prompt.xml"),
    ),
    row(
        &["aiwf prompt * * --out"],
        &[],
        "prompt preview change --phase plan --instructions x --out prompt.xml",
        Makes("prompt.xml"),
    ),
    row(
        &["aiwf prompt * * --out"],
        &[],
        "prompt send change --phase plan --instructions x --provider fast --out reply.txt",
        Makes("reply.txt"),
    ),
];

/// Tested by themselves: their lines need the name of what was made before.
const ELSEWHERE: [&str; 3] = ["aiwf restore FILE", "aiwf restore FILE", "aiwf apply --to"];

/// A project with files that only its subdirectory has.
fn with_subdirectory() -> TestProject {
    project()
        .file("~/.aiwf/config.toml", CONFIG)
        .dir(".aiwf")
        .file("sub/schema.sql", SCHEMA)
        .file("sub/design.md", "A button.\n")
        .file("sub/reply.md", PLAN)
        .file("sub/component.md", "<<<FILE: A.tsx>>>\nexport function A() { return null; }\n")
        .file("sub/request.json", r#"{ "instructions": "Add it" }"#)
        .file("sub/code/a.rs", "fn a() {}\n")
        .file("sub/cases.toml", CASES)
}

fn run(project: &TestProject, line: &str) -> Outcome {
    project.command(line).in_dir("sub").run()
}

/// A line that looked in the right place may still have nothing to do, or a reply that does not please.
fn found_its_files(outcome: &Outcome) -> bool {
    let code = outcome.exit_code();
    matches!(code, 0 | 3) || code == 1 && !outcome.stderr_text().contains("not exist")
}

/// What is wrong with the lines of a row.
fn faults(row: &Row) -> Vec<String> {
    let project = with_subdirectory();
    let mut faults = Vec::new();
    for line in row.before {
        let outcome = run(&project, line);
        if !matches!(outcome.exit_code(), 0 | 3) {
            faults.push(format!("before `{}`: {line}: {outcome}", row.line));
        }
    }
    let miss = |line: &str| {
        let outcome = run(&project, line);
        let error = outcome.stderr_text();
        let names_directory = error.contains("[project]/sub") || error.contains("`sub/nope.x`");
        (outcome.exit_code() != 1 || !names_directory).then(|| format!("{line}: {outcome}"))
    };
    match row.proof {
        Misses => faults.extend(miss(row.line)),
        Reads(file) => {
            faults.extend(miss(&row.line.replace(file, "nope.x")));
            let outcome = run(&project, row.line);
            if !found_its_files(&outcome) {
                faults.push(format!("{}: {outcome}", row.line));
            }
        }
        Makes(path) => {
            let outcome = run(&project, row.line);
            if !project.path("sub").join(path).exists() || project.path(path).exists() {
                faults.push(format!("`{}` does not make `{path}` in the subdirectory: {outcome}", row.line));
            }
        }
    }
    faults
}

#[track_caller]
fn check(rows: impl Iterator<Item = &'static Row>) {
    let faults: Vec<String> = rows.flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

fn is_about_prompts(row: &Row) -> bool {
    row.line.starts_with("prompt")
}

/// In two halves, so that they run at the same time.
const N_FIRST: usize = 16;

#[test]
fn of_sessions_and_profiles() {
    check(ROWS.iter().filter(|row| !is_about_prompts(row)).take(N_FIRST));
}

#[test]
fn of_packages_tools_and_the_rest() {
    check(ROWS.iter().filter(|row| !is_about_prompts(row)).skip(N_FIRST));
}

#[test]
fn of_prompts() {
    check(ROWS.iter().filter(|row| is_about_prompts(row)));
}

#[test]
fn a_session_remembers_its_files_relative_to_the_project() {
    let project = with_subdirectory();
    assert_eq!(run(&project, INIT).exit_code(), 0);
    assert_eq!(json(&run(&project, "status latest --json"))["context"]["schema_file"], "sub/schema.sql");
}

#[test]
fn what_is_restored_is_named_from_here_from_the_project_or_from_its_session() {
    let project = with_subdirectory();
    let id = json(&run(&project, &format!("{INIT} --json")))["session_id"].as_str().unwrap().to_owned();
    run(&project, "approve");
    let prompt = format!(".aiwf/sessions/{id}/iteration-1/planning-prompt.md");
    let approved = project.read(&prompt);
    for name in [format!("../{prompt}"), prompt.clone(), "iteration-1/planning-prompt.md".to_owned()] {
        project.write(&prompt, "changed\n");
        let outcome = run(&project, &format!("restore latest {name}"));
        assert_eq!(outcome.exit_code(), 0, "{name}: {outcome}");
        assert_eq!(project.read(&prompt), approved, "{name}");
    }
}

/// The options and arguments of all commands that take a path, each as `COMMAND OPTION`.
fn path_options() -> Vec<String> {
    let mut found = Vec::new();
    let (mut command, mut heading) = ("", "");
    for line in REFERENCE.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            command = title;
        } else if line.ends_with(':') && !line.starts_with(' ') {
            heading = line;
        }
        let words = line.trim_start();
        let name = if words.starts_with('-') {
            words.split_whitespace().find(|word| word.starts_with("--"))
        } else {
            Some("")
        };
        let value = words.split_once(['<', '[']).and_then(|(_, rest)| rest.split(['>', ']']).next());
        let is_first = words.starts_with(['-', '<', '[']);
        let (Some(name), Some(value)) = (name, value) else { continue };
        if line.starts_with("  ") && is_first && heading != "Global options:" && PATH_VALUES.contains(&value)
        {
            found.push(format!("{command} {}", if name.is_empty() { value } else { name }));
        }
    }
    found
}

fn covers(pattern: &str, option: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("* ") {
        return option.split_whitespace().last() == Some(rest);
    }
    let (pattern, option): (Vec<_>, Vec<_>) = (pattern.split(' ').collect(), option.split(' ').collect());
    pattern.len() == option.len()
        && pattern.iter().zip(&option).all(|(one, other)| *one == "*" || one == other)
}

#[test]
fn every_option_that_takes_a_path_has_a_row() {
    let options = path_options();
    assert!(options.len() > 90, "{options:#?}");
    let patterns: Vec<&str> = ROWS.iter().flat_map(|row| row.covers).copied().chain(ELSEWHERE).collect();
    let missing: Vec<_> =
        options.iter().filter(|option| !patterns.iter().any(|pattern| covers(pattern, option))).collect();
    assert!(missing.is_empty(), "add a row for: {missing:#?}");
    let unused: Vec<_> =
        patterns.iter().filter(|pattern| !options.iter().any(|option| covers(pattern, option))).collect();
    assert!(unused.is_empty(), "nothing is called so: {unused:#?}");
}
