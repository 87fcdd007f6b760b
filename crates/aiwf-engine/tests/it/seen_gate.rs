//! A decision is about the gate that was seen when it was made.

use aiwf_engine::machine::{Actor, Event, Person, Stage, Surface};
use aiwf_engine::{ApproveOptions, Engine, SessionError};

use crate::scene::Scene;

const OPEN: Option<&str> = None;
/// A provider that answers at once.
const FAST: &str = "[roles]\ndefault = \"fast\"\n[providers.fast]\ntype = \"command\"\nargv = [\"echo\", \"# Plan\"]\nfs_ability = \"none\"\n";

fn approve(engine: &Engine) -> Result<aiwf_engine::Decided, SessionError> {
    engine.approve(OPEN, &ApproveOptions::default())
}

/// The scene's session of a provider that answers at once, set up in the user's own configuration.
fn fast() -> Scene {
    let scene = Scene::new();
    let config = scene.home().join(".aiwf/config.toml");
    scene.write(config.to_str().unwrap(), FAST);
    scene.create().unwrap();
    scene
}

#[test]
fn of_two_approvals_at_once_one_decides_and_the_other_is_refused() {
    let scene = fast();
    // Both commands begin, and see the same prompt.
    let seen = scene.engine.seen_gate(OPEN).unwrap();
    let (first, second) =
        (scene.engine.clone().deciding_on(seen.clone()), scene.engine.clone().deciding_on(seen));
    let report = approve(&first).unwrap().report;
    assert_eq!(
        (report.phase.as_str(), report.stage),
        ("planning", Some(Stage::Response)),
        "the plan is there already"
    );
    let error = approve(&second).unwrap_err();
    assert!(matches!(&error, SessionError::AnotherGate { .. }), "{error}");
    let report = scene.engine.session_report(OPEN).unwrap();
    assert_eq!(
        (report.phase.as_str(), report.stage),
        ("planning", Some(Stage::Response)),
        "nobody approved the plan"
    );
    // Whoever looks again may decide.
    assert_eq!(approve(&scene.engine).unwrap().report.phase.as_str(), "generating");
}

#[test]
fn every_other_decision_also_needs_the_gate_that_was_seen() {
    let scene = fast();
    let seen = scene.engine.seen_gate(OPEN).unwrap();
    approve(&scene.engine).unwrap();
    let late = scene.engine.clone().deciding_on(seen);
    let errors = [
        late.reject(OPEN, "no").unwrap_err(),
        late.retry(OPEN, None).unwrap_err(),
        late.respond(OPEN, "text", None).unwrap_err(),
        late.accept(OPEN).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(&error, SessionError::AnotherGate { .. }), "{error}");
    }
}

#[test]
fn a_prompt_edited_in_the_meantime_is_another_gate() {
    let scene = Scene::new();
    scene.create().unwrap();
    let seen = scene.engine.seen_gate(OPEN).unwrap();
    let path = scene.engine.session_report(OPEN).unwrap().prompt_path.unwrap();
    scene.write(&path, "Something else.\n");
    let error = approve(&scene.engine.clone().deciding_on(seen)).unwrap_err();
    assert!(matches!(&error, SessionError::AnotherGate { .. }), "{error}");
}

#[test]
fn an_expected_hash_must_be_that_of_the_gate() {
    let scene = Scene::new();
    scene.create().unwrap();
    let sha256 = scene.engine.session_report(OPEN).unwrap().gate.unwrap().sha256.unwrap();
    let expecting = |hash: &str| scene.engine.clone().expecting(Some(hash.to_owned()));
    let error = approve(&expecting("0123456789")).unwrap_err();
    assert!(matches!(&error, SessionError::AnotherGate { .. }), "{error}");
    let error = approve(&expecting(sha256.get(..7).unwrap())).unwrap_err();
    assert!(matches!(&error, SessionError::NoHash { .. }), "{error}");
    approve(&expecting(sha256.get(..8).unwrap())).unwrap();
}

#[test]
fn gates_are_skipped_only_by_a_decision_that_holds() {
    let scene = fast();
    let seen = scene.engine.seen_gate(OPEN).unwrap();
    let hasty = scene.engine.clone().skipping_gates(true);
    let error = approve(&hasty.clone().deciding_on(seen.clone()).expecting(Some("0".repeat(8)))).unwrap_err();
    assert!(matches!(&error, SessionError::AnotherGate { .. }), "{error}");
    assert_eq!(scene.engine.seen_gate(OPEN).unwrap(), seen, "nothing happened");
    // The plan is taken without anybody looking at it; the next answer is no code, so generating stops.
    let error = approve(&hasty.deciding_on(seen)).unwrap_err();
    let SessionError::InPhase { error, phase, .. } = error else { panic!("{error}") };
    assert_eq!(phase.as_str(), "generating");
    assert!(matches!(&*error, SessionError::ReplyProblems { .. }), "{error}");
    assert_eq!(scene.engine.session_report(OPEN).unwrap().phase.as_str(), "generating");
}

#[test]
fn a_run_can_skip_the_gates_of_a_session() {
    let scene = fast();
    let waiting = scene.engine.run_session(OPEN).unwrap().report;
    assert_eq!((waiting.phase.as_str(), waiting.stage), ("planning", Some(Stage::Prompt)));
    let error = scene.engine.clone().skipping_gates(true).run_session(OPEN).unwrap_err();
    let SessionError::InPhase { error, phase, .. } = error else { panic!("{error}") };
    assert_eq!(phase.as_str(), "generating");
    assert!(matches!(&*error, SessionError::ReplyProblems { .. }), "{error}");
    assert_eq!(scene.engine.session_report(OPEN).unwrap().phase.as_str(), "generating");
}

#[test]
fn a_decision_records_who_made_it_and_where() {
    let scene = Scene::new();
    scene.create().unwrap();
    approve(&scene.engine.clone().on_surface(Surface::Mcp)).unwrap();
    let events = scene.engine.session_events(OPEN).unwrap();
    let by = events.iter().find_map(|line| {
        if let Event::PromptApproved { by, .. } = &line.event { Some(by.clone()) } else { None }
    });
    let person = Person { name: "unknown".to_owned(), surface: Some(Surface::Mcp) };
    assert_eq!(by, Some(Actor::Person(person)));
}

#[test]
fn actors_of_older_journals_are_still_read() {
    let read = |json: &str| serde_json::from_str::<Actor>(json).unwrap();
    assert_eq!(read(r#"{"person":"ann"}"#), Actor::Person(Person { name: "ann".to_owned(), surface: None }));
    assert_eq!(read(r#"{"provider":"judge"}"#), Actor::Provider("judge".to_owned()));
    assert_eq!(read(r#""open-gate""#), Actor::OpenGate);
    let person = Actor::Person(Person { name: "ann".to_owned(), surface: Some(Surface::Terminal) });
    assert_eq!(serde_json::to_string(&person).unwrap(), r#"{"person":"ann","surface":"terminal"}"#);
    assert_eq!(serde_json::to_string(&Actor::OpenGate).unwrap(), r#""open-gate""#);
}

/// Nothing to approve lies there, so a reply and a retry name the prompt.
#[test]
fn while_a_reply_is_awaited_the_hash_is_that_of_the_prompt() {
    let scene = Scene::new();
    scene.create().unwrap();
    let gate_hash = || scene.engine.session_report(OPEN).unwrap().gate.unwrap().sha256;
    let prompt = gate_hash().unwrap();
    approve(&scene.engine).unwrap();
    assert_eq!(gate_hash().as_ref(), Some(&prompt));
    let expecting = |hash: &str| scene.engine.clone().expecting(Some(hash.to_owned()));
    let error = expecting("0123456789").respond(OPEN, "# Plan\n", None).unwrap_err();
    assert!(matches!(&error, SessionError::AnotherGate { .. }), "{error}");
    // Whoever saw the prompt alone has not seen what somebody else answered.
    let seen = scene.engine.seen_gate(OPEN).unwrap();
    expecting(&prompt).respond(OPEN, "# Plan\n", None).unwrap();
    assert_ne!(gate_hash().unwrap(), prompt);
    let error = scene.engine.clone().deciding_on(seen).respond(OPEN, "# Other\n", None).unwrap_err();
    assert!(matches!(&error, SessionError::AnotherGate { .. }), "{error}");
    // The same prompt, but the reply lies there now: the hash of the prompt no longer names the gate.
    let error = expecting(&prompt).respond(OPEN, "# Other\n", None).unwrap_err();
    assert!(matches!(&error, SessionError::AnotherGate { .. }), "{error}");
}
