//! How a provider is asked by sessions, gates, prompts and runs: the order of events, budgets, tools, interruptions.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it did not expect must fail"
)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use aiwf_engine::prompt::Recipe;
use aiwf_engine::provider::{Answer, Ask, AskError, Check, Reply, Request, Sink};
use aiwf_engine::{
    ApproveOptions, BuildOptions, CallEvent, ChangeFlags, Document, Engine, NewConversation, SessionError,
};
use serde_json::{Value, json};

use crate::scene::Scene;

const OPEN: Option<&str> = None;
const ROLES: &str = "[roles]\ndefault = \"fake\"\n";
/// A tool that nobody offers: a call of it is refused, and that is a round like any other.
const GRANT: &str = "[tools.grant]\nplanning = [\"nobody__echo\"]\n";

/// What a fake provider does when it is asked.
enum Step {
    Says(String),
    Fails,
    /// The process dies in the middle of the call.
    Dies,
}

/// A request as the fake saw it: what was asked, and what the journal said by then.
#[derive(Clone, Debug)]
struct Seen {
    name: String,
    payload_sha256: String,
    turns: usize,
    journal: Vec<String>,
}

#[derive(Clone, Default)]
struct Fake {
    steps: Arc<Mutex<VecDeque<Step>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Fake {
    fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: Arc::new(Mutex::new(steps.into_iter().collect())), ..Self::default() }
    }

    fn saying(replies: &[&str]) -> Self {
        Self::new(replies.iter().map(|reply| Step::Says((*reply).to_owned())))
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Ask for Fake {
    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        let step = self.steps.lock().unwrap().pop_front();
        self.seen.lock().unwrap().push(Seen {
            name: request.name.to_owned(),
            payload_sha256: request.payload.sha256(),
            turns: request.payload.turns.len(),
            journal: journal(request.directory),
        });
        match step {
            Some(Step::Says(text)) => {
                sink.text(&text).unwrap();
                Ok(Answer::Reply(Reply::default()))
            }
            Some(Step::Fails) => {
                sink.text("Half").unwrap();
                Err(AskError::Cut { provider: "fake".to_owned(), message: "gone".to_owned(), usage: None })
            }
            Some(Step::Dies) => panic!("the process dies"),
            None => panic!("nothing is left to say"),
        }
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}

/// The names of the events of the only session or run of a project.
fn journal(root: &std::path::Path) -> Vec<String> {
    let ledgers = ["sessions", "runs"].map(|kind| std::fs::read_dir(root.join(".aiwf").join(kind)).ok());
    let text: String = ledgers
        .into_iter()
        .flatten()
        .flat_map(Iterator::flatten)
        .filter_map(|ledger| std::fs::read_to_string(ledger.path().join("journal.jsonl")).ok())
        .collect();
    let name = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["event"]["event"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    text.lines().map(name).collect()
}

/// A project whose user, not the project, set everything up: gates and tools need no further consent.
fn scene(config: &str, fake: &Fake) -> Scene {
    let scene = Scene::new().with_provider("fake", fake.clone());
    let path = scene.home().join(".aiwf/config.toml");
    scene.write(path.to_str().unwrap(), &format!("{ROLES}{config}"));
    scene
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
fn a_session_records_that_it_asks_before_anybody_is_asked() {
    let fake = Fake::saying(&["# Plan\n"]);
    let scene = scene("", &fake);
    scene.create().unwrap();
    let shown = scene.engine.preview_session(OPEN).unwrap().metadata.payload_sha256;
    approve(&scene.engine).unwrap();
    let seen = fake.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].payload_sha256, shown);
    assert_eq!(seen[0].journal.last().unwrap(), "prompt-sent");
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
    let fake = Fake::saying(&["# Plan\n"]);
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
fn a_call_over_the_budget_is_not_made() {
    let fake = Fake::saying(&["# Plan\n"]);
    let scene = scene("[budget]\nmax_calls = 1\n", &fake);
    scene.create().unwrap();
    approve(&scene.engine).unwrap();
    // The plan is approved, and the next prompt would be the second call.
    approve(&scene.engine).unwrap();
    approve(&scene.engine).unwrap();
    assert_eq!(fake.seen().len(), 1);
    assert_eq!(last(&scene, 1), ["budget-reached"]);
}

#[test]
fn results_of_tools_are_on_record_before_the_next_request() {
    let call = calls("nobody__echo", &json!({ "text": 1 }));
    let fake = Fake::saying(&[&call, "# Plan\n"]);
    let scene = scene(GRANT, &fake);
    scene.create().unwrap();
    approve(&scene.engine).unwrap();
    let seen = fake.seen();
    assert_eq!(seen.iter().map(|seen| seen.turns).collect::<Vec<_>>(), [0, 3]);
    let before = &seen[1].journal;
    assert_eq!(before[before.len() - 3..], ["prompt-sent", "tool-called", "asked-again"]);
    assert_eq!(last(&scene, 1), ["reply-received"]);
}

#[test]
fn a_budget_that_ends_between_two_rounds_is_a_failure() {
    let fake = Fake::saying(&[&calls("nobody__echo", &json!({ "text": 1 }))]);
    let scene = scene(&format!("{GRANT}[budget]\nmax_calls = 1\n"), &fake);
    scene.create().unwrap();
    approve(&scene.engine).unwrap_err();
    assert_eq!(fake.seen().len(), 1);
    assert_eq!(last(&scene, 3), ["prompt-sent", "tool-called", "ask-failed"]);
}

#[test]
fn the_same_failing_call_ends_the_loop_of_a_session_at_the_third_time() {
    let call = calls("nobody__echo", &json!({ "text": 1 }));
    let fake = Fake::saying(&[&call, &call, &call]);
    let scene = scene(GRANT, &fake);
    scene.create().unwrap();
    let decided = approve(&scene.engine).unwrap();
    let said: String = decided.performed.iter().map(ToString::to_string).collect();
    assert!(said.contains("the same call failed 3 times"), "{said}");
    assert_eq!(fake.seen().len(), 3);
    assert_eq!(last(&scene, 2), ["tool-called", "reply-received"]);
}

#[test]
fn a_provider_that_fails_half_way_leaves_what_it_said_and_can_be_asked_again() {
    let fake = Fake::new([Step::Fails, Step::Says("# Plan\n".to_owned())]);
    let scene = scene("", &fake);
    let id = scene.create().unwrap();
    approve(&scene.engine).unwrap_err();
    assert_eq!(last(&scene, 2), ["prompt-sent", "ask-failed"]);
    let half = format!(".aiwf/sessions/{id}/iteration-1/planning-response.partial-1.md");
    assert_eq!(scene.read(&half), "Half");
    scene.engine.retry(OPEN).unwrap();
    assert_eq!(fake.seen()[0].payload_sha256, fake.seen()[1].payload_sha256);
    assert_eq!(last(&scene, 2), ["prompt-sent", "reply-received"]);
}

#[test]
fn a_call_that_a_dead_process_left_is_made_again_only_when_a_person_says_so() {
    let fake = Fake::new([Step::Dies, Step::Says("# Plan\n".to_owned())]);
    let scene = scene("", &fake);
    scene.create().unwrap();
    catch_unwind(AssertUnwindSafe(|| approve(&scene.engine))).unwrap_err();
    assert_eq!(last(&scene, 1), ["prompt-sent"]);
    scene.engine.run_session(OPEN).unwrap();
    assert_eq!(fake.seen().len(), 1, "nobody pays twice without being asked");
    approve(&scene.engine).unwrap();
    assert_eq!(fake.seen().len(), 2);
    assert_eq!(last(&scene, 1), ["reply-received"]);
}

#[test]
fn a_judge_is_asked_like_everybody_else() {
    let fake = Fake::saying(&["<review>PASS</review>\n", "# Plan\n"]);
    let scene = scene("[gates]\n\"planning.prompt\" = \"ai:fake\"\n", &fake);
    scene.create().unwrap();
    scene.engine.run_session(OPEN).unwrap();
    let seen = fake.seen();
    let names: Vec<&str> = seen.iter().map(|seen| seen.name.as_str()).collect();
    assert_eq!(names, ["planning-1-gate", "planning-1"]);
    assert_eq!(seen[0].journal.last().unwrap(), "gate-asked");
    assert_eq!(seen[1].journal.last().unwrap(), "prompt-sent");
    assert!(seen[1].journal.contains(&"gate-answered".to_owned()), "{seen:#?}");
}

#[test]
fn a_judge_over_the_budget_is_not_asked() {
    let fake = Fake::saying(&["# Plan\n"]);
    let gates = "[gates]\n\"planning.response\" = \"ai:fake\"\n";
    let scene = scene(&format!("{gates}[budget]\nmax_calls = 1\n"), &fake);
    scene.create().unwrap();
    approve(&scene.engine).unwrap();
    assert_eq!(fake.seen().len(), 1);
    assert_eq!(last(&scene, 2), ["reply-received", "budget-reached"]);
}

#[test]
fn a_prompt_is_sent_as_it_was_built_and_leaves_no_record() {
    let fake = Fake::saying(&["Hello.\n"]);
    let scene = scene("", &fake);
    let document = Document::from_json(Recipe::Change, r#"{"instructions": "Say hello"}"#).unwrap();
    let options = BuildOptions { provider: Some("fake".to_owned()), ..BuildOptions::default() };
    let built = scene.engine.build(document, &ChangeFlags::default(), &options, &|_| ()).unwrap();
    let sent = scene.engine.send(&built, "fake", None).unwrap();
    assert_eq!(sent.payload_sha256, built.payload().sha256());
    assert_eq!(sent.payload_sha256, fake.seen()[0].payload_sha256);
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
    let fake = Fake::saying(&[&call, "It says hello.\n"]);
    let scene = scene("", &fake).file("note.md", "hello\n");
    let report = talk(&scene).say("What does the note say?").unwrap();
    assert_eq!(report.reply.as_deref(), Some("It says hello.\n"));
    let seen = fake.seen();
    assert_eq!(seen[0].journal.last().unwrap(), "run-asked");
    let before = &seen[1].journal;
    assert_eq!(before[before.len() - 4..], ["run-asked", "run-replied", "tool-ran", "run-asked"]);
    assert_eq!(last(&scene, 2), ["run-replied", "run-stopped"]);
}

#[test]
fn the_same_failing_call_ends_the_loop_of_a_run_at_the_third_time() {
    let call = calls("fs.read", &json!({ "path": "@project/nowhere.md" }));
    let fake = Fake::saying(&[&call, &call, &call]);
    let scene = scene("", &fake);
    let report = talk(&scene).say("Read it").unwrap();
    assert_eq!(report.error.unwrap().code, "ENGINE_LOOP_DETECTED");
    assert_eq!(fake.seen().len(), 3);
}

#[test]
fn a_run_over_its_budget_is_not_asked_again() {
    let call = calls("fs.read", &json!({ "path": "@project/nowhere.md" }));
    let fake = Fake::saying(&[&call]);
    let scene = scene("[budget]\nmax_calls = 1\n", &fake);
    let report = talk(&scene).say("Read it").unwrap();
    assert_eq!(report.error.unwrap().code, "BUDGET_REACHED");
    assert_eq!(fake.seen().len(), 1);
    assert_eq!(last(&scene, 2), ["tool-ran", "run-stopped"]);
}
