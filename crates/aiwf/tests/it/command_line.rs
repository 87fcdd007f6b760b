//! What a command line means wherever it is typed: `--json` with everything, commands as printed.

use aiwf_testkit::TestProject;

use crate::session::{CODE, PLAN, Session};
use crate::{json, project};

#[test]
fn json_with_help_version_and_completions_is_json() {
    let project = project();
    let version = json(&project.run("--version --json"));
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    for (line, command) in [
        ("--help --json", ""),
        ("approve --help --json", "approve"),
        ("--json prompt build -h", "prompt build"),
        ("jpa-mt init --help --json", "jpa-mt init"),
    ] {
        let outcome = project.run(line);
        assert_eq!(outcome.exit_code(), 0, "{line}: {outcome}");
        let help = json(&outcome);
        assert!(help["help"].as_str().unwrap().contains("Usage: aiwf"), "{line}: {help}");
        assert_eq!(help["command"], command, "{line}");
    }
    let completions = json(&project.run("completions bash --json"));
    assert_eq!(completions["shell"], "bash");
    assert!(completions["script"].as_str().unwrap().contains("_aiwf"));
}

/// Splits a printed command as a shell does: words, some of them in single quotes.
fn words(line: &str) -> Vec<String> {
    line.split('\'')
        .enumerate()
        .flat_map(|(idx, part)| match idx % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn what_the_demo_of_a_profile_prints_can_be_typed() {
    let project = project();
    let shown = project.run_args(["demo", "--profile", "look around"]).success().stdout_text();
    assert!(shown.contains("$ cd 'look around'\n"), "{shown}");
    // The same once more by hand, in the demo's project before its session.
    let by_hand = crate::project();
    for path in [
        "schema.sql",
        "design/customer.md",
        ".aiwf/config.toml",
        ".aiwf/cassette/planning-1.json",
        ".aiwf/cassette/generating-1.json",
        ".aiwf/cassette/reviewing-1.json",
        ".aiwf/cassette/revising-2.json",
        ".aiwf/cassette/reviewing-2.json",
    ] {
        by_hand.write(path, project.read(&format!("look around/{path}")));
    }
    let look_around = shown.lines().find_map(|line| line.strip_prefix("explore:      ")).unwrap();
    let printed = shown
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .chain(look_around.split("; "))
        .filter_map(|line| line.strip_prefix("aiwf "));
    let mut n_run = 0;
    for line in printed {
        let outcome = by_hand.run_args(words(line));
        assert_eq!(outcome.exit_code(), 0, "{line}: {outcome}");
        n_run += 1;
    }
    assert!(n_run > 10, "{shown}");
}

/// The directory of the change `one`.
fn change_dir(project: &TestProject) -> String {
    let status = json(&project.run("status one --json"));
    format!(".aiwf/sessions/{}", status["session_id"].as_str().unwrap())
}

#[test]
fn a_preview_of_a_change_writes_nothing() {
    let project = project().file("a.rs", "fn a() {}\n");
    drop(project.run("change new one 'Do it' --file a.rs").success());
    let before = json(&project.run("events one --json"));
    let preview = json(&project.run("preview one --json"));
    assert!(preview["prompt"].as_str().unwrap().contains("fn a() {}"), "{preview}");
    let after = json(&project.run("events one --json"));
    assert_eq!(before["events"], after["events"]);
    assert!(!project.names_in(&change_dir(&project)).contains(&"iteration-1".to_owned()));
    // What it shows is what is written and shown later.
    project.run("change plan one");
    let later = json(&project.run("preview one --json"));
    assert_eq!(later["metadata"]["sha256"], preview["metadata"]["sha256"]);
}

#[test]
fn statuses_after_the_last_file_are_read() {
    let project = project();
    drop(project.run("change new one 'Do it' --yes").success());
    for (phase, reply) in [
        ("plan", "# Plan\n\n1.1 do it\n"),
        ("challenge", "Fine.\n\n<review>PASS</review>\n"),
        ("implement", "<<<FILE: a.md>>>\nhello\n\n<task_status id=\"1.1\">COMPLETED</task_status>\n"),
    ] {
        project.run(&format!("change {phase} one"));
        let responded = project.run_with_input("respond one", reply);
        assert_eq!(responded.exit_code(), 0, "{phase}: {responded}");
        project.run(&format!("change {phase} one"));
    }
    let status = json(&project.run("status one --json"));
    assert_eq!(status["phase"], "review", "{status:#}");
    assert_eq!(project.read(&format!("{}/iteration-1/code/a.md", change_dir(&project))), b"hello\n");
}

#[test]
fn a_broken_configuration_is_reported_once() {
    let project = project().file(".aiwf/config.toml", "[roles]\ndefault = \"nobody\"\n");
    let shown = project.run("validate").stdout_text();
    assert_eq!(shown.matches("unknown provider `nobody`").count(), 1, "{shown}");
    // Alone, the check of providers still shows why it cannot be made.
    let outcome = project.run("validate providers");
    assert!(outcome.exit_code() == 1 && outcome.stdout_text().contains("`nobody`"), "{outcome}");
}

#[test]
fn a_closed_pipe_after_finished_work_is_not_an_error() {
    let session = Session::new("");
    session.done("approve");
    session.respond(PLAN);
    let outcome = session.project.command("approve").run_into_closing_pipe(0);
    assert!(!outcome.stderr_text().contains("error"), "{outcome}");
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    session.done("approve");
    session.respond(CODE);
    // A full disk: the approval counts, and the message says so.
    let outcome = session.project.command("approve").stdout_to("/dev/full").run();
    assert!(outcome.stderr_text().contains("its work is done"), "{outcome}");
    assert_eq!(session.done("status latest")["phase"], "reviewing");
}

#[test]
fn a_word_that_is_no_command_suggests_the_right_one() {
    let project = project();
    for (word, hint) in [
        ("init", "did you mean `aiwf PROFILE init`? `aiwf profiles` lists the profiles"),
        (
            "new",
            "did you mean `aiwf do` or `aiwf change new` or `aiwf flow start`? `aiwf --help` lists the commands",
        ),
        ("ask", "did you mean `aiwf chat` or `aiwf prompt send`? `aiwf --help` lists the commands"),
        ("log", "did you mean `aiwf events`? `aiwf --help` lists the commands"),
        ("build", "did you mean `aiwf prompt build`? `aiwf --help` lists the commands"),
        ("aprove", "did you mean `approve`? `aiwf --help` lists the commands"),
        ("jpa-tm", "did you mean `jpa-mt`? `aiwf --help` lists the commands"),
        ("zzz", "`aiwf --help` lists the commands, `aiwf profiles` the profiles"),
    ] {
        let outcome = project.run(word);
        assert_eq!(outcome.exit_code(), 2, "{word}");
        assert_eq!(outcome.stderr_text(), format!("error: unknown command `{word}`\n\nhint: {hint}\n"));
        let outcome = project.run(&format!("{word} --json"));
        assert_eq!(outcome.exit_code(), 2, "{word}");
        let failure = json(&outcome);
        assert_eq!(failure["error"]["code"], "USAGE", "{word}");
        assert_eq!(failure["error"]["message"], format!("unknown command `{word}`"));
        assert_eq!(failure["error"]["hint"], hint, "{word}");
    }
}
