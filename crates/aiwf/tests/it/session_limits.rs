//! What limits a session on the command line: its cap, who may judge it, what may be looked at.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use crate::session::{CODE, INIT, PLAN, SCHEMA, Session, at, review};
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
    for (reply, exit_code) in [(PLAN, 0), (CODE, 0), (&review("FAIL", 1), 3)] {
        // A reply approves the prompt that it answers.
        session.respond(reply);
        assert_eq!(session.run("approve").exit_code(), exit_code);
    }
    session
}

#[test]
fn commands_on_a_paused_session_end_with_3_until_its_cap_is_raised() {
    let session = paused();
    for command in ["run", "step"] {
        assert_eq!(session.run(command).exit_code(), 3, "{command}");
    }
    assert!(session.refused("approve").contains("asked for another round, but the limit is reached"));
    assert_eq!(at(&session.done("approve --max-iterations 3")), ("revising", "prompt", 2));
    // `step` has done something and stands at a gate, `approve` has done what it was told to.
    for (command, exit_code) in [("step", 3), ("run", 3), ("approve", 0)] {
        let session = paused();
        session.project.write(CONFIG, cap(3));
        let outcome = session.run(&format!("{command} --json"));
        assert_eq!(outcome.exit_code(), exit_code, "{command}: {outcome}");
        assert_eq!(at(&json(&outcome)), ("revising", "prompt", 2), "{command}");
    }
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
fn only_files_of_the_session_are_shown() {
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
    assert!(session.refused("show latest link.md").contains("it is a link, or reached through one"));
}

#[test]
fn an_approval_says_one_thing() {
    let session = Session::new("");
    insta::assert_snapshot!(session.run("approve --accept --rebind"), @"
    --- stderr
    error: `--accept` and `--rebind` cannot be used together

    hint: give one of them; `aiwf approve --help` shows its usage
    --- exit code 2
    ");
    insta::assert_snapshot!(session.run("approve --max-iterations 3 --accept"), @"
    --- stderr
    error: `--max-iterations` and `--accept` cannot be used together

    hint: give one of them; `aiwf approve --help` shows its usage
    --- exit code 2
    ");
    insta::assert_snapshot!(session.run("approve --accept --accept"), @"
    --- stderr
    error: `--accept` is specified twice

    hint: give `--accept` once
    --- exit code 2
    ");
}
