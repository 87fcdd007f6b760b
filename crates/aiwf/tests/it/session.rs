//! Sessions as a person drives them: every decision is a command, every promise is looked at on disk.

use aiwf_testkit::{Outcome, TestProject};
use serde_json::Value;

use crate::{json, project};

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

pub(crate) const INIT: &str =
    "jpa-mt init --entity Customer --table customer --bounded-context sales --schema-file schema.sql";

/// A project with one session.
pub(crate) struct Session {
    pub(crate) project: TestProject,
    pub(crate) id: String,
}

impl Session {
    pub(crate) fn new(flags: &str) -> Self {
        Self::of(project().file("schema.sql", SCHEMA), flags)
    }

    pub(crate) fn of(project: TestProject, flags: &str) -> Self {
        let started = json(&project.run(&format!("{INIT} {flags} --json")));
        let id = started["session_id"].as_str().map(str::to_owned);
        assert!(id.is_some(), "{started:#}");
        let id = id.unwrap();
        Self { project, id }
    }

    pub(crate) fn run(&self, line: &str) -> Outcome {
        self.project.run(line)
    }

    #[track_caller]
    pub(crate) fn done(&self, line: &str) -> Value {
        let outcome = self.run(&format!("{line} --json"));
        assert_eq!(outcome.exit_code(), 0, "{outcome}");
        json(&outcome)
    }

    #[track_caller]
    pub(crate) fn refused(&self, line: &str) -> String {
        let outcome = self.run(line);
        assert_eq!(outcome.exit_code(), 1, "{outcome}");
        outcome.stderr_text()
    }

    pub(crate) fn respond(&self, reply: &str) -> Outcome {
        self.project.run_with_input("respond", reply)
    }

    /// Approves the prompt, answers, approves the answer.
    #[track_caller]
    pub(crate) fn answer(&self, reply: &str) -> Value {
        self.done("approve");
        assert_eq!(self.respond(reply).exit_code(), 0);
        self.done("approve")
    }

    pub(crate) fn path(&self, relative: &str) -> String {
        format!(".aiwf/sessions/{}/{relative}", self.id)
    }

    pub(crate) fn text(&self, relative: &str) -> String {
        String::from_utf8(self.project.read(&self.path(relative))).unwrap()
    }

    pub(crate) fn events(&self) -> Vec<String> {
        let events = self.done(&format!("events {}", self.id));
        let name = |event: &Value| event["event"]["event"].as_str().unwrap().to_owned();
        events["events"].as_array().unwrap().iter().map(name).collect()
    }
}

pub(crate) fn at(report: &Value) -> (&str, &str, u64) {
    (
        report["phase"].as_str().unwrap(),
        report["stage"].as_str().unwrap_or("-"),
        report["iteration"].as_u64().unwrap(),
    )
}

#[test]
fn a_manual_session_walks_from_init_to_complete() {
    let session = Session::new("");
    let start = session.done("status latest");
    assert_eq!(at(&start), ("planning", "prompt", 1));
    assert_eq!(start["gate"]["kind"], "manual");
    assert_eq!(start["gate"]["state"], "pending");
    assert_eq!(at(&session.answer(PLAN)), ("generating", "prompt", 1));
    assert_eq!(session.text("plan.md"), PLAN);
    assert_eq!(at(&session.answer(CODE)), ("reviewing", "prompt", 1));
    assert_eq!(at(&session.answer(&review("FAIL", 1))), ("revising", "prompt", 2));
    assert!(session.text("iteration-2/revision-prompt.md").contains("The table is not named."));
    assert_eq!(at(&session.answer(REVISED)), ("reviewing", "prompt", 2));
    // What the revision did not name is carried over.
    assert!(session.text("iteration-2/code/Other.java").contains("class Other"));
    let end = session.answer(&review("PASS", 0));
    assert_eq!(at(&end), ("complete", "-", 2));
    assert_eq!(end["status"], "complete");
    let id = &session.id;
    assert_eq!(session.run(&format!("step {id}")).exit_code(), 0);
    assert_eq!(session.run(&format!("run {id}")).exit_code(), 0);
    assert_eq!(session.run(&format!("verify {id}")).exit_code(), 0);
}

#[test]
fn a_failed_init_says_everything_and_leaves_nothing() {
    let project = project();
    let outcome =
        project.run("jpa-mt init --entity lower --table customer --scope moon --schema-file no.sql");
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    let text = outcome.stderr_text();
    for word in ["--entity", "--bounded-context", "--scope", "--schema-file"] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
    assert!(!project.path(".aiwf/sessions").exists());
}

#[test]
fn a_torn_journal_is_reported_and_mended_by_the_next_command() {
    let session = Session::new("");
    let path = session.path("journal.jsonl");
    let whole = session.project.read(&path);
    session.project.write(&path, [&whole[..], b"{\"sha256\":\"0a"].concat());
    let verify = session.run("verify");
    assert_eq!(verify.exit_code(), 0, "{verify}");
    assert!(verify.stderr_text().contains("ends in the middle of event 3"), "{verify}");
    // What was never finished never happened.
    assert_eq!(session.run("run").exit_code(), 3);
    session.done("approve");
    assert_eq!(session.events().first().map(String::as_str), Some("session-created"));
}

#[test]
fn the_schema_of_a_session_can_be_looked_at() {
    let session = Session::new("");
    let report = session.done("jpa-mt schema-info");
    assert_eq!(report["tables"][0]["name"], "customer");
    assert!(session.run("jpa-mt scopes").stdout_text().contains("domain"));
    assert!(session.refused("react-component preview").contains("uses profile `jpa-mt`"));
}

#[test]
fn without_calls_nothing_is_unknown() {
    let usage = Session::new("").run("status latest --usage").stdout_text();
    assert!(usage.contains("\ntotal     0 calls, 0 tokens in, 0 out, 0 cached, $0.0000\n"), "{usage}");
}

#[test]
fn the_project_can_be_named_after_the_profile() {
    let project = project().file("shop/schema.sql", SCHEMA);
    let init = INIT.replace("schema.sql", "shop/schema.sql");
    let outcome = project.run(&format!("{init} --project-dir shop"));
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    assert!(!project.names_in("shop/.aiwf/sessions").is_empty());
    let refusal = project.run("jpa-mt info --project-dir=nowhere").stderr_text();
    assert_eq!(refusal, project.run("--project-dir nowhere jpa-mt info").stderr_text());
    assert!(refusal.contains("nowhere"), "{refusal}");
}

#[test]
fn many_sessions_can_begin_at_the_same_time() {
    let project = project().file("schema.sql", SCHEMA);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| project.run(INIT).exit_code())).collect();
        assert!(runs.into_iter().all(|run| run.join().unwrap() == 0));
    });
    assert_eq!(json(&project.run("list --json"))["total"], 8);
}
