//! How `aiwf do` begins and ends: what it refuses before any work, and what programs read of every ending.

#![expect(clippy::disallowed_methods, reason = "these tests ask git as a user would")]

use std::process::Command;

use aiwf_testkit::{Outcome, TestProject};
use serde_json::Value;

use crate::json;

/// Changes a file; what `~/verdict` says is the verdict, and the file named in `~/more` is written, too.
const AGENT: &str = r#"prompt=$(cat)
case $prompt in
*"You implement"*)
    [ -e "$HOME/idle" ] || printf 'print("json")\n' > list.py
    more=$(cat "$HOME/more" 2>/dev/null)
    [ -z "$more" ] || { mkdir -p "$(dirname "$more")"; echo more > "$more"; }
    echo 'Printed as JSON.';;
*"<review>"*) printf '<review>%s</review>\n' "$(cat "$HOME/verdict" 2>/dev/null || echo PASS)";;
*) [ ! -e "$HOME/broken" ] || exit 3
    printf '# Plan\n\nChange list.py.\n';;
esac
"#;
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A project with an agent, in no repository.
fn project() -> TestProject {
    let project = crate::project().file("list.py", "print(\"text\")\n");
    project.write("~/agent.sh", AGENT);
    let agent = project.home().join("agent.sh").display().to_string();
    let config = format!(
        "[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"{agent}\"]\nwrite = true\n[prices.m]\ninput = 1.0\noutput = 1.0\n"
    );
    project.write("~/.aiwf/config.toml", config);
    project
}

/// The same with one commit.
fn repository() -> TestProject {
    let project = project();
    project.write("~/.gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n");
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "First"]] {
        git(&project, args);
    }
    project
}

fn git(project: &TestProject, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(args).current_dir(project.root()).env_clear().env("HOME", project.home()).env("PATH", PATH);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn run(project: &TestProject, line: &str) -> Outcome {
    project.command(line).env("PATH", PATH).run()
}

/// Refused before there is a session.
#[track_caller]
fn refused(project: &TestProject, line: &str, code: i32, expected: &str) {
    let outcome = run(project, line);
    assert_eq!(outcome.exit_code(), code, "{line}\n{outcome}");
    assert!(outcome.stderr_text().contains(expected), "{line}\n{outcome}");
    assert!(!project.root().join(".aiwf/sessions").exists(), "{line}");
}

#[test]
fn what_cannot_become_a_change_is_refused_before_there_is_a_session() {
    let project = repository();
    refused(&project, "do --agnt agent", 2, "did you mean `--agent`?");
    refused(&project, "do add a flag", 2, "in quotes, as in `aiwf do '…'`");
    refused(&project, "do 'Print JSON' --agent agent --check ' '", 2, "expected a command");
    refused(&project, "do 'Print JSON' --agent agent --in-place --commit", 2, "cannot be used together");
    refused(&project, "do 'Print JSON' --agent anthropic", 4, "`ANTHROPIC_API_KEY` is not set");
    refused(&project, "do 'Print JSON' --agent claude", 4, "in `[providers.claude-code]`");
    refused(&project, "do 'Print JSON' --agent agent --flow d", 1, "did you mean `do`?");
    project.write("~/.gitconfig", "[user]\n\tuseConfigOnly = true\n");
    for place in ["--branch", "--commit"] {
        let line = format!("do 'Print JSON' --agent agent --yes {place}");
        refused(&project, &line, 1, "git does not know your name and email address");
    }
}

/// What a `do` reports as JSON, and the names of the fields that every ending has.
#[track_caller]
fn ends(project: &TestProject, flags: &str, exit_code: i32) -> Value {
    let done = json(&run(project, &format!("do 'Print JSON' --agent agent --json {flags}")));
    assert_eq!(done["exit_code"], exit_code, "{done}");
    for field in ["session_id", "flow", "phase", "status", "agent", "checks", "files"] {
        assert!(!done[field].is_null(), "{field} is missing: {done}");
    }
    assert_eq!((&done["flow"], &done["agent"]), (&"do".into(), &"agent".into()), "{done}");
    done
}

fn files(done: &Value) -> Vec<(&str, &str)> {
    let files = done["files"].as_array().unwrap();
    files.iter().map(|file| (file["target"].as_str().unwrap(), file["change"].as_str().unwrap())).collect()
}

#[test]
fn every_ending_reports_the_same_fields_to_programs() {
    let project = repository();
    let gate = ends(&project, "", 3);
    assert_eq!((&gate["phase"], &gate["status"]), (&"plan".into(), &"waiting".into()), "{gate}");
    assert_eq!(files(&gate), []);

    let failing = ends(&project, "--yes --check 'exit 7'", 3);
    assert_eq!(failing["checks"], serde_json::json!([{ "name": "exit 7", "exit_code": 7, "passed": false }]));
    assert_eq!(files(&failing), [("list.py", "changed")]);

    project.write("~/verdict", "REJECTED");
    assert_eq!(ends(&project, "--yes", 3)["status"], "rejected");
    project.write("~/verdict", "PASS");

    project.write("~/more", ".github/workflows/ci.yml");
    let self_running = ends(&project, "--yes", 3);
    assert_eq!(self_running["error"]["code"], "SELF_RUNNING_FILES");
    assert_eq!(files(&self_running), [(".github/workflows/ci.yml", "new"), ("list.py", "changed")]);
    project.write("~/more", "");

    project.write("~/idle", "");
    let idle = ends(&project, "--yes", 1);
    assert_eq!(idle["error"]["message"], "the reply has 1 problem\n  the agent changed no file");
    std::fs::remove_file(project.home().join("idle")).unwrap();

    project.write("~/broken", "");
    assert_eq!(ends(&project, "--yes", 4)["status"], "waiting");
    std::fs::remove_file(project.home().join("broken")).unwrap();

    let branch = ends(&project, "--yes --branch=json", 0);
    assert_eq!(
        (&branch["branch"], branch["commit"].as_str().unwrap().len()),
        (&"json".into(), 40),
        "{branch}"
    );
    assert_eq!(files(&branch), [("list.py", "changed")]);
    assert_eq!(git(&project, &["status", "--porcelain", "--", ":!.aiwf"]), "");

    project.write("list.py", "print(\"mine\")\n");
    let dirty = ends(&project, "--yes --commit", 3);
    assert_eq!(dirty["error"]["code"], "APPLY_CONFLICT");
    let id = dirty["session_id"].as_str().unwrap();
    let hint = format!("commit or stash these changes, then `aiwf apply {id}`");
    assert_eq!(dirty["error"]["hint"], hint.as_str());

    let in_place = ends(&project, "--yes --in-place", 0);
    assert_eq!(files(&in_place), [("list.py", "changed")]);
}

#[test]
fn a_commit_that_a_hook_refuses_is_made_by_the_next_apply() {
    let project = repository();
    project.script(
        ".git/hooks/pre-commit",
        "#!/bin/sh\n[ -e \"$HOME/clean\" ] || { echo 'lint failed'; exit 1; }\n",
    );
    let refused = ends(&project, "--yes --commit", 3);
    assert_eq!(refused["error"]["message"], "git refused the commit: lint failed");
    let id = refused["session_id"].as_str().unwrap();
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.ends_with(&format!("commit them yourself or with `aiwf apply {id}`")), "{hint}");
    assert_eq!(project.read("list.py"), b"print(\"json\")\n");
    let status = run(&project, &format!("status {id}"));
    assert!(status.stdout_text().ends_with(&format!("next      aiwf apply {id}\n")), "{status}");
    project.write("~/clean", "");
    let applied = run(&project, &format!("apply {id}"));
    assert_eq!(applied.exit_code(), 0, "{applied}");
    assert_eq!(git(&project, &["log", "-1", "--format=%s"]), "Print JSON\n");
    assert_eq!(git(&project, &["status", "--porcelain", "--", ":!.aiwf"]), "");
}

#[test]
fn the_worktree_that_is_shown_has_the_project_in_it() {
    let project = repository();
    let id = json(&run(&project, "do 'Print JSON' --agent agent --json"))["session_id"].clone();
    assert_eq!(run(&project, "approve").exit_code(), 0);
    let shown = run(&project, &format!("show {} worktree", id.as_str().unwrap()));
    let path = std::path::PathBuf::from(String::from_utf8(shown.stdout.clone()).unwrap().trim_end());
    assert_eq!(std::fs::read_to_string(path.join("list.py")).unwrap(), "print(\"json\")\n", "{shown}");
    assert!(path.join(".git").is_dir(), "{shown}");
}

#[test]
fn checks_that_files_suggest_are_named_and_run_once_agreed_to() {
    let project = project().file("Makefile", "test:\n\tgrep json list.py\n");
    project.script("~/bin/make", "#!/bin/sh\ngrep json list.py\n");
    let path = format!("{}:{PATH}", project.home().join("bin").display());
    let run = |project: &TestProject, line: &str| project.command(line).env("PATH", &path).run();
    let first = run(&project, "do 'Print JSON' --agent agent --yes");
    let note = "checks: none; `aiwf checks allow` agrees to what was found: `make test`\n";
    assert!(first.stderr_text().contains(note), "{first}");
    assert!(!first.stdout_text().contains("check "), "{first}");
    assert_eq!(run(&project, "undo").exit_code(), 0);
    assert_eq!(run(&project, "checks allow --all --yes").exit_code(), 0);
    let second = run(&project, "do 'Print JSON' --agent agent --yes");
    assert!(!second.stderr_text().contains("checks: none"), "{second}");
    assert!(second.stdout_text().contains("check     make-test: passed\n"), "{second}");
}
