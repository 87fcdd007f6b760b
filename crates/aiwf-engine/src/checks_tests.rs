use std::path::{Path, PathBuf};

use aiwf_config::{Environment, Settings};
use aiwf_store::{Durability, create_dir, write_atomic};

use super::*;
use crate::AgreementKind;

/// A user and a project.
struct World {
    directory: tempfile::TempDir,
    engine: Engine,
}

impl World {
    fn new(users: &str, project: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("project");
        create_dir(&root).unwrap();
        let world = Self { engine: engine(directory.path(), &root), directory };
        world.write("home/.aiwf/config.toml", users);
        world.write("project/.aiwf/config.toml", project);
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        create_dir(path.parent().unwrap()).unwrap();
        write_atomic(&path, Durability::Process, |out| out.write_all(text.as_bytes())).unwrap();
    }

    fn shown(&self) -> String {
        shown(&self.engine.checks().unwrap())
    }

    fn after(&self, phase: &str, typed: &[&str]) -> String {
        let typed: Vec<TypedCheck> = typed.iter().map(|run| TypedCheck { run: (*run).to_owned() }).collect();
        shown(&self.engine.checks_after(phase, &typed).unwrap())
    }

    fn agree(&self, name: &str) {
        let checks = self.engine.checks_named(&[name.to_owned()]).unwrap();
        self.engine.agree_to_checks(&checks).unwrap();
    }
}

fn engine(directory: &Path, root: &Path) -> Engine {
    let environment = Environment {
        current_dir: root.to_owned(),
        home: Some(directory.join("home")),
        ..Environment::default()
    };
    Engine::new(Settings::resolve(Some(root), environment).unwrap())
}

fn shown(checks: &[Check]) -> String {
    let line = |check: &Check| {
        format!("{}: {} [{}] {}", check.name, check.run, check.origin, check.consent.as_str())
    };
    checks.iter().map(line).collect::<Vec<_>>().join("\n")
}

const TESTS: &str = "[[checks]]\nname = \"tests\"\nrun = \"echo ran\"\n";

#[test]
fn a_check_of_the_user_needs_no_consent_and_one_of_the_project_does() {
    let world = World::new("[[checks]]\nname = \"spelling\"\nrun = \"typos\"\n", TESTS);
    insta::assert_snapshot!(world.shown(), @"
    spelling: typos [~/.aiwf/config.toml:1] not-needed
    tests: echo ran [.aiwf/config.toml:1] missing
    ");
    world.agree("tests");
    insta::assert_snapshot!(world.shown(), @"
    spelling: typos [~/.aiwf/config.toml:1] not-needed
    tests: echo ran [.aiwf/config.toml:1] agreed
    ");
}

#[test]
fn consent_is_for_exactly_that_command_in_that_project() {
    let world = World::new("", TESTS);
    world.agree("tests");
    let is_agreed = |world: &World| world.shown().ends_with("] agreed");
    assert!(is_agreed(&world));
    // What does not decide what runs changes nothing.
    world.write("project/.aiwf/config.toml", &format!("# more\n{TESTS}after = \"implement\"\n"));
    assert!(is_agreed(&world));
    for more in ["env = [\"TOKEN\"]", "timeout = \"9h\"", "max_output = 9", "network = \"loopback\""] {
        world.write("project/.aiwf/config.toml", &format!("{TESTS}{more}\n"));
        assert!(!is_agreed(&world), "{more}");
    }
    world.write("project/.aiwf/config.toml", &TESTS.replace("echo ran", "echo ran ; rm -rf ."));
    assert!(!is_agreed(&world));
    world.write("project/.aiwf/config.toml", &TESTS.replace("\"echo ran\"", "[\"echo ran\"]"));
    assert!(!is_agreed(&world));
    world.write("project/.aiwf/config.toml", TESTS);
    assert!(is_agreed(&world));
    world.write("elsewhere/.aiwf/config.toml", TESTS);
    let elsewhere = engine(world.directory.path(), &world.path("elsewhere"));
    assert_eq!(elsewhere.checks().unwrap()[0].consent, CheckConsent::Missing);
}

#[test]
fn a_project_cannot_hide_behind_the_name_of_a_users_check() {
    let world = World::new(TESTS, "[[checks]]\nname = \"tests\"\nrun = \"./steal\"\n");
    insta::assert_snapshot!(world.shown(), @"tests: ./steal [.aiwf/config.toml:1] missing");
}

#[test]
fn what_files_suggest_is_offered_until_something_is_configured() {
    let world = World::new("", "");
    assert_eq!(world.shown(), "");
    assert_eq!(world.after("implement", &[]), "");
    world.write("project/Cargo.toml", "");
    world.write("project/Makefile", "lint:\n");
    insta::assert_snapshot!(world.shown(), @"
    cargo-test: cargo test [detected: Cargo.toml] missing
    make-lint: make lint [detected: Makefile] missing
    ");
    // An offer is no check of a session.
    assert_eq!(world.after("implement", &[]), "");
    world.agree("make-lint");
    insta::assert_snapshot!(world.after("implement", &[]), @"make-lint: make lint [detected: Makefile] agreed");
    world.write("project/.aiwf/config.toml", TESTS);
    insta::assert_snapshot!(world.shown(), @"tests: echo ran [.aiwf/config.toml:1] missing");
    // The same command in the configuration is what the user agreed to.
    world.write("project/.aiwf/config.toml", &TESTS.replace("echo ran", "make lint"));
    insta::assert_snapshot!(world.shown(), @"tests: make lint [.aiwf/config.toml:1] agreed");
}

#[test]
fn a_phase_is_followed_by_its_checks_then_by_what_was_typed() {
    let project = format!("{TESTS}[[checks]]\nname = \"spec\"\nrun = \"lint-spec\"\nafter = \"specify\"\n");
    let world = World::new("", &project);
    insta::assert_snapshot!(world.after("implement", &["cargo test --workspace --all-features -- --nocapture x", "true"]), @"
    tests: echo ran [.aiwf/config.toml:1] missing
    cargo test --workspace --all-features -…: cargo test --workspace --all-features -- --nocapture x [--check] not-needed
    true: true [--check] not-needed
    ");
    insta::assert_snapshot!(world.after("specify", &[]), @"
    tests: echo ran [.aiwf/config.toml:1] missing
    spec: lint-spec [.aiwf/config.toml:4] missing
    ");
    // Whoever types a check has decided what checks the project.
    let detected = World::new("", "");
    detected.write("project/go.mod", "");
    detected.agree("go-test");
    insta::assert_snapshot!(detected.after("implement", &["true"]), @"true: true [--check] not-needed");
}

#[test]
fn a_file_about_a_check_has_a_plain_name() {
    let world = World::new("", "");
    let typed = TypedCheck { run: "./run ../tests \"ü\"; rm -rf /".to_owned() };
    let check = world.engine.checks_after("x", &[typed]).unwrap().remove(0);
    assert_eq!(check.file_stem(3), "03-run-tests-rm-rf");
    assert_eq!(Check { name: "..".to_owned(), ..check }.file_stem(12), "12");
}

#[test]
fn running_by_hand_needs_consent_for_every_check_before_the_first_starts() {
    let project = format!("[[checks]]\nname = \"first\"\nrun = \"touch first\"\n{TESTS}");
    let world = World::new("", &project);
    world.agree("first");
    let all = world.engine.checks_named(&[]).unwrap();
    let refused = world.engine.run_checks(&all, &world.path("project")).unwrap_err();
    assert_eq!(refused.to_string(), "you have not agreed to the check `tests`");
    assert!(!world.path("project/first").exists());
    world.agree("tests");
    let all = world.engine.checks_named(&[]).unwrap();
    let runs = world.engine.run_checks(&all, &world.path("project")).unwrap();
    let shown: Vec<(String, String)> = runs
        .iter()
        .map(|run| (run.result.outcome(), String::from_utf8_lossy(&run.printed).into_owned()))
        .collect();
    assert_eq!(shown, [("passed".to_owned(), String::new()), ("passed".to_owned(), "ran\n".to_owned())]);
    assert!(world.path("project/first").exists());
    // The last output stays where the user's cache is, once for each check.
    let kept = runs[1].kept.as_ref().unwrap();
    assert!(kept.ends_with("02-tests.txt") && kept.starts_with(world.path("home")), "{}", kept.display());
    world.engine.run_checks(&all, Path::new(".")).unwrap();
    assert_eq!(std::fs::read_dir(kept.parent().unwrap()).unwrap().count(), 2);
}

#[test]
fn checks_that_cannot_run_are_reported() {
    let world = World::new("", "");
    let named = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        world.engine.checks_named(&names)
    };
    assert!(matches!(named(&[]), Err(check_error::CheckError::None)));
    world.write("project/go.mod", "");
    assert!(matches!(named(&["go-tset"]), Err(check_error::CheckError::Unknown { .. })));
    // Nothing is agreed to, so all offers are meant.
    assert_eq!(named(&[]).unwrap().len(), 1);
    world.agree("go-test");
    let nowhere = world.engine.run_checks(&named(&[]).unwrap(), Path::new("no/such/place"));
    assert!(matches!(nowhere, Err(check_error::CheckError::NoDirectory { .. })));
}

#[test]
fn an_added_check_is_agreed_to_and_leaves_the_rest_of_the_file_alone() {
    let world = World::new("", "# ours\n[session]\nmax_iterations = 3\n");
    let added = world.engine.add_check("tests", "echo \"x\"").unwrap();
    assert_eq!(added.consent, CheckConsent::Agreed);
    insta::assert_snapshot!(std::fs::read_to_string(world.path("project/.aiwf/config.toml")).unwrap(), @r#"
    # ours
    [session]
    max_iterations = 3

    [[checks]]
    name = "tests"
    run = "echo \"x\""
    "#);
    insta::assert_snapshot!(world.shown(), @r#"tests: echo "x" [.aiwf/config.toml:5] agreed"#);
    let refused = |name: &str, run: &str| world.engine.add_check(name, run).unwrap_err().to_string();
    assert_eq!(refused("tests", "x"), "check `tests` already exists");
    assert_eq!(refused("two words", "x"), "`two words` is not a valid check name");
    assert_eq!(refused("a", "x\ny"), "`x\\ny` is not a valid check command");
}

#[test]
fn a_configuration_that_cannot_be_extended_is_left_alone_and_the_lines_are_shown() {
    let world = World::new("", "");
    let inline = "checks = [{ name = \"a\", run = \"b\" }]\n";
    world.write("project/.aiwf/config.toml", inline);
    let refused = world.engine.add_check("tests", "x").unwrap_err();
    insta::assert_snapshot!(refused, @r#"
    could not add the check to `.aiwf/config.toml`: `checks` is set in another form
      [[checks]]
      name = "tests"
      run = "x"
    "#);
    assert_eq!(std::fs::read_to_string(world.path("project/.aiwf/config.toml")).unwrap(), inline);
    // A link is not written through.
    world.write("project/.aiwf/other.toml", "# other\n");
    aiwf_store::remove(&world.path("project/.aiwf/config.toml")).unwrap();
    rustix::fs::symlink("other.toml", world.path("project/.aiwf/config.toml")).unwrap();
    let refused = world.engine.add_check("tests", "x").unwrap_err().to_string();
    assert!(refused.contains("it is a link"), "{refused}");
    assert_eq!(std::fs::read_to_string(world.path("project/.aiwf/other.toml")).unwrap(), "# other\n");
}

#[test]
fn consent_is_listed_with_what_else_was_agreed_to_and_taken_back() {
    let world = World::new("", TESTS);
    let agreement = world.engine.preview_agreement(AgreementKind::Check, "tests").unwrap();
    assert_eq!(agreement.shown, "run = \"echo ran\"");
    world.engine.agree(&agreement).unwrap();
    assert_eq!(world.engine.agreements().unwrap(), [agreement]);
    assert!(world.engine.checks().unwrap()[0].may_run());
    world.engine.withdraw(AgreementKind::Check, "tests").unwrap();
    assert!(!world.engine.checks().unwrap()[0].may_run());
    assert!(world.engine.preview_agreement(AgreementKind::Check, "other").is_err());
}
