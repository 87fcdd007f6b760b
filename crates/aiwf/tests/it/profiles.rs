//! Profiles, providers, configuration and completion, as a person meets them.

use crate::{json, project};

const PROFILE: &str = ".aiwf/profiles/notes";

#[test]
fn a_new_profile_works_and_passes_every_check() {
    let project = project();
    assert_eq!(project.run("profile new notes --project").exit_code(), 0);
    let validated = json(&project.run("validate --json"));
    assert_eq!(validated["all_passed"], true, "{validated:#}");
    let listed = json(&project.run("profiles --json"));
    let origins: Vec<&str> = listed["profiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["origin"].as_str().unwrap())
        .collect();
    assert_eq!(origins.iter().filter(|origin| **origin == "project").count(), 1, "{origins:?}");
    // A built-in profile comes first, so one with its name would never run.
    let taken = project.run("profile new python-module --project");
    assert_eq!(taken.exit_code(), 1);
    assert!(taken.stderr_text().contains("profile `python-module` already exists (built-in)"), "{taken}");
    let again = project.run("profile new notes --project");
    assert_eq!(again.exit_code(), 1);
    assert!(again.stderr_text().contains("profile `notes` already exists (project)"), "{again}");
    for name in ["status", "Bad Name", "../up"] {
        assert_ne!(project.run_args(["profile", "new", name]).exit_code(), 0, "{name}");
    }
}

#[test]
fn an_added_profile_wins_is_pinned_and_not_used_when_it_changes() {
    let project = project();
    project.run("profile new notes --project");
    let added = project.run(&format!("profile add {PROFILE}"));
    assert_eq!(added.exit_code(), 0, "{added}");
    let shown = project.run("profiles notes").stdout_text();
    assert!(shown.contains("installed") && shown.contains("overrides the project profile"), "{shown}");
    let template = project.home().join(".aiwf/installed/notes/templates/plan.md");
    let text = std::fs::read_to_string(&template).unwrap();
    let path = template.to_string_lossy().into_owned();
    project.write(&path, format!("{text}\nDo something else.\n"));
    let outcome = project.run("notes init --request cats");
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    assert!(outcome.stderr_text().contains("it changed since it was added"), "{outcome}");
    assert!(project.run("profiles").stdout_text().contains("broken"));
}

#[test]
fn what_a_killed_command_left_is_no_profile_and_is_removed() {
    let project = project();
    project.run("profile new notes --project");
    let manifest = project.read(&format!("{PROFILE}/profile.toml"));
    for left in [".aiwf/profiles/.tmp-other", ".aiwf/installed/.tmp-other"] {
        let path = project.home().join(left).join("profile.toml");
        project.write(&path.to_string_lossy(), &manifest);
    }
    let listed = project.run("profiles").stdout_text();
    assert!(!listed.contains(".tmp-") && !listed.contains("broken"), "{listed}");
    assert_eq!(project.run(&format!("profile add {PROFILE}")).exit_code(), 0);
    assert!(!project.home().join(".aiwf/installed/.tmp-other").exists());
}

#[test]
fn a_profile_that_was_being_replaced_can_still_be_used() {
    let project = project();
    project.run("profile new notes --project");
    project.run(&format!("profile add {PROFILE}"));
    // What a command leaves that was killed before the new version was in place.
    let pin = project.home().join(".aiwf/installed/notes.sha256");
    let pinned = std::fs::read_to_string(&pin).unwrap();
    project.write(&pin.to_string_lossy(), format!("{pinned}{}\n", "0".repeat(64)));
    assert_eq!(project.run("notes init --request cats").exit_code(), 0);
    assert_eq!(project.run(&format!("profile add {PROFILE}")).exit_code(), 0);
    assert_eq!(std::fs::read_to_string(&pin).unwrap(), pinned);
}

#[test]
fn a_broken_profile_takes_nothing_else_down() {
    let project = project().file(".aiwf/profiles/bad/profile.toml", "name = 3\nnonsense = true\n");
    assert!(project.run("profiles").stdout_text().contains("bad"));
    let listed = json(&project.run("profiles bad --json"));
    let error = listed.pointer("/error").or_else(|| listed.pointer("/profiles/0/error")).unwrap();
    assert_eq!(error["code"], "PROFILE_INVALID", "{listed:#}");
    assert!(error["message"].is_string() && error["hint"].is_string(), "{listed:#}");
    assert_eq!(project.run("validate profiles").exit_code(), 1);
    assert!(project.run("--help").stdout_text().contains("broken: `aiwf profiles bad` shows why"));
    assert_eq!(project.run("jpa-mt scopes").exit_code(), 0);
    let outcome = project.run("bad init");
    assert_eq!(outcome.exit_code(), 1);
    assert!(outcome.stderr_text().contains("profile.toml:"), "{outcome}");
}

#[test]
fn the_configuration_says_where_each_value_comes_from() {
    let project = project().file(".aiwf/config.toml", "[session]\nmax_iterations = 3\n");
    let shown = project.run("config show --origin").stdout_text();
    let line = shown.lines().find(|line| line.starts_with("session.max_iterations")).unwrap();
    assert!(line.contains("= 3") && line.contains(".aiwf/config.toml:2"), "{shown}");
    project.write(".aiwf/config.toml", "[sesion]\nmax_iterations = 7\n");
    let outcome = project.run("config show");
    assert_eq!(outcome.exit_code(), 1);
    assert!(outcome.stderr_text().contains("did you mean `session`"), "{outcome}");
}

#[test]
fn providers_are_listed_and_a_typing_error_finds_its_name() {
    let project = project();
    let listed = json(&project.run("providers --json"));
    let names: Vec<&str> =
        listed["providers"].as_array().unwrap().iter().map(|found| found["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"manual") && names.contains(&"replay"), "{names:?}");
    assert!(project.run("providers opnai").stderr_text().contains("did you mean `openai`"));
}
