//! The helper that starts a program for notifications and lets go of it.

use crate::project;
use crate::scene::{eventually, is_there};

#[test]
fn the_program_gets_the_input_and_what_it_prints_is_thrown_away() {
    let project = project();
    let program = "echo printed; echo complained >&2; cat > told";
    let outcome =
        project.command_args(["__detach", "600000", "sh", "-c", program]).stdin("what happened\n").run();
    assert_eq!((outcome.stdout_text(), outcome.stderr_text()), (String::new(), String::new()));
    assert_eq!(project.read("told"), b"what happened\n");
}

#[test]
fn a_missing_program_is_reported() {
    let outcome = project().command_args(["__detach", "600000", "no-such-program"]).run();
    assert_eq!(outcome.exit_code(), 127, "{outcome}");
    assert!(outcome.stdout_text().ends_with("os error 2\n"), "{outcome}");
}

#[test]
fn when_its_time_is_up_it_is_ended_with_what_it_started() {
    let project = project();
    let program = "sleep 6000 & echo $! > id; sleep 6000";
    drop(project.command_args(["__detach", "300", "sh", "-c", program]).run());
    // It may have had no time to start anything. What was killed needs a moment to be gone.
    if project.path("id").exists() {
        let id = String::from_utf8(project.read("id")).unwrap();
        eventually("the end of what it started", || id.is_empty() || !is_there(id.trim()));
    }
}
