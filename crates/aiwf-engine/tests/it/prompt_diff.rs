//! Prompts compared: files, rounds and calls, and what of each call lies in the common prefix with the one before.

#![expect(clippy::disallowed_methods, reason = "these tests start git")]

use std::process::Command;

use aiwf_engine::config::Flags;
use aiwf_engine::prompt::Recipe;
use aiwf_engine::{
    BuildOptions, ChangeFlags, DiffError, DiffOptions, Document, PromptDiff, RequestRecord, SectionContent,
    prompt_json,
};
use serde_json::{Value, json};

use crate::driver::{CODE, PLAN, REVISED, Session, review};
use crate::fake_provider::{FakeProvider, Turn};
use crate::run_driver::{WAITING, run, say, small};
use crate::scene::Scene;
use crate::tool_loop::with_server;

#[track_caller]
fn diff(scene: &Scene, before: &str, after: &str) -> PromptDiff {
    let prompt = |name: &str| scene.engine.named_prompt(name).unwrap();
    scene.engine.diff_prompts(&prompt(before), &prompt(after), &DiffOptions::default()).unwrap()
}

#[track_caller]
fn cache(scene: &Scene) -> Value {
    serde_json::to_value(scene.engine.cache_report(Some("latest"), &DiffOptions::default()).unwrap()).unwrap()
}

/// The changes of a comparison: `=approved-plan`.
fn changes(diff: &PromptDiff) -> Vec<String> {
    diff.sections.iter().map(|section| format!("{}:{}", section.change, section.id)).collect()
}

/// A session of a model that was walked through two rounds of code and review.
fn two_rounds() -> (FakeProvider, Session) {
    let replies =
        [PLAN.to_owned(), CODE.to_owned(), review("FAIL", 1), REVISED.to_owned(), review("PASS", 0)];
    let model = FakeProvider::saying(replies);
    let session = Session::in_scene(Scene::of_model(&model, ""), &crate::driver::yes());
    session.run();
    (model, session)
}

#[test]
fn every_call_of_a_session_can_be_read_again() {
    let (model, session) = two_rounds();
    let report = cache(&session.scene);
    let calls = report["calls"].as_array().unwrap();
    let rounds: Vec<&str> = calls.iter().map(|call| call["round"].as_str().unwrap()).collect();
    assert_eq!(
        rounds,
        ["planning@1", "generating@1", "reviewing@1", "revising@2", "reviewing@2"],
        "{report:#}"
    );
    for (call, asked) in calls.iter().zip(model.asks()) {
        assert_eq!(call["payload_sha256"], asked.payload.sha256());
        assert!(call["tokens"].as_u64().unwrap() > 0);
        // What the scripted model reports.
        assert!(call["usage"]["input_tokens"].is_u64());
    }
    assert_eq!(report["pairs"].as_array().unwrap().len(), 4);
}

#[test]
fn a_round_is_compared_with_the_text_that_was_sent() {
    let (model, session) = two_rounds();
    let sent = |index: usize| model.asks()[index].as_prompt().len();
    let compared =
        diff(&session.scene, &format!("{}:reviewing@1", session.id), &format!("{}:reviewing@2", session.id));
    assert_eq!((compared.before.bytes, compared.after.bytes), (sent(2), sent(4)));
    let changes = changes(&compared);
    assert!(changes.contains(&"unchanged:approved-plan".to_owned()), "{changes:?}");
    assert!(changes.contains(&"unchanged:standards-bundle".to_owned()), "{changes:?}");
    assert!(changes.contains(&"changed:previous-code".to_owned()), "{changes:?}");
    let end = compared.prefix.ends_in.unwrap();
    assert_eq!(end.section, "previous-code");
    let code = compared.sections.iter().find(|section| section.id == "previous-code").unwrap();
    assert!(code.diff.as_ref().unwrap().contains("+@Entity"), "{:?}", code.diff);
    // The call by its number is the same text.
    let by_number =
        diff(&session.scene, &format!("{}@3", session.id), &format!("{}:reviewing@1", session.id));
    assert!(by_number.same);
}

#[test]
fn the_next_prompt_of_a_session_is_its_preview() {
    let session = Session::new();
    let preview = session.preview();
    let json = serde_json::to_string(&preview).unwrap();
    session.scene.write("next.json", json);
    let compared = diff(&session.scene, "next.json", &session.id);
    assert!(compared.same, "{compared:#?}");
    assert!(compared.sections.len() > 1);
    let ids: Vec<&str> =
        preview["sections"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(compared.sections.iter().map(|section| section.id.as_str()).collect::<Vec<_>>(), ids);
}

#[test]
fn what_is_not_there_is_an_error() {
    let session = Session::new();
    let error = |name: &str| session.engine().named_prompt(name).unwrap_err();
    assert!(matches!(error("none"), DiffError::NothingNamed { .. }));
    assert!(matches!(error(&format!("{}:reviewing@9", session.id)), DiffError::NoRound { .. }));
    assert!(matches!(error(&format!("{}@4", session.id)), DiffError::NoCall { number: 4, n_calls: 0, .. }));
}

#[test]
fn between_rounds_of_tools_everything_unchanged_is_in_the_prefix() {
    let call = |text: &str| Turn::tool_call("fake__echo", json!({ "text": text.repeat(300) }));
    let model = FakeProvider::script([call("one "), call("two "), Turn::text(PLAN)]);
    let granted = "[tools.grant]\nplanning = [\"fake__echo\"]\n";
    let session = Session::in_scene(with_server(Scene::of_model(&model, granted)), &Flags::default());
    session.approve();
    let report = cache(&session.scene);
    assert_eq!(report["calls"].as_array().unwrap().len(), 3, "{report:#}");
    let asks = model.asks();
    for (pair, asked) in report["pairs"].as_array().unwrap().iter().zip(&asks) {
        assert_eq!(pair["same_phase"], true);
        assert_eq!(pair["unchanged_share"], 1.0, "{pair:#}");
        // The whole request before is the beginning of the next one.
        let texts = asked.payload.system.iter().map(String::len).sum::<usize>()
            + asked.payload.messages.iter().map(|message| message.text().len()).sum::<usize>();
        assert!(pair["prefix"]["bytes"].as_u64().unwrap() > texts as u64, "{pair:#}");
        assert!(pair["prefix"].get("ends_in").is_none(), "{pair:#}");
    }
    assert_eq!(report["unchanged_share"], 1.0);
}

#[test]
fn between_turns_of_a_run_everything_unchanged_is_in_the_prefix() {
    let turns = (0..6).map(|n| Turn::text(format!("Answer {n}. {}", "Words and words. ".repeat(40))));
    let model = FakeProvider::script(turns.collect::<Vec<_>>());
    let scene = small(&model, "");
    run(&scene, WAITING);
    for n in 0..4 {
        say(&scene, &format!("Question {n}? {}", "Please tell me more. ".repeat(20)));
    }
    let report = cache(&scene);
    let calls = report["calls"].as_array().unwrap();
    assert_eq!(calls.len(), model.asks().len(), "{report:#}");
    for (call, asked) in calls.iter().zip(model.asks()) {
        assert_eq!(call["payload_sha256"], asked.payload.sha256());
        assert!(call["tokens"].is_u64(), "the request can be rebuilt: {call:#}");
    }
    assert!(report["unchanged_share"].as_f64().unwrap() >= 0.95, "{report:#}");
    // Rules and tools are stored once, not with every call.
    let journal = scene.engine.run_events("latest").unwrap();
    let with_parts =
        journal.iter().filter(|line| serde_json::to_value(&line.event).unwrap().get("parts").is_some());
    assert_eq!(with_parts.count(), 1);
}

#[test]
fn a_rejected_plan_keeps_what_stands_before_the_feedback() {
    let model = FakeProvider::saying([PLAN, PLAN]);
    let session = Session::in_scene(Scene::of_model(&model, ""), &Flags::default());
    session.approve();
    session.reject("Name the table.");
    session.approve();
    let report = cache(&session.scene);
    let pair = &report["pairs"][0];
    assert_eq!(pair["same_phase"], true, "{report:#}");
    // The order is the recipe's: what a person said stands before the profile's prompt, which is sent in full again.
    assert_eq!(pair["prefix"]["ends_in"]["section"], "rejected-reply", "{pair:#}");
    let compared = diff(&session.scene, &format!("{}@1", session.id), &format!("{}@2", session.id));
    let others = ["added:rejected-reply", "added:feedback", "unchanged:profile-prompt"];
    let after: Vec<String> = changes(&compared).into_iter().skip_while(|it| it != others[0]).collect();
    assert_eq!(after, others);
}

/// A project in a repository with one commit, whose template changed since.
fn with_history() -> Scene {
    const TEMPLATE: &str = ".aiwf/templates/system/BASE-plan.md";
    let scene = Scene::configured("").file(TEMPLATE, "Old rules.\n").file("AGENTS.md", "Old context.\n");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(scene.root()).args(args);
        git.envs([("HOME", scene.home()), ("GIT_CONFIG_GLOBAL", "/dev/null".into())])
            .env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(git.status().unwrap().success(), "git {args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"]);
    scene.file(TEMPLATE, "New rules.\n").file("AGENTS.md", "New context.\n")
}

/// The JSON of `prompt build` for a document, in a file of the project.
fn built(scene: &Scene, recipe: Recipe, document: &Value, provider: &str) {
    let document = Document::from_json(recipe, &document.to_string()).unwrap();
    let (flags, options) = (
        ChangeFlags::default(),
        BuildOptions { provider: Some(provider.to_owned()), ..BuildOptions::default() },
    );
    let request = RequestRecord::of(&document, &flags, &options);
    let mut built = scene.engine.build(document, &flags, &options, &|_| ()).unwrap();
    let json = prompt_json(&mut built, SectionContent::Included, Some(request));
    scene.write("built.json", serde_json::to_string(&json).unwrap());
}

#[test]
fn a_request_is_built_again_with_the_files_of_a_revision() {
    let scene = with_history();
    built(&scene, Recipe::Change, &json!({"phase": "plan", "instructions": "Do it."}), "anthropic");
    let before = scene.engine.prompt_at("built.json", "HEAD").unwrap();
    let after = scene.engine.named_prompt("built.json").unwrap();
    let compared = scene.engine.diff_prompts(&before, &after, &DiffOptions::default()).unwrap();
    assert_eq!(changes(&compared), ["changed:system-template", "unchanged:instructions"]);
    let lines = compared.sections[0].diff.as_ref().unwrap();
    assert!(lines.contains("-<prompt>") || lines.contains("Old rules."), "{lines}");
    assert!(lines.contains("New rules."), "{lines}");
    let error = scene.engine.prompt_at("built.json", "v9").unwrap_err();
    assert!(matches!(error, DiffError::NoRevision { .. }), "{error}");
}

#[test]
fn a_session_is_built_again_with_the_files_of_a_revision() {
    let session = Session::in_scene(with_history(), &Flags::default());
    let before = session.engine().prompt_at(&session.id, "HEAD").unwrap();
    let after = session.engine().named_prompt(&session.id).unwrap();
    let compared = session.engine().diff_prompts(&before, &after, &DiffOptions::default()).unwrap();
    let other: Vec<String> =
        changes(&compared).into_iter().filter(|it| !it.starts_with("unchanged:")).collect();
    assert_eq!(other, ["changed:project-context"], "{compared:#?}");
    assert!(compared.sections.len() > 2, "{compared:#?}");
}

#[test]
fn a_request_is_built_for_two_providers() {
    let scene = with_history();
    built(
        &scene,
        Recipe::Reply,
        &json!({"request": {"ai_message": "Done."}, "settings": {"system_prompt": "Be brief."}, "mode": "api"}),
        "anthropic",
    );
    let (first, second) = (
        scene.engine.prompt_for("built.json", "manual").unwrap(),
        scene.engine.prompt_for("built.json", "anthropic").unwrap(),
    );
    let compared = scene.engine.diff_prompts(&first, &second, &DiffOptions::default()).unwrap();
    assert_eq!(compared.after.provider.as_deref(), Some("anthropic"));
    let roles: Vec<&str> = compared.sections.iter().map(|section| section.role).collect();
    assert!(roles.contains(&"system"), "{compared:#?}");
    let session = Session::new();
    let compared = {
        let engine = session.engine();
        let prompt = |name: &str| engine.prompt_for(&session.id, name).unwrap();
        engine.diff_prompts(&prompt("manual"), &prompt("anthropic"), &DiffOptions::default()).unwrap()
    };
    // Only a person can save the reply to a file.
    assert!(
        changes(&compared).contains(&"removed:output-instructions".to_owned()),
        "{:?}",
        changes(&compared)
    );
    assert!(session.engine().prompt_for(&session.id, "nobody").is_err());
    assert!(matches!(
        session.engine().prompt_for(&format!("{}:reviewing@1", session.id), "manual").unwrap_err(),
        DiffError::NotRebuildable { .. }
    ));
}
