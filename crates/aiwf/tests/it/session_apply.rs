//! `aiwf apply`: what a person sees before code goes into a project, and when it does not.

use serde_json::json as value;

use crate::json;
use crate::session::{CODE, PLAN, Session, review};

const TARGET: &str = "src/main/java/com/example/sales/Customer.java";
const OTHER: &str = "src/main/java/com/example/sales/Other.java";

/// A complete session.
fn complete() -> Session {
    let session = Session::new("");
    session.answer(PLAN);
    session.answer(CODE);
    session.answer(&review("PASS", 0));
    session
}

#[test]
fn a_conflict_is_shown_and_then_refused() {
    let session = complete();
    session.project.write(TARGET, "mine\n");
    insta::assert_snapshot!(session.run("apply latest"), @"
    --- stdout
    --- a/src/main/java/com/example/sales/Customer.java
    +++ b/src/main/java/com/example/sales/Customer.java
    @@ -1 +1,3 @@
    -mine
    +package com.example.sales;
    +
    +class Customer {}
    --- stderr
    error: project files would be overwritten
      src/main/java/com/example/sales/Customer.java

    hint: `--force` replaces them and keeps each as FILE.orig; `--to DIR` puts the code elsewhere
    --- exit code 1
    ");
    assert_eq!(session.project.read(TARGET), b"mine\n");
    assert!(!session.project.path(OTHER).exists());
    assert!(!session.events().contains(&"apply-intended".to_owned()));
}

#[test]
fn a_conflict_is_listed_in_the_json_of_the_error() {
    let session = complete();
    session.project.write(TARGET, "mine\n");
    let outcome = session.run("apply latest --json");
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    assert_eq!(outcome.stderr_text(), "");
    let error = json(&outcome);
    assert_eq!(
        error["conflicts"],
        value!([{ "target": TARGET, "change": "conflict", "name": "Customer.java" }])
    );
    assert_eq!(error["error"]["code"], "APPLY_CONFLICT");
    assert!(error["error"]["hint"].as_str().unwrap().contains("`--force`"), "{error:#}");
}

#[test]
fn a_conflict_is_refused_even_if_the_diff_cannot_be_printed() {
    let session = complete();
    session.project.write(TARGET, "mine\n".repeat(100_000));
    let outcome = session.project.command("apply latest").run_into_closing_pipe(10);
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    assert!(outcome.stderr_text().contains("project files would be overwritten"), "{outcome}");
}

#[test]
fn applying_outdated_code_warns() {
    let session = complete();
    assert_eq!(session.done("apply latest --dry-run").get("outdated"), None);
    session.project.write(&session.path("plan.md"), "# Another plan\n");
    session.done("approve latest --rebind");
    let outdated = session.done("status latest")["outdated"].clone();
    assert!(outdated.as_array().unwrap().contains(&session.path("iteration-1/code/Customer.java").into()));
    let dry = session.run("apply latest --dry-run");
    assert_eq!(dry.exit_code(), 0, "{dry}");
    insta::assert_snapshot!(dry.stderr_text().replace(&session.id, "SESSION"), @"
    warning: these files are outdated, because their inputs have changed
      .aiwf/sessions/SESSION/iteration-1/code/Customer.java
      .aiwf/sessions/SESSION/iteration-1/code/Other.java
      .aiwf/sessions/SESSION/iteration-1/generation-prompt.md
      .aiwf/sessions/SESSION/iteration-1/generation-response.md
      .aiwf/sessions/SESSION/iteration-1/review-prompt.md
      .aiwf/sessions/SESSION/iteration-1/review-response.md
    ");

    session.project.write(TARGET, "mine\n");
    let refused = session.run("apply latest");
    assert!(refused.stderr_text().starts_with("warning: "), "{refused}");
    assert_eq!(json(&session.run("apply latest --json"))["outdated"], outdated);
    let forced = session.done("apply latest --force");
    assert_eq!((&forced["outdated"], &forced["applied"]), (&outdated, &value!(true)));
}
