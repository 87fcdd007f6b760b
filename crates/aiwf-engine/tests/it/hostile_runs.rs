//! Runs that came with a checkout: any user can look at them, nobody acts on them before adopting them, and a journal
//! with a valid chain that aiwf would not have written is refused.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test changes one kind of event and leaves the others")]

use std::fs;
use std::path::{Path, PathBuf};

use aiwf_engine::machine::{Call, Dollars, LeftOut, LeftOutKind, TouchedFile, Usage};
use aiwf_engine::provider::{Answer, Ask, AskError, Check, Reply, Request, Sink};
use aiwf_engine::{Engine, ForkedFrom, NewConversation, NewRun, RunError, RunEvent, StateWriter};
use aiwf_store::Journal;

use crate::scene::{Scene, tree};

/// Answers every request with one line and calls no tool.
struct Talker;

impl Ask for Talker {
    fn ask(&self, _request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        sink.text("Hello.\n").unwrap();
        Ok(Answer::Reply(Reply::default()))
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}

/// What becomes of an event.
type Forge = fn(RunEvent) -> RunEvent;

/// A project with a run of a package, and another user who finds it there.
struct Checkout {
    scene: Scene,
    other: Engine,
    id: String,
}

impl Checkout {
    fn new() -> Self {
        Self::with_package("flow")
    }

    /// The package is at this path, relative to the project.
    fn with_package(path: &str) -> Self {
        let scene = Scene::new().with_provider("talker", Talker);
        scene.engine.new_package("flow").unwrap();
        if path != "flow" {
            fs::rename(scene.root().join("flow"), scene.root().join(path)).unwrap();
        }
        let new = NewRun {
            package: Path::new(path),
            workflow: None,
            agent: None,
            provider: Some("talker"),
            is_autopilot: false,
        };
        let mut run = scene.engine.start_run(&new).unwrap();
        run.start(Some("hello")).unwrap();
        let id = run.id().to_owned();
        drop(run);
        let other = scene.other_user().with_provider("talker", Talker);
        Self { scene, other, id }
    }

    fn run(&self) -> PathBuf {
        self.scene.root().join(".aiwf/sessions").join(&self.id)
    }

    /// Writes the journal anew, every event changed, with a chain that is right.
    fn forge(&self, change: impl FnMut(RunEvent) -> RunEvent) {
        let path = self.run().join("journal.jsonl");
        let journal = Journal::<RunEvent>::open_path(&path).unwrap();
        let events: Vec<RunEvent> = journal.lines().iter().map(|line| line.event.clone()).collect();
        fs::remove_file(&path).unwrap();
        let mut journal = Journal::<RunEvent>::open_path(&path).unwrap();
        journal.append("2026-01-02T03:04:05Z", events.into_iter().map(change).collect()).unwrap();
        fs::remove_file(self.run().join("run.json")).ok();
    }

    fn add(&self, event: RunEvent) {
        let mut journal = Journal::<RunEvent>::open_path(&self.run().join("journal.jsonl")).unwrap();
        journal.append("2026-01-02T03:04:05Z", vec![event]).unwrap();
        fs::remove_file(self.run().join("run.json")).ok();
    }

    /// Every command that looks, with what it says when it is refused.
    fn look(&self, engine: &Engine) -> Vec<(&'static str, Option<String>)> {
        let id = self.id.as_str();
        let said = |result: Result<(), RunError>| result.err().map(|error| error.to_string());
        vec![
            ("list", said(engine.runs().map(drop))),
            ("status", said(engine.run_status(id).map(drop))),
            ("show", said(engine.run_history(id).map(drop))),
            ("preview", said(engine.preview_run(id, Some("more")).map(drop))),
            ("verify", said(engine.verify_run(id).map(drop))),
        ]
    }

    /// Every command that acts.
    fn act(&self, engine: &Engine) -> Vec<(&'static str, Option<String>)> {
        let id = self.id.as_str();
        let said = |result: Result<(), RunError>| result.err().map(|error| error.to_string());
        vec![
            ("resume", said(engine.open_run(id, None).and_then(|mut run| run.resume(None).map(drop)))),
            ("say", said(engine.open_run(id, None).and_then(|mut run| run.say("go on").map(drop)))),
            ("rewind", said(engine.rewind_run(id, "gather", None).map(drop))),
            ("fork", said(engine.fork_run(id, "gather", None).map(drop))),
            ("cancel", said(engine.cancel_run(id, None).map(drop))),
        ]
    }

    #[track_caller]
    fn expect_all_refused(&self, problem: &str) {
        let before = tree(&self.scene.world());
        for engine in [&self.scene.engine, &self.other] {
            let mut said = self.look(engine);
            // A list names what it cannot read and goes on.
            assert_eq!(said.remove(0), ("list", None));
            assert!(engine.runs().unwrap().iter().all(|run| run.problem.is_some()), "{problem}");
            for (command, said) in said.into_iter().chain(self.act(engine)) {
                let said = said.unwrap_or_else(|| "not refused".to_owned());
                assert!(said.contains(problem), "{command}: {said}");
            }
        }
        assert_eq!(tree(&self.scene.world()), before);
    }
}

#[test]
fn a_foreign_run_can_be_looked_at_and_no_command_acts_on_it() {
    let checkout = Checkout::new();
    let before = tree(&checkout.scene.world());
    for (command, said) in checkout.look(&checkout.other) {
        assert_eq!(said, None, "{command}");
    }
    for (command, said) in checkout.act(&checkout.other) {
        let said = said.unwrap_or_else(|| "not refused".to_owned());
        assert!(said.contains("is not yours: it came with this directory"), "{command}: {said}");
    }
    assert_eq!(tree(&checkout.scene.world()), before);
    let warnings = checkout.other.run_status(&checkout.id).unwrap().report.warnings;
    assert!(warnings.iter().any(|warning| warning.contains("is not yours")), "{warnings:?}");

    // Adopting it is what makes the difference, and nothing else does.
    let adoption = checkout.other.adoption(&checkout.id).unwrap();
    assert_eq!(adoption.providers, ["talker"]);
    checkout.other.adopt(&adoption).unwrap();
    for (command, said) in checkout.act(&checkout.other) {
        let said = said.unwrap_or_default();
        assert!(!said.contains("is not yours"), "{command}: {said}");
    }
}

#[test]
fn a_foreign_conversation_is_not_resumed() {
    let scene = Scene::new().with_provider("talker", Talker);
    let new = NewConversation { package: None, agent: None, provider: Some("talker") };
    let mut run = scene.engine.start_conversation(&new).unwrap();
    run.start(Some("hello")).unwrap();
    let id = run.id().to_owned();
    drop(run);
    let other = scene.other_user().with_provider("talker", Talker);
    let before = tree(&scene.world());
    other.run_history(&id).unwrap();
    for refused in [other.open_run(&id, None).map(drop), other.cancel_run(&id, None).map(drop)] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("is not yours"), "{refused}");
    }
    assert_eq!(tree(&scene.world()), before);
    scene.engine.open_run(&id, None).unwrap().say("go on").unwrap();
}

#[test]
fn the_package_of_a_foreign_run_stays_in_the_project() {
    for path in ["elsewhere", "linked"] {
        let checkout = Checkout::with_package("../elsewhere");
        if path == "linked" {
            let elsewhere = checkout.scene.root().join("../elsewhere");
            std::os::unix::fs::symlink(elsewhere, checkout.scene.root().join("linked")).unwrap();
            checkout.forge(|event| match event {
                RunEvent::RunCreated { mut setup } => {
                    setup.package.as_mut().unwrap().path = "linked".to_owned();
                    RunEvent::RunCreated { setup }
                }
                event => event,
            });
        }
        let outside = "is outside the project";
        let refused = checkout.other.preview_run(&checkout.id, None).unwrap_err().to_string();
        assert!(refused.contains(outside), "{path}: {refused}");
        let status = checkout.other.run_status(&checkout.id).unwrap();
        assert!(status.report.warnings.iter().any(|warning| warning.contains(outside)), "{path}");
        assert!(status.nodes.is_empty(), "{path}: nothing of the package is shown");
        let problems = checkout.other.verify_run(&checkout.id).unwrap().problems;
        assert!(problems.iter().any(|problem| problem.contains(outside)), "{path}: {problems:?}");
        let adoption = checkout.other.adoption(&checkout.id).unwrap();
        assert!(adoption.about.contains(path), "{}", adoption.about);
        checkout.other.adopt(&adoption).unwrap();
        checkout.other.preview_run(&checkout.id, None).unwrap();
    }
    // The user who began the run typed the path.
    let checkout = Checkout::with_package("../elsewhere");
    checkout.scene.engine.preview_run(&checkout.id, None).unwrap();
}

#[test]
fn a_run_in_a_directory_of_another_name_is_refused_and_is_not_the_latest() {
    let checkout = Checkout::new();
    let impostor = "99991231-235959-ffff";
    let directory = checkout.scene.root().join(".aiwf/sessions").join(impostor);
    fs::create_dir(&directory).unwrap();
    fs::copy(checkout.run().join("journal.jsonl"), directory.join("journal.jsonl")).unwrap();
    let engine = &checkout.scene.engine;
    assert_eq!(engine.run_status("latest").unwrap().report.run_id, checkout.id);
    for refused in [
        engine.run_status(impostor).map(drop),
        engine.open_run(impostor, None).map(drop),
        engine.cancel_run(impostor, None).map(drop),
    ] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(&format!("it is the journal of `{}`", checkout.id)), "{refused}");
    }
}

#[test]
fn names_and_hashes_that_are_paths_are_refused_by_every_command() {
    let outside = "../../../../other/.netrc";
    let forged: [(&str, Forge); 5] = [
        ("is not a valid name", |event| match event {
            RunEvent::RunCreated { mut setup } => {
                setup.provider = "../talker".to_owned();
                RunEvent::RunCreated { setup }
            }
            event => event,
        }),
        ("is not a valid name", |event| match event {
            RunEvent::RunCreated { mut setup } => {
                let run_id = "../other".to_owned();
                setup.forked_from = Some(ForkedFrom { run_id, node: "gather".to_owned(), seq: u64::MAX });
                RunEvent::RunCreated { setup }
            }
            event => event,
        }),
        ("is not a SHA-256", |event| match event {
            RunEvent::RunCreated { mut setup } => {
                setup.state_sha256 = Some("../state/workflow.md".to_owned());
                RunEvent::RunCreated { setup }
            }
            event => event,
        }),
        ("is not a SHA-256", |event| match event {
            RunEvent::RunCreated { mut setup } => {
                setup.package.as_mut().unwrap().sha256 = "..".to_owned();
                RunEvent::RunCreated { setup }
            }
            event => event,
        }),
        ("names no file", |event| match event {
            RunEvent::RunCreated { mut setup } => {
                setup.package.as_mut().unwrap().path = "flow\0".to_owned();
                RunEvent::RunCreated { setup }
            }
            event => event,
        }),
    ];
    for (problem, change) in forged {
        let checkout = Checkout::new();
        checkout.forge(change);
        checkout.expect_all_refused(problem);
    }
    for path in [outside, "/etc/passwd"] {
        let sha256 = "a".repeat(64);
        let touched = vec![TouchedFile { path: path.to_owned(), before: None, after: Some(sha256.clone()) }];
        let call = Box::new(Call { touched, ..Call::default() });
        let checkout = Checkout::new();
        checkout.add(RunEvent::RunReplied { text: "x".into(), tool_calls: Vec::new(), call });
        checkout.expect_all_refused("leaves the project");
        let checkout = Checkout::new();
        let by = StateWriter::Rewind;
        checkout.add(RunEvent::StateIntended { by, before: path.to_owned(), after: sha256 });
        checkout.expect_all_refused("is not a SHA-256");
    }
}

#[test]
fn a_run_that_begins_twice_or_in_the_middle_is_refused() {
    let checkout = Checkout::new();
    let path = checkout.run().join("journal.jsonl");
    let first = Journal::<RunEvent>::open_path(&path).unwrap().lines()[0].event.clone();
    checkout.add(first);
    checkout.expect_all_refused("it starts a session that has already started");

    let checkout = Checkout::new();
    checkout.forge(|event| match event {
        RunEvent::RunCreated { .. } => RunEvent::RunCancelled { reason: None },
        event => event,
    });
    checkout.expect_all_refused("it does not start a session");
}

#[test]
fn absurd_numbers_are_shown_and_nothing_counts_to_them() {
    let checkout = Checkout::new();
    let left_out = LeftOut {
        id: "turn".to_owned(),
        bytes: Some(u64::MAX),
        tokens: Some(u64::MAX),
        kind: LeftOutKind::SizeCap,
        reason: "absurd".to_owned(),
    };
    let usage = Usage {
        input_tokens: Some(u64::MAX),
        output_tokens: Some(u64::MAX),
        cached_tokens: Some(u64::MAX),
        cost: Some(Dollars::new(f64::MAX)),
    };
    for _ in 0..2 {
        checkout.add(RunEvent::RunAsked {
            provider: "talker".to_owned(),
            payload_sha256: "a".repeat(64),
            n_left_out: usize::MAX,
            left_out: vec![left_out.clone(); 2],
            parts: None,
        });
        let call = Call { millis: u64::MAX, usage: Some(usage), ..Call::default() };
        let call = Box::new(call);
        checkout.add(RunEvent::RunReplied { text: "x".into(), tool_calls: Vec::new(), call });
    }
    for (command, said) in checkout.look(&checkout.other) {
        assert_eq!(said, None, "{command}");
    }
    let adoption = checkout.other.adoption(&checkout.id).unwrap();
    checkout.other.adopt(&adoption).unwrap();
    checkout.other.cancel_run(&checkout.id, None).unwrap();
}
