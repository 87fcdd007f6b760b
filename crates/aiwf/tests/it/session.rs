//! Sessions as a person drives them: every decision is a command, every promise is looked at on disk.

#![expect(clippy::disallowed_methods, reason = "tests move and remove files as a person would")]

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
fn the_prompt_on_disk_holds_what_the_engine_assembled() {
    let session = Session::new("");
    session.answer(PLAN);
    let prompt = session.text("iteration-1/generation-prompt.md");
    assert!(prompt.starts_with("## Approved Plan\n\n# Plan\n\nOne entity.\n"));
    assert!(prompt.contains("\n\n---\n\n## Standards Bundle\n\n"));
    assert!(prompt.contains("CREATE TABLE customer"));
    let save =
        format!("Save your complete response to `{}`", session.path("iteration-1/generation-response.md"));
    assert!(prompt.ends_with(&format!("## Output\n\n{save}")));
}

#[test]
fn an_edited_prompt_is_what_is_approved_sent_and_said() {
    let session = Session::new("");
    let path = session.path("iteration-1/planning-prompt.md");
    session.project.write(&path, "Plan it, briefly.\n");
    let preview = session.done("preview");
    assert_eq!(preview["prompt"], "Plan it, briefly.\n");
    session.done("approve");
    let events = session.done("events");
    let find = |name: &str| {
        let events = events["events"].as_array().unwrap();
        events.iter().map(|event| &event["event"]).find(|event| event["event"] == name).unwrap().clone()
    };
    assert_eq!(find("prompt-approved")["is_edited"], true);
    assert_eq!(find("prompt-sent")["payload_sha256"], preview["metadata"]["payload_sha256"]);
}

#[test]
fn a_file_edited_after_its_approval_stops_what_builds_on_it() {
    let session = Session::new("");
    session.answer(PLAN);
    session.project.write(&session.path("plan.md"), "# Another plan\n");
    let status = session.done("status latest");
    assert_eq!(status["stale"][0]["path"], session.path("plan.md"));
    let refusal = session.refused("approve");
    assert!(refusal.contains("approved files were changed after their approval\n  plan.md"), "{refusal}");
    let verify = session.run("verify");
    assert_eq!(verify.exit_code(), 1);
    assert!(verify.stdout_text().contains("plan.md differs"));
    session.done(&format!("restore {} plan.md", session.id));
    assert_eq!(session.text("plan.md"), PLAN);
    assert_eq!(session.run("verify").exit_code(), 0);
}

#[test]
fn accepted_edits_are_bound_and_the_waiting_prompt_is_built_again() {
    let session = Session::new("");
    session.answer(PLAN);
    session.project.write(&session.path("plan.md"), "# Another plan\n");
    session.done("approve --rebind");
    assert!(
        session.text("iteration-1/generation-prompt.md").starts_with("## Approved Plan\n\n# Another plan")
    );
    assert_eq!(session.run("verify").exit_code(), 0);
    assert!(session.events().contains(&"rebound".to_owned()));
}

#[test]
fn edited_standards_count_as_changed() {
    let session = Session::new("");
    session.project.write(&session.path("standards-bundle.md"), "no rules\n");
    assert!(session.refused("approve").contains("standards-bundle.md"));
}

#[test]
fn a_prompt_that_is_not_hashed_may_change() {
    let session = Session::new("");
    session.done("approve --no-hash-prompts");
    session.project.write(&session.path("iteration-1/planning-prompt.md"), "later notes\n");
    assert_eq!(session.run("verify").exit_code(), 0);
    assert_eq!(session.done("status latest")["stale"], serde_json::json!([]));
}

#[test]
fn a_reply_with_problems_stays_where_it_is_until_it_is_mended() {
    let session = Session::new("");
    session.answer(PLAN);
    session.done("approve");
    session.respond("<<<FILE: ../escape.java>>>\nclass X {}\n<<<FILE: /etc/passwd>>>\nx\n");
    let refusal = session.refused("approve");
    assert!(refusal.contains("the reply has 2 problems"), "{refusal}");
    assert!(
        refusal.contains("`../escape.java` holds `.` or `..`")
            && refusal.contains("`/etc/passwd` is absolute")
    );
    let status = session.done("status latest");
    assert_eq!(at(&status), ("generating", "response", 1));
    assert_eq!(status["problems"].as_array().unwrap().len(), 2);
    assert!(!session.project.path(session.path("iteration-1/code")).exists());
    session.project.write(&session.path("iteration-1/generation-response.md"), CODE);
    assert_eq!(at(&session.done("approve")), ("reviewing", "prompt", 1));
}

#[test]
fn passing_with_critical_issues_is_a_problem() {
    let session = Session::new("");
    session.answer(PLAN);
    session.answer(CODE);
    session.done("approve");
    session.respond(&review("PASS", 1));
    assert!(session.refused("approve").contains("critical"));
}

#[test]
fn a_rejection_goes_into_the_next_prompt_and_nothing_is_lost() {
    let session = Session::new("");
    session.done("approve");
    session.respond("# A plan nobody wants\n");
    let back = session.done("reject --feedback 'name the table'");
    assert_eq!(at(&back), ("planning", "prompt", 1));
    let prompt = session.text("iteration-1/planning-prompt.md");
    assert!(prompt.contains("## Feedback\n\nname the table"), "{prompt}");
    assert!(prompt.contains("A plan nobody wants"), "the rejected reply is in the next prompt: {prompt}");
    assert_eq!(session.text("iteration-1/planning-response.rejected-1.md"), "# A plan nobody wants\n");
    // The rejected reply is not taken for the next one.
    session.done("approve");
    assert_eq!(session.run("approve").exit_code(), 3);
    session.respond(PLAN);
    assert_eq!(at(&session.done("approve")), ("generating", "prompt", 1));
}

#[test]
fn a_rejected_prompt_is_built_anew_and_an_edited_one_is_kept() {
    let session = Session::new("");
    session.project.write(&session.path("iteration-1/planning-prompt.md"), "my own words\n");
    session.done("reject -f 'shorter'");
    assert_eq!(session.text("iteration-1/planning-prompt.rejected-1.md"), "my own words\n");
    assert!(session.text("iteration-1/planning-prompt.md").contains("## Feedback\n\nshorter"));
}

#[test]
fn an_approval_can_change_what_the_receiver_does_with_files() {
    let session = Session::new("");
    let prompt = "iteration-1/planning-prompt.md";
    session.done("approve --fs-ability write-only");
    assert!(session.text(prompt).ends_with("Create a downloadable file named `planning-response.md`"));
    let edited = Session::new("");
    edited.project.write(&edited.path(prompt), "my own words\n");
    assert!(edited.refused("approve --fs-ability none").contains("was edited"));
}

#[test]
fn what_comes_too_early_or_too_late_is_refused() {
    let session = Session::new("");
    assert!(session.project.run_with_input("respond", "x").exit_code() == 1);
    assert_eq!(session.run("step").exit_code(), 3);
    session.done("approve");
    assert_eq!(session.run("approve").exit_code(), 3);
    session.done("cancel");
    let id = &session.id;
    assert!(session.refused(&format!("approve {id}")).contains("the session is cancelled"));
    assert!(session.refused(&format!("cancel {id}")).contains("it can no longer change"));
}

#[test]
fn the_cap_pauses_and_a_person_goes_on_or_accepts() {
    let project =
        project().file("schema.sql", SCHEMA).file(".aiwf/config.toml", "[session]\nmax_iterations = 1\n");
    let id = json(&project.run(&format!("{INIT} --json")))["session_id"].as_str().unwrap().to_owned();
    let session = Session { project, id };
    session.answer(PLAN);
    session.answer(CODE);
    session.done("approve");
    session.respond(&review("FAIL", 1));
    let paused = session.run("approve --json");
    assert_eq!((paused.exit_code(), json(&paused)["status"].as_str()), (3, Some("paused")));
    assert_eq!(session.run("run").exit_code(), 3);
    assert!(session.refused("approve --max-iterations 1").contains("the cap must be more than 1"));
    assert_eq!(at(&session.done("approve --max-iterations 2")), ("revising", "prompt", 2));
    session.answer(REVISED);
    session.done("approve");
    session.respond(&review("FAIL", 1));
    assert_eq!(session.run("approve").exit_code(), 3);
    assert_eq!(session.done("approve --accept")["phase"], "complete");
    assert!(session.events().contains(&"accepted".to_owned()));
}

#[test]
fn a_session_is_found_by_a_part_of_its_name() {
    let session = Session::new("");
    let beginning = session.id.get(..session.id.len() - 2).unwrap();
    for name in [session.id.as_str(), beginning, "latest"] {
        assert_eq!(session.done(&format!("status {name}"))["session_id"], session.id.as_str());
    }
    assert!(session.refused("status nope").contains("no session `nope`"));
    assert!(session.refused("status ../../etc").contains("no session"));
    session.project.run(INIT);
    assert!(session.refused("approve").contains("2 sessions are open"));
    assert!(session.refused("status 2").contains("`2` matches 2 sessions"));
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
fn the_second_writer_is_refused_and_changes_nothing() {
    let session = Session::new("");
    let lock = std::fs::File::open(session.project.path(session.path(".lock"))).unwrap();
    lock.lock().unwrap();
    let refusal = session.refused("approve");
    assert!(refusal.contains("another aiwf is working on this session"), "{refusal}");
    drop(lock);
    session.done("approve");
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
fn a_journal_that_lost_its_end_is_noticed() {
    let session = Session::new("");
    let path = session.path("journal.jsonl");
    let whole = String::from_utf8(session.project.read(&path)).unwrap();
    session.project.write(&path, whole.split_inclusive('\n').next().unwrap());
    for command in ["verify", "step", "run", "approve", "retry", "cancel", "apply"] {
        let refusal = session.refused(&format!("{command} {}", session.id));
        assert!(refusal.contains("has lost its end: it has 1 of the 2 events you last saw"), "{refusal}");
        assert!(refusal.contains("restore its `journal.jsonl` from a backup"), "{refusal}");
    }
    let status = session.run(&format!("status {}", session.id));
    assert!(status.stdout_text().contains("has lost its end"), "{status}");
    assert!(session.run("list").stdout_text().contains("has lost its end"));
    session.project.write(&path, "");
    let refusal = session.refused(&format!("verify {}", session.id));
    assert!(refusal.contains("0 bytes of it are there"), "{refusal}");
    assert!(session.run("list").stdout_text().contains("the journal has lost its end"));
    session.project.write(&path, whole);
    assert_eq!(session.run("verify").exit_code(), 0);
}

#[test]
fn a_changed_journal_is_refused_by_every_command_and_listed_with_the_reason() {
    let session = Session::new("");
    let path = session.path("journal.jsonl");
    let text = String::from_utf8(session.project.read(&path)).unwrap().replace("Customer", "Customers");
    session.project.write(&path, text);
    for command in ["status", "approve", "verify", "events"] {
        let refusal = session.refused(&format!("{command} {}", session.id));
        assert!(refusal.contains("line 1 of the journal is not what was written"), "{refusal}");
    }
    assert!(session.run("list").stdout_text().contains("is not what was written"));
}

#[test]
fn a_damaged_snapshot_does_no_harm() {
    let session = Session::new("");
    session.project.write(&session.path("session.json"), "{");
    assert_eq!(session.done("list")["total"], 1);
    session.done("approve");
    assert!(session.text("session.json").contains("\"planning\""));
}

#[test]
fn generated_code_is_applied_once_shown_and_never_over_something_else() {
    let session = Session::new("");
    session.answer(PLAN);
    session.answer(CODE);
    session.answer(&review("PASS", 0));
    let target = "src/main/java/com/example/sales/Customer.java";
    let dry = session.run("apply latest --dry-run");
    assert!(dry.stdout_text().contains(&format!("+++ b/{target}")), "{dry}");
    assert!(!session.project.path(target).exists());
    session.project.write(target, "mine\n");
    assert!(session.refused("apply latest").contains(target));
    assert!(!session.project.path("src/main/java/com/example/sales/Other.java").exists());
    assert_eq!(session.run("apply latest --force").exit_code(), 0);
    assert!(String::from_utf8(session.project.read(target)).unwrap().contains("class Customer"));
    assert_eq!(session.project.read(&format!("{target}.orig")), b"mine\n");
    assert!(session.run("apply latest").stdout_text().contains("0 of 2 files written"));
}

#[test]
fn a_link_on_the_way_into_the_project_is_refused() {
    let session = Session::new("");
    session.answer(PLAN);
    session.answer(CODE);
    session.answer(&review("PASS", 0));
    let outside = session.project.home();
    std::os::unix::fs::symlink(&outside, session.project.path("src")).unwrap();
    assert!(session.refused("apply latest").contains("leads out of the directory"));
    assert!(!outside.join("main").exists());
}

#[test]
fn skip_gates_run_until_a_person_must_answer() {
    let session = Session::new("--yes");
    let status = session.done("status latest");
    assert_eq!(at(&status), ("planning", "response", 1));
    assert_eq!(status["gate"]["kind"], "skip");
    session.project.write(&session.path("iteration-1/planning-response.md"), PLAN);
    let run = session.run("run --json");
    assert_eq!(run.exit_code(), 3, "{run}");
    assert_eq!(at(&json(&run)), ("generating", "response", 1));
}

#[test]
fn the_schema_of_a_session_can_be_looked_at() {
    let session = Session::new("");
    let report = session.done("jpa-mt schema-info");
    assert_eq!(report["tables"][0]["name"], "customer");
    assert!(session.run("jpa-mt scopes").stdout_text().contains("domain"));
    assert!(session.refused("react-component preview").contains("is of profile `jpa-mt`"));
}

#[test]
fn a_prompt_over_the_budget_is_not_sent() {
    let project =
        project().file("schema.sql", SCHEMA).file(".aiwf/config.toml", "[session]\nbudget_tokens = 20000\n");
    let id = json(&project.run(&format!("{INIT} --json")))["session_id"].as_str().unwrap().to_owned();
    let session = Session { project, id };
    session.project.write(&session.path("iteration-1/planning-prompt.md"), "word ".repeat(20_000));
    let refusal = session.refused("approve");
    assert!(refusal.contains("the prompt has 25,000 tokens but the budget is 20,000"), "{refusal}");
    assert!(!session.events().contains(&"prompt-sent".to_owned()));
}

#[test]
fn files_that_nobody_knows_are_named_and_left_alone() {
    let session = Session::new("");
    session.project.write(&session.path("notes.txt"), "mine");
    assert_eq!(session.done("status latest")["unknown"][0], session.path("notes.txt"));
    session.answer(PLAN);
    assert_eq!(session.text("notes.txt"), "mine");
}

#[test]
fn what_a_session_made_can_be_shown() {
    let session = Session::new("");
    assert!(session.refused("show latest code").contains("has no `code` yet"));
    session.answer(PLAN);
    session.answer(CODE);
    assert_eq!(session.done("show latest plan")["content"], PLAN);
    assert!(session.run("show latest code").stdout_text().starts_with("<<<FILE: Customer.java>>>"));
    assert!(session.refused("show latest ../../../schema.sql").contains("inside the session"));
    // A review that waits at its gate is what its reader has to judge.
    assert!(session.refused("show latest review").contains("has no `review` yet"));
    session.done("approve");
    session.respond(&review("PASS", 0));
    assert_eq!(session.done("show latest review")["content"], review("PASS", 0));
}

#[test]
fn where_nobody_was_asked_nothing_is_unknown() {
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
fn a_preview_names_the_owner_of_every_byte_after_an_edit_too() {
    let session = Session::new("");
    let ids = |session: &Session| {
        let preview = session.done("preview");
        let sections = preview["sections"].as_array().unwrap().clone();
        let n_bytes: u64 = sections.iter().map(|section| section["bytes"].as_u64().unwrap()).sum();
        assert_eq!(n_bytes, preview["prompt"].as_str().unwrap().len() as u64);
        sections.iter().map(|section| section["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&session), ["standards-bundle", "profile-prompt", "output-instructions"]);
    let prompt = session.text("iteration-1/planning-prompt.md");
    session
        .project
        .write(&session.path("iteration-1/planning-prompt.md"), format!("Read this first.\n\n{prompt}"));
    assert_eq!(ids(&session), ["edited", "standards-bundle", "profile-prompt", "output-instructions"]);
}

#[test]
fn a_refused_retry_or_rejection_changes_no_file() {
    let session = Session::new("");
    session.done("approve");
    session.project.write(&session.path("iteration-1/planning-response.md"), PLAN);
    let before = session.project.names_in(&session.path("iteration-1"));
    assert!(session.refused("retry").contains("cannot retry now"));
    assert_eq!(session.project.names_in(&session.path("iteration-1")), before);
    assert_eq!(session.run("reject --feedback ''").exit_code(), 1);
    assert_eq!(session.project.names_in(&session.path("iteration-1")), before);
}

#[test]
fn every_rejected_reply_has_a_copy_of_its_own() {
    let session = Session::new("");
    session.done("approve");
    for (number, reply) in [(1, "one\n"), (2, "two\n")] {
        session.respond(reply);
        session.done("retry");
        assert_eq!(session.text(&format!("iteration-1/planning-response.rejected-{number}.md")), reply);
    }
}

#[test]
fn feedback_adds_up_until_a_reply_is_approved() {
    let session = Session::new("");
    session.done("approve");
    session.respond("# A plan nobody wants\n");
    session.done("reject --feedback 'name the table'");
    session.done("reject --feedback 'and be brief'");
    let prompt = session.text("iteration-1/planning-prompt.md");
    assert!(prompt.contains("name the table\n\nand be brief"), "{prompt}");
    assert!(prompt.contains("A plan nobody wants"), "{prompt}");
}

#[test]
fn a_person_does_not_lose_an_edited_prompt_when_other_edits_are_accepted() {
    let session = Session::new("");
    session.answer(PLAN);
    session.project.write(&session.path("iteration-1/generation-prompt.md"), "my own words\n");
    session.project.write(&session.path("plan.md"), "# Another plan\n");
    session.done("approve --rebind");
    assert_eq!(session.text("iteration-1/generation-prompt.rejected-1.md"), "my own words\n");
}

#[test]
fn nothing_is_written_through_a_link_inside_a_session() {
    let session = Session::new("");
    session.answer(PLAN);
    session.done("approve");
    session.respond(CODE);
    let inside = session.project.path(session.path("iteration-1"));
    let outside = session.project.home().join("elsewhere");
    std::fs::rename(&inside, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &inside).unwrap();
    assert_eq!(session.run("approve").exit_code(), 1);
    assert!(!outside.join("code").exists());
}

#[test]
fn a_prompt_that_is_gone_can_be_built_again() {
    let session = Session::new("");
    std::fs::remove_file(session.project.path(session.path("iteration-1/planning-prompt.md"))).unwrap();
    assert!(session.refused("approve").contains("planning-prompt.md` is gone"));
    session.done("reject --feedback 'write it again'");
    assert!(session.text("iteration-1/planning-prompt.md").contains("write it again"));
}

#[test]
fn what_was_derived_from_an_accepted_edit_is_marked() {
    let session = Session::new("");
    session.answer(PLAN);
    session.answer(CODE);
    session.project.write(&session.path("plan.md"), "# Another plan\n");
    let status = session.done("approve --rebind");
    let outdated = status["outdated"].as_array().unwrap();
    assert!(outdated.contains(&session.path("iteration-1/code/Customer.java").into()), "{status:#}");
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

#[test]
fn a_session_whose_first_prompt_cannot_be_built_has_not_begun() {
    let project =
        project().file("schema.sql", SCHEMA).file(".aiwf/config.toml", "[session]\nbudget_tokens = 10\n");
    assert_eq!(project.run(INIT).exit_code(), 1);
    assert_eq!(json(&project.run("list --json"))["total"], 0);
}

#[test]
fn a_provider_that_is_not_there_is_found_at_the_beginning() {
    let project = project().file("schema.sql", SCHEMA);
    let outcome = project.run(&format!("{INIT} --planner nope"));
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    assert!(outcome.stderr_text().contains("`nope`"), "{outcome}");
    assert_eq!(json(&project.run("list --json"))["total"], 0);
}

#[test]
fn a_profile_that_changes_during_a_session_is_said_to_have_changed() {
    let project = project();
    assert_eq!(project.run("profile new notes --project").exit_code(), 0);
    let id = json(&project.run("notes init --topic cats --json"))["session_id"].as_str().unwrap().to_owned();
    let session = Session { project, id };
    let template = ".aiwf/profiles/notes/templates/generate.md";
    let text = String::from_utf8(session.project.read(template)).unwrap();
    session.project.write(template, format!("{text}\nOne more rule.\n"));
    session.done("approve");
    session.respond(PLAN);
    let outcome = session.run("approve");
    assert!(outcome.stderr_text().contains("profile `notes` changed since the session began"), "{outcome}");
}
