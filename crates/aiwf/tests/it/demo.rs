//! The first command of the README.

#![expect(clippy::disallowed_methods, reason = "git says what became of the demo's project")]

use aiwf_testkit::{Outcome, TestProject};
use insta::assert_snapshot;

use crate::{json, project};

/// What a demo told, without the id of its commit.
fn story(outcome: &Outcome) -> String {
    assert_eq!((outcome.exit_code(), outcome.stderr_text().as_str()), (0, ""), "{outcome}");
    let steady = |line: &str| match line.strip_prefix("  commit    ") {
        Some(id) => {
            assert!(id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
            "  commit    [commit]".to_owned()
        }
        None => line.to_owned(),
    };
    outcome.stdout_text().lines().map(steady).collect::<Vec<_>>().join("\n")
}

/// A project with a directory of the programs that the demo needs, and git is none of them.
fn project_without_git() -> (TestProject, String) {
    let program = |project: TestProject, name: &str| {
        let places = ["/bin", "/usr/bin"].map(|directory| format!("{directory}/{name}"));
        let place = places.iter().find(|path| std::path::Path::new(path).exists()).unwrap();
        project.link(&format!("~/bin/{name}"), place)
    };
    let project = ["mv", "rm", "sh"].into_iter().fold(project(), program);
    let path = project.home().join("bin").to_string_lossy().into_owned();
    (project, path)
}

fn text(project: &TestProject, path: &str) -> String {
    String::from_utf8(project.read(path)).unwrap()
}

#[test]
fn it_shows_a_change_from_request_to_commit() {
    let project = project();
    assert_snapshot!(story(&project.run("demo")), @"
    `aiwf do` makes a change in a repository. Here is one from request to commit,
    offline: recorded replies stand in for an agent. On a terminal `aiwf do` asks you
    at each gate; the demo shows the command for each decision instead.

    The project is a to-do list in shell script, in aiwf-demo,
    a git repository of its own.

    $ cd aiwf-demo
    $ aiwf do 'Add a command: done N removes item N' --check 'sh tests.sh' --branch

    The agent proposes a plan. No code is written before you approve it.

      | # Plan: `done N`
      |
      | `sh todo.sh done 2` removes item 2. A number that is not on the list is an
      | error: exit code 1, and the list stays as it is.
      | …

    $ aiwf approve

    The agent has edited files in a worktree, a copy outside the project. `aiwf do`
    shows you the diff; your own files are unchanged.

      README.md    +1 -0
      tests.sh     +3 -0
      todo.sh      +11 -1

    $ aiwf approve

    The check runs in the worktree. It fails, and the agent gets its output.

      sh tests.sh: failed with exit code 1
      | FAILED  an unknown number is refused
      |         expected exit code 1: todo.sh: no item 7
      |         got      exit code 0:

    The agent has fixed the code in a second round.

      README.md    +1 -0
      tests.sh     +3 -0
      todo.sh      +20 -1

    $ aiwf approve

    The check passes. A review compares the result with the request and the plan.

      sh tests.sh: passed
      | The change does what the plan says.
      | …
      | <review>PASS</review>

    $ aiwf approve

    The review passed. The result becomes a commit on a new branch; your checkout is
    unchanged.

    $ aiwf apply
      changed   README.md
      changed   tests.sh
      changed   todo.sh
      branch    aiwf/add-a-command-done-n-removes-item-n
      commit    [commit]

    The journal has every prompt, reply and decision; hashes show that nothing changed.

    $ aiwf verify
      journal intact (30 events); 26 approved files unchanged

    explore:          cd aiwf-demo; aiwf events; aiwf show plan; aiwf diff
    merge it:         git merge aiwf/add-a-command-done-n-removes-item-n
    undo it:          aiwf undo
    your repository:  aiwf do 'what should change'
    a profile:        aiwf demo --profile shop
    ");
    // The checkout is as it was; the change is on the branch.
    assert!(!text(&project, "aiwf-demo/todo.sh").contains("finish"));
    assert_eq!(git(&project, "status --short"), "");
    assert_eq!(
        git(&project, "log --format=%s --all"),
        "Add a command: done N removes item N\nA to-do list for the shell"
    );
    let branch = "aiwf/add-a-command-done-n-removes-item-n";
    let changed = git(&project, &format!("show {branch}:todo.sh"));
    assert!(changed.contains("echo \"todo.sh: no item $1\" >&2"), "{changed}");
    let listed = json(&project.command("list --json").in_dir("aiwf-demo").run());
    assert_eq!(listed["sessions"][0]["status"], "complete");
}

/// What git prints in the demo's project.
fn git(project: &TestProject, words: &str) -> String {
    let output = std::process::Command::new("git")
        .args(words.split(' '))
        .current_dir(project.path("aiwf-demo"))
        .env("HOME", project.home())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn what_it_suggests_at_the_end_can_be_typed() {
    let project = project();
    let told = story(&project.run("demo"));
    let mut n_typed = 0;
    for line in told.lines() {
        let Some(words) = line.strip_prefix("explore:      ").or(line.strip_prefix("undo it:       ")) else {
            continue;
        };
        for command in words.split(';').filter_map(|command| command.trim().strip_prefix("aiwf ")) {
            let outcome = project.command(command).in_dir("aiwf-demo").run();
            assert_eq!(outcome.exit_code(), 0, "{command}: {outcome}");
            n_typed += 1;
        }
    }
    assert_eq!(n_typed, 4, "{told}");
}

#[test]
fn without_git_the_change_is_written_into_the_project() {
    let (project, path) = project_without_git();
    assert_snapshot!(story(&project.command("demo todo").env("PATH", path).run()), @"
    `aiwf do` makes a change in a repository. Here is one from request to commit,
    offline: recorded replies stand in for an agent. On a terminal `aiwf do` asks you
    at each gate; the demo shows the command for each decision instead.

    The project is a to-do list in shell script, in todo; git is
    not installed, so there is no branch.

    $ cd todo
    $ aiwf do 'Add a command: done N removes item N' --check 'sh tests.sh'

    The agent proposes a plan. No code is written before you approve it.

      | # Plan: `done N`
      |
      | `sh todo.sh done 2` removes item 2. A number that is not on the list is an
      | error: exit code 1, and the list stays as it is.
      | …

    $ aiwf approve

    The agent has edited files in a worktree, a copy outside the project. `aiwf do`
    shows you the diff; your own files are unchanged.

      README.md    +1 -0
      tests.sh     +3 -0
      todo.sh      +11 -1

    $ aiwf approve

    The check runs in the worktree. It fails, and the agent gets its output.

      sh tests.sh: failed with exit code 1
      | FAILED  an unknown number is refused
      |         expected exit code 1: todo.sh: no item 7
      |         got      exit code 0:

    The agent has fixed the code in a second round.

      README.md    +1 -0
      tests.sh     +3 -0
      todo.sh      +20 -1

    $ aiwf approve

    The check passes. A review compares the result with the request and the plan.

      sh tests.sh: passed
      | The change does what the plan says.
      | …
      | <review>PASS</review>

    $ aiwf approve

    The review passed. The result is written into the project, all files or none.

    $ aiwf apply
      changed   README.md
      changed   tests.sh
      changed   todo.sh

    The journal has every prompt, reply and decision; hashes show that nothing changed.

    $ aiwf verify
      journal intact (31 events); 26 approved files unchanged

    explore:          cd todo; aiwf events; aiwf show plan; aiwf diff
    undo it:          aiwf undo
    your repository:  aiwf do 'what should change'
    a profile:        aiwf demo --profile shop
    ");
    assert!(!project.path("todo/.git").exists());
    for file in ["todo.sh", "tests.sh", "README.md"] {
        assert!(text(&project, &format!("todo/{file}")).contains("done"), "{file}");
    }
}

#[test]
fn a_demo_never_writes_into_what_is_there() {
    for line in ["demo here", "demo --profile here", "demo --dir here"] {
        let project = project().file("here/note.txt", "mine");
        let outcome = project.run(line);
        assert_eq!(outcome.exit_code(), 1, "{line}: {outcome}");
        let told =
            "error: `here` already exists\n\nhint: remove it, or name another directory: `aiwf demo DIR`\n";
        assert_eq!(outcome.stderr_text(), told, "{line}");
        assert_eq!(project.names_in("here"), ["note.txt"]);
    }
}

#[test]
fn as_json_it_reports_the_session_and_the_commit() {
    let project = project();
    let outcome = project.run("demo --json");
    let report = json(&outcome);
    assert_eq!(report["session"]["status"], "complete", "{outcome}");
    assert_eq!(report["session"]["verdicts"]["review"], "PASS");
    assert_eq!(report["session"]["checks"][0]["passed"], true);
    // What rounds leave behind is the session's own.
    assert_eq!(report["session"]["unknown"], serde_json::Value::Null);
    assert_eq!(report["branch"], "aiwf/add-a-command-done-n-removes-item-n");
    assert_eq!(report["commit"], git(&project, "rev-parse aiwf/add-a-command-done-n-removes-item-n"));
}

#[test]
fn the_demo_of_a_profile_runs_a_whole_session_and_can_be_looked_at() {
    let project = project();
    let outcome = project.run("demo --profile");
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    let story = outcome.stdout_text();
    for word in
        ["verdict: FAIL", "verdict: PASS", "standards-bundle", "journal intact", "wrote src/main/java"]
    {
        assert!(story.contains(word), "{word} is missing in {story}");
    }
    let listed = json(&project.command("list --json").in_dir("aiwf-demo").run());
    assert_eq!(listed["sessions"][0]["status"], "complete");
    let again = project.run("demo --profile");
    assert_eq!(again.exit_code(), 1);
    assert!(again.stderr_text().contains("`aiwf-demo` already exists"));
}

#[test]
fn recorded_answers_run_a_session_without_a_person() {
    let project = project();
    assert_eq!(project.run("demo --profile d --json").exit_code(), 0);
    let init = "jpa-mt init --entity Customer --table customer --bounded-context sales --base-package \
                com.example.shop --schema-file schema.sql --design design/customer.md --yes --json";
    let outcome = project.command(init).in_dir("d").run();
    assert_eq!(json(&outcome)["phase"], "complete", "{outcome}");
}

#[test]
fn an_unrecorded_request_is_reported() {
    let project = project();
    assert_eq!(project.run("demo --profile d --json").exit_code(), 0);
    let init =
        "jpa-mt init --entity Product --table product --bounded-context sales --schema-file schema.sql --yes";
    let outcome = project.command(init).in_dir("d").run();
    assert_eq!(outcome.exit_code(), 4, "{outcome}");
    assert!(outcome.stderr_text().contains("no recording answers this request"), "{outcome}");
    assert!(
        outcome.stderr_text().contains("the first section that differs is `profile-prompt`"),
        "{outcome}"
    );
}
