//! The first command of the README.

use crate::{json, project};

#[test]
fn the_demo_runs_a_whole_session_and_can_be_looked_at() {
    let project = project();
    let outcome = project.run("demo");
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    let story = outcome.stdout_text();
    for word in ["verdict: FAIL", "verdict: PASS", "standards-bundle", "events intact", "wrote src/main/java"]
    {
        assert!(story.contains(word), "{word} is missing in {story}");
    }
    let listed = json(&project.command("list --json").in_dir("aiwf-demo").run());
    assert_eq!(listed["sessions"][0]["status"], "complete");
    let again = project.run("demo");
    assert_eq!(again.exit_code(), 1);
    assert!(again.stderr_text().contains("`aiwf-demo` exists"));
}

#[test]
fn recorded_answers_run_a_session_without_a_person() {
    let project = project();
    assert_eq!(project.run("demo --dir d --json").exit_code(), 0);
    let init = "jpa-mt init --entity Customer --table customer --bounded-context sales --base-package \
                com.example.shop --schema-file schema.sql --design design/customer.md --yes --json";
    let outcome = project.command(init).in_dir("d").run();
    assert_eq!(json(&outcome)["phase"], "complete", "{outcome}");
}

#[test]
fn a_request_that_was_not_recorded_is_said_to_be_so() {
    let project = project();
    assert_eq!(project.run("demo --dir d --json").exit_code(), 0);
    let init =
        "jpa-mt init --entity Product --table product --bounded-context sales --schema-file schema.sql --yes";
    let outcome = project.command(init).in_dir("d").run();
    assert_eq!(outcome.exit_code(), 4, "{outcome}");
    assert!(outcome.stderr_text().contains("no recording answers this request"), "{outcome}");
    assert!(
        outcome.stderr_text().contains("the first section that differs is `profile-prompt`"),
        "{outcome}"
    );
}
