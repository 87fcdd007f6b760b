//! `aiwf demo`: a whole session in a fresh directory, with recorded answers: no key, no network, no server.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::machine::{Role, Stage};
use aiwf_engine::{
    ApplyChange, ApplyOptions, ApproveOptions, Durability, Engine, EngineError, NewSession, SessionReport,
    SessionStatus, write_atomic,
};
use serde_json::{Map, Value, json};

use crate::anatomy::anatomy;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

macro_rules! shop {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../../examples/shop/", $path)))),*]
    };
}

/// The sample project.
static PROJECT: &[(&str, &[u8])] = shop![
    "README.md",
    "schema.sql",
    "design/customer.md",
    "src/main/java/com/example/shop/tenancy/TenantContext.java",
];

/// The recorded answers; `cargo xtask record-demo` makes them anew when a prompt has changed.
static CASSETTE: &[(&str, &[u8])] = shop![
    "cassette/planning-1.json",
    "cassette/generating-1.json",
    "cassette/reviewing-1.json",
    "cassette/revising-2.json",
    "cassette/reviewing-2.json",
];

const CONFIG: &str = "\
# Answers come from recordings. For a real session set `default` to a provider of yours (`aiwf providers`).
[roles]
default = \"recorded\"

[providers.recorded]
type = \"replay\"
dir = \".aiwf/cassette\"
";

/// A session needs fewer decisions than this.
const MAX_DECISIONS: usize = 40;

pub(crate) fn run(directory: &Path, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let root = engine.settings().current_dir.join(directory);
    if root.exists() {
        return Err(CommandError::DemoExists { directory: directory.to_owned() }.into());
    }
    write_project(&root)?;
    let environment =
        Environment { current_dir: root.clone(), ..Environment::read().map_err(CommandError::NoCurrentDir)? };
    let engine = Engine::new(Settings::resolve(Some(&root), environment)?);
    let mut story = Story { out: Vec::new(), is_quiet: output.is_json(), unprinted: None };

    let shown_dir = shell_word(&directory.display().to_string());
    story.say(&format!("a sample project is in {shown_dir}\n\n$ cd {shown_dir}"));
    story.command("jpa-mt init --entity Customer --table customer --bounded-context sales --base-package com.example.shop --schema-file schema.sql --design design/customer.md");
    let created = engine.create_session(new_session())?;
    let id = created.id;
    for _ in 0..MAX_DECISIONS {
        let report = engine.session_report(Some(&id))?;
        if report.stage.is_none() {
            break;
        }
        story.gate(&engine, &report)?;
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
    story.say(&format!(
        "  {} events intact, {} approved files, {} differ\n",
        verified.n_events,
        verified.n_files,
        verified.differences.len()
    ));
    let report = engine.session_report(Some(&id))?;
    if report.status != SessionStatus::Complete || !verified.differences.is_empty() {
        return Err(Failure::bug("the demo did not end as it should"));
    }
    if output.is_json() {
        return output
            .json(json!({ "directory": root, "session": report, "events": verified.n_events }), Exit::Done);
    }
    story.say(&format!(
        "\nlook around:  cd {shown_dir}; aiwf events; aiwf diff; aiwf show plan\n\
         a session of your own, with any chat:  cd {shown_dir}; aiwf jpa-mt init --help\n"
    ));
    story.unprinted.map_or(Ok(Exit::Done), Err)
}

/// A word as a shell takes it: quoted when it holds more than plain characters.
fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./+,:@%".contains(letter);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let quoted = word.replace('\'', "'\\''");
    if word.starts_with('-') { format!("'./{quoted}'") } else { format!("'{quoted}'") }
}

fn write_project(root: &Path) -> Result<(), Failure> {
    let cassette = CASSETTE.iter().map(|(name, bytes)| (PathBuf::from(".aiwf").join(name), *bytes));
    let config = (PathBuf::from(".aiwf/config.toml"), CONFIG.as_bytes());
    let project = PROJECT.iter().map(|(path, bytes)| (PathBuf::from(path), *bytes));
    for (path, bytes) in project.chain(cassette).chain([config]) {
        let path = root.join(path);
        let written = aiwf_engine::create_dir(path.parent().unwrap_or(root))
            .and_then(|()| write_atomic(&path, Durability::Process, |out| out.write_all(bytes)));
        written.map_err(EngineError::from)?;
    }
    Ok(())
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

/// Tells the demo as it goes.
struct Story {
    out: Vec<u8>,
    is_quiet: bool,
    /// Why the story could not be told to its end.
    unprinted: Option<Failure>,
}

impl Story {
    fn say(&mut self, text: &str) {
        if self.is_quiet {
            return;
        }
        self.out.clear();
        self.out.extend_from_slice(text.as_bytes());
        if let Err(failure) = output::print(|out| out.write_all(&self.out)) {
            // The demo itself goes on: its files are worth having without the story.
            self.is_quiet = true;
            self.unprinted = Some(failure);
        }
    }

    fn command(&mut self, words: &str) {
        self.say(&format!("\n$ aiwf {words}\n"));
    }

    /// Shows what lies at the gate: a prompt with its anatomy, or a reply with its first lines.
    fn gate(&mut self, engine: &Engine, report: &SessionReport) -> Result<(), Failure> {
        let id = Some(report.session_id.as_str());
        let stage = report.stage.map(Stage::as_str).unwrap_or_default();
        let head = format!("{} {stage}, iteration {}, gate manual", report.phase, report.iteration);
        if report.stage == Some(Stage::Prompt) {
            let (sections, metadata) = engine.explain_session(id)?;
            self.say(&anatomy(&head, &sections, &metadata));
            return Ok(());
        }
        let path = report.response_path.clone().unwrap_or_default();
        let (_, text) = engine.session_file(id, &path)?;
        let sha256 = aiwf_engine::prompt::Sha256Hex::of([text.as_str()]);
        let lines: Vec<String> =
            text.lines().take(6).map(|line| format!("  | {line}").trim_end().to_owned() + "\n").collect();
        let lines = lines.concat();
        self.say(&format!("{head}, sha256 {sha256}\n{lines}"));
        Ok(())
    }
}
