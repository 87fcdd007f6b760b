//! Changes whose phases are done by different models.

use std::path::PathBuf;

use aiwf_engine::config::Flags;

use crate::driver::{Change, IMPLEMENTATION, TASKS, new_change, verdict, yes};
use crate::fake_provider::FakeProvider;
use crate::scene::{CONFIG, Scene};

const MODELS: &str = "[providers.one]\ntype = \"anthropic\"\nmodel = \"m\"\n\
     [providers.two]\ntype = \"openai\"\nmodel = \"m\"\n\
     [providers.three]\ntype = \"gemini\"\nmodel = \"m\"\n";
const AGENTS: &str = "[change]\nagents = { plan = \"three\", challenge = \"two\", implement = \"one\" }\n[roles]\ndefault = \"two\"\n";

/// A change whose three models are one script.
fn in_scene(models: &FakeProvider, more: &str, flags: Flags) -> Change {
    let mut scene = Scene::configured(&format!("{MODELS}{AGENTS}{more}"));
    for name in ["one", "two", "three"] {
        scene = scene.with_provider(name, models.clone());
    }
    Change::in_scene(scene, flags)
}

#[test]
fn every_phase_is_one_call_whose_only_text_is_the_prompt() {
    let replies = [
        TASKS.to_owned(),
        verdict("NEEDS_REVISION"),
        "# Plan two\n".to_owned(),
        verdict("PASS"),
        IMPLEMENTATION.to_owned(),
        verdict("PASS"),
        "# Record\n".to_owned(),
    ];
    let models = FakeProvider::saying(replies);
    let change = in_scene(&models, "", Flags::default());
    let report = change.engine().clone().skipping_gates(true).run_change("login", None).unwrap().report;
    assert_eq!(report.phase.as_str(), "complete");
    let prompts = [
        "iteration-1/plan-prompt.md",
        "iteration-1/challenge-prompt.md",
        "iteration-2/plan-prompt.md",
        "iteration-2/challenge-prompt.md",
        "iteration-2/implement-prompt.md",
        "iteration-2/review-prompt.md",
        "iteration-2/archive-prompt.md",
    ];
    let asks = models.asks();
    assert_eq!(asks.len(), prompts.len());
    for (ask, prompt) in asks.iter().zip(prompts) {
        assert_eq!(ask.user_messages(), [change.text(prompt)], "{prompt}");
        assert_eq!(ask.system_text(), "", "{prompt}");
    }
    // Each model gets the template of its family.
    assert!(change.text("iteration-1/plan-prompt.md").contains("Agent: GEMINI"));
    assert!(change.text("iteration-1/challenge-prompt.md").contains("Agent: CODEX"));
    assert!(change.text("iteration-2/implement-prompt.md").contains("Agent: CLAUDE"));
    let usage = change.engine().session_usage(change.which()).unwrap();
    assert_eq!((usage.total.calls, usage.name.as_deref()), (7, Some("login")));
}

#[test]
fn a_verdict_that_says_no_stops_a_run() {
    let models = FakeProvider::saying([TASKS.to_owned(), verdict("REJECTED")]);
    let change = in_scene(&models, "", yes());
    let report = change.run();
    assert_eq!((report["phase"].as_str(), report["status"].as_str()), (Some("challenge"), Some("rejected")));
    assert_eq!(models.asks().len(), 2);
}

#[test]
fn the_budget_pauses_a_change_and_raising_it_resumes_the_change() {
    let models = FakeProvider::saying([TASKS.to_owned(), verdict("REJECTED")]);
    let change = in_scene(&models, "[budget]\nmax_calls = 1\n", yes());
    assert_eq!(change.run()["status"], "paused");
    assert_eq!(models.asks().len(), 1);
    change.scene.write(CONFIG, format!("{MODELS}{AGENTS}"));
    assert_eq!(change.phase("challenge")["status"], "rejected");
}

#[test]
fn a_model_can_stand_at_a_gate_of_a_change() {
    let replies = [TASKS.to_owned(), verdict("NEEDS_REVISION"), "# Better\n".to_owned(), verdict("PASS")];
    let models = FakeProvider::saying(replies);
    let gates = "[gates]\n\"plan.prompt\" = \"skip\"\n[gates.\"plan.response\"]\napprover = \"ai:two\"\nmax_retries = 2\n";
    let change = in_scene(&models, gates, Flags::default());
    let report = change.phase("plan");
    assert_eq!(report["phase"], "challenge");
    assert_eq!(change.text("plan.md"), "# Better\n");
    let second = &models.asks()[2].user_messages()[0];
    assert!(second.contains("Your last reply was rejected"), "{second}");
}

#[test]
fn a_recorded_run_is_replayed_to_the_byte() {
    let replies = [
        TASKS.to_owned(),
        verdict("PASS"),
        IMPLEMENTATION.to_owned(),
        verdict("PASS"),
        "# Record\n".to_owned(),
    ];
    let models = FakeProvider::saying(replies);
    let change = in_scene(&models, "", yes());
    let recording = change.engine().clone().recording_to(Some(PathBuf::from("tape")));
    recording.run_change("login", None).unwrap();
    let tape = |name| format!("[providers.{name}]\ntype = \"replay\"\ndir = \"tape\"\n");
    let tapes = ["one", "two", "three"].map(tape).concat();
    change.scene.write(CONFIG, "");
    change.scene.write(".aiwf/config.toml", format!("{tapes}{AGENTS}"));
    let files = ["iteration-1/plan-prompt.md", "iteration-1/review-prompt.md", "implementation.md"];
    let recorded = files.map(|file| change.text(file));
    let engine = change.scene.fresh_engine();
    let id = engine.create_change(new_change("again", yes())).unwrap().session_id;
    let report = engine.run_change("again", None).unwrap().report;
    assert_eq!(report.phase.as_str(), "complete");
    assert_eq!(models.asks().len(), 5);
    assert_eq!(files.map(|file| change.scene.read(&format!(".aiwf/sessions/{id}/{file}"))), recorded);
}
