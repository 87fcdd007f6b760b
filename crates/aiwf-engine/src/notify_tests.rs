use std::fs;
use std::path::Path;

use aiwf_config::{Environment, Settings};
use aiwf_store::{Durability, create_dir, write_atomic};

use super::*;

fn write(path: &Path, text: &str) {
    create_dir(path.parent().unwrap()).unwrap();
    write_atomic(path, Durability::Process, |out| out.write_all(text.as_bytes())).unwrap();
}

fn engine(home: &Path, project: &Path) -> Engine {
    create_dir(project).unwrap();
    let environment = Environment {
        current_dir: project.to_owned(),
        home: Some(home.to_owned()),
        ..Environment::default()
    };
    Engine::new(Settings::resolve(Some(project), environment).unwrap())
}

const WAITING: Notification<'_> = Notification {
    event: NotifyEvent::Waiting,
    session: "20260301-120000-01ab",
    title: "Add\na login",
    what: "your approval of the plan",
};

#[test]
fn the_program_gets_what_happened_in_its_environment_and_as_json() {
    let directory = tempfile::tempdir().unwrap();
    let (home, project) = (directory.path().join("home"), directory.path().join("project"));
    write(
        &home.join("told.sh"),
        "echo \"$AIWF_EVENT|$AIWF_SESSION|$AIWF_TITLE\" > told; cat >> told; pwd >> told\n",
    );
    write(&home.join(".aiwf/config.toml"), "[notify]\nrun = [\"sh\", \"told.sh\"]\n");
    // What the project puts in the place of a relative path is not run.
    write(&project.join("told.sh"), "echo hostile > \"$HOME/told\"\n");
    assert_eq!(engine(&home, &project).notify(WAITING), None);
    let told = fs::read_to_string(home.join("told")).unwrap();
    let shown = told.replace(&*directory.path().to_string_lossy(), "[root]");
    insta::assert_snapshot!(shown.trim_end(), @r#"
    waiting|20260301-120000-01ab|Add a login
    {"event":"waiting","session":"20260301-120000-01ab","title":"Add a login","what":"your approval of the plan","project":"[root]/project"}
    [root]/home
    "#);
}

#[test]
fn without_a_program_nothing_is_started() {
    let directory = tempfile::tempdir().unwrap();
    let (home, project) = (directory.path().join("home"), directory.path().join("project"));
    assert_eq!(engine(&home, &project).notify(WAITING), None);
    // A project cannot name one, and its configuration is an error that the command reports.
    write(&project.join(".aiwf/config.toml"), "[notify]\nrun = [\"touch\", \"started\"]\n");
    assert_eq!(engine(&home, &project).notify(WAITING), None);
    assert!(!home.join("started").exists() && !project.join("started").exists());
}

#[test]
fn a_program_that_cannot_start_is_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let (home, project) = (directory.path().join("home"), directory.path().join("project"));
    write(&home.join(".aiwf/config.toml"), "[notify]\nrun = [\"no-such-program\"]\n");
    let note = engine(&home, &project).notify(WAITING).unwrap();
    assert_eq!(note, "could not start `no-such-program` of `[notify] run`: no such file or directory");
}

#[test]
fn a_long_title_is_cut() {
    assert_eq!(one_line(&"é".repeat(10_000)).chars().count(), 500);
}
