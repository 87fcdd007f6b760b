//! Where output goes: pipes that close, devices that are full, colours.

use insta::assert_snapshot;

use crate::project;
use crate::scene::Scene;
use crate::session::{INIT, PLAN, Session};

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let project = project().file("big.txt", "0123456789\n".repeat(1 << 17));
    for flags in ["", "--json", "--format messages"] {
        let line = format!("prompt build change --instructions x --file big.txt {flags}");
        let outcome = project.command(&line).run_into_closing_pipe(10);
        assert_eq!(outcome.stderr, b"", "{flags}");
        assert_eq!(outcome.exit_code(), 0, "{flags}");
    }
}

#[test]
fn a_full_device_is_an_error_on_stderr() {
    let project = project();
    for line in [
        "prompt build change --instructions x",
        "prompt build change --instructions x --json",
        "prompt preview change --instructions x --json",
        "prompt recipes",
        "prompt schema reply",
        "template list",
        "template check --json",
        "--help",
    ] {
        let outcome = project.command(line).stdout_to("/dev/full").run();
        assert_eq!(
            outcome.stderr_text().lines().filter(|line| !line.contains("tokens")).collect::<Vec<_>>(),
            [
                "error: the command finished, but its output could not be written to stdout",
                "  caused by: no space left on device",
                "",
                "hint: redirect the output to a disk with free space; there is no need to run it again: its work is done",
            ],
            "{line}"
        );
        assert_eq!(outcome.exit_code(), 74, "{line}");
    }
}

#[test]
fn work_that_cannot_be_printed_is_done_all_the_same() {
    let session = Session::new("");
    let lines = ["approve", "respond --file plan.md", "approve --json", "cancel"];
    session.project.write("plan.md", PLAN);
    let n_before = session.events().len();
    for line in lines {
        let outcome = session.project.command(line).stdout_to("/dev/full").run();
        assert_eq!(outcome.exit_code(), 74, "{line}\n{outcome}");
        let told = "error: the command finished, but its output could not be written to stdout\n";
        assert!(outcome.stderr_text().contains(told), "{line}\n{outcome}");
    }
    let events = session.events();
    assert!(events.len() > n_before + lines.len(), "{events:?}");
    assert_eq!(session.done(&format!("status {}", session.id))["status"], "cancelled");
    // A session that was begun is there, and a demo goes to its end.
    let begun = session.project.command(INIT).stdout_to("/dev/full").run();
    assert_eq!(begun.exit_code(), 74, "{begun}");
    assert_eq!(session.done("status latest")["phase"], "planning");
    let demo = session.project.command("demo shop").stdout_to("/dev/full").run();
    assert_eq!(demo.exit_code(), 74, "{demo}");
    assert_eq!(session.run("verify latest --project-dir shop").exit_code(), 0);
    // A reader that goes away is no failure of any kind, and the work is done as well.
    let outcome = session.project.command("cancel").run_into_closing_pipe(0);
    assert_eq!((outcome.exit_code(), outcome.stderr_text().as_str()), (0, ""), "{outcome}");
    assert_eq!(session.done("list --status cancelled")["total"], 2);
}

#[test]
fn a_reply_that_cannot_be_written_is_kept() {
    let table =
        "[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"-c\", \"cat > /dev/null; echo answer\"]\n";
    let scene = Scene::new(table);
    scene.project.write("plain", "");
    let temporary = scene.project.home().join("temporary");
    scene.project.write("~/temporary/.keep", "");
    let line = "prompt send change --provider agent --phase plan --instructions x";
    for (flags, stdout) in
        [("", Some("/dev/full")), ("--json", Some("/dev/full")), ("--out plain/reply.md", None)]
    {
        let run = scene.command(&format!("{line} {flags}")).env("TMPDIR", temporary.as_os_str());
        let outcome = match stdout {
            Some(path) => run.stdout_to(path).run(),
            None => run.run(),
        };
        assert_eq!(outcome.exit_code(), 74, "{flags}\n{outcome}");
        let stderr = outcome.stderr_text();
        let kept = stderr.split_once("hint: the reply is kept in `").unwrap_or_else(|| panic!("{outcome}")).1;
        let mut names = kept.split('`').next().unwrap().rsplit('/');
        let (name, directory) = (names.next().unwrap(), temporary.join(names.next().unwrap()));
        assert_eq!(std::fs::read_to_string(directory.join(name)).unwrap(), "answer\n", "{flags}");
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 1, "only the reply stays");
    }
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let project = project();
    let line = "prompt build change --instructions x --budget 1";
    let plain = project.run(line);
    assert!(!plain.stderr.contains(&0x1b), "{plain}");
    let forced = project.command(line).env("CLICOLOR_FORCE", "1").run();
    assert_snapshot!(forced.stderr_text().replace('\u{1b}', "␛"), @"
    ␛[1m␛[31merror:␛[0m required sections need 13 tokens but the budget is 1
      largest: `instructions` (13 tokens)

    ␛[1m␛[36mhint:␛[0m shorten that section, or set a larger budget with `--budget`
    ");
    let refused = project.command(line).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").run();
    assert_eq!(refused, plain);
}

#[test]
fn a_prompt_is_never_coloured_or_changed() {
    let project = project();
    let text = "\u{1b}[31mred\u{1b}[0m";
    let run = project.command("prompt build change --format text --instructions").arg(text);
    assert_eq!(run.env("NO_COLOR", "1").run().success().stdout_text(), text);
}

#[test]
fn names_of_others_cannot_steer_the_terminal() {
    let project = project().file("src/\u{1b}[2Jx\n.bin", [0; 4]).file("src/\u{7}.rs", "fn a() {}\n");
    let outcome = project.run("prompt preview change --instructions x --file src");
    assert_snapshot!(outcome.stderr_text(), @r"
    warning: file:src/\u{1b}[2Jx\n.bin: skipped: binary (4 bytes)
    warning: file:src/\u{7}.rs: 1 character not allowed in XML replaced by U+FFFD
    change prompt as xml: 29 tokens (estimate), sha256 2a9d8b5e9af405d1b75f966f294c82f2a307fca0e15b811f825e35c3fe05f93a
      context       ██████████······         19  65.5%  input:context
        src/�.rs    ██████████······         19  65.5%  file:src/\u{7}.rs
      instructions  █████···········         10  34.4%  input:instructions
    ");
}

#[test]
fn a_program_without_a_home_works() {
    let project = project();
    let run = project.command("prompt build change --phase nowhere --instructions x").env("HOME", "");
    assert_snapshot!(run.run(), @"
    --- stderr
    error: no template for agent `BASE` in phase `nowhere` (TemplateNotFound)
      tried: .aiwf/templates/system/BASE-nowhere.md
      tried: templates/system/BASE-nowhere.md
      tried: built-in:BASE-nowhere.md

    hint: create `.aiwf/templates/system/BASE-nowhere.md`
    --- exit code 1
    ");
}
