//! What a session may cost: looked at before a call, so that nothing is sent that is not allowed.

use aiwf_engine::config::Flags;
use aiwf_engine::prompt::Recipe;
use aiwf_engine::{BuildOptions, ChangeFlags, Document};

use crate::driver::{CODE, PLAN, REVISED, Session, at, review, yes};
use crate::fake_provider::{FakeProvider, Turn};
use crate::scene::{CONFIG, Scene};

/// A session whose every role is one model, with a budget.
fn session(budget: &str, flags: &Flags) -> (FakeProvider, Session) {
    let replies =
        [PLAN.to_owned(), CODE.to_owned(), review("FAIL", 1), REVISED.to_owned(), review("PASS", 0)];
    let model = FakeProvider::script(replies.map(Turn::Text));
    let session = Session::in_scene(Scene::of_model(&model, budget), flags);
    (model, session)
}

/// Changes the configuration as a person would.
#[track_caller]
fn set(session: &Session, from: &str, to: &str) {
    let config = session.scene.read(CONFIG);
    assert!(config.contains(from));
    session.scene.write(CONFIG, config.replace(from, to));
}

/// The session is paused, and another call is not made however often it is run.
#[track_caller]
fn is_paused(session: &Session, model: &FakeProvider, n_asks: usize, remark: &str) {
    for report in [session.status(), session.run()] {
        assert_eq!((report["status"].as_str(), report["remark"].as_str()), (Some("paused"), Some(remark)));
        assert_eq!(model.asks().len(), n_asks);
    }
    assert_eq!(session.event_names().last().unwrap(), "budget-reached");
}

#[test]
fn the_tokens_of_the_worst_case_count() {
    let (model, session) = session("max_output_tokens = 1_000\n[budget]\nmax_tokens = 3_000\n", &yes());
    let remark = "0 tokens are used, the next call may need 3537, and 3000 is the limit";
    is_paused(&session, &model, 0, remark);
    assert_eq!(at(&session.status()), ("planning", "response", 1));
    set(&session, "max_tokens = 3_000", "max_tokens = 3_000_000");
    assert_eq!(at(&session.run()), ("complete", "-", 2));
}

#[test]
fn an_approval_at_a_manual_gate_stops_at_the_budget_too() {
    let (model, session) = session("[budget]\nmax_tokens = 100\n", &Flags::default());
    // Approving again changes nothing while the limit stands.
    for _ in 0..2 {
        assert_eq!(session.approve()["status"], "paused");
        assert_eq!(model.asks().len(), 0);
    }
    set(&session, "max_tokens = 100", "max_tokens = 100_000");
    let asked = session.run();
    assert_eq!(at(&asked), ("planning", "response", 1));
    assert_eq!(asked["gate"]["state"], "pending");
}

#[test]
fn a_raised_limit_lets_a_paused_session_go_on_and_is_on_record() {
    let (model, session) = session("[budget]\nmax_calls = 2\n", &yes());
    is_paused(&session, &model, 2, "2 of 2 calls are used");
    set(&session, "max_calls = 2", "max_calls = 5");
    assert_eq!(at(&session.run()), ("complete", "-", 2));
    assert_eq!(model.asks().len(), 5);
    assert!(session.event_names().contains(&"budget-raised".to_owned()));
}

#[test]
fn a_limit_in_money_needs_a_price() {
    let (model, session) = session("[budget]\nmax_cost = 5.00\n", &Flags::default());
    let refusal = session.refused(crate::driver::approve);
    let expected = "`max_cost` is set, but model `scripted-model` of provider `model` has no known price";
    assert!(refusal.contains(expected), "{refusal}");
    assert_eq!(model.asks().len(), 0);
    set(&session, "[budget]", "[prices.\"scripted-model\"]\ninput = 3.0\noutput = 15.0\n[budget]");
    assert_eq!(at(&session.approve()), ("planning", "response", 1));
}

#[test]
fn a_prompt_that_is_sent_by_hand_is_held_to_the_budget() {
    let model = FakeProvider::saying(["Here."]);
    let scene = Scene::of_model(&model, "[budget]\nmax_tokens = 100\n");
    let document = Document::from_json(Recipe::Change, r#"{"instructions": "x", "phase": "plan"}"#).unwrap();
    let options = BuildOptions { provider: Some("model".to_owned()), ..BuildOptions::default() };
    let built = scene.engine.build(document, &ChangeFlags::default(), &options, &|_| ()).unwrap();
    let refused = scene.engine.send(&built, "model", None).unwrap_err();
    assert!(refused.to_string().contains("100 is the limit"), "{refused}");
    assert_eq!(model.asks().len(), 0);
}
