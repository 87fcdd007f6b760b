//! `aiwf prompt diff` and `aiwf cache`: flags, printing and exit codes.

use aiwf_testkit::TestProject;

use crate::session::Session;
use crate::{json, project};

/// A project with two prompts of a change that differ in one file.
fn with_prompts() -> TestProject {
    let project = project().file("src/a.rs", "fn a() {}\n").file("src/b.rs", "fn b() {}\n");
    build(&project, "before.json");
    project.write("src/b.rs", "fn b() -> u8 { 1 }\n");
    build(&project, "after.json");
    project
}

fn build(project: &TestProject, to: &str) {
    let built = project.run("prompt build change --instructions Explain --file src/** --for openai --json");
    project.write(to, built.success().stdout_text());
}

#[test]
fn sections_prefix_and_price_are_printed() {
    let project = with_prompts();
    let shown = project.run("prompt diff before.json after.json");
    insta::assert_snapshot!(shown.success().stdout_text());
}

#[test]
fn too_small_a_prefix_is_exit_code_1_with_the_result() {
    let project = with_prompts();
    let diff = |flags: &str| project.run(&format!("prompt diff before.json after.json {flags}"));
    assert_eq!(diff("--min-stable 0").exit_code(), 0);
    let failed = diff("--min-stable 0.95");
    assert_eq!(failed.exit_code(), 1, "{failed}");
    assert!(failed.stdout_text().contains("common prefix"), "{failed}");
    assert!(failed.stderr_text().contains("in the common prefix, less than 95.0 %"), "{failed}");
    let failed = diff("--min-stable 0.95 --json");
    assert_eq!(failed.exit_code(), 1, "{failed}");
    let shown = json(&failed);
    assert_eq!((&shown["passed"], &shown["exit_code"]), (&false.into(), &1.into()));
    assert_eq!(shown["prefix"]["ends_in"]["section"], "context");
    assert!(shown["miss"]["cost"].as_f64().unwrap() > 0.0, "{shown:#}");
    assert_eq!(shown["sections"][0]["change"], "changed");
    assert!(json(&diff("--json")).get("passed").is_none());
}

#[test]
fn a_command_line_without_two_prompts_makes_no_sense() {
    let project = project();
    for line in [
        "prompt diff",
        "prompt diff a.json",
        "prompt diff a.json b.json --at HEAD",
        "prompt diff a.json --for codex",
        "prompt diff a.json --for codex,manual --at HEAD",
        "prompt diff a.json b.json --min-stable 95",
    ] {
        let refused = project.run(line);
        assert_eq!(refused.exit_code(), 2, "{line}: {refused}");
    }
    let none = project.run("prompt diff a.json b.json");
    assert_eq!(none.exit_code(), 1, "{none}");
    assert!(none.stderr_text().contains("`a.json` is neither a file nor a session"), "{none}");
}

#[test]
fn a_prompt_is_built_again_for_two_providers() {
    let project = with_prompts();
    let shown = json(&project.run("prompt diff after.json --for manual,openai --json"));
    assert_eq!(shown["before"]["provider"], "manual");
    assert_eq!(shown["after"]["provider"], "openai");
}

#[test]
fn the_calls_of_a_session_are_listed() {
    let session = Session::new("");
    let none = session.project.run("cache");
    assert!(none.stdout_text().contains(": 0 calls"), "{none}");
    session.done("approve");
    let shown = json(&session.project.run(&format!("cache {} --json", session.id)));
    assert_eq!(shown["calls"][0]["round"], "planning@1", "{shown:#}");
    assert_eq!(shown["pairs"], serde_json::json!([]));
    assert_eq!(session.project.run("cache nothing").exit_code(), 1);
}
