//! Changes as a person drives them: every phase is a command, every promise is looked at on disk.

#![expect(clippy::disallowed_methods, reason = "tests move and remove files as a person would")]

use aiwf_testkit::{Outcome, TestProject};
use serde_json::{Value, json};

use crate::{json, pretty, project};

pub(crate) const PLAN: &str =
    "<thought>maybe two files?</thought>\n\n# Plan\n\n### 1.1 Greet\n- Files: src/greet.txt\n";
pub(crate) const IMPLEMENTATION: &str = "1.1 Done.\n<task_status id=\"1.1\">COMPLETED</task_status>\n1.2 No.\n<task_status id=\"1.2\">FAILED</task_status>\n<<<FILE: src/greet.txt>>>\nhello, world\n<<<FILE: src/new.txt>>>\nnew\n";

pub(crate) fn verdict(verdict: &str) -> String {
    format!("## Assessment\n\nWell.\n\n<review>{verdict}</review>\n")
}

/// A project with one change.
pub(crate) struct Change {
    pub(crate) project: TestProject,
}

impl Change {
    pub(crate) fn new(flags: &str) -> Self {
        Self::in_project(project(), flags)
    }

    pub(crate) fn in_project(project: TestProject, flags: &str) -> Self {
        let change = Self { project: project.file("src/greet.txt", "hello\n") };
        change.done(&format!("new login 'Greet the world' --file 'src/*' {flags}"));
        change
    }

    pub(crate) fn run(&self, line: &str) -> Outcome {
        self.project.run(&Self::typed(line))
    }

    /// The phases are commands of changes; everything else is a verb of every session.
    pub(crate) fn typed(line: &str) -> String {
        let of_changes = ["new", "list", "plan", "challenge", "implement", "review", "archive", "run"];
        let word = line.split_whitespace().next().unwrap_or_default();
        if of_changes.contains(&word) { format!("change {line}") } else { line.to_owned() }
    }

    #[track_caller]
    pub(crate) fn exits(&self, line: &str, exit_code: i32) -> Value {
        let outcome = self.run(&format!("{line} --json"));
        assert_eq!(outcome.exit_code(), exit_code, "{line}\n{outcome}");
        json(&outcome)
    }

    #[track_caller]
    pub(crate) fn done(&self, line: &str) -> Value {
        self.exits(line, 0)
    }

    #[track_caller]
    pub(crate) fn refused(&self, line: &str) -> String {
        let outcome = self.run(line);
        assert_eq!(outcome.exit_code(), 1, "{line}\n{outcome}");
        outcome.stderr_text()
    }

    pub(crate) fn respond(&self, reply: &str) -> Outcome {
        self.project.run_with_input("respond login", reply)
    }

    /// Walks up to the gate of a phase's reply.
    #[track_caller]
    pub(crate) fn reply(&self, phase: &str, reply: &str) {
        self.exits(&format!("{phase} login"), 3);
        self.done("approve login");
        assert_eq!(self.respond(reply).exit_code(), 0);
    }

    /// Walks through a phase.
    #[track_caller]
    pub(crate) fn walk(&self, phase: &str, reply: &str) -> Value {
        self.reply(phase, reply);
        self.done("approve login")
    }

    /// Walks to the archive.
    #[track_caller]
    fn implemented(self) -> Self {
        self.walk("plan", PLAN);
        self.walk("challenge", &verdict("PASS"));
        self.walk("implement", IMPLEMENTATION);
        self.walk("review", &verdict("PASS"));
        self
    }

    /// A file of the change, relative to the project.
    pub(crate) fn path(&self, relative: &str) -> String {
        self.path_in("login", relative)
    }

    pub(crate) fn path_in(&self, name: &str, relative: &str) -> String {
        let changes = self.done("list")["changes"].clone();
        let found = changes.as_array().unwrap().iter().find(|change| change["name"] == name);
        format!(".aiwf/sessions/{}/{relative}", found.unwrap()["session_id"].as_str().unwrap())
    }

    pub(crate) fn text(&self, relative: &str) -> String {
        String::from_utf8(self.project.read(&self.path(relative))).unwrap()
    }

    fn events(&self) -> Vec<Value> {
        let events = self.done("events login")["events"].clone();
        events.as_array().unwrap().iter().map(|event| event["event"].clone()).collect()
    }

    fn event(&self, name: &str) -> Value {
        self.events().into_iter().rev().find(|event| event["event"] == name).unwrap_or_default()
    }
}

fn at(report: &Value) -> (&str, &str, u64) {
    (
        report["phase"].as_str().unwrap(),
        report["status"].as_str().unwrap(),
        report["iteration"].as_u64().unwrap(),
    )
}

#[test]
fn a_manual_change_walks_from_new_to_applied() {
    let change = Change::new("");
    assert_eq!(at(&change.done("status login")), ("plan", "in-progress", 1));
    assert_eq!(at(&change.walk("plan", PLAN)), ("challenge", "in-progress", 1));
    // What was thought aloud is in the reply and not in the artifact.
    assert_eq!(change.text("plan.md"), "# Plan\n\n### 1.1 Greet\n- Files: src/greet.txt\n");
    assert_eq!(change.text("iteration-1/plan-response.md"), PLAN);
    assert_eq!(at(&change.walk("challenge", &verdict("PASS"))), ("implement", "in-progress", 1));
    let report = change.walk("implement", IMPLEMENTATION);
    assert_eq!(at(&report), ("review", "in-progress", 1));
    assert_eq!(
        report["tasks"],
        json!([{ "id": "1.1", "status": "COMPLETED" }, { "id": "1.2", "status": "FAILED" }])
    );
    assert_eq!(change.text("iteration-1/code/src/greet.txt"), "hello, world\n");
    assert!(change.refused("apply login").contains("cannot apply now"));
    assert_eq!(at(&change.walk("review", &verdict("PASS"))), ("archive", "in-progress", 1));
    let end = change.walk("archive", "# Record\n");
    assert_eq!(at(&end), ("complete", "complete", 1));
    assert_eq!(end["next"], "aiwf apply login");
    for artifact in ["plan", "challenge", "implementation", "review", "archive"] {
        assert_eq!(change.run(&format!("show login {artifact}")).exit_code(), 0, "{artifact}");
    }
    assert_eq!(change.run("show login archive").stdout_text(), "# Record\n");
    // The project is as it was until the files are put in place.
    assert_eq!(change.project.read("src/greet.txt"), b"hello\n");
    let shown = change.run("apply login --dry-run").stdout_text();
    assert!(shown.contains("-hello\n+hello, world\n"), "{shown}");
    let applied = change.done("apply login");
    assert_eq!(applied["files"][0]["change"], "changed");
    assert_eq!(applied["files"][1]["change"], "new");
    assert_eq!(change.project.read("src/greet.txt"), b"hello, world\n");
    assert_eq!(change.project.names_in("src"), ["greet.txt", "new.txt"]);
    assert_eq!(change.run("verify login").exit_code(), 0);
}

#[test]
fn a_recorded_change_is_walked_again_without_anybody() {
    let config = "[providers.tape]\ntype = \"replay\"\ndir = \"tape\"\n";
    let change = Change::in_project(project().file(".aiwf/config.toml", config), "");
    let phases = [
        ("plan", PLAN.to_owned()),
        ("challenge", verdict("PASS")),
        ("implement", IMPLEMENTATION.to_owned()),
        ("review", verdict("PASS")),
        ("archive", "# Record\n".to_owned()),
    ];
    for (phase, reply) in &phases {
        change.exits(&format!("{phase} login"), 3);
        change.done("approve login");
        let outcome = change.project.run_with_input("respond login --record tape", reply.as_str());
        assert_eq!(outcome.exit_code(), 0, "{outcome}");
        change.done("approve login");
    }
    change.project.write(".aiwf/config.toml", format!("{config}[roles]\ndefault = \"tape\"\n"));
    change.done("new again 'Greet the world' --file 'src/*' --yes");
    let end = change.done("run again");
    assert_eq!(at(&end), ("complete", "complete", 1));
    for file in
        ["plan.md", "implementation.md", "iteration-1/code/src/new.txt", "iteration-1/review-prompt.md"]
    {
        let again = change.project.read(&change.path_in("again", file));
        assert_eq!(String::from_utf8(again).unwrap(), change.text(file), "{file}");
    }
    let names = change.done("list");
    assert_eq!((names["total"].as_u64(), names["changes"][0]["name"].as_str()), (Some(2), Some("again")));
    assert_eq!(names["changes"][0]["request"], "Greet the world");
}

#[test]
fn a_plan_that_needs_revision_is_planned_again_until_the_cap() {
    let project = project().file("~/.aiwf/config.toml", "[change]\nmax_rounds = 2\n");
    let change = Change::in_project(project, "");
    change.walk("plan", PLAN);
    let report = change.walk("challenge", &verdict("NEEDS_REVISION"));
    assert_eq!(at(&report), ("plan", "in-progress", 2));
    assert_eq!(report["verdicts"]["challenge"], "NEEDS_REVISION");
    assert!(change.refused("implement login").contains("cannot work on phase `implement` now"));
    change.walk("plan", "# Plan two\n");
    assert_eq!(change.text("plan.md"), "# Plan two\n");
    assert!(change.text("iteration-1/plan.md").starts_with("# Plan\n"));
    let prompt = change.text("iteration-2/plan-prompt.md");
    assert!(prompt.contains("<artifact name=\"challenge\">"), "{prompt}");
    change.reply("challenge", &verdict("NEEDS_REVISION"));
    let paused = change.exits("approve login", 3);
    assert_eq!(paused["status"], "paused");
    change.exits("run login", 3);
    assert!(change.refused("approve login --accept").contains("cannot accept now"));
    assert!(change.refused("approve login --max-rounds 2").contains("more than 2 and at most 1000"));
    assert_eq!(at(&change.done("approve login --max-rounds 3")), ("plan", "in-progress", 3));
    change.walk("plan", "# Plan three\n");
    change.walk("challenge", &verdict("PASS"));
    // The other loop begins anew.
    change.walk("implement", IMPLEMENTATION);
    let report = change.walk("review", &verdict("NEEDS_CHANGES"));
    assert_eq!((at(&report), report["round"].as_u64()), (("implement", "in-progress", 4), Some(2)));
}

#[test]
fn a_cap_that_is_raised_in_the_configuration_lets_a_change_go_on() {
    let project = project().file("~/.aiwf/config.toml", "[change]\nmax_rounds = 1\n");
    let change = Change::in_project(project, "");
    change.walk("plan", PLAN);
    change.reply("challenge", &verdict("NEEDS_REVISION"));
    change.exits("approve login", 3);
    change.project.write("~/.aiwf/config.toml", "[change]\nmax_rounds = 2\n");
    let report = change.exits("plan login", 3);
    assert_eq!((at(&report), report["max_rounds"].as_u64()), (("plan", "waiting", 2), Some(2)));
}

#[test]
fn a_verdict_that_says_no_stops_with_exit_1_and_says_what_can_be_done() {
    let change = Change::new("");
    change.walk("plan", PLAN);
    change.reply("challenge", &verdict("REJECTED"));
    let outcome = change.run("approve login");
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    assert!(outcome.stdout_text().contains("aiwf reject login --feedback TEXT"), "{outcome}");
    assert!(outcome.stderr_text().contains("stopped: the challenge ended with REJECTED"), "{outcome}");
    assert_eq!(change.exits("run login", 1)["status"], "rejected");
    for phase in ["challenge", "implement", "review", "archive"] {
        assert!(
            change.refused(&format!("{phase} login")).contains("the verdict of phase challenge is REJECTED")
        );
    }
    assert_eq!(change.done("status login")["status"], "rejected");
    let report = change.exits("plan login --instructions 'only in English'", 3);
    assert_eq!(at(&report), ("plan", "waiting", 2));
    let prompt = change.text("iteration-2/plan-prompt.md");
    assert!(prompt.contains("only in English") && prompt.contains("Greet the world"), "{prompt}");
}

#[test]
fn major_issues_stop_until_a_person_accepts_or_plans_anew() {
    let change = Change::new("");
    change.walk("plan", PLAN);
    change.walk("challenge", &verdict("PASS"));
    change.walk("implement", IMPLEMENTATION);
    change.reply("review", &verdict("MAJOR_ISSUES"));
    assert_eq!(change.exits("approve login", 1)["verdicts"]["review"], "MAJOR_ISSUES");
    assert_eq!(at(&change.done("approve login --accept")), ("archive", "in-progress", 1));
    assert_eq!(change.event("accepted")["event"], "accepted");
}

#[test]
fn a_missing_marker_is_a_problem_and_never_a_pass() {
    let change = Change::new("--yes");
    change.exits("plan login", 3);
    change.respond(PLAN);
    assert_eq!(at(&change.done("plan login")), ("challenge", "in-progress", 1));
    change.exits("challenge login", 3);
    change.respond("Looks good to me, PASS.\n");
    assert!(change.refused("challenge login").contains("no verdict"));
    assert_eq!(change.done("status login")["phase"], "challenge");
    // An example in a fence is none either.
    change.respond("Like this:\n```\n<review>PASS</review>\n```\n");
    assert!(change.refused("approve login").contains("does not count"));
    change.respond("<review>PASS</review> and <review>NEEDS_REVISION</review>\n");
    let report = change.done("approve login");
    assert_eq!(at(&report), ("plan", "in-progress", 2));
    assert!(report["notes"][0].as_str().unwrap().contains("the worst"), "{report:#}");
}

#[test]
fn an_implementation_needs_the_status_of_its_tasks_and_stays_inside_the_project() {
    let change = Change::new("");
    change.walk("plan", PLAN);
    change.walk("challenge", &verdict("PASS"));
    change.reply("implement", "done\n<<<FILE: src/greet.txt>>>\nhi\n");
    assert!(change.refused("approve login").contains("no task status"));
    let status = "<task_status id=\"1.1\">COMPLETED</task_status>\n";
    change.respond(status);
    assert!(change.refused("approve login").contains("no file marker"));
    for path in ["../out.txt", "/etc/passwd", ".git/config", "~/.aiwf/config.toml", "a\\b"] {
        change.respond(&format!("{status}<<<FILE: {path}>>>\nx\n"));
        let refusal = change.refused("approve login");
        assert!(refusal.contains("the reply has 1 problem"), "{path}: {refusal}");
    }
    assert!(!change.project.path(change.path("iteration-1/code")).exists());
    change.respond(&format!("{status}<<<FILE: src/greet.txt>>>\nhi\n"));
    assert_eq!(change.done("approve login")["phase"], "review");
}

#[test]
fn what_changed_in_the_project_since_the_implementation_is_not_written_over() {
    let change = Change::new("").implemented();
    change.project.write("src/greet.txt", "hello, you\n");
    let refusal = change.run("apply login");
    assert_eq!(refusal.exit_code(), 1, "{refusal}");
    assert!(refusal.stderr_text().contains("files of the project are in the way"), "{refusal}");
    assert_eq!(change.project.names_in("src"), ["greet.txt"]);
    change.done("apply login --force");
    assert_eq!(change.project.read("src/greet.txt.orig"), b"hello, you\n");
    assert_eq!(change.project.read("src/greet.txt"), b"hello, world\n");
}

#[test]
fn an_edit_between_the_prompt_and_the_reply_is_a_conflict_too() {
    let change = Change::new("");
    change.walk("plan", PLAN);
    change.walk("challenge", &verdict("PASS"));
    change.reply("implement", IMPLEMENTATION);
    change.project.write("src/greet.txt", "hello, you\n");
    change.done("approve login");
    change.walk("review", &verdict("PASS"));
    assert!(change.refused("apply login").contains("in the way"));
}

#[test]
fn an_artifact_that_was_edited_stops_what_builds_on_it() {
    let change = Change::new("");
    change.walk("plan", PLAN);
    change.project.write(&change.path("plan.md"), "# Mine\n");
    let refusal = change.refused("challenge login");
    assert!(refusal.contains("approved files were changed after their approval\n  plan.md"), "{refusal}");
    assert!(refusal.contains("`aiwf restore login plan.md`"), "{refusal}");
    assert_eq!(change.run("verify login").exit_code(), 1);
    change.done("approve login --rebind");
    change.exits("challenge login", 3);
    assert!(change.text("iteration-1/challenge-prompt.md").contains("# Mine"));
    change.project.write(&change.path("plan.md"), "# Another\n");
    change.done("restore login plan.md");
    assert_eq!(change.text("plan.md"), "# Mine\n");
}

#[test]
fn a_crash_while_an_artifact_is_written_loses_and_repeats_nothing() {
    let change = Change::new("");
    change.walk("plan", PLAN);
    change.walk("challenge", &verdict("NEEDS_REVISION"));
    let before = change.text("plan.md");
    change.reply("plan", "# Plan two\n");
    change.done("approve login");
    // As if the process had died before the approval was in the journal.
    let path = change.path("journal.jsonl");
    let journal = String::from_utf8(change.project.read(&path)).unwrap();
    let kept = journal.trim_end().rsplit_once('\n').unwrap().0;
    assert!(kept.lines().last().unwrap().contains("outputs-intended"));
    change.project.write(&path, format!("{kept}\n"));
    // Nor was it remembered.
    std::fs::remove_dir_all(change.project.home().join(".aiwf/state")).unwrap();
    assert_eq!(change.project.run("adopt login --yes").exit_code(), 0);
    let status = change.done("status login");
    assert_eq!((status["stale"].as_array().unwrap().len(), at(&status)), (0, ("plan", "waiting", 2)));
    // A rejection does not keep what nobody approved.
    change.done("reject login --feedback 'shorter'");
    assert_eq!(change.text("plan.md"), before);
    change.done("approve login");
    change.respond("# Plan two\n");
    assert_eq!(at(&change.done("approve login")), ("challenge", "in-progress", 2));
    assert_eq!(change.text("plan.md"), "# Plan two\n");
}

#[test]
fn a_rejection_goes_into_the_next_prompt_with_the_reply_it_is_about() {
    let change = Change::new("");
    change.reply("plan", "# A plan nobody wants\n");
    let report = change.done("reject login --feedback 'name the file'");
    assert_eq!(at(&report), ("plan", "waiting", 1));
    let prompt = change.text("iteration-1/plan-prompt.md");
    assert!(prompt.contains("name the file"), "{prompt}");
    assert!(prompt.contains("<artifact name=\"rejected-reply\"># A plan nobody wants"), "{prompt}");
}

#[test]
fn an_agent_is_chosen_for_a_phase_by_family_or_provider() {
    let change = Change::new("");
    change.exits("plan login", 3);
    let manual = change.text("iteration-1/plan-prompt.md");
    assert!(manual.contains("Agent: BASE"), "{manual}");
    change.project.write(&change.path("iteration-1/plan-prompt.md"), "my words\n");
    let report = change.exits("plan login --agent codex --instructions 'be brief'", 3);
    assert_eq!(report["agents"]["plan"], json!({ "provider": "codex", "template": "CODEX" }));
    assert_eq!(report["agents"]["challenge"]["provider"], "manual");
    let prompt = change.text("iteration-1/plan-prompt.md");
    assert!(prompt.contains("Agent: CODEX") && prompt.contains("be brief"), "{prompt}");
    assert_eq!(change.text("iteration-1/plan-prompt.rejected-1.md"), "my words\n");
    let preview = change.done("preview login");
    assert_eq!(preview["prompt"], prompt.as_str());
    assert!(preview.get("system_prompt").is_none(), "{preview:#}");
    let n_events = change.events().len();
    change.exits("plan login --agent codex --instructions 'be brief'", 3);
    assert_eq!(change.events().len(), n_events);
    let refusal = change.refused("plan login --agent cladue");
    assert!(refusal.contains("`cladue`"), "{refusal}");
    change.exits("plan login --agent manual", 3);
    change.done("approve login");
    assert!(change.refused("plan login --agent codex").contains("are settled"));
}

#[test]
fn agents_of_the_configuration_serve_their_phases() {
    let config = "[providers.mine]\ntype = \"anthropic\"\n[change]\nagents = { challenge = \"mine\" }\nfiles = [\"no/such/**\"]\n[gates]\n\"plan.prompt\" = \"skip\"\n";
    let change = Change::in_project(project().file("~/.aiwf/config.toml", config), "");
    let report = change.exits("plan login", 3);
    assert_eq!(report["agents"]["challenge"], json!({ "provider": "mine", "template": "CLAUDE" }));
    // The prompt's gate is open; the reply's is not.
    assert_eq!(report["awaiting"][0], change.path("iteration-1/plan-response.md"));
    change.respond(PLAN);
    assert_eq!(change.exits("plan login", 3)["gate"]["kind"], "manual");
}

#[test]
fn an_agent_that_may_write_edits_the_project_and_every_file_is_on_record() {
    let script = "printf 'edited\\n' > src/greet.txt; cat > /dev/null; echo '<task_status id=\"1.1\">COMPLETED</task_status>'";
    let config =
        format!("[providers.hand]\ntype = \"command\"\nargv = [\"/bin/sh\", \"-c\", '''{script}''']\n");
    let change = Change::in_project(project().file("~/.aiwf/config.toml", config), "");
    change.walk("plan", PLAN);
    change.walk("challenge", &verdict("PASS"));
    let report = change.done("implement login --agent hand --write --yes");
    assert_eq!(at(&report), ("review", "in-progress", 1));
    assert_eq!(report["edited"][0]["path"], "src/greet.txt");
    assert!(report["edited"][0]["before"].is_string() && report["edited"][0]["after"].is_string());
    let prompt = change.text("iteration-1/implement-prompt.md");
    assert!(prompt.contains("You may edit the project"), "{prompt}");
    let outcome = &change.event("response-approved")["outcome"]["artifact"];
    assert_eq!(outcome["edited"][0]["path"], "src/greet.txt");
    // The review sees the project as it is.
    change.walk("review", &verdict("PASS"));
    assert!(change.text("iteration-1/review-prompt.md").contains("edited"));
    let refusal = change.refused("apply login");
    assert!(refusal.contains("has no files to apply"), "{refusal}");
}

#[test]
fn an_agent_that_may_not_write_and_does_is_a_problem() {
    let script = "cat > /dev/null; printf 'edited\\n' > src/greet.txt; echo '# Plan'";
    let config =
        format!("[providers.hand]\ntype = \"command\"\nargv = [\"/bin/sh\", \"-c\", '''{script}''']\n");
    let change = Change::in_project(project().file("~/.aiwf/config.toml", config), "");
    let report = change.exits("plan login --agent hand --yes", 3);
    assert!(report["problems"][0].as_str().unwrap().contains("src/greet.txt"), "{report:#}");
}

#[test]
fn a_provider_that_fails_ends_with_exit_4_and_can_be_retried() {
    let config = "[providers.hand]\ntype = \"command\"\nargv = [\"/bin/sh\", \"-c\", \"exit 7\"]\n";
    let change = Change::in_project(project().file("~/.aiwf/config.toml", config), "");
    assert_eq!(change.run("plan login --agent hand --yes").exit_code(), 4);
    assert_eq!(change.done("status login")["next"], "aiwf retry login");
    change.project.write("~/.aiwf/config.toml", config.replace("exit 7", "cat > /dev/null; echo '# Plan'"));
    assert_eq!(at(&change.done("retry login")), ("challenge", "in-progress", 1));
}

#[test]
fn names_are_plain_and_taken_once() {
    let change = Change::new("");
    assert!(change.refused("new login 'again'").contains("an open session is named `login`"));
    for name in ["a/b", "..", ".hidden", "latest", "nul", "a b"] {
        let refusal = change.refused(&format!("new '{name}' 'x'"));
        assert!(refusal.contains("a session cannot be named"), "{name}: {refusal}");
    }
    assert!(change.refused("new other ' '").contains("the request is empty"));
    assert!(change.refused("new other 'x' --file 'no/such/*'").contains("no/such/*"));
    assert!(change.refused("status lgoin").contains("no session `lgoin`"));
    assert_eq!(change.project.names_in(".aiwf/sessions").len(), 2, "the lock and the change");
    // A change is a session like every other.
    assert_eq!(json(&change.project.run("list --json"))["total"], 1);
}

#[test]
fn the_second_writer_is_refused() {
    let change = Change::new("");
    let lock = std::fs::File::open(change.project.path(change.path(".lock"))).unwrap();
    lock.lock().unwrap();
    let refusal = change.refused("plan login");
    assert!(refusal.contains("another aiwf is working on this session"), "{refusal}");
}

#[test]
fn a_cancelled_change_stays_cancelled() {
    let change = Change::new("");
    change.done("cancel login");
    assert!(change.refused("plan login").contains("the session is cancelled"));
    for line in ["run login --yes", "run login"] {
        assert!(change.refused(line).contains("session `login` was cancelled"), "{line}");
    }
}

#[test]
fn where_a_change_stands_is_said_in_words_and_in_json() {
    let change = Change::new("");
    insta::assert_snapshot!(change.run("status login").stdout_text(), @"
    session   login
    flow      change
    request   Greet the world
    phase     plan, prompt (round 1 of 3)
    agent     manual
    status    in-progress, gate manual pending
    next      aiwf run login
    ");
    let id = change.done("status login")["session_id"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(pretty(&change.run("status login --json")).replace(&id, "[id]"), @r#"
    {
      "schema_version": 1,
      "command": "status",
      "exit_code": 0,
      "session_id": "[id]",
      "flow": "change",
      "phase": "plan",
      "stage": "prompt",
      "status": "in-progress",
      "iteration": 1,
      "gate": {
        "kind": "manual",
        "state": "pending"
      },
      "stale": [],
      "problems": [],
      "name": "login",
      "request": "Greet the world",
      "round": 1,
      "max_rounds": 3,
      "agents": {
        "archive": {
          "provider": "manual"
        },
        "challenge": {
          "provider": "manual"
        },
        "implement": {
          "provider": "manual"
        },
        "plan": {
          "provider": "manual"
        },
        "review": {
          "provider": "manual"
        }
      },
      "artifacts": [],
      "verdicts": {},
      "tasks": [],
      "files": [],
      "may_write": false,
      "applied": false,
      "next": "aiwf run login"
    }
    "#);
    insta::assert_snapshot!(change.run("list").stdout_text().split("20").next().unwrap(), @"login                plan         in-progress");
}

#[test]
fn refusals_name_what_is_wrong_and_one_thing_to_do() {
    let change = Change::new("");
    let refusals = [
        change.refused("implement login"),
        change.refused("new 'a b' 'x'"),
        change.refused("new login 'x'"),
        change.refused("status lgoin"),
        change.refused("apply login"),
        change.refused("respond login"),
        change.refused("show login plan"),
    ];
    insta::assert_snapshot!(refusals.join("---\n"), @"
    error: cannot work on phase `implement` now: the plan prompt is yet to be written

    hint: possible now: `aiwf step login`, `aiwf run login`, `aiwf cancel login`
    ---
    error: a session cannot be named `a b`: it holds something else than letters, digits, `-`, `_` and `.`

    hint: use up to 64 letters, digits, `-`, `_` and `.`
    ---
    error: an open session is named `login` already

    hint: `aiwf status login` shows it; choose another name
    ---
    error: no session `lgoin`

    hint: `aiwf list` lists the sessions; `aiwf PROFILE init` starts one
    ---
    error: cannot apply now: the plan prompt is yet to be written

    hint: possible now: `aiwf step login`, `aiwf run login`, `aiwf cancel login`
    ---
    error: no reply is awaited now

    hint: next: `aiwf run login`
    ---
    error: session `login` has no `plan` yet

    hint: `aiwf status login` shows how far the session is
    ");
}
