//! Changes as a person drives them: every phase is a command, every promise is looked at on disk.

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
fn a_provider_that_fails_ends_with_exit_4_and_can_be_retried() {
    let config = "[providers.hand]\ntype = \"command\"\nargv = [\"/bin/sh\", \"-c\", \"exit 7\"]\n";
    let change = Change::in_project(project().file("~/.aiwf/config.toml", config), "");
    assert_eq!(change.run("plan login --agent hand --yes").exit_code(), 4);
    assert_eq!(change.done("status login")["next"], "aiwf retry login");
    change.project.write("~/.aiwf/config.toml", config.replace("exit 7", "cat > /dev/null; echo '# Plan'"));
    assert_eq!(at(&change.done("retry login")), ("challenge", "in-progress", 1));
}

#[test]
fn the_status_of_a_change_is_printed_as_text_and_json() {
    let change = Change::new("");
    insta::assert_snapshot!(change.run("status login").stdout_text(), @"
    session   login
    flow      change
    request   Greet the world
    phase     plan, prompt (round 1 of 3)
    agent     manual
    status    waiting for you to start the next phase
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
      "waits_for": "next-phase",
      "provider": "manual",
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
    error: cannot work on phase `implement` now: the plan prompt has not been written yet

    hint: possible now: `aiwf step login`, `aiwf run login`, `aiwf cancel login`
    ---
    error: `a b` is not a valid session name: it contains characters other than letters, digits, `-`, `_` and `.`

    hint: use up to 64 letters, digits, `-`, `_` and `.`
    ---
    error: an open session named `login` already exists

    hint: `aiwf status login` shows it; choose another name
    ---
    error: no session `lgoin`

    hint: `aiwf list` lists the sessions; `aiwf PROFILE init` starts one
    ---
    error: cannot apply now: the plan prompt has not been written yet

    hint: possible now: `aiwf step login`, `aiwf run login`, `aiwf cancel login`
    ---
    error: no reply is expected now

    hint: next: `aiwf run login`
    ---
    error: session `login` has no `plan` yet

    hint: `aiwf status login` shows how far the session is
    ");
}
