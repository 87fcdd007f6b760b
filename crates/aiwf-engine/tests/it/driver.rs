//! Drives sessions by calls of the engine; what they report is looked at as the JSON that programs read.

use std::ops::Deref;

use aiwf_engine::config::{Flags, parse_gate_flag};
use aiwf_engine::{ApproveOptions, Decided, Engine, NewChange, PhaseOptions, SessionError, SessionReport};
use serde_json::{Map, Value, json};

use crate::scene::Scene;

pub(crate) const SCHEMA: &str =
    "CREATE TABLE customer (id BIGINT PRIMARY KEY, tenant_id BIGINT NOT NULL, name VARCHAR(80) NOT NULL);\n";
pub(crate) const PLAN: &str = "# Plan\n\nOne entity.\n";
pub(crate) const CODE: &str = "<<<FILE: Customer.java>>>\npackage com.example.sales;\n\nclass Customer {}\n\n<<<FILE: Other.java>>>\npackage com.example.sales;\n\nclass Other {}\n";
pub(crate) const REVISED: &str =
    "<<<FILE: Customer.java>>>\npackage com.example.sales;\n\n@Entity\nclass Customer {}\n";

pub(crate) fn review(verdict: &str, critical: u32) -> String {
    format!(
        "@@@REVIEW_META\nverdict: {verdict}\nissues_total: {critical}\nissues_critical: {critical}\nmissing_inputs: 0\n@@@\n\nThe table is not named.\n"
    )
}

/// `--yes`.
pub(crate) fn yes() -> Flags {
    Flags { is_yes: true, ..Flags::default() }
}

/// `--gate` as it is typed, once for each.
pub(crate) fn gates(typed: &[&str]) -> Flags {
    let gates = typed.iter().map(|gate| parse_gate_flag(gate).unwrap()).collect();
    Flags { gates, ..Flags::default() }
}

/// What the parameters of `jpa-mt` are given.
pub(crate) fn customer() -> Map<String, Value> {
    let given = json!({
        "entity": "Customer",
        "table": "customer",
        "bounded-context": "sales",
        "schema-file": "schema.sql",
    });
    given.as_object().cloned().unwrap_or_default()
}

/// A project with one session of the profile `jpa-mt`.
pub(crate) struct Session {
    pub(crate) scene: Scene,
    pub(crate) id: String,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self::in_scene(Scene::new(), &Flags::default())
    }

    pub(crate) fn with(flags: &Flags) -> Self {
        Self::in_scene(Scene::new(), flags)
    }

    #[track_caller]
    pub(crate) fn in_scene(scene: Scene, flags: &Flags) -> Self {
        let id = begin(&scene, flags).unwrap();
        Self { scene, id }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.scene.engine
    }

    /// What names the session in calls of the engine.
    pub(crate) fn which(&self) -> Option<&str> {
        Some(&self.id)
    }

    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        as_json(&self.engine().session_report(self.which()).unwrap())
    }

    /// Does something that must succeed, and gives what is reported then.
    #[track_caller]
    pub(crate) fn done(
        &self,
        act: impl FnOnce(&Engine, Option<&str>) -> Result<Decided, SessionError>,
    ) -> Value {
        as_json(&act(self.engine(), self.which()).unwrap().report)
    }

    /// Tries something that must be refused, and gives the error.
    #[track_caller]
    pub(crate) fn refused<T>(
        &self,
        act: impl FnOnce(&Engine, Option<&str>) -> Result<T, SessionError>,
    ) -> String {
        match act(self.engine(), self.which()) {
            Ok(_) => panic!("it was not refused: {:#}", self.status()),
            Err(error) => message(&error),
        }
    }

    #[track_caller]
    pub(crate) fn approve(&self) -> Value {
        self.done(approve)
    }

    #[track_caller]
    pub(crate) fn run(&self) -> Value {
        self.done(|engine, id| engine.run_session(id))
    }

    #[track_caller]
    pub(crate) fn step(&self) -> Value {
        self.done(|engine, id| engine.step_session(id))
    }

    #[track_caller]
    pub(crate) fn rebind(&self) -> Value {
        self.done(|engine, id| engine.rebind(id))
    }

    #[track_caller]
    pub(crate) fn respond(&self, reply: &str) -> Value {
        self.done(|engine, id| engine.respond(id, reply, None))
    }

    #[track_caller]
    pub(crate) fn reject(&self, feedback: &str) -> Value {
        self.done(|engine, id| engine.reject(id, feedback))
    }

    #[track_caller]
    pub(crate) fn preview(&self) -> Value {
        serde_json::to_value(self.engine().preview_session(self.which()).unwrap()).unwrap()
    }

    /// Approves the prompt, answers, approves the answer.
    #[track_caller]
    pub(crate) fn answer(&self, reply: &str) -> Value {
        self.approve();
        self.respond(reply);
        self.approve()
    }

    /// Whether the journal and every approved file are as they were.
    #[track_caller]
    pub(crate) fn is_intact(&self) -> bool {
        let verified = self.engine().verify(self.which()).unwrap();
        verified.differences.is_empty() && verified.problems.is_empty()
    }

    /// A file of the session, relative to the project.
    pub(crate) fn path(&self, relative: &str) -> String {
        format!(".aiwf/sessions/{}/{relative}", self.id)
    }

    #[track_caller]
    pub(crate) fn text(&self, relative: &str) -> String {
        self.scene.read(&self.path(relative))
    }

    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        self.scene.write(&self.path(relative), content);
    }

    /// The names in a directory of the session.
    #[track_caller]
    pub(crate) fn names(&self, relative: &str) -> Vec<String> {
        self.scene.project.names_in(&self.path(relative))
    }

    /// The events, whole.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.engine().session_events(self.which()).unwrap();
        lines.iter().map(|line| serde_json::to_value(&line.event).unwrap()).collect()
    }

    #[track_caller]
    pub(crate) fn event_names(&self) -> Vec<String> {
        self.events().iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect()
    }

    /// The last event with a name.
    #[track_caller]
    pub(crate) fn event(&self, name: &str) -> Value {
        let events = self.events();
        let found = events.iter().rev().find(|event| event["event"] == name).cloned();
        found.unwrap_or_else(|| panic!("no `{name}` in {events:#?}"))
    }
}

/// A project with one change, called `login`.
pub(crate) struct Change {
    session: Session,
}

impl Deref for Change {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl Change {
    pub(crate) fn new() -> Self {
        Self::in_scene(Scene::new(), Flags::default())
    }

    /// One of a user with this configuration.
    pub(crate) fn configured(config: &str) -> Self {
        Self::in_scene(Scene::configured(config), Flags::default())
    }

    #[track_caller]
    pub(crate) fn in_scene(scene: Scene, flags: Flags) -> Self {
        scene.write("src/greet.txt", "hello\n");
        let id = scene.engine.create_change(new_change("login", flags)).unwrap().session_id;
        Self { session: Session { scene, id } }
    }

    /// Works on a phase until a person is needed.
    #[track_caller]
    pub(crate) fn phase(&self, phase: &str) -> Value {
        self.phase_with(phase, PhaseOptions::default())
    }

    #[track_caller]
    pub(crate) fn phase_with(&self, phase: &str, options: PhaseOptions) -> Value {
        as_json(&self.engine().run_phase("login", phase, options).unwrap().report)
    }

    #[track_caller]
    pub(crate) fn refused_phase(&self, phase: &str) -> String {
        self.refused(|engine, _| engine.run_phase("login", phase, PhaseOptions::default()))
    }

    /// Walks up to the gate of a phase's reply.
    #[track_caller]
    pub(crate) fn reply(&self, phase: &str, reply: &str) {
        self.phase(phase);
        self.approve();
        self.respond(reply);
    }

    /// Walks through a phase.
    #[track_caller]
    pub(crate) fn walk(&self, phase: &str, reply: &str) -> Value {
        self.reply(phase, reply);
        self.approve()
    }

    /// Walks to the archive.
    #[track_caller]
    pub(crate) fn implemented(self) -> Self {
        self.walk("plan", TASKS);
        self.walk("challenge", &verdict("PASS"));
        self.walk("implement", IMPLEMENTATION);
        self.walk("review", &verdict("PASS"));
        self
    }

    /// Another session of the same project.
    pub(crate) fn other(self, id: String) -> Session {
        Session { id, ..self.session }
    }
}

/// What a change begins with.
pub(crate) fn new_change(name: &str, flags: Flags) -> NewChange {
    NewChange {
        name: name.to_owned(),
        request: "Greet the world".to_owned(),
        files: vec!["src/*".to_owned()],
        provider: None,
        flags,
    }
}

/// A plan of a change, with a task.
pub(crate) const TASKS: &str =
    "<thought>maybe two files?</thought>\n\n# Plan\n\n### 1.1 Greet\n- Files: src/greet.txt\n";
pub(crate) const IMPLEMENTATION: &str = "1.1 Done.\n<task_status id=\"1.1\">COMPLETED</task_status>\n1.2 No.\n<task_status id=\"1.2\">FAILED</task_status>\n<<<FILE: src/greet.txt>>>\nhello, world\n<<<FILE: src/new.txt>>>\nnew\n";

pub(crate) fn verdict(verdict: &str) -> String {
    format!("## Assessment\n\nWell.\n\n<review>{verdict}</review>\n")
}

/// Begins a session of `jpa-mt`.
pub(crate) fn begin(scene: &Scene, flags: &Flags) -> Result<String, SessionError> {
    scene.write("schema.sql", SCHEMA);
    let new = scene.engine.new_session("jpa-mt", customer(), flags)?;
    Ok(scene.engine.create_session(new)?.id)
}

/// Approves what is at the gate.
pub(crate) fn approve(engine: &Engine, id: Option<&str>) -> Result<Decided, SessionError> {
    engine.approve(id, &ApproveOptions::default())
}

/// A report as programs read it.
pub(crate) fn as_json(report: &SessionReport) -> Value {
    serde_json::to_value(report).unwrap()
}

/// An error with what caused it.
pub(crate) fn message(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// Phase, stage and iteration of a report.
pub(crate) fn at(report: &Value) -> (&str, &str, u64) {
    (
        report["phase"].as_str().unwrap(),
        report["stage"].as_str().unwrap_or("-"),
        report["iteration"].as_u64().unwrap(),
    )
}
