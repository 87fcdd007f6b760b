//! What came with a directory is looked at, and not acted on before the user agreed to it.

#![expect(clippy::disallowed_methods, reason = "tests remove files as a person would")]

use aiwf_testkit::TestProject;

use crate::scene::Scene;
use crate::session::Session;

/// The session of one user's project, in the hands of another user: same directory, fresh home.
fn foreign() -> Session {
    let session = Session::new("");
    std::fs::remove_dir_all(session.project.home().join(".aiwf/state")).unwrap();
    session
}

#[test]
fn adopting_shows_what_is_trusted_and_holds_for_the_next_command() {
    let session = foreign();
    let shown = session.run(&format!("adopt {}", session.id));
    assert_eq!(shown.exit_code(), 3, "{shown}");
    let text = shown.stdout_text();
    for expected in ["profile jpa-mt", "providers", "2 events, the last is prompt-written", "not adopted"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(session.refused("approve").contains("is not yours"));
    let adopted = session.run(&format!("adopt {} --yes", session.id));
    assert_eq!(adopted.exit_code(), 0, "{adopted}");
    session.done("approve");
    let listed = session.run("trust list").stdout_text();
    assert!(listed.contains(&format!("session {}", session.id)), "{listed}");
    session.done(&format!("trust remove session {}", session.id));
    assert!(session.refused("cancel").contains("is not yours"));
    session.done("cancel --adopt");
}

#[test]
fn without_a_home_a_session_is_acted_on_only_with_adopt() {
    let session = Session::new("");
    let refused = session.project.command("approve").env("HOME", "").run();
    assert_eq!(refused.exit_code(), 1, "{refused}");
    assert!(refused.stderr_text().contains("`HOME` is not set"), "{refused}");
    let done = session.project.command("approve --adopt").env("HOME", "").run();
    assert_eq!(done.exit_code(), 0, "{done}");
}

#[test]
fn a_journal_that_lost_events_can_be_adopted_as_it_is() {
    let session = Session::new("");
    let path = session.path("journal.jsonl");
    let whole = String::from_utf8(session.project.read(&path)).unwrap();
    session.project.write(&path, whole.split_inclusive('\n').next().unwrap());
    assert!(session.refused(&format!("run {} --adopt", session.id)).contains("is incomplete"));
    session.done(&format!("adopt {} --yes", session.id));
    assert_eq!(session.run(&format!("run {}", session.id)).exit_code(), 3);
}

const PROGRAM: &str =
    "[roles]\ndefault = \"agent\"\n[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\"]\n";

#[test]
fn a_program_that_only_a_checkout_names_starts_after_consent_to_exactly_these_bytes() {
    let scene = Scene::checkout(PROGRAM);
    scene.project.script("agent.sh", "#!/bin/sh\ntouch \"$HOME/started\"\necho reply\n");
    let send = "prompt send change --provider agent --phase plan --instructions x";
    for command in [send, "validate providers", "providers agent"] {
        let outcome = scene.project.run(command);
        let said = outcome.to_string();
        assert!(said.contains("you have not agreed to it"), "{command}: {said}");
    }
    assert!(scene.project.run("providers").stdout_text().contains("(not configured)"));
    assert!(!scene.project.home().join("started").exists());
    let asked = scene.project.run("trust add provider agent");
    assert_eq!(asked.exit_code(), 3, "{asked}");
    assert!(asked.stdout_text().contains("argv = [\"sh\", \"agent.sh\"]"), "{asked}");
    scene.exits("trust add provider agent --yes", 0);
    scene.exits(send, 0);
    assert!(scene.project.home().join("started").exists());
    scene.project.write(".aiwf/config.toml", PROGRAM.replace("agent.sh", "other.sh"));
    scene.exits(send, 1);
}

#[test]
fn a_project_that_skips_gates_is_warned_about_and_does_not() {
    let project = TestProject::new(env!("CARGO_BIN_EXE_aiwf"))
        .file(".aiwf/config.toml", "[gates]\ndefault = \"skip\"\n[session]\nmax_iterations = 50\n");
    let shown = project.run("config show --origin");
    insta::assert_snapshot!(shown.stderr_text(), @"
    warning: this project loosens settings, which needs your consent
      .aiwf/config.toml:2: gates.default = skip (in effect: manual)
      .aiwf/config.toml:4: session.max_iterations = 50 (in effect: 5)
      agree with `aiwf trust add project`
    ");
    let values = shown.stdout_text();
    assert!(values.contains("gates.default = manual"), "{values}");
    assert!(values.contains("session.max_iterations = 5"), "{values}");
    assert_eq!(project.run("trust add project --yes").exit_code(), 0);
    let shown = project.run("config show");
    assert_eq!(shown.stderr_text(), "");
    let values = shown.stdout_text();
    assert!(values.contains("gates.default = skip"), "{values}");
    // One byte more is another project.
    project.write(".aiwf/config.toml", "[gates]\ndefault = \"skip\"\n[session]\nmax_iterations = 51\n");
    assert!(project.run("config show").stdout_text().contains("gates.default = manual"));
}

#[test]
fn servers_that_version_0_1_remembered_are_still_agreed_to() {
    let project = TestProject::new(env!("CARGO_BIN_EXE_aiwf"))
        .file("~/.aiwf/tools/trusted.json", "{\"servers\":{\"aabbccddeeff\":\"npx files\"}}");
    let listed = project.run("trust list").success().stdout_text();
    assert!(listed.contains("npx files"), "{listed}");
    assert!(!project.home().join(".aiwf/tools/trusted.json").exists());
    assert_eq!(project.run("trust list").success().stdout_text(), listed);
}
