//! How often a session may try: caps that are raised, kept, and found too low.

use aiwf_engine::config::Flags;
use aiwf_engine::{Decided, Engine, SessionError};

use crate::driver::{CODE, PLAN, REVISED, Session, approve, at, begin, review};
use crate::scene::{CONFIG, Scene};

fn cap(max_iterations: u32) -> String {
    format!("[session]\nmax_iterations = {max_iterations}\n")
}

fn limited(max_iterations: u32) -> Session {
    Session::in_scene(Scene::configured(&cap(max_iterations)), &Flags::default())
}

/// A session whose only iteration failed its review.
fn paused() -> Session {
    let session = limited(1);
    session.answer(PLAN);
    session.answer(CODE);
    assert_eq!(session.answer(&review("FAIL", 1))["status"], "paused");
    session
}

#[test]
fn a_cap_that_is_raised_in_the_configuration_wakes_a_paused_session() {
    type Act = fn(&Engine, Option<&str>) -> Result<Decided, SessionError>;
    let acts: [(&str, Act); 3] = [
        ("step", |engine, id| engine.step_session(id)),
        ("run", |engine, id| engine.run_session(id)),
        ("approve", approve),
    ];
    for (name, act) in acts {
        let session = paused();
        assert_eq!(session.run()["status"], "paused", "{name}");
        session.scene.write(CONFIG, cap(3));
        let report = session.done(act);
        assert_eq!(at(&report), ("revising", "prompt", 2), "{name}");
        // The prompt nobody has seen yet is not approved by that.
        assert_eq!(report["gate"]["state"], "pending", "{name}");
        let events = session.events();
        let raised = events.iter().rev().nth(1).unwrap();
        assert_eq!(
            (raised["event"].as_str(), raised["max_iterations"].as_u64()),
            (Some("cap-raised"), Some(3))
        );
        assert!(session.is_intact(), "{name}");
    }
}

#[test]
fn a_cap_that_was_raised_before_the_last_review_does_not_pause() {
    let session = limited(1);
    session.answer(PLAN);
    session.answer(CODE);
    session.scene.write(CONFIG, cap(2));
    assert_eq!(at(&session.answer(&review("FAIL", 1))), ("revising", "prompt", 2));
    session.answer(REVISED);
    assert_eq!(session.answer(&review("FAIL", 1))["status"], "paused");
}

#[test]
fn a_configuration_that_allows_no_more_leaves_a_session_paused() {
    let session = paused();
    let refusal = session.refused(approve);
    assert!(refusal.contains("asked for another round, but the limit is reached"), "{refusal}");
    assert_eq!(session.step()["status"], "paused");
    assert_eq!(at(&session.done(|engine, id| engine.raise_cap(id, 3))), ("revising", "prompt", 2));
    session.scene.write(CONFIG, cap(2));
    session.answer(REVISED);
    assert_eq!(at(&session.answer(&review("FAIL", 1))), ("revising", "prompt", 3));
}

#[test]
fn edited_files_keep_a_paused_session_from_waking() {
    let session = paused();
    session.scene.write(CONFIG, cap(3));
    session.write("plan.md", "# Another plan\n");
    let refusal = session.refused(|engine, id| engine.run_session(id));
    assert!(refusal.contains("approved files were changed after their approval"), "{refusal}");
    assert!(!session.event_names().contains(&"cap-raised".to_owned()));
}

#[test]
fn the_latest_session_is_the_one_that_began_last_even_within_a_second() {
    let scene = Scene::new();
    for _ in 0..4 {
        let id = begin(&scene, &Flags::default()).unwrap();
        assert_eq!(scene.engine.session_report(Some("latest")).unwrap().session_id, id);
    }
}
