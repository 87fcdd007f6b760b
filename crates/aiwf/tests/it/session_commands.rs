//! Commands on sessions that end well, badly or not at all: what is said, when, and with which exit code.

use serde_json::Value;

use crate::scene::Scene;
use crate::session::{CODE, INIT, PLAN, REVISED, Session, review};
use crate::{json, project};

/// A provider that answers the first call and then fails.
const FAILS_LATER: &str = r#"
[roles]
default = "scripted"
generator = "broken"
[gates]
default = "skip"
[providers.scripted]
type = "command"
argv = ["sh", "-c", "echo '# Plan'"]
[providers.broken]
type = "command"
argv = ["sh", "-c", "exit 7"]
"#;

#[test]
fn steps_are_reported_even_if_the_command_fails_later() {
    let scene = Scene::new(FAILS_LATER);
    let outcome = scene.exits(INIT, 4);
    let shown = scene.shown(&outcome);
    insta::assert_snapshot!(shown, @"
    --- stderr
    planning: wrote the prompt iteration-1/planning-prompt.md
    planning: prompt gate skipped
    reply saved to iteration-1/planning-response.md
    planning: response gate skipped
    generating: wrote the prompt iteration-1/generation-prompt.md
    generating: prompt gate skipped
    error: `broken` failed: it ended with exit code 7
      session `[id]`, phase `generating`

    hint: run `sh` yourself to see what is wrong, then `aiwf retry [id]`
    --- exit code 4
    ");
}

#[test]
fn a_failed_init_and_a_failed_run_name_the_session_and_the_phase() {
    let scene = Scene::new(FAILS_LATER);
    let failed = scene.answers(INIT, 4);
    let id = scene.session_dir().rsplit('/').next().unwrap().to_owned();
    assert_eq!((&failed["session_id"], &failed["phase"]), (&Value::from(id.as_str()), &"generating".into()));
    let failed = scene.answers("retry", 4);
    assert_eq!((&failed["session_id"], &failed["phase"]), (&Value::from(id.as_str()), &"generating".into()));
    // Refused before anybody is asked.
    scene.project.write(&format!("{}/plan.md", scene.session_dir()), "edited\n");
    for line in ["retry", "run latest", "approve"] {
        let failed = scene.answers(line, 1);
        assert_eq!(failed["session_id"], id.as_str(), "{line}: {failed}");
        assert_eq!(failed["phase"], "generating", "{line}: {failed}");
        let error = &failed["error"];
        assert_eq!(error["code"], "APPROVED_FILE_CHANGED", "{line}: {failed}");
        assert!(error["hint"].as_str().unwrap().contains(&format!("aiwf restore {id} plan.md")), "{failed}");
    }
}

#[test]
fn a_session_whose_first_prompt_cannot_be_built_is_not_named() {
    let scene = Scene::new("[session]\nbudget_tokens = 5\n");
    let failed = scene.answers(INIT, 1);
    assert!(failed.get("session_id").is_none(), "{failed}");
}

#[test]
fn an_ended_session_lists_what_can_be_shown() {
    let session = Session::new("");
    session.answer(PLAN);
    session.done("cancel");
    let id = session.id.clone();
    let listed = session.done(&format!("show {id}"));
    let paths: Vec<&str> =
        listed["artifacts"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"plan.md") && paths.contains(&"iteration-1/planning-response.md"), "{paths:?}");
    assert_eq!(listed["status"], "cancelled");
    let text = session.run(&format!("show {id}"));
    assert_eq!(text.exit_code(), 0, "{text}");
    assert!(text.stdout_text().contains("plan.md"), "{text}");
    // Each can be printed by its path, and the usual names work.
    for path in paths {
        assert_eq!(session.run(&format!("show {id} {path}")).exit_code(), 0, "{path}");
    }
    assert_eq!(session.run(&format!("show {id} plan")).stdout_text(), PLAN);
    assert!(session.run(&format!("show {id} prompt")).stdout_text().contains("## Approved Plan"));
    let refused = session.refused(&format!("show {id} code"));
    assert!(refused.contains("it has: plan, standards, prompt, response"), "{refused}");
}

#[test]
fn commands_that_look_pick_the_only_session_although_it_has_ended() {
    let session = Session::new("");
    for reply in [PLAN, CODE, &review("PASS", 0)] {
        session.answer(reply);
    }
    assert_eq!(session.run("show plan").stdout_text(), PLAN);
    assert_eq!(session.done("verify")["session_id"], session.id.as_str());
    assert_eq!(session.done("status latest")["status"], "complete");
    assert!(session.run("diff").stdout_text().contains("+class Customer {}"));
    assert_eq!(session.run("events").exit_code(), 0);
    assert_eq!(session.done("apply --dry-run")["session_id"], session.id.as_str());
    // What would go on needs one that is open.
    let failed = json(&session.run("approve --json"));
    let error = &failed["error"];
    assert_eq!(
        (&error["code"], &error["message"]),
        (&"NO_OPEN_SESSION".into(), &"no session is open".into())
    );
    assert_eq!(failed.get("session_id"), None);
    // With a second one that is open, `apply` still means the complete one.
    assert_eq!(session.run(&format!("{INIT} --json")).exit_code(), 0);
    assert_eq!(session.done("apply --dry-run")["session_id"], session.id.as_str());
    assert_ne!(session.done("status latest")["session_id"], session.id.as_str());
}

#[test]
fn several_ended_sessions_have_to_be_named() {
    let session = Session::new("");
    session.done("cancel");
    session.run(&format!("{INIT} --json"));
    session.done("cancel");
    let refused = session.refused("verify");
    assert!(refused.contains("2 sessions have ended: name one"), "{refused}");
    assert!(refused.contains(&session.id), "{refused}");
}

#[test]
fn a_cancelled_session_cannot_be_resumed() {
    let session = Session::new("");
    session.done("cancel");
    for line in ["step latest", "run latest"] {
        let failed = session.refused(line);
        assert!(failed.contains(&format!("session `{}` was cancelled", session.id)), "{failed}");
    }
    let project = project();
    assert_eq!(project.run("change new login 'Add a login'").exit_code(), 0);
    assert_eq!(project.run("cancel login").exit_code(), 0);
    let failed = project.run("change run login");
    assert_eq!(failed.exit_code(), 1, "{failed}");
    assert!(failed.stderr_text().contains("session `login` was cancelled"), "{failed}");
}

#[test]
fn a_diff_of_an_iteration_that_is_not_there_names_those_that_are() {
    let session = Session::new("");
    for reply in [PLAN, CODE, &review("FAIL", 1), REVISED] {
        session.answer(reply);
    }
    let refused = session.refused("diff --iteration 1..9");
    assert!(refused.contains("no code of iteration 9"), "{refused}");
    assert!(refused.contains("iterations with code: 1, 2"), "{refused}");
    assert!(session.refused("diff --iteration 0..1").contains("no code of iteration 0"));
    assert!(session.run("diff --iteration 1..2").stdout_text().contains("+@Entity"));
}

#[test]
fn an_empty_reply_is_refused_and_nothing_is_recorded() {
    let session = Session::new("");
    session.done("approve");
    let n_events = session.events().len();
    for reply in ["", " \n\t\n"] {
        let outcome = session.respond(reply);
        assert_eq!(outcome.exit_code(), 1, "{outcome}");
        assert!(outcome.stderr_text().contains("the reply is empty"), "{outcome}");
    }
    assert_eq!(session.events().len(), n_events);
    assert!(
        !session.project.names_in(&session.path("iteration-1")).contains(&"planning-response.md".to_owned())
    );
}

/// Whether a value holds a null anywhere.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[test]
fn no_json_has_nulls() {
    let session = Session::new("");
    session.answer(PLAN);
    let lines = [
        "verify",
        "status",
        "status --usage",
        "list",
        "events",
        "preview",
        "show plan",
        "providers",
        "providers codex",
        "profiles",
        "profiles jpa-mt",
        "template list",
        "template check",
        "config show",
        "validate profiles",
        "tools list",
        "list --flow package",
        "change list",
        "package check nothing",
        "jpa-mt info",
        "jpa-mt layers",
        "approve",
        "diff",
        "cancel",
        "show latest",
    ];
    for line in lines {
        let outcome = session.run(&format!("{line} --json"));
        assert!(!has_null(&json(&outcome)), "{line}: {outcome}");
    }
}
