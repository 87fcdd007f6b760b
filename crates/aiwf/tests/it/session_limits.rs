//! What a session may do: how often it may try, who may judge it, what may be looked at.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use crate::session::{CODE, INIT, PLAN, REVISED, SCHEMA, Session, at, review};
use crate::{json, project};

const CONFIG: &str = "~/.aiwf/config.toml";

fn limited(max_iterations: u32, flags: &str) -> Session {
    let project = project().file("schema.sql", SCHEMA).file(CONFIG, cap(max_iterations));
    let id = json(&project.run(&format!("{INIT} {flags} --json")))["session_id"].as_str().unwrap().to_owned();
    Session { project, id }
}

fn cap(max_iterations: u32) -> String {
    format!("[session]\nmax_iterations = {max_iterations}\n")
}

/// A session whose only iteration failed its review.
fn paused() -> Session {
    let session = limited(1, "");
    session.answer(PLAN);
    session.answer(CODE);
    session.done("approve");
    session.respond(&review("FAIL", 1));
    assert_eq!(session.run("approve").exit_code(), 3);
    session
}

#[test]
fn a_cap_that_is_raised_in_the_configuration_wakes_a_paused_session() {
    // Exit codes as ever: `step` has done something and stands at a gate, `approve` has done what it was told to.
    for (command, exit_code) in [("step", 3), ("run", 3), ("approve", 0)] {
        let session = paused();
        assert_eq!(session.run("run").exit_code(), 3);
        session.project.write(CONFIG, cap(3));
        let outcome = session.run(&format!("{command} --json"));
        assert_eq!(outcome.exit_code(), exit_code, "{command}: {outcome}");
        let report = json(&outcome);
        assert_eq!(at(&report), ("revising", "prompt", 2), "{command}");
        // The prompt nobody has seen yet is not approved by that.
        assert_eq!(report["gate"]["state"], "pending", "{command}");
        let events = session.done("events");
        let raised = events["events"].as_array().unwrap().iter().rev().nth(1).unwrap();
        assert_eq!(raised["event"]["event"], "cap-raised", "{command}");
        assert_eq!(raised["event"]["max_iterations"], 3, "{command}");
        assert_eq!(session.run("verify").exit_code(), 0);
    }
}

#[test]
fn a_cap_that_was_raised_before_the_last_review_does_not_pause() {
    let session = limited(1, "");
    session.answer(PLAN);
    session.answer(CODE);
    session.project.write(CONFIG, cap(2));
    assert_eq!(at(&session.answer(&review("FAIL", 1))), ("revising", "prompt", 2));
    session.answer(REVISED);
    session.done("approve");
    session.respond(&review("FAIL", 1));
    assert_eq!(session.run("approve").exit_code(), 3);
    assert_eq!(session.done("status latest")["status"], "paused");
}

#[test]
fn a_configuration_that_allows_no_more_leaves_a_session_paused() {
    let session = paused();
    assert!(session.refused("approve").contains("asked for another round, and no more are allowed"));
    assert_eq!(session.run("step").exit_code(), 3);
    assert_eq!(at(&session.done("approve --max-iterations 3")), ("revising", "prompt", 2));
    session.project.write(CONFIG, cap(2));
    session.answer(REVISED);
    assert_eq!(at(&session.answer(&review("FAIL", 1))), ("revising", "prompt", 3));
}

#[test]
fn edited_files_keep_a_paused_session_from_waking() {
    let session = paused();
    session.project.write(CONFIG, cap(3));
    session.project.write(&session.path("plan.md"), "# Another plan\n");
    assert!(session.refused("run").contains("approved files were changed after their approval"));
    assert!(!session.events().contains(&"cap-raised".to_owned()));
}

#[test]
fn a_provider_named_at_a_gate_must_exist() {
    let project = project().file("schema.sql", SCHEMA);
    insta::assert_snapshot!(project.run(&format!("{INIT} --gate planning.prompt=ai:opnai")), @"
    --- stderr
    error: unknown provider `opnai` for gate `planning.prompt`

    hint: did you mean `openai`? `aiwf providers` lists all; a table `[providers.NAME]` adds one
    --- exit code 1
    ");
    insta::assert_snapshot!(project.run(&format!("{INIT} --reviewer manul")), @"
    --- stderr
    error: unknown provider `manul` for role `reviewer`

    hint: did you mean `manual`? `aiwf providers` lists all; a table `[providers.NAME]` adds one
    --- exit code 1
    ");
    assert!(!project.path(".aiwf/sessions").exists());
    limited(5, "--gate planning.response=ai:claude-code").done("status latest");
}

#[test]
fn a_provider_of_the_configuration_can_stand_at_a_gate() {
    let config = "[providers.judge]\ntype = \"replay\"\ndir = \"answers\"\n";
    let project = project().file("schema.sql", SCHEMA).file(CONFIG, config);
    let outcome = project.run(&format!("{INIT} --gate reviewing.response=ai:judge"));
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
}

#[test]
fn only_what_lies_in_the_session_is_shown() {
    let session = Session::new("");
    insta::assert_snapshot!(session.refused("show latest /etc/passwd").replace(&session.id, "[id]"), @"
    error: an artifact must be a path inside the session, not `/etc/passwd`

    hint: name plan, standards, prompt, response, review or code, or a file that `aiwf status [id]` lists
    ");
    for path in ["../../../schema.sql", "iteration-1/../../../../schema.sql", "/no/such/file", ".."] {
        let refusal = session.refused(&format!("show latest {path}"));
        assert!(refusal.contains("must be a path inside the session"), "{refusal}");
    }
    let whole = session.project.path(session.path("iteration-1/planning-prompt.md"));
    for path in [session.path("iteration-1/planning-prompt.md"), whole.display().to_string()] {
        assert_eq!(session.run(&format!("show latest {path}")).exit_code(), 0, "{path}");
    }
    std::os::unix::fs::symlink("/etc/passwd", session.project.path(session.path("link.md"))).unwrap();
    assert!(session.refused("show latest link.md").contains("it is a link, or behind one"));
}

#[test]
fn an_approval_says_one_thing() {
    let session = Session::new("");
    insta::assert_snapshot!(session.run("approve --accept --rebind"), @"
    --- stderr
    error: `--accept` and `--rebind` cannot be given together

    hint: give one of them; `aiwf approve --help` shows how it is used
    --- exit code 2
    ");
    insta::assert_snapshot!(session.run("approve --max-iterations 3 --accept"), @"
    --- stderr
    error: `--max-iterations` and `--accept` cannot be given together

    hint: give one of them; `aiwf approve --help` shows how it is used
    --- exit code 2
    ");
    insta::assert_snapshot!(session.run("approve --accept --accept"), @"
    --- stderr
    error: `--accept` is specified twice

    hint: give `--accept` once
    --- exit code 2
    ");
}

#[test]
fn the_latest_session_is_the_one_that_began_last_even_within_a_second() {
    let project = project().file("schema.sql", SCHEMA);
    for _ in 0..4 {
        let began = json(&project.run(&format!("{INIT} --json")))["session_id"].clone();
        assert_eq!(json(&project.run("status latest --json"))["session_id"], began);
    }
}
