//! Sessions that came with a directory: any user can look at them, and nobody acts on them before adopting them.

#![expect(clippy::disallowed_methods, reason = "tests move directories as a person would")]

use aiwf_engine::advice::Action;
use aiwf_engine::{ApplyOptions, Engine, SessionError};

use crate::driver::{PLAN, Session, approve, message};
use crate::scene::{Scene, engine_of};

/// The user's own configuration says: adopt whatever is there.
const ALWAYS: &str = "[trust]\nadopt = \"always\"\n";

/// The session of one user's project, and the engine of another user.
fn foreign() -> (Session, Engine) {
    let session = Session::new();
    let other = session.scene.other_user();
    (session, other)
}

#[test]
fn a_foreign_session_can_be_looked_at_and_no_command_acts_on_it() {
    let (session, other) = foreign();
    let id = session.which();
    let before = session.text("journal.jsonl");
    let acts: [(&str, Result<(), SessionError>); 11] = [
        ("step", other.step_session(id).map(|_| ())),
        ("run", other.run_session(id).map(|_| ())),
        ("approve", approve(&other, id).map(|_| ())),
        ("retry", other.retry(id, None).map(|_| ())),
        ("cancel", other.cancel(id, None).map(|_| ())),
        ("respond", other.respond(id, PLAN, None).map(|_| ())),
        ("reject", other.reject(id, "x").map(|_| ())),
        ("apply", other.apply(id, &ApplyOptions::default()).map(|_| ())),
        ("restore", other.restore(id, "plan.md")),
        ("accept", other.accept(id).map(|_| ())),
        ("rebind", other.rebind(id).map(|_| ())),
    ];
    for (act, result) in acts {
        let error = result.unwrap_err();
        assert!(message(&error).contains("is not yours: it came with this directory"), "{act}: {error}");
        let advice = error.advice().unwrap();
        assert!(advice.actions().any(|action| *action == Action::Adopt), "{act}: {advice:?}");
    }
    let report = other.session_report(id).unwrap();
    assert!(report.not_trusted.is_some_and(|why| why.contains("is not yours")));
    let mut listed = other.list_all().unwrap();
    other.mark_foreign(&mut listed);
    assert!(listed.iter().all(|entry| entry.is_foreign), "{listed:#?}");
    other.session_events(id).unwrap();
    other.preview_session(id).unwrap();
    assert!(other.verify(id).unwrap().problems.is_empty());
    assert_eq!(session.text("journal.jsonl"), before);
}

#[test]
fn a_user_can_adopt_always_and_a_project_cannot() {
    let (session, other) = foreign();
    session.scene.write(".aiwf/config.toml", ALWAYS);
    let refusal = message(&approve(&other, session.which()).unwrap_err());
    assert!(refusal.contains("`trust.adopt` can only be set in your own configuration"), "{refusal}");
    session.scene.write(".aiwf/config.toml", "");
    let config = session.scene.other_home().join(".aiwf/config.toml");
    session.scene.write(&config.display().to_string(), ALWAYS);
    approve(&other, session.which()).unwrap();
}

#[test]
fn a_moved_project_is_not_foreign() {
    let session = Session::new();
    let Scene { project, .. } = &session.scene;
    let moved = project.root().with_file_name("moved");
    std::fs::rename(project.root(), &moved).unwrap();
    approve(&engine_of(&moved, &project.home()), session.which()).unwrap();
}
