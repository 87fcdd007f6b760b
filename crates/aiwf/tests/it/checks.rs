//! `aiwf checks`: commands of a project that run only after its user agreed to them.

use aiwf_testkit::TestProject;
use insta::assert_snapshot;

use crate::scene::{eventually, is_there};
use crate::{json, project};

const CHECKS: &str = r#"
[[checks]]
name = "tests"
run = "echo ran tests"
env = ["TOKEN"]

[[checks]]
name = "lint"
run = ["sh", "-c", "echo warning; exit 3"]
after = "implement"
"#;

fn with_checks() -> TestProject {
    project().file(".aiwf/config.toml", CHECKS)
}

#[test]
fn checks_of_a_project_are_listed_and_not_run_before_consent() {
    let project = with_checks();
    assert_snapshot!(project.run("checks list"), @r#"
    --- stdout
    tests  needs your consent  (.aiwf/config.toml:2)
      echo ran tests
    lint  needs your consent  (.aiwf/config.toml:7)
      ["sh", "-c", "echo warning; exit 3"]
    --- stderr
    allow them with `aiwf checks allow`
    --- exit code 0
    "#);
    assert_snapshot!(project.run("checks run"), @"
    --- stderr
    error: you have not agreed to 2 checks: `tests`, `lint`

    hint: `aiwf checks allow` shows each command and asks you
    --- exit code 1
    ");
    assert_snapshot!(project.run("checks run tests --json"), @r#"
    --- stdout
    {"schema_version":1,"command":"checks run","exit_code":1,"error":{"code":"CHECK_NOT_AGREED","message":"you have not agreed to the check `tests`","hint":"`aiwf checks allow` shows each command and asks you"},"not_agreed":["tests"]}
    --- exit code 1
    "#);
    assert!(!project.home().join(".aiwf").exists());
}

#[test]
fn agreeing_shows_everything_that_decides_what_runs() {
    let project = with_checks();
    assert_snapshot!(project.run("checks allow tests"), @r#"
    --- stdout
    check tests  (.aiwf/config.toml:2)
      run = "echo ran tests"
      env = ["TOKEN"]
    not agreed; `--all --yes` agrees without asking
    --- exit code 3
    "#);
    assert_snapshot!(project.run("checks allow tests --yes"), @r#"
    --- stdout
    check tests  (.aiwf/config.toml:2)
      run = "echo ran tests"
      env = ["TOKEN"]
    agreed to tests
    --- exit code 0
    "#);
    assert_snapshot!(project.run("checks allow tests --yes"), @"
    --- stdout
    no check needs your consent
    --- exit code 0
    ");
    let allowed = json(&project.run("checks allow --all --yes --json"));
    assert_eq!(allowed["agreed"][0]["name"], "lint");
    let listed = json(&project.run("checks list --json"));
    let states: Vec<&str> =
        listed["checks"].as_array().unwrap().iter().map(|check| check["consent"].as_str().unwrap()).collect();
    assert_eq!(states, ["agreed", "agreed"]);
}

#[test]
fn without_a_name_yes_is_refused() {
    let outcome = with_checks().run("checks allow --yes");
    assert_eq!(outcome.exit_code(), 2, "{outcome}");
    assert!(outcome.stderr_text().contains("--all"), "{outcome}");
}

/// What a run prints, without the seconds.
fn timeless(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for word in &mut words {
        if word.strip_prefix('(').is_some_and(|number| number.parse::<f64>().is_ok()) {
            *word = "(0.0";
        }
    }
    words.join(" ")
}

#[test]
fn a_run_prints_how_each_went_and_what_failing_ones_printed() {
    let project = with_checks();
    drop(project.run("checks allow --all --yes").success());
    let outcome = project.run("checks run");
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    assert_snapshot!(timeless(&outcome.stdout_text()), @"
    tests  passed  (0.0 s)
    lint  failed with exit code 3  (0.0 s)
      warning
    1 of 2 checks passed
    ");
    let outcome = project.run("checks run tests");
    assert_eq!((outcome.exit_code(), outcome.stderr_text().as_str()), (0, ""), "{outcome}");
    assert_snapshot!(timeless(&outcome.stdout_text()), @"
    tests  passed  (0.0 s)
    1 check passed
    ");
    let report = json(&project.run("checks run lint --json"));
    assert_eq!((report["exit_code"].as_i64(), report["passed"].as_bool()), (Some(1), Some(false)));
    let check = &report["checks"][0];
    assert_eq!((check["ended"].as_str(), check["exit_code"].as_i64()), (Some("exited"), Some(3)));
    assert_eq!(check["output"]["shown"], "warning\n");
    let kept =
        check["output"]["path"].as_str().unwrap().replace("[cache]", &project.cache().to_string_lossy());
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "warning\n");
    let events = project.run("checks run tests --events").stderr_text();
    let names: Vec<String> = events
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["event"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, ["check-started", "check-ended"]);
}

#[test]
fn a_check_runs_in_the_directory_that_is_named() {
    let project = project()
        .dir("copy")
        .file("~/.aiwf/config.toml", "[[checks]]\nname = \"where\"\nrun = \"touch here\"\n");
    drop(project.run("checks run where --dir copy").success());
    assert!(project.path("copy/here").exists() && !project.path("here").exists());
    assert_snapshot!(project.run("checks run where --dir nowhere"), @"
    --- stderr
    error: `[project]/nowhere` is not a directory

    hint: name a directory that exists
    --- exit code 1
    ");
}

#[test]
fn what_the_files_suggest_is_offered() {
    let project = project().file("Makefile", "test:\n\techo made\n");
    assert_snapshot!(project.run("checks list"), @"
    --- stdout
    make-test  needs your consent  (detected: Makefile)
      make test
    --- stderr
    allow them with `aiwf checks allow`
    --- exit code 0
    ");
    assert_eq!(project.run("checks run").exit_code(), 1);
    drop(project.run("checks allow make-test --yes").success());
    assert!(project.run("checks list").stdout_text().starts_with("make-test  agreed"));
    assert_snapshot!(project.run("checks run mke-test"), @"
    --- stderr
    error: no check `mke-test`

    hint: did you mean `make-test`? `aiwf checks list` lists them
    --- exit code 1
    ");
}

#[test]
fn a_project_without_checks_says_how_to_add_one() {
    let project = project();
    assert_snapshot!(project.run("checks list"), @"
    --- stdout
    no checks
    --- stderr
    add one with `aiwf checks add NAME COMMAND`
    --- exit code 0
    ");
    assert_snapshot!(project.run("checks run"), @"
    --- stderr
    error: no checks are configured, and the files of this project suggest none

    hint: `aiwf checks add NAME COMMAND` adds one
    --- exit code 1
    ");
    assert_snapshot!(project.command_args(["checks", "add", "tests", "test -d .aiwf"]).run(), @"
    --- stdout
    added check tests to .aiwf/config.toml
    --- exit code 0
    ");
    assert!(project.path(".aiwf/.gitignore").exists());
    drop(project.run("checks run").success());
}

#[test]
fn a_check_is_trusted_and_distrusted_like_everything_else() {
    let project = with_checks();
    drop(project.run("checks allow tests --yes").success());
    let listed = project.run("trust list").stdout_text();
    assert!(listed.contains("check tests") && listed.contains("run = \"echo ran tests\""), "{listed}");
    drop(project.run("trust remove check tests").success());
    assert_eq!(project.run("checks run tests").exit_code(), 1);
    drop(project.run("trust add check tests --yes").success());
    drop(project.run("checks run tests").success());
    // One changed byte asks again.
    project.write(".aiwf/config.toml", CHECKS.replace("ran tests", "ran  tests"));
    assert_eq!(project.run("checks run tests").exit_code(), 1);
}

#[test]
fn a_hostile_name_or_command_is_no_configuration() {
    let project =
        project().file(".aiwf/config.toml", "[[checks]]\nname = \"x\"\nrun = \"echo \\u001b[2J\"\n");
    let outcome = project.run("checks list");
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    assert!(!outcome.stderr.contains(&0x1b), "{outcome}");
}

#[test]
fn names_of_checks_are_completed() {
    let project = with_checks();
    let outcome = project
        .command_args(["--", "aiwf", "checks", "run", ""])
        .env("COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", "3")
        .run();
    assert_eq!(outcome.stdout_text(), "tests\nlint", "{outcome}");
}

/// A check that ignores signals and never ends, and says which process it is.
fn with_hanging_check() -> TestProject {
    let run = "trap '' TERM INT HUP; echo $$ > id.new; mv id.new id; while :; do sleep 6000; done";
    project().file("~/.aiwf/config.toml", format!("[[checks]]\nname = \"slow\"\nrun = \"{run}\"\n"))
}

/// Runs the check and ends aiwf with a signal once the check is under way; gives the exit code.
fn end_with(project: &TestProject, signal: &str) -> Option<i32> {
    let path = "/usr/local/bin:/usr/bin:/bin";
    let running = project.command("checks run --json").env("PATH", path).spawn();
    eventually("the start of the check", || project.path("id").exists());
    running.signal(signal);
    let outcome = running.wait();
    if let Some(code) = outcome.code {
        assert_eq!((code, json(&outcome)["checks"][0]["ended"].as_str()), (130, Some("stopped")));
    }
    let id = String::from_utf8(project.read("id")).unwrap();
    eventually("the end of the check", || !is_there(id.trim()));
    outcome.code
}

#[test]
fn ctrl_c_ends_a_check_and_the_rest_of_the_run() {
    assert_eq!(end_with(&with_hanging_check(), "INT"), Some(130));
}

#[test]
fn a_killed_aiwf_leaves_no_check_running() {
    assert_eq!(end_with(&with_hanging_check(), "KILL"), None);
}
