//! How a provider is asked by sessions, gates, prompts and runs: the order of events, budgets, tools, interruptions.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it did not expect must fail"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use aiwf_engine::prompt::Recipe;
use aiwf_engine::{
    ApproveOptions, BuildOptions, CallEvent, ChangeFlags, Document, Engine, NewConversation, SessionError,
};
use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn as ServerTurn;
use serde_json::{Value, json};

use crate::fake_provider::{FakeProvider, Turn, journal};
use crate::scene::{CONFIG, Scene};

const OPEN: Option<&str> = None;
const ROLES: &str = "[roles]\ndefault = \"fake\"\n";
/// A tool that nobody offers: a call of it is refused, and that is a round like any other.
const GRANT: &str = "[tools.grant]\nplanning = [\"nobody__echo\"]\n";

/// A project whose user, not the project, set everything up: gates and tools need no further consent.
fn scene(config: &str, fake: &FakeProvider) -> Scene {
    let scene = Scene::new().with_provider("fake", fake.clone());
    scene.file(CONFIG, format!("{ROLES}{config}"))
}

/// The process dies in the middle of the first call; a later one is answered.
fn dying_first(reply: &'static str) -> FakeProvider {
    let mut is_first = true;
    FakeProvider::answering(move |_| {
        assert!(!std::mem::take(&mut is_first), "the process dies");
        Turn::text(reply)
    })
}

/// The end of the journal.
fn last(scene: &Scene, n_events: usize) -> Vec<String> {
    let all = journal(&scene.root());
    all[all.len() - n_events..].to_vec()
}

fn approve(engine: &Engine) -> Result<aiwf_engine::Decided, SessionError> {
    engine.approve(OPEN, &ApproveOptions::default())
}

fn calls(name: &str, arguments: &Value) -> String {
    format!("```json\n{}\n```\n", json!({ "tool_calls": [{ "name": name, "arguments": arguments }] }))
}

#[test]
fn a_session_records_a_request_before_it_is_sent() {
    let fake = FakeProvider::saying(["# Plan\n"]);
    let scene = scene("", &fake);
    scene.create().unwrap();
    let shown = scene.engine.preview_session(OPEN).unwrap().metadata.payload_sha256;
    approve(&scene.engine).unwrap();
    let asks = fake.asks();
    assert_eq!(asks.len(), 1);
    assert_eq!(asks[0].payload.sha256(), shown);
    assert_eq!(asks[0].journal.last().unwrap(), "prompt-sent");
    assert_eq!(last(&scene, 2), ["prompt-sent", "reply-received"]);
}

#[test]
fn an_approval_builds_its_payload_once_and_opens_its_provider_once() {
    let counted = Arc::new(Mutex::new(Vec::new()));
    let watched = |engine: Engine| {
        let counted = Arc::clone(&counted);
        engine.watched_by(move |event| {
            if let CallEvent::PromptBuilt { recipe: what } | CallEvent::ProviderOpened { provider: what } =
                event
            {
                counted.lock().unwrap().push(what.to_owned());
            }
        })
    };
    let fake = FakeProvider::saying(["# Plan\n"]);
    let scene_of_fake = scene("", &fake);
    scene_of_fake.create().unwrap();
    approve(&watched(scene_of_fake.engine.clone())).unwrap();
    assert_eq!(*counted.lock().unwrap(), ["session"]);
    counted.lock().unwrap().clear();
    // A provider of the configuration: for the refusal at the gate and for the call.
    let scene = Scene::new();
    scene.create().unwrap();
    approve(&watched(Engine::new(scene.engine.settings().clone()))).unwrap();
    let mut counted = counted.lock().unwrap().clone();
    counted.sort();
    assert_eq!(counted, ["manual", "session"]);
}

#[test]
fn an_approval_opens_an_api_once_and_keeps_its_connection_for_every_request() {
    let call = ServerTurn::tool_call("nobody__echo", json!({ "text": 1 }));
    let server = ModelServer::script([call, ServerTurn::text("# Plan\n")]);
    let provider = format!(
        "[providers.api]\ntype = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\n",
        server.openai_url()
    );
    let scene = Scene::configured(&format!("[roles]\ndefault = \"api\"\n{GRANT}{provider}"));
    scene.create().unwrap();
    let opened = Arc::new(Mutex::new(Vec::new()));
    let engine = scene.fresh_engine().watched_by({
        let opened = Arc::clone(&opened);
        move |event| {
            if let CallEvent::ProviderOpened { provider } = event {
                opened.lock().unwrap().push(provider.to_owned());
            }
        }
    });
    approve(&engine).unwrap();
    // The refused call is answered by a second request.
    assert_eq!(server.asks().len(), 2);
    assert_eq!(*opened.lock().unwrap(), ["api"]);
    assert_eq!(server.n_connections(), 1);
    assert_eq!(last(&scene, 1), ["reply-received"]);
}

#[test]
fn a_call_over_the_budget_is_not_made() {
    let fake = FakeProvider::saying(["# Plan\n"]);
    let scene = scene("[budget]\nmax_calls = 1\n", &fake);
    scene.create().unwrap();
    approve(&scene.engine).unwrap();
    // The plan is approved, and the next prompt would be the second call.
    approve(&scene.engine).unwrap();
    approve(&scene.engine).unwrap();
    assert_eq!(fake.asks().len(), 1);
    assert_eq!(last(&scene, 1), ["budget-reached"]);
}

#[test]
fn results_of_tools_are_on_record_before_the_next_request() {
    let call = calls("nobody__echo", &json!({ "text": 1 }));
    let fake = FakeProvider::saying([call.as_str(), "# Plan\n"]);
    let scene = scene(GRANT, &fake);
    scene.create().unwrap();
    approve(&scene.engine).unwrap();
    let asks = fake.asks();
    assert_eq!(asks.iter().map(|asked| asked.payload.turns.len()).collect::<Vec<_>>(), [0, 3]);
    let before = &asks[1].journal;
    assert_eq!(before[before.len() - 3..], ["prompt-sent", "tool-called", "asked-again"]);
    assert_eq!(last(&scene, 1), ["reply-received"]);
}

#[test]
fn a_budget_that_ends_between_two_rounds_is_a_failure() {
    let fake = FakeProvider::saying([calls("nobody__echo", &json!({ "text": 1 }))]);
    let scene = scene(&format!("{GRANT}[budget]\nmax_calls = 1\n"), &fake);
    scene.create().unwrap();
    approve(&scene.engine).unwrap_err();
    assert_eq!(fake.asks().len(), 1);
    assert_eq!(last(&scene, 3), ["prompt-sent", "tool-called", "ask-failed"]);
}

#[test]
fn the_same_failing_call_ends_the_loop_of_a_session_at_the_third_time() {
    let call = calls("nobody__echo", &json!({ "text": 1 }));
    let fake = FakeProvider::saying([call.as_str(), &call, &call]);
    let scene = scene(GRANT, &fake);
    scene.create().unwrap();
    let decided = approve(&scene.engine).unwrap();
    let said: String = decided.performed.iter().map(ToString::to_string).collect();
    assert!(said.contains("the same call failed 3 times"), "{said}");
    assert_eq!(fake.asks().len(), 3);
    assert_eq!(last(&scene, 2), ["tool-called", "reply-received"]);
}

#[test]
fn a_failed_call_keeps_its_partial_reply_and_can_be_retried() {
    let fake = FakeProvider::script([
        Turn::CutAfter { text: "Half a plan".to_owned(), n_bytes: 4 },
        Turn::text("# Plan\n"),
    ]);
    let scene = scene("", &fake);
    let id = scene.create().unwrap();
    approve(&scene.engine).unwrap_err();
    assert_eq!(last(&scene, 2), ["prompt-sent", "ask-failed"]);
    let half = format!(".aiwf/sessions/{id}/iteration-1/planning-response.partial-1.md");
    assert_eq!(scene.read(&half), "Half");
    scene.engine.retry(OPEN, None).unwrap();
    assert_eq!(fake.asks()[0].payload.sha256(), fake.asks()[1].payload.sha256());
    assert_eq!(last(&scene, 2), ["prompt-sent", "reply-received"]);
}

#[test]
fn after_any_failure_of_a_provider_a_retry_asks_again_with_the_same_prompt() {
    let cut = Turn::CutAfter { text: "# Plan\n\nOne.\n".to_owned(), n_bytes: 9 };
    for failure in [Turn::status(400), Turn::status(401), Turn::status(500), Turn::text(""), cut] {
        let fake = FakeProvider::script([failure, Turn::text("# Plan\n\nOne.\n")]);
        let scene = scene("", &fake);
        let id = scene.create().unwrap();
        approve(&scene.engine).unwrap_err();
        // Nothing is asked again by itself.
        scene.engine.run_session(OPEN).unwrap();
        assert_eq!(fake.asks().len(), 1);
        scene.engine.retry(OPEN, None).unwrap();
        let response = format!(".aiwf/sessions/{id}/iteration-1/planning-response.md");
        assert_eq!(scene.read(&response), "# Plan\n\nOne.\n");
        let asks = fake.asks();
        assert_eq!(asks[0].payload.sha256(), asks[1].payload.sha256());
        let events = scene.engine.session_events(OPEN).unwrap();
        let sent = events.iter().rev().map(|line| serde_json::to_value(&line.event).unwrap());
        let sent = sent.into_iter().find(|event| event["event"] == "prompt-sent").unwrap();
        assert_eq!(sent["n_earlier"], 1);
        let report = approve(&scene.engine).unwrap().report;
        assert_eq!(report.phase.to_string(), "generating");
    }
}

#[test]
fn a_call_that_a_dead_process_left_is_made_again_only_when_a_person_says_so() {
    let fake = dying_first("# Plan\n");
    let scene = scene("", &fake);
    scene.create().unwrap();
    catch_unwind(AssertUnwindSafe(|| approve(&scene.engine))).unwrap_err();
    assert_eq!(last(&scene, 1), ["prompt-sent"]);
    scene.engine.run_session(OPEN).unwrap();
    assert_eq!(fake.asks().len(), 1, "nobody pays twice without being asked");
    approve(&scene.engine).unwrap();
    assert_eq!(fake.asks().len(), 2);
    assert_eq!(last(&scene, 1), ["reply-received"]);
}

#[test]
fn a_judge_is_asked_like_everybody_else() {
    let fake = FakeProvider::saying(["<review>PASS</review>\n", "# Plan\n"]);
    let scene = scene("[gates]\n\"planning.prompt\" = \"ai:fake\"\n", &fake);
    scene.create().unwrap();
    scene.engine.run_session(OPEN).unwrap();
    let asks = fake.asks();
    let names: Vec<&str> = asks.iter().map(|asked| asked.name.as_str()).collect();
    assert_eq!(names, ["planning-1-gate", "planning-1"]);
    assert_eq!(asks[0].journal.last().unwrap(), "gate-asked");
    assert_eq!(asks[1].journal.last().unwrap(), "prompt-sent");
    assert!(asks[1].journal.contains(&"gate-answered".to_owned()), "{asks:#?}");
}

#[test]
fn a_judge_over_the_budget_is_not_asked() {
    let fake = FakeProvider::saying(["# Plan\n"]);
    let gates = "[gates]\n\"planning.response\" = \"ai:fake\"\n";
    let scene = scene(&format!("{gates}[budget]\nmax_calls = 1\n"), &fake);
    scene.create().unwrap();
    approve(&scene.engine).unwrap();
    assert_eq!(fake.asks().len(), 1);
    assert_eq!(last(&scene, 2), ["reply-received", "budget-reached"]);
}

#[test]
fn a_prompt_is_sent_as_it_was_built_and_leaves_no_record() {
    let fake = FakeProvider::saying(["Hello.\n"]);
    let scene = scene("", &fake);
    let document = Document::from_json(Recipe::Change, r#"{"instructions": "Say hello"}"#).unwrap();
    let options = BuildOptions { provider: Some("fake".to_owned()), ..BuildOptions::default() };
    let built = scene.engine.build(document, &ChangeFlags::default(), &options, &|_| ()).unwrap();
    let sent = scene.engine.send(&built, "fake", None).unwrap();
    assert_eq!(sent.payload_sha256, built.payload().sha256());
    assert_eq!(sent.payload_sha256, fake.asks()[0].payload.sha256());
    assert_eq!(std::fs::read_to_string(sent.reply_path()).unwrap(), "Hello.\n");
    assert_eq!(journal(&scene.root()), Vec::<String>::new());
}

fn talk(scene: &Scene) -> aiwf_engine::Run<'_> {
    let new = NewConversation { package: None, agent: None, provider: Some("fake") };
    scene.engine.start_conversation(&new).unwrap()
}

#[test]
fn a_run_asks_like_everybody_else_and_records_its_calls_one_by_one() {
    let call = calls("fs.read", &json!({ "path": "@project/note.md" }));
    let fake = FakeProvider::saying([call.as_str(), "It says hello.\n"]);
    let scene = scene("", &fake).file("note.md", "hello\n");
    let report = talk(&scene).say("What does the note say?").unwrap();
    assert_eq!(report.reply.as_deref(), Some("It says hello.\n"));
    let asks = fake.asks();
    assert_eq!(asks[0].journal.last().unwrap(), "run-asked");
    let before = &asks[1].journal;
    assert_eq!(before[before.len() - 4..], ["run-asked", "run-replied", "tool-ran", "run-asked"]);
    assert_eq!(last(&scene, 2), ["run-replied", "run-stopped"]);
}

#[test]
fn the_same_failing_call_ends_the_loop_of_a_run_at_the_third_time() {
    let call = calls("fs.read", &json!({ "path": "@project/nowhere.md" }));
    let fake = FakeProvider::saying([call.as_str(), &call, &call]);
    let scene = scene("", &fake);
    let report = talk(&scene).say("Read it").unwrap();
    assert_eq!(report.error.unwrap().code, "ENGINE_LOOP_DETECTED");
    assert_eq!(fake.asks().len(), 3);
}

#[test]
fn a_run_over_its_budget_is_not_asked_again() {
    let call = calls("fs.read", &json!({ "path": "@project/nowhere.md" }));
    let fake = FakeProvider::saying([call]);
    let scene = scene("[budget]\nmax_calls = 1\n", &fake);
    let report = talk(&scene).say("Read it").unwrap();
    assert_eq!(report.error.unwrap().code, "BUDGET_REACHED");
    assert_eq!(fake.asks().len(), 1);
    assert_eq!(last(&scene, 2), ["tool-ran", "run-stopped"]);
}
