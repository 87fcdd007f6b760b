//! `aiwf demo --profile`: a session of a profile, with a decision at every gate.

use std::path::Path;

use aiwf_engine::machine::{Role, Stage};
use aiwf_engine::{
    ApplyChange, ApplyOptions, ApproveOptions, Engine, NewSession, SessionReport, SessionStatus,
};
use serde_json::{Map, Value, json};

use super::sample::{self, CONFIG, File};
use super::story::{self, Story};
use crate::anatomy::anatomy;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

macro_rules! shop {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../../../examples/shop/", $path)))),*]
    };
}

/// The sample project.
static PROJECT: &[File] = shop![
    "README.md",
    "schema.sql",
    "design/customer.md",
    "src/main/java/com/example/shop/tenancy/TenantContext.java",
];

/// The recorded answers; `cargo xtask record-demo` records them again after a prompt has changed.
static CASSETTE: &[File] = shop![
    "cassette/planning-1.json",
    "cassette/generating-1.json",
    "cassette/reviewing-1.json",
    "cassette/revising-2.json",
    "cassette/reviewing-2.json",
];

/// A session needs fewer decisions than this.
const MAX_DECISIONS: usize = 40;

pub(crate) fn run(directory: &Path, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let cassette = CASSETTE.iter().map(|(name, bytes)| (format!(".aiwf/{name}"), *bytes));
    let config = (".aiwf/config.toml".to_owned(), CONFIG.as_bytes());
    let project = PROJECT.iter().map(|(path, bytes)| ((*path).to_owned(), *bytes));
    let engine = sample::make(directory, project.chain(cassette).chain([config]), engine)?;
    let mut story = Story::new(output.is_json());

    let shown_dir = story::shell_word(&directory.display().to_string());
    story.say(&format!("a sample project is in {shown_dir}\n\n$ cd {shown_dir}"));
    story.command("jpa-mt init --entity Customer --table customer --bounded-context sales --base-package com.example.shop --schema-file schema.sql --design design/customer.md");
    let created = engine.create_session(new_session())?;
    let id = created.id;
    for _ in 0..MAX_DECISIONS {
        let report = engine.session_report(Some(&id))?;
        if report.stage.is_none() {
            break;
        }
        show_gate(&mut story, &engine, &report)?;
        story.command("approve");
        engine.approve(Some(&id), &ApproveOptions::default())?;
    }
    let applied = engine.apply(Some(&id), &ApplyOptions::default())?;
    story.command("apply");
    for file in applied.files.iter().filter(|file| file.change == ApplyChange::New) {
        story.say(&format!("  wrote {}\n", file.target));
    }
    let verified = engine.verify(Some(&id))?;
    story.command("verify");
    story.say(&format!("  {}\n", crate::commands::journal::summary(&verified)));
    let report = engine.session_report(Some(&id))?;
    if report.status != SessionStatus::Complete || !verified.differences.is_empty() {
        return Err(Failure::bug("the demo did not finish as expected"));
    }
    if output.is_json() {
        return output
            .json(json!({ "directory": engine.settings().project_root, "session": report, "events": verified.n_events }), Exit::Done);
    }
    story.say(&format!(
        "\nexplore:      cd {shown_dir}; aiwf events; aiwf diff; aiwf show plan\n\
         your own session, with any chat:  cd {shown_dir}; aiwf jpa-mt init --help\n"
    ));
    story.end()
}

fn new_session() -> NewSession {
    let given: Map<String, Value> = [
        ("entity", "Customer"),
        ("table", "customer"),
        ("bounded-context", "sales"),
        ("base-package", "com.example.shop"),
        ("schema-file", "schema.sql"),
        ("design", "design/customer.md"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), Value::from(value)))
    .collect();
    NewSession {
        profile: "jpa-mt".to_owned(),
        given,
        roles: Role::STANDARD.into_iter().map(|role| (role, "recorded".to_owned())).collect(),
        max_iterations: 5,
        hash_prompts: true,
        ..NewSession::default()
    }
}

/// Shows what is at the gate: a prompt with its anatomy, or a reply with its first lines.
fn show_gate(story: &mut Story, engine: &Engine, report: &SessionReport) -> Result<(), Failure> {
    let id = Some(report.session_id.as_str());
    let stage = report.stage.map(Stage::as_str).unwrap_or_default();
    let head = format!("{} {stage}, iteration {}, waiting for your approval", report.phase, report.iteration);
    if report.stage == Some(Stage::Prompt) {
        let (sections, metadata) = engine.explain_session(id)?;
        story.say(&anatomy(&head, &sections, &metadata));
        return Ok(());
    }
    let path = report.response_path.clone().unwrap_or_default();
    let (_, text) = engine.session_file(id, &path)?;
    let sha256 = aiwf_engine::prompt::Sha256Hex::of([text.as_str()]);
    let lines: Vec<String> =
        text.lines().take(6).map(|line| format!("  | {line}").trim_end().to_owned() + "\n").collect();
    let lines = lines.concat();
    story.say(&format!("{head}, sha256 {sha256}\n{lines}"));
    Ok(())
}
