//! `aiwf rm`: what it shows, when it asks, and what it leaves alone.

use crate::session::Session;
use crate::{json, project};

#[test]
fn only_sessions_that_ended_go_and_only_with_a_yes() {
    let session = Session::new("");
    let rm = |line: &str| session.project.run(&format!("rm {line}"));
    let open = rm(&session.id);
    assert_eq!(open.exit_code(), 1, "{open}");
    assert!(open.stderr_text().contains("has not ended"), "{open}");
    assert!(open.stderr_text().contains(&format!("aiwf cancel {}", session.id)), "{open}");
    session.done("cancel");

    // Nobody can be asked without a terminal.
    let unasked = rm(&session.id);
    assert_eq!(unasked.exit_code(), 3, "{unasked}");
    assert!(unasked.stdout_text().contains("nothing removed; `--yes` removes 1 session"), "{unasked}");
    let unasked = json(&rm(&format!("{} --json", session.id)));
    assert_eq!((&unasked["removed"], &unasked["sessions"][0]["flow"]), (&false.into(), &"generate".into()));
    assert_eq!(session.done("status latest")["status"], "cancelled");

    assert!(rm("--older-than 1d --yes").stdout_text().contains("no session to remove"));
    let removed = rm("--older-than 0m --yes");
    assert!(removed.stdout_text().ends_with("removed 1 session\n"), "{removed}");
    assert_eq!(json(&session.project.run("list --json"))["total"], 0);
}

#[test]
fn something_must_be_named() {
    assert_eq!(project().run("rm --yes").exit_code(), 2);
}
