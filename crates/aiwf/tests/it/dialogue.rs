//! Gates as a dialogue on a terminal, and the same ways without one: `do`, `run`, `approve`, and a web chat.

use pty_process::Size;

use crate::json;
use crate::scene::Scene;
use crate::terminal::Terminal;

/// Counts its calls in the home and keeps each prompt there. The plan of its first call may be rejected.
const AGENT: &str = r#"n=$(cat "$HOME/n" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "$HOME/n"
cat > "$HOME/prompt-$n"
phase=$(cat "$HOME/phases" | sed -n "${n}p")
case $phase in
plan) printf '# Plan\n\n- **Add** a flag, call %s. This line is longer than eighty columns, so it has to be wrapped.\n' "$n";;
implement) printf 'print("json")\n' > list.py; printf 'echo hello\n' > new.sh; echo 'Done.';;
review) printf '## Assessment\n\nFine.\n\n<review>PASS</review>\n';;
esac
"#;

/// A project whose only agent is a script that edits files; it is asked for these phases.
fn scene(phases: &str) -> Scene {
    let scene = Scene { project: crate::project().file("list.py", "print(\"text\")\n") };
    let agent = scene.project.home().join("agent.sh").display().to_string();
    scene.project.write("~/agent.sh", AGENT);
    scene.project.write("~/phases", phases);
    let config = format!(
        "[roles]\ndefault = \"agent\"\n[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"{agent}\"]\nwrite = true\n"
    );
    scene.project.write("~/.aiwf/config.toml", config);
    scene
}

fn open(scene: &Scene, arguments: &[&str]) -> Terminal {
    Terminal::sized(scene, arguments, Size::new(60, 80), &[])
}

const KEYS: &str = "q leave; all progress is saved\r\n> ";

fn text(scene: &Scene, path: &str) -> String {
    String::from_utf8(scene.project.read(path)).unwrap()
}

#[test]
fn a_whole_do_is_walked_by_keys() {
    let scene = scene("plan\nplan\nimplement\nreview\n");
    let mut terminal = open(&scene, &["do", "Add a flag"]);
    terminal.expect("# Plan\r\n\r\n- Add a flag, call 1. This line is longer than eighty columns, so it has to be\r\n  wrapped.\r\n");
    terminal.expect("plan: the reply from agent is waiting for your approval");
    terminal.expect("size      the prompt has about ");
    terminal.expect("cost      1 call, cost unknown\r\n");
    terminal.expect(KEYS);

    // A pasted text and a key that means nothing decide nothing, even where they hold the letter for yes.
    terminal.send("approve\n");
    terminal.expect("press one of the keys above");
    terminal.expect(KEYS);
    terminal.send("x");
    terminal.expect("press one of the keys above");
    terminal.expect(KEYS);
    terminal.send("d");
    terminal.expect("this reply changes no files");
    terminal.expect(KEYS);
    terminal.send("v");
    terminal.expect("plan-prompt.md\r\n");
    terminal.expect("You plan a change");
    terminal.expect(KEYS);

    terminal.send("r");
    terminal.expect("feedback (Enter alone opens your editor): ");
    terminal.send("Say it in fewer words\n");
    terminal.expect("call 2");
    terminal.expect(KEYS);
    assert!(text(&scene, "~/prompt-2").contains("Say it in fewer words"));

    terminal.send("a");
    terminal.expect("-print(\"text\")\r\n+print(\"json\")\r\n");
    terminal.expect("implement: the reply from agent is waiting for your approval");
    terminal.expect(KEYS);
    terminal.send("a");
    terminal.expect("Fine.");
    terminal.expect("review: the reply from agent is waiting for your approval");
    terminal.expect(KEYS);
    terminal.send("a");
    terminal.expect("+echo hello");
    terminal.expect("complete: 2 files to apply");
    terminal.expect("a apply to your files");
    terminal.expect(KEYS);
    assert_eq!(text(&scene, "list.py"), "print(\"text\")\n");
    terminal.send("a");
    terminal.expect("next      aiwf undo ");
    assert_eq!(terminal.wait(), 0);
    assert_eq!(text(&scene, "list.py"), "print(\"json\")\n");
    assert_eq!(text(&scene, "new.sh"), "echo hello\n");
}

#[test]
fn a_line_is_commented_and_a_reply_is_approved_with_a_note() {
    let scene = scene("plan\nplan\nimplement\nreview\n");
    let mut terminal = open(&scene, &["do", "Add a flag"]);
    terminal.expect("a approve · n approve with a note · c comment on a line · e edit");
    terminal.expect(KEYS);
    terminal.send("c");
    terminal.expect("line or range, FILE:LINE, or Enter for all of it: ");
    terminal.send("3\n");
    terminal.expect("comment: ");
    terminal.send("Which flag?\n");
    terminal.expect("  1  plan@1, line 3\r\n");
    terminal.expect("     Which flag?\r\n");
    terminal.expect(KEYS);
    // Lines that the plan does not have are told, and nothing is decided.
    terminal.send("c");
    terminal.expect("Enter for all of it: ");
    terminal.send("99\n");
    terminal.expect("comment: ");
    terminal.send("Why?\n");
    terminal.expect("error: `plan` has no line 99: it has 3");
    terminal.expect(KEYS);
    terminal.send("r");
    terminal.expect("feedback (Enter alone sends the open comments): ");
    terminal.send("\n");
    terminal.expect("call 2");
    terminal.expect(KEYS);
    let prompt = text(&scene, "~/prompt-2");
    assert!(prompt.contains("### Comment 1 on plan@1, line 3") && prompt.contains("Which flag?"), "{prompt}");
    terminal.send("n");
    terminal.expect("note for the next phases: ");
    terminal.send("Keep the output\n");
    terminal.expect("implement: the reply from agent is waiting for your approval");
    terminal.expect(KEYS);
    let prompt = text(&scene, "~/prompt-3");
    assert!(prompt.contains("<artifact name=\"notes\">") && prompt.contains("Keep the output"), "{prompt}");
    terminal.send("q");
    assert_eq!(terminal.wait(), 3);
}

#[test]
fn checks_that_files_suggest_are_offered_before_the_work() {
    let scene = scene("plan\nimplement\nreview\n");
    scene.project.write("Makefile", "test:\n\tgrep json list.py\n");
    scene.project.script("~/bin/make", "#!/bin/sh\ngrep json list.py\n");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", scene.project.home().join("bin").display());
    let mut terminal = Terminal::sized(&scene, &["do", "Add a flag"], Size::new(60, 80), &[("PATH", &path)]);
    terminal.expect("check make-test  (detected: Makefile)\r\n  run = \"make test\"\r\n");
    terminal.expect("Run it on every change from now on? It runs code that an agent wrote.");
    terminal.send("y\n");
    terminal.expect(KEYS);
    terminal.send("a");
    // What the agent says of its work comes before the diff.
    terminal.expect("Done.\r\n\r\n");
    terminal.expect("-print(\"text\")\r\n+print(\"json\")\r\n");
    terminal.expect(KEYS);
    terminal.send("a");
    terminal.expect("check     make-test: passed\r\n");
    terminal.expect(KEYS);
    terminal.send("q");
    assert_eq!(terminal.wait(), 3);
}

#[test]
fn leaving_keeps_everything_and_run_and_approve_continue() {
    let scene = scene("plan\nimplement\nreview\n");
    let mut terminal = open(&scene, &["do", "Add a flag"]);
    terminal.expect(KEYS);
    terminal.send("q");
    terminal.expect("all progress is saved; `aiwf run ");
    assert_eq!(terminal.wait(), 3);

    // Ctrl-C leaves too, and the terminal is as it was.
    let mut terminal = open(&scene, &["run"]);
    terminal.expect("plan: the reply from agent is waiting for your approval");
    terminal.expect(KEYS);
    terminal.send("\u{3}");
    terminal.expect("all progress is saved");
    assert_eq!(terminal.wait(), 3);
    assert_eq!(scene.done("status latest")["phase"], "plan");

    let mut terminal = open(&scene, &["approve"]);
    terminal.expect("plan: the reply from agent is waiting for your approval");
    terminal.expect(KEYS);
    terminal.send("a");
    terminal.expect("implement: the reply from agent is waiting for your approval");
    terminal.expect(KEYS);
    terminal.send("q");
    // What it was called for is done.
    assert_eq!(terminal.wait(), 0);

    // A flag says what is decided: nothing is asked.
    let sha256 = scene.done("status latest")["gate"]["sha256"].as_str().unwrap().to_owned();
    let mut terminal = open(&scene, &["approve", "--expect", &sha256]);
    assert_eq!(terminal.wait(), 0);
    assert_eq!(scene.done("status latest")["phase"], "review");

    // In a pipe it decides at once, as ever.
    assert_eq!(scene.done("approve")["status"], "complete");
    assert_eq!(text(&scene, "list.py"), "print(\"text\")\n");
}

#[test]
fn an_agent_that_fails_can_be_asked_again() {
    let scene = scene("plan\n");
    scene.project.write("~/agent.sh", "cat > /dev/null; echo 'no network' >&2; exit 1\n");
    let mut terminal = open(&scene, &["do", "Add a flag"]);
    terminal.expect("error: ");
    terminal.expect("plan: agent did not reply");
    terminal.expect("t ask again · v view prompt · s switch agent · q leave");
    terminal.expect(KEYS.split_once("leave").unwrap().1);
    scene.project.write("~/agent.sh", AGENT);
    terminal.send("t");
    terminal.expect("plan: the reply from agent is waiting for your approval");
    terminal.expect(KEYS);
    terminal.send("q");
    assert_eq!(terminal.wait(), 3);
}

const EDITS: &str =
    "<<<EDIT: list.py>>>\n<<<<<<< SEARCH\nprint(\"text\")\n=======\nprint(\"json\")\n>>>>>>> REPLACE\n";
const REVIEW: &str = "## Assessment\n\nFine.\n\n<review>PASS</review>\n";

#[test]
fn a_web_chat_is_pasted_into_the_dialogue() {
    let scene = scene("");
    scene.project.write("reply.md", EDITS);
    let mut terminal = open(&scene, &["do", "Add a flag", "--agent", "manual"]);
    terminal.expect("plan: paste the prompt into your chat, then bring back its reply");
    terminal.expect("prompt    .aiwf/sessions/");
    terminal.expect(KEYS);
    terminal.send("p");
    terminal.expect("\u{1b}]52;c;");
    terminal.expect(KEYS);
    terminal.send("y");
    terminal.expect("Ctrl-C cancels\r\n");
    terminal.send("# dropped\n\u{3}");
    terminal.expect("dropped");
    terminal.expect(KEYS);
    terminal.send("y");
    terminal.expect("Ctrl-C cancels\r\n");
    terminal.send("# Plan\n\nAdd it.\n.\n");
    terminal.expect("plan: the reply from manual is waiting for your approval");
    terminal.expect(KEYS);
    terminal.send("a");
    terminal.expect("implement: paste the prompt");
    terminal.expect(KEYS);
    terminal.send("f");
    terminal.expect("file: ");
    terminal.send("reply.md\n");
    terminal.expect("+print(\"json\")");
    terminal.expect(KEYS);
    terminal.send("a");
    terminal.expect("review: paste the prompt");
    terminal.expect(KEYS);
    terminal.send("y");
    terminal.expect("Ctrl-C cancels\r\n");
    terminal.send(&format!("{REVIEW}\u{4}"));
    terminal.expect("review: the reply from manual is waiting for your approval");
    terminal.expect(KEYS);
    terminal.send("a");
    terminal.expect("complete: 1 file to apply");
    terminal.expect(KEYS);
    terminal.send("a");
    assert_eq!(terminal.wait(), 0);
    assert_eq!(text(&scene, "list.py"), "print(\"json\")\n");
}

#[test]
fn a_web_chat_takes_two_commands_for_each_phase_without_a_terminal() {
    let scene = scene("");
    scene.exits("do 'Add a flag' --agent manual", 3);
    for reply in ["# Plan\n\nChange list.py.\n", EDITS, REVIEW] {
        let outcome = scene.command("respond").stdin(reply).run();
        assert_eq!(outcome.exit_code(), 0, "{outcome}");
        scene.exits("approve", 0);
    }
    let applied = json(&scene.exits("apply --json", 0));
    assert_eq!(applied["files"][0]["target"], "list.py");
    assert_eq!(text(&scene, "list.py"), "print(\"json\")\n");
}

#[test]
fn a_request_is_written_in_the_editor_and_an_empty_one_is_refused() {
    let scene = scene("plan\n");
    let write = "#!/bin/sh\nprintf 'Add a flag\\n# not this\\nand a test\\n' > \"$1\"\n";
    scene.project.script("~/edit", write);
    let editor = scene.project.home().join("edit").display().to_string();
    let mut terminal = Terminal::sized(&scene, &["do"], Size::new(60, 80), &[("EDITOR", &editor)]);
    terminal.expect(KEYS);
    terminal.send("q");
    assert_eq!(terminal.wait(), 3);
    assert_eq!(scene.done("status latest")["request"], "Add a flag\nand a test");

    scene.project.script("~/edit", "#!/bin/sh\n");
    let mut terminal = Terminal::sized(&scene, &["do"], Size::new(60, 80), &[("EDITOR", &editor)]);
    terminal.expect("error: the request is missing");
    terminal.expect("hint: describe the change");
    assert_eq!(terminal.wait(), 2);
    let outcome = scene.command("do").stdin("  \n").run();
    assert_eq!(outcome.exit_code(), 2, "{outcome}");
    assert!(!outcome.stderr_text().contains("agent:"), "{outcome}");
}
