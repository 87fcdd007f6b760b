//! What a program that embeds the engine can do; the examples of the book are run here.

use aiwf_engine::{ApproveOptions, SessionStatus};

use crate::fake_provider::FakeProvider;
use crate::scene::{REVIEW_PASS, Scene};

#[path = "../../examples/own_provider.rs"]
mod own_provider;
#[path = "../../examples/tool_calls.rs"]
mod tool_calls;

#[test]
fn a_session_asks_a_provider_of_the_program() {
    let scene = Scene::new().file(".aiwf/config.toml", "[roles]\ndefault = \"fake\"\n");
    let fake = FakeProvider::saying(["# Plan\n", "<<<FILE: Button.tsx>>>\nexport {}\n", REVIEW_PASS]);
    let scene = scene.with_provider("fake", fake.clone());
    scene.create().unwrap();
    // The shown prompt is the one that is asked with, and it asks for text: nothing is said about saving.
    let shown = scene.prompt();
    let mut report = scene.approve().report;
    while report.status != SessionStatus::Complete {
        report = scene.engine.approve(None::<&str>, &ApproveOptions::default()).unwrap().report;
    }
    let asks = fake.asks();
    assert_eq!((asks.len(), &asks[0].user_messages()), (3, &vec![shown.clone()]));
    assert!(!shown.contains("Save your complete response"), "{shown}");
    let listed = scene.engine.providers(None).unwrap();
    assert!(listed.iter().any(|provider| provider.name == "fake" && provider.can_be_asked));
}

#[test]
fn the_example_of_an_own_provider_works() {
    let directory = tempfile::tempdir().unwrap();
    assert!(own_provider::ask_in(directory.path()).unwrap().starts_with("The prompt has "));
    own_provider::main().unwrap();
}

#[test]
fn the_example_of_tool_calls_works() {
    tool_calls::main();
}

#[test]
fn a_program_runs_the_tool_loop_with_a_model_of_its_own() {
    let project = tempfile::tempdir().unwrap();
    let call = "<tool_call>{\"name\": \"files__read\", \"arguments\": {}}</tool_call>";
    let mut seen = Vec::new();
    let (answer, exchange) = tool_calls::ask_with_tools(project.path(), "What is in it?", |payload| {
        seen.push(payload.turns.last().map(|turn| turn.content().to_owned()));
        if seen.len() == 1 { call.to_owned() } else { "Nothing that I may read.".to_owned() }
    })
    .unwrap();
    assert_eq!(answer, "Nothing that I may read.");
    // The second request has the reply and what became of its call: nobody granted the tool.
    assert_eq!((seen.len(), exchange.turns.len()), (2, 3));
    let told = seen[1].as_deref().unwrap();
    assert!(told.contains("### Result 1 of `files__read`") && told.contains("Continue: "), "{told}");
    // A model that calls the same thing again and again is not asked for ever.
    let mut n_asked = 0;
    let (last, _) = tool_calls::ask_with_tools(project.path(), "What is in it?", |_| {
        n_asked += 1;
        call.to_owned()
    })
    .unwrap();
    assert_eq!((last.as_str(), n_asked), (call, 3));
}
